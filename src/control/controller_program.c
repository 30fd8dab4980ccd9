/* controller_program.c - observer, policy and limits in one program; the same policy on the true state, for
 * MC-PILCO; and the same observer and limits around commands that are given, for exploration.
 *
 *   u = clamp(policy(z), low, high), then at most slew*Ts away from the command before
 * This is the only place where commands are limited. The two programs with a policy see its expressions in
 * the same order, so theta means the same in both. */
#include <string.h>

#include "control/compose.h"

/* Declares the memory of the commands that something looks back at. */
static int looks_back(const mcp_task *t, int input)
{
    return t->input[input].slew > 0.0 || t->observer.type == MCP_OBSERVER_CUSTOM;
}

static void last_commands(mcp_composer *c, const mcp_task *t)
{
    char name[MCP_NAME_SIZE], rest[MCP_NAME_SIZE];
    for (int i = 0; i < t->nu; i++)
        if (looks_back(t, i))
            mcp_compose_memory(c, mcp_compose_name(name, "last_%s", t->input[i].name), "%s",
                               mcp_compose_rest(c, t, i, rest));
}

static const mcp_expr *policy_of(mcp_composer *c, const mcp_task *t, int input)
{
    for (int i = 0; i < t->policy.n; i++)
        if (t->policy.item[i].name && !strcmp(t->policy.item[i].name, t->input[input].name))
            return &t->policy.item[i].expr;
    if (t->nu == 1 && t->policy.n == 1) return &t->policy.item[0].expr;
    mcp_compose_fail(c, MCP_ERR_TASK, "policy: input %s has no expression", t->input[input].name);
    return NULL;
}

/* Definitions policy_NAME, as written. */
static void policy(mcp_composer *c, const mcp_task *t)
{
    char name[MCP_NAME_SIZE];
    for (int i = 0; i < t->let.n; i++) mcp_compose_define_at(c, t->let.item[i].name, &t->let.item[i].expr);
    for (int i = 0; i < t->nu; i++) {
        const mcp_expr *e = policy_of(c, t, i);
        if (e) mcp_compose_define_at(c, mcp_compose_name(name, "policy_%s", t->input[i].name), e);
    }
}

/* command_NAME: policy_NAME within its limits. */
static void commands(mcp_composer *c, const mcp_system *s)
{
    const mcp_task *t = s->task;
    char            name[MCP_NAME_SIZE], before[MCP_NAME_SIZE];
    for (int i = 0; i < t->nu; i++) {
        const char *u = t->input[i].name;
        double      low = t->input[i].low, high = t->input[i].high, most = t->input[i].slew * s->ts;
        if (!(low < high))
            mcp_compose_fail(c, MCP_ERR_TASK, "inputs: the range of %s must not be empty", u);
        mcp_compose_constant(c, mcp_compose_name(name, "@low_%s", u), low);
        mcp_compose_constant(c, mcp_compose_name(name, "@high_%s", u), high);
        if (most > 0.0) mcp_compose_constant(c, mcp_compose_name(name, "@slew_%s", u), most);
        mcp_compose_name(name, "command_%s", u);
        if (most > 0.0) {
            mcp_compose_define(c, name,
                               "clamp(clamp(policy_%s, @low_%s, @high_%s), last_%s - @slew_%s, "
                               "last_%s + @slew_%s)",
                               u, u, u, u, u, u, u);
        } else {
            mcp_compose_define(c, name, "clamp(policy_%s, @low_%s, @high_%s)", u, u, u);
        }
        if (looks_back(t, i)) mcp_compose_next(c, mcp_compose_name(before, "last_%s", u), "command_%s", u);
    }
}

/* States carried from our own commands: the motors of a ball-and-plate. */
static void known_start(mcp_composer *c, const mcp_system *s, char *known_to)
{
    const mcp_task *t = s->task;
    char            name[MCP_NAME_SIZE];
    double          mean, variance;
    for (int i = 0; i < t->known.n; i++) {
        int state = mcp_task_find_state(t, t->known.item[i].name);
        if (state < 0) {
            mcp_compose_fail(c, MCP_ERR_TASK, "model: known transition of %s, which is not a state",
                             t->known.item[i].name);
            return;
        }
        if (known_to[state]) continue;
        mcp_start_moments(&t->start, t->nx, state, &mean, &variance);
        mcp_compose_constant(c, mcp_compose_name(name, "@start_%s", t->state[state]), mean);
        mcp_compose_memory(c, t->state[state], "%s", name);
        known_to[state] = 2;
    }
}

static void known_next(mcp_composer *c, const mcp_system *s, const char *known_to)
{
    const mcp_task *t = s->task;
    char            name[MCP_NAME_SIZE], before[MCP_NAME_SIZE], rest[MCP_NAME_SIZE];
    int             any = 0;
    for (int i = 0; i < t->nx; i++) any |= known_to[i] == 2;
    if (!any) return;
    /* The names of the inputs in a known transition mean what reaches the plant. */
    for (int i = 0; i < t->nu; i++) {
        const char *u = t->input[i].name;
        mcp_compose_name(before, "command_%s", u);
        for (int d = 1; d <= t->input[i].delay; d++) {
            mcp_compose_memory(c, mcp_compose_name(name, "delay%d_%s", d, u), "%s",
                               mcp_compose_rest(c, t, i, rest));
            mcp_compose_next(c, name, "%s", before);
            mcp_compose_name(before, "%s", name);
        }
        mcp_compose_define(c, u, "%s", before);
    }
    for (int i = 0; i < t->known.n; i++) {
        int state = mcp_task_find_state(t, t->known.item[i].name);
        if (state >= 0 && known_to[state] == 2)
            mcp_compose_next_at(c, t->state[state], &t->known.item[i].expr);
    }
}

static void outputs(mcp_composer *c, const mcp_task *t, const char *known_to)
{
    for (int i = 0; i < t->nu; i++) mcp_compose_output(c, t->input[i].name, "command_%s", t->input[i].name);
    for (int i = 0; i < t->nx; i++) mcp_compose_output(c, t->state[i], "%s", known_to[i] ? t->state[i] : "0");
}

/* given: the commands are inputs of the program, in place of a policy. */
static mcp_status with_observer(mcp_system *s, int given, char *known_to, mcp_program **out, mcp_error *err)
{
    const mcp_task *t = s->task;
    mcp_composer    c;
    mcp_compose_begin(&c, s, err);
    mcp_compose_measured(&c, t);
    for (int i = 0; given && i < t->nu; i++) mcp_compose_input(&c, "policy_%s", t->input[i].name);
    last_commands(&c, t);
    mcp_observer_compose(&c, s, known_to);
    known_start(&c, s, known_to);
    if (!given) policy(&c, t);
    commands(&c, s);
    known_next(&c, s, known_to);
    outputs(&c, t, known_to);
    return mcp_compose_end(&c, out);
}

static mcp_status on_true_state(mcp_system *s, mcp_error *err)
{
    mcp_composer c;
    char         all[MCP_MAX_STATE];
    memset(all, 1, sizeof all);
    mcp_compose_begin(&c, s, err);
    mcp_compose_states(&c, s->task);
    last_commands(&c, s->task);
    policy(&c, s->task);
    commands(&c, s);
    outputs(&c, s->task, all);
    return mcp_compose_end(&c, &s->policy_true);
}

/* theta must mean the same in both programs: the same groups, in the same order and shape. */
static mcp_status same_parameters(const mcp_program *a, const mcp_program *b, mcp_error *err)
{
    const int n = mcp_program_groups(a), m = mcp_program_groups(b);
    for (int i = 0; i < (n > m ? n : m); i++) {
        const mcp_param_group *p = i < n ? mcp_program_group(a, i) : NULL;
        const mcp_param_group *q = i < m ? mcp_program_group(b, i) : NULL;
        if (p && q && !strcmp(p->name, q->name) && p->kind == q->kind && p->offset == q->offset &&
            p->rows == q->rows && p->cols == q->cols)
            continue;
        return mcp_fail(err, MCP_ERR_TASK,
                        "observer: parameter group %d is %s with the observer but %s on the true state; "
                        "learnable parameters may appear only in the policy and its helpers",
                        i + 1, p ? p->name : "absent", q ? q->name : "absent");
    }
    return MCP_OK;
}

mcp_status mcp_controller_compose(mcp_system *s, mcp_error *err)
{
    char       again[MCP_MAX_STATE] = {0};
    mcp_status st = with_observer(s, 0, s->observed, &s->controller, err);
    if (st == MCP_OK) st = on_true_state(s, err);
    if (st == MCP_OK) st = same_parameters(s->controller, s->policy_true, err);
    if (st == MCP_OK) st = with_observer(s, 1, again, &s->given, err);
    return st;
}
