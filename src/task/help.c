/* help.c - docs/task-file.md from the tables that check the file. */
#include <string.h>

#include "math/text.h"
#include "task/keys.h"

/* Text inside a table cell: | must not end it. */
static void cell(mcp_text *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|')
            mcp_text_add(out, "\\|");
        else
            mcp_text_bytes(out, s, 1);
    }
}

static void kind(mcp_text *out, const mcp_key *k)
{
    switch (k->type) {
    case KEY_INT:
    case KEY_U64:
        mcp_text_add(out, "whole number %.0f .. %.0f", k->lo, k->hi);
        return;
    case KEY_NUMBER:
        mcp_text_add(out, "number in %s%g, %g%s", k->open & OPEN_LO ? "(" : "[", k->lo, k->hi,
                     k->open & OPEN_HI ? ")" : "]");
        return;
    case KEY_FLAG:
        mcp_text_add(out, "yes or no");
        return;
    case KEY_TEXT:
        mcp_text_add(out, "text");
        return;
    case KEY_CHOICE:
    case KEY_WORD:
        for (const char *p = k->choices; *p; p++) {
            if (p == k->choices) mcp_text_add(out, "`");
            if (*p == '|')
                mcp_text_add(out, "`, `");
            else
                mcp_text_bytes(out, p, 1);
        }
        mcp_text_add(out, "`");
        return;
    case KEY_EXPR:
        mcp_text_add(out, "expression");
        return;
    case KEY_EXPRS:
        mcp_text_add(out, "mapping name: expression");
        return;
    case KEY_MAP:
        mcp_text_add(out, "mapping");
        return;
    case KEY_OWN:
        cell(out, k->form);
        if (k->hi > k->lo)
            mcp_text_add(out, "; in %s%g, %g%s", k->open & OPEN_LO ? "(" : "[", k->lo, k->hi,
                         k->open & OPEN_HI ? ")" : "]");
        return;
    }
}

static void table(mcp_text *out, const mcp_key *t)
{
    mcp_text_add(out, "| key | value | unit | default | meaning |\n|---|---|---|---|---|\n");
    for (const mcp_key *k = t; k->name; k++) {
        mcp_text_add(out, "| `%s` | ", k->name);
        kind(out, k);
        mcp_text_add(out, " | %s | ", k->unit ? k->unit : "");
        if (k->required)
            mcp_text_add(out, "**required**");
        else if (k->fallback && strcmp(k->fallback, "{}"))
            mcp_text_add(out, "`%s`", k->fallback);
        mcp_text_add(out, " | ");
        if (k->only) {
            mcp_text_add(out, "(");
            for (const char *p = k->only; *p; p++) {
                if (*p == '|')
                    mcp_text_add(out, ", ");
                else
                    mcp_text_bytes(out, p, 1);
            }
            mcp_text_add(out, ") ");
        }
        cell(out, k->about);
        mcp_text_add(out, " |\n");
    }
    mcp_text_add(out, "\n");
}

/* One section per mapping, in the order of the top table; rows of rows follow their parent. */
static void section(mcp_text *out, const char *parent, const mcp_key *k)
{
    mcp_text_add(out, "%s `%s%s%s`\n\n", parent ? "###" : "##", parent ? parent : "", parent ? "." : "",
                 k->name);
    cell(out, k->about);
    mcp_text_add(out, ".\n\n");
    if (k->shorthand) mcp_text_add(out, "A plain value stands for `%s`.\n\n", k->shorthand);
    table(out, k->table);
    for (const mcp_key *c = k->table; c->name; c++)
        if (c->table && c->table != mcp_start_table) section(out, k->name, c);
}

static const char opening[] =
    "# The task file\n\n"
    "A task file describes a robot and what it should learn. It is YAML; `mcpilco check TASK` reads it and "
    "says what "
    "it\n"
    "understood. This page is generated from the tables that check the file (`mcpilco help task`).\n\n"
    "The least a file needs: `name`, `rate`, `trial`, `state`, `inputs`, `measured`, `model` with "
    "`velocities`, "
    "`cost`, `start`,\n"
    "`plant`. Everything else has a default.\n\n"
    "```yaml\n"
    "name: pendulum\n"
    "rate: 20\n"
    "trial: 2.5\n"
    "state: {theta: {unit: rad, angle: yes}, dtheta: rad/s}\n"
    "inputs: {u: 2}\n"
    "measured: {theta: 3e-3}\n"
    "model: {velocities: {theta: dtheta}}\n"
    "cost: 1 - exp(-((abs(theta) - pi)/2)^2)\n"
    "start: {std: 0.01}\n"
    "plant: {ode: {dtheta: 'u - 0.05*dtheta - 4.9*sin(theta)'}}\n"
    "```\n\n"
    "**Any value can be changed on the command line**: `--set optimise.particles=100`, `--set "
    "model.kernel=se`,\n"
    "`--set constants.mu=0.05`, `--set start.mean.0=0.1` (list items by number), `--set 'start.std=[0.1, 0, "
    "0.1, "
    "0]'`.\n\n"
    "**Numbers** are finite and in SI units unless the unit column says otherwise; a number may be written "
    "as an "
    "expression of the\n"
    "constants, e.g. `resolution: 2*pi/4096`.\n\n"
    "**Expressions**: `+ - * / ^`, comparisons, `and or not`, `pi`, `Ts` (sampling time in s), and the "
    "functions sin "
    "cos tan asin acos\n"
    "atan atan2 sinh cosh tanh exp log sqrt abs sign min max clamp(x, low, high) sigmoid prev(x). `prev(x)` "
    "is x one "
    "sample ago.\n"
    "Policies may also use `rbf(n, feature, ...)`, `mlp(h1, h2, feature, ...)`, "
    "`linear(feature, ...)` and `param(name, start)`; "
    "networks with "
    "several outputs\n"
    "are written once per output: `rbf(400, x, y)[1]`, `rbf(400, x, y)[2]`. Quote an expression that "
    "contains `: ` or "
    "`#` or begins\n"
    "with a bracket.\n\n"
    "**Mistakes** are answered with `file:line:column: what was found, what was expected`, and the nearest "
    "right "
    "word.\n\n";

mcp_status mcp_task_help(char **markdown, mcp_error *err)
{
    mcp_text out = {0};
    *markdown    = NULL;
    mcp_text_add(&out, "%s## Top level\n\n", opening);
    table(&out, mcp_task_table);
    for (const mcp_key *k = mcp_task_table; k->name; k++)
        if (k->table) section(&out, NULL, k);
    return mcp_text_take(&out, markdown, err);
}
