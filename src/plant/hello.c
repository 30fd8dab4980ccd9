/* hello.c - write and check the hello: both ends must mean the same numbers before anything moves. */
#include "plant/hello.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "math/number.h"
#include "math/text.h"

static void add_name(mcp_text *t, int first, const char *name, const char *unit)
{
    mcp_text_add(t, "%s%s", first ? "" : ",", name);
    if (!unit || !unit[0]) return;
    mcp_text_add(t, ":");
    for (const char *c = unit; *c; c++)
        mcp_text_add(t, "%c", isspace((unsigned char)*c) || *c == ',' ? '.' : *c);
}

char *mcp_hello_write(const mcp_task *task, int measured, int truth, const char *rest)
{
    mcp_text t = {0};
    char    *out = NULL;
    mcp_text_add(&t, "hello %d rate=%.17g%s%s inputs=", MCP_WIRE_VERSION, task->rate,
                 rest && rest[0] ? " " : "", rest ? rest : "");
    for (int i = 0; i < task->nu; i++) add_name(&t, !i, task->input[i].name, task->input[i].unit);
    if (measured) mcp_text_add(&t, " measured=");
    for (int i = 0; measured && i < mcp_task_sensors(task); i++)
        add_name(&t, !i, task->measured[i].name, mcp_channel_unit(task, &task->measured[i]));
    if (truth) mcp_text_add(&t, " truth=");
    for (int i = 0; truth && i < mcp_task_moving(task); i++)
        add_name(&t, !i, task->state[i], task->state_unit[i]);
    mcp_text_add(&t, "\n");
    return mcp_text_take(&t, &out, NULL) == MCP_OK ? out : NULL;
}

/* Blanks, dots, stars and underscores in units mean the same. */
static int same_unit(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && strchr(" .*_", *a)) a++;
        while (*b && strchr(" .*_", *b)) b++;
        if (*a != *b) return 0;
        if (!*a) return 1;
    }
}

typedef struct {
    const char     *what, *list; /* the wire; "inputs" ... */
    const mcp_task *task;
    int             kind, count; /* 0 inputs, 1 measured, 2 truth; how many the task has */
} names;

static const char *name_of(const names *n, int i)
{
    return n->kind == 0   ? n->task->input[i].name
           : n->kind == 1 ? n->task->measured[i].name
                          : n->task->state[i];
}

static const char *unit_of(const names *n, int i)
{
    const char *u = n->kind == 0   ? n->task->input[i].unit
                    : n->kind == 1 ? mcp_channel_unit(n->task, &n->task->measured[i])
                                   : n->task->state_unit[i];
    return u ? u : "";
}

static mcp_status read_names(const names *n, const char *text, int *at, mcp_error *err)
{
    int seen = 0;
    for (const char *p = text; *p; seen++) {
        size_t length = strcspn(p, ","), name = strcspn(p, ":,");
        char   unit[64] = "";
        int    i = 0;
        if (name < length) snprintf(unit, sizeof unit, "%.*s", (int)(length - name - 1), p + name + 1);
        while (i < n->count && (strlen(name_of(n, i)) != name || strncmp(name_of(n, i), p, name))) i++;
        if (i == n->count)
            return mcp_fail(err, MCP_ERR_PLANT,
                            "%s: the plant's hello names %s \"%.*s\", which the task does not have", n->what,
                            n->list, (int)name, p);
        for (int k = 0; k < seen; k++)
            if (at[k] == i)
                return mcp_fail(err, MCP_ERR_PLANT, "%s: the plant's hello names %s \"%s\" twice", n->what,
                                n->list, name_of(n, i));
        if (unit[0] && unit_of(n, i)[0] && !same_unit(unit, unit_of(n, i)))
            return mcp_fail(err, MCP_ERR_PLANT, "%s: the plant gives %s in %s, the task in %s", n->what,
                            name_of(n, i), unit, unit_of(n, i));
        at[seen] = i;
        p += length + (p[length] == ',');
    }
    for (int i = 0; i < n->count && seen < n->count; i++) {
        int found = 0;
        for (int k = 0; k < seen; k++) found |= at[k] == i;
        if (!found)
            return mcp_fail(err, MCP_ERR_PLANT, "%s: the plant's hello does not name %s \"%s\"", n->what,
                            n->list, name_of(n, i));
    }
    return MCP_OK;
}

mcp_status mcp_hello_read(mcp_hello *h, const char *line, const mcp_task *task, const char *what,
                          mcp_error *err)
{
    int         version = 0, used = 0, rated = 0;
    mcp_status  st = MCP_OK;
    const char *p = line;
    *h = (mcp_hello){0};
    if (sscanf(line, "hello %d%n", &version, &used) != 1)
        return mcp_fail(err, MCP_ERR_PLANT, "%s: expected the plant's \"hello %d ...\", got \"%.60s\"", what,
                        MCP_WIRE_VERSION, line);
    if (version != MCP_WIRE_VERSION)
        return mcp_fail(err, MCP_ERR_PLANT,
                        "%s: the plant speaks version %d of the protocol, this program version %d", what,
                        version, MCP_WIRE_VERSION);
    for (p += used; st == MCP_OK && *(p += strspn(p, " \t")); p += strcspn(p, " \t")) {
        char   word[8192];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(p, " \t"), p);
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = 0;
        if (!strcmp(word, "rate")) {
            double rate = mcp_number_read(value, NULL);
            rated = 1;
            if (!(fabs(rate - task->rate) <= 1e-6 * task->rate))
                st = mcp_fail(err, MCP_ERR_PLANT, "%s: the plant runs at %g Hz, the task at %g Hz", what,
                              rate, task->rate);
        } else if (!strcmp(word, "inputs")) {
            h->inputs = task->nu;
            st = read_names(&(names){what, "input", task, 0, task->nu}, value, h->input_at, err);
        } else if (!strcmp(word, "measured")) {
            h->measured = mcp_task_sensors(task);
            st =
                read_names(&(names){what, "measured channel", task, 1, h->measured}, value, h->measured_at,
                           err);
        } else if (!strcmp(word, "acks")) {
            h->acks = !strcmp(value, "apply");
        } else if (!strcmp(word, "truth")) {
            h->truth = mcp_task_moving(task);
            st = read_names(&(names){what, "state", task, 2, h->truth}, value, h->truth_at, err);
        }
    }
    if (st != MCP_OK) return st;
    if (!rated)
        return mcp_fail(err, MCP_ERR_PLANT, "%s: the plant's hello gives no rate=; the task runs at %g Hz",
                        what, task->rate);
    if (!h->inputs) return mcp_fail(err, MCP_ERR_PLANT, "%s: the plant's hello gives no inputs=", what);
    if (!h->measured && !h->truth)
        return mcp_fail(err, MCP_ERR_PLANT, "%s: the plant's hello gives neither measured= nor truth=", what);
    return MCP_OK;
}
