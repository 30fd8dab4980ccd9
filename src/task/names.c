/* names.c - after all sections are read: what one section says against another, and the expressions
 * themselves. Each is parsed here with the names it may use, so that every mistake in the file is found
 * before anything runs; what is made of them is compiled later, by what uses them. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program/builder.h"
#include "model/kernel.h"
#include "task/keys.h"
#include "task/task_builder.h"

/* A set of names and the expressions read with it; the first failure stays. */
typedef struct {
    mcp_reader  *r;
    mcp_builder *b;
    mcp_status   status;
    int          checks;
} scope;

static void keep(scope *s, mcp_status st)
{
    if (s->status == MCP_OK) s->status = st;
}

static void define(scope *s, const mcp_named_expr *e)
{
    if (s->status == MCP_OK) keep(s, mcp_builder_define(s->b, e->name, e->expr.text, e->expr.at, s->r->err));
}

static void define_all(scope *s, const mcp_expr_list *list)
{
    for (int i = 0; i < list->n; i++) define(s, &list->item[i]);
}

static void check(scope *s, const mcp_expr *e)
{
    char name[48];
    if (!e->text || s->status != MCP_OK) return;
    snprintf(name, sizeof name, "expression_%d", s->checks++);
    keep(s, mcp_read_note(s->r, mcp_builder_output(s->b, name, e->text, e->at, s->r->err)));
}

static void check_all(scope *s, const mcp_expr_list *list)
{
    for (int i = 0; i < list->n; i++) check(s, &list->item[i].expr);
}

static void input(scope *s, const char *prefix, const char *of)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, of);
    if (s->status == MCP_OK) keep(s, mcp_builder_input(s->b, name, s->r->err));
}

/* Constants, then what the flags ask for. */
enum { STATES = 1, INPUTS = 2 };
static scope open_scope(mcp_reader *r, int what)
{
    const mcp_task *t = r->task;
    scope           s = {.r = r};
    s.status          = mcp_task_builder(&s.b, t, r->err);
    if (what & STATES && s.status == MCP_OK) s.status = mcp_task_builder_states(s.b, t, r->err);
    if (what & INPUTS && s.status == MCP_OK) s.status = mcp_task_builder_inputs(s.b, t, r->err);
    return s;
}

static mcp_status close_scope(scope *s)
{
    mcp_builder_free(s->b);
    return s->status;
}

/* A kernel's words are not expressions: of each word in it only the name is looked at. Features may be used
 * by name. */
static mcp_status kernel_names(mcp_reader *r, const scope *s, const mcp_expr *e)
{
    const mcp_task *t = r->task;
    for (const char *p = e->text; *p;) {
        const char *start = p;
        char        word[64];
        while (isalnum((unsigned char)*p) || *p == '_' || *p == '.') p++;
        if (p == start) {
            p++;
            continue;
        }
        if (!isalpha((unsigned char)*start) && *start != '_') continue; /* a number */
        snprintf(word, sizeof word, "%.*s", (int)(p - start < 63 ? p - start : 63), start);
        int known = mcp_kernel_known(t->registry, word);
        for (int i = 0; i < t->features.n; i++) known |= !strcmp(word, t->features.item[i].name);
        if (known || mcp_word_reserved(word) || mcp_builder_find(s->b, word, strlen(word))) continue;
        mcp_where   w    = e->at;
        const char *near = mcp_nearest(word, (const char *const *)t->state, t->nx);
        if (w.column) w.column += (int)(start - e->text);
        return mcp_fail_at(r->err, w,
                           "found unknown name \"%s\" in a kernel, expected states, inputs or features%s%s%s",
                           word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return MCP_OK;
}

static mcp_status check_model(mcp_reader *r)
{
    const mcp_task *t = r->task;
    scope           s = open_scope(r, STATES | INPUTS);
    check_all(&s, &t->features);
    check_all(&s, &t->known);
    for (int i = 0; i < t->ngp; i++) check(&s, &t->gp[i].prior_mean);
    for (int i = 0; i < t->ngp && s.status == MCP_OK; i++)
        keep(&s, mcp_read_note(r, kernel_names(r, &s, &t->gp[i].kernel)));
    return close_scope(&s);
}

/* The observer sees measurements y_NAME, its memory and the commands sent, last_NAME. */
static mcp_status check_observer(mcp_reader *r)
{
    const mcp_task          *t = r->task;
    const mcp_task_observer *o = &t->observer;
    if (o->type != MCP_OBSERVER_CUSTOM) return MCP_OK;
    scope s = open_scope(r, 0);
    for (int i = 0; i < t->ny; i++) input(&s, "y_", t->measured[i].name);
    for (int i = 0; i < t->nseen; i++)
        if (t->seen[i].sensor < 0) input(&s, "y_", t->seen[i].name);
    for (int i = 0; i < t->nu; i++) input(&s, "last_", t->input[i].name);
    for (int i = 0; i < o->memory_start.n && s.status == MCP_OK; i++) {
        const mcp_named_expr *m = &o->memory_start.item[i];
        keep(&s, mcp_builder_memory(s.b, m->name, m->expr.text, m->expr.at, r->err));
    }
    define_all(&s, &o->output);
    check_all(&s, &o->memory_next);
    return close_scope(&s);
}

/* States that the controller cannot know are not names of the policy; the sentence says what is missing. */
static mcp_status only_observed(mcp_reader *r, const mcp_expr_list *list)
{
    const mcp_task *t = r->task;
    for (int k = 0; k < list->n; k++)
        for (const char *p = list->item[k].expr.text; *p;) {
            size_t n = 0;
            while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
            for (int i = 0; n && i < t->nx; i++) {
                if (strlen(t->state[i]) != n || strncmp(p, t->state[i], n) || mcp_state_observable(t, i))
                    continue;
                mcp_where w = list->item[k].expr.at;
                if (w.column) w.column += (int)(p - list->item[k].expr.text);
                return mcp_fail_at(r->err, w,
                                   "policy: found \"%s\", which nothing tells the controller; measure it, "
                                   "name it as the velocity of a measured position, give it a known "
                                   "transition or make it an output of a custom observer",
                                   t->state[i]);
            }
            p += n ? n : 1;
        }
    return MCP_OK;
}

static mcp_status check_policy(mcp_reader *r)
{
    const mcp_task *t = r->task;
    scope           s = open_scope(r, STATES);
    keep(&s, only_observed(r, &t->let));
    keep(&s, only_observed(r, &t->policy));
    define_all(&s, &t->let);
    check_all(&s, &t->policy);
    return close_scope(&s);
}

/* The safe input sees the observed state and, by the inputs' names, the last commands. */
static mcp_status check_safe(mcp_reader *r)
{
    const mcp_expr_list *safe = &r->task->safe;
    scope                s = open_scope(r, STATES | INPUTS);
    for (int i = 0; i < safe->n; i++)
        if (strcmp(safe->item[i].expr.text, "zero") && strcmp(safe->item[i].expr.text, "hold"))
            check(&s, &safe->item[i].expr);
    return close_scope(&s);
}

static mcp_status check_goal(mcp_reader *r)
{
    const mcp_task *t = r->task;
    scope           s = open_scope(r, STATES | INPUTS);
    check(&s, &t->cost);
    check(&s, &t->metric);
    check(&s, &t->success);
    for (int i = 0; i < t->limits; i++) check(&s, &t->limit[i].when);
    for (int i = 0; i < t->draws; i++) check_all(&s, &t->draw[i].args);
    return close_scope(&s);
}

/* A position's derivative is its velocity unless the file says otherwise; nothing else may be missing. */
static mcp_status complete_ode(mcp_reader *r, mcp_yaml *ode)
{
    mcp_task *t = r->task;
    for (int i = 0; i < t->ngp; i++) {
        if (t->gp[i].position < 0) continue;
        const char *q = t->state[t->gp[i].position], *v = t->state[t->gp[i].state];
        if (mcp_yaml_find(ode, q)) continue;
        mcp_status st = mcp_fill(r, ode, q, v);
        if (st != MCP_OK) return st;
    }
    mcp_status st = mcp_read_exprs(r, ode, &t->plant.ode);
    for (int i = 0; i < mcp_task_moving(t) && st == MCP_OK; i++)
        if (!mcp_yaml_find(ode, t->state[i]))
            return mcp_fail_at(r->err, ode->at,
                               "plant.ode: the derivative of \"%s\" is missing, expected one for every state",
                               t->state[i]);
    for (int i = 0; i < t->plant.hidden.n && st == MCP_OK; i++)
        if (!mcp_yaml_find(ode, t->plant.hidden.item[i].name))
            return mcp_fail_at(r->err, ode->at,
                               "plant.ode: the derivative of hidden state \"%s\" is missing, expected one",
                               t->plant.hidden.item[i].name);
    return st;
}

static mcp_status is_plant_state(mcp_reader *r, const char *name, mcp_where at)
{
    const mcp_expr_list *hidden = &r->task->plant.hidden;
    int                  state;
    for (int i = 0; i < hidden->n; i++)
        if (!strcmp(hidden->item[i].name, name)) return MCP_OK;
    return mcp_read_state(r, name, at, &state);
}

/* A random number of the plant is a constant that varies, or has a name that means nothing else. */
static mcp_status check_random(mcp_reader *r, const mcp_yaml *random, const char *name, scope *s)
{
    const mcp_task *t  = r->task;
    mcp_where       at = mcp_yaml_find(random, name)->key_at;
    int             taken = mcp_task_find_state(t, name) >= 0 || mcp_task_find_input(t, name) >= 0;
    for (int i = 0; i < t->plant.hidden.n; i++) taken |= !strcmp(t->plant.hidden.item[i].name, name);
    for (int i = 0; i < t->constants.n; i++)
        if (!strcmp(t->constants.item[i].name, name)) return MCP_OK;
    if (!mcp_is_name(name) || mcp_is_reserved(name) || taken)
        return mcp_fail_at(r->err, at,
                           "plant.random: found \"%s\", expected a constant's name, or one that means "
                           "nothing else (the start of a hidden state is random by a name of its own)",
                           name);
    input(s, "", name);
    return s->status;
}

static mcp_status check_plant(mcp_reader *r, mcp_yaml *root)
{
    mcp_task  *t     = r->task;
    mcp_yaml  *plant = mcp_yaml_find(root, "plant"), *ode = plant ? mcp_yaml_find(plant, "ode") : NULL;
    mcp_status st = MCP_OK;
    if (!ode) return MCP_OK;
    for (mcp_yaml *c = ode->first; c && st == MCP_OK; c = c->next) st = is_plant_state(r, c->key, c->key_at);
    for (int i = 0; i < t->plant.after.n && st == MCP_OK; i++)
        st = is_plant_state(r, t->plant.after.item[i].name, t->plant.after.item[i].expr.at);
    if (st == MCP_OK) st = complete_ode(r, ode);
    if (st != MCP_OK) return st;
    scope s = open_scope(r, STATES | INPUTS);
    for (int i = 0; i < t->plant.random.n; i++)
        keep(&s, check_random(r, mcp_yaml_find(plant, "random"), t->plant.random.item[i].name, &s));
    check_all(&s, &t->plant.hidden);
    for (int i = 0; i < t->plant.hidden.n; i++) input(&s, "", t->plant.hidden.item[i].name);
    define_all(&s, &t->plant.let);
    check_all(&s, &t->plant.ode);
    check_all(&s, &t->plant.after);
    return close_scope(&s);
}

static mcp_status check_times(mcp_reader *r, const mcp_yaml *root)
{
    const mcp_task *t = r->task;
    const mcp_yaml *trial = mcp_yaml_find(root, "trial"), *success = mcp_yaml_find(root, "success");
    double          steps = t->trial * t->rate;
    if (steps < 3.0 || steps > MCP_MAX_STEPS)
        return mcp_fail_at(r->err, trial->at,
                           "trial: found %g s at %g Hz, which is %g samples, expected 3 to %d", t->trial,
                           t->rate, steps, MCP_MAX_STEPS);
    if (fabs(steps - round(steps)) > 1e-6 * steps)
        return mcp_fail_at(r->err, trial->at,
                           "trial: found %g s at %g Hz, which is %g samples, expected a whole number",
                           t->trial, t->rate, steps);
    if (success && t->success_last > t->trial)
        return mcp_fail_at(r->err, success->at, "success.last: found %g s, expected at most the trial's %g s",
                           t->success_last, t->trial);
    if (t->optimise.step_size_min > t->optimise.step_size)
        return mcp_fail_at(r->err, mcp_yaml_find(root, "optimise")->at,
                           "optimise: found step_size_min %g above step_size %g, expected at most that",
                           t->optimise.step_size_min, t->optimise.step_size);
    return MCP_OK;
}

mcp_status mcp_task_consistent(mcp_reader *r, mcp_yaml *root)
{
    mcp_status      st = mcp_read_note(r, check_model(r));
    if (st == MCP_OK) st = mcp_read_note(r, mcp_read_computed(r));
    if (st == MCP_OK && mcp_read_sound(r, "observer")) st = mcp_read_note(r, check_observer(r));
    if (st == MCP_OK && mcp_read_sound(r, "policy") && mcp_read_sound(r, "let"))
        st = mcp_read_note(r, check_policy(r));
    if (st == MCP_OK && mcp_read_sound(r, "safe")) st = mcp_read_note(r, check_safe(r));
    if (st == MCP_OK && mcp_read_sound(r, "draw")) st = mcp_read_note(r, check_goal(r));
    if (st == MCP_OK && mcp_read_sound(r, "plant")) st = mcp_read_note(r, check_plant(r, root));
    return st == MCP_OK ? check_times(r, root) : st;
}
