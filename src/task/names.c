/* names.c - after all sections are read: what one section says against another, and the names expressions use.
 * Expressions are compiled later, by what uses them; a name that nothing defines is found here, with the nearest one. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "task/keys.h"

enum { SCOPE = 512 };

typedef struct {
    mcp_reader *r;
    int         count;
    const char *name[SCOPE];
} scope;

static void add(scope *s, const char *name)
{
    if (s->count < SCOPE) s->name[s->count++] = name;
}

static void add_list(scope *s, const mcp_expr_list *list)
{
    for (int i = 0; i < list->n; i++) add(s, list->item[i].name);
}

/* pi, Ts, the constants, then what the flags ask for. */
enum { STATES = 1, INPUTS = 2 };
static scope names(mcp_reader *r, int what)
{
    const mcp_task *t = r->task;
    scope           s = {.r = r};
    add(&s, "pi"), add(&s, "Ts"), add(&s, "and"), add(&s, "or"), add(&s, "not");
    add_list(&s, &t->constants);
    for (int i = 0; what & STATES && i < t->nx; i++) add(&s, t->state[i]);
    for (int i = 0; what & INPUTS && i < t->nu; i++) add(&s, t->input[i].name);
    return s;
}

static const char *const functions[] = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt",
                                        "abs", "sign", "min", "max", "clamp", "sigmoid", "prev", "param", "rbf", "mlp"};
static const char *const kernels[] = {"se", "mp", "linear", "pi", "matern32", "matern52", "rq", "periodic"};

static int is_in(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(word, words[i])) return 1;
    return 0;
}

static mcp_status bad_word(const scope *s, const mcp_expr *e, const char *at, const char *word, int call)
{
    mcp_where w = e->at;
    if (w.column) w.column += (int)(at - e->text);
    const char *near = call ? mcp_nearest(word, functions, sizeof functions / sizeof *functions) : mcp_nearest(word, s->name, s->count);
    return mcp_fail_at(s->r->err, w, "unknown %s \"%s\", expected %s%s%s%s", call ? "function" : "name", word,
                       call ? "a function of the expression language" : "a name this expression can see", near ? "; did you mean \"" : "",
                       near ? near : "", near ? "\"?" : "");
}

static mcp_status check(const scope *s, const mcp_expr *e, int kernel)
{
    if (!e->text) return MCP_OK;
    for (const char *p = e->text; *p;) {
        if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) { /* a number with its exponent */
            while (isdigit((unsigned char)*p) || *p == '.') p++;
            if ((*p == 'e' || *p == 'E') && (isdigit((unsigned char)p[1]) || (p[1] && strchr("+-", p[1]) && isdigit((unsigned char)p[2])))) p += 2;
            continue;
        }
        if (!isalpha((unsigned char)*p) && *p != '_') {
            p++;
            continue;
        }
        char        word[64];
        const char *start = p;
        while (isalnum((unsigned char)*p) || *p == '_') p++;
        snprintf(word, sizeof word, "%.*s", (int)(p - start < 63 ? p - start : 63), start);
        const char *next = p + strspn(p, " \t\n");
        int         call = *next == '(' && !is_in(word, (const char *const[]){"and", "or", "not"}, 3);
        if (kernel && is_in(word, kernels, sizeof kernels / sizeof *kernels) && strcmp(word, "pi")) continue;
        if (kernel && call && !strcmp(word, "pi")) continue;
        if (call ? !is_in(word, functions, sizeof functions / sizeof *functions) : !is_in(word, s->name, s->count))
            return bad_word(s, e, start, word, call);
        if (call && !strcmp(word, "param")) { /* its first argument is a new name */
            p = next + 1;
            while (*p && *p != ',' && *p != ')') p++;
        }
    }
    return MCP_OK;
}

static mcp_status check_list(const scope *s, const mcp_expr_list *list)
{
    mcp_status st = MCP_OK;
    for (int i = 0; i < list->n && st == MCP_OK; i++) st = check(s, &list->item[i].expr, 0);
    return st;
}

/* Definitions see those before them. */
static mcp_status check_in_order(scope *s, const mcp_expr_list *list)
{
    mcp_status st = MCP_OK;
    for (int i = 0; i < list->n && st == MCP_OK; i++) {
        const char *name = list->item[i].name;
        if (is_in(name, s->name, s->count) || mcp_is_reserved(name))
            return mcp_fail_at(s->r->err, list->item[i].expr.at, "found the definition of \"%s\", expected a name that means nothing else yet", name);
        st = check(s, &list->item[i].expr, 0);
        add(s, name);
    }
    return st;
}

static mcp_status check_constants(mcp_reader *r)
{
    scope s = {.r = r};
    add(&s, "pi"), add(&s, "Ts");
    return check_in_order(&s, &r->task->constants);
}

static mcp_status check_model(mcp_reader *r)
{
    const mcp_task *t = r->task;
    scope           s = names(r, STATES | INPUTS);
    mcp_status      st = check_list(&s, &t->features);
    if (st == MCP_OK) st = check_list(&s, &t->known);
    for (int i = 0; i < t->ngp && st == MCP_OK; i++) st = check(&s, &t->gp[i].prior_mean, 0);
    add_list(&s, &t->features); /* a kernel may use features by name */
    for (int i = 0; i < t->ngp && st == MCP_OK; i++) st = check(&s, &t->gp[i].kernel, 1);
    return st;
}

static mcp_status check_controller(mcp_reader *r)
{
    const mcp_task *t = r->task;
    scope           s = names(r, STATES);
    mcp_status      st = check_in_order(&s, &t->let);
    if (st == MCP_OK) st = check_list(&s, &t->policy);
    int word = t->fail_safe.text && (!strcmp(t->fail_safe.text, "hold") || !strcmp(t->fail_safe.text, "zero"));
    if (st == MCP_OK && !word) st = check(&s, &t->fail_safe, 0);
    if (st != MCP_OK || t->observer.type != MCP_OBSERVER_CUSTOM) return st;
    /* The observer sees measurements y_NAME, its memory and the commands sent, last_NAME. */
    static const char  *prefix[] = {"y_", "last_"};
    char               *made;
    s = names(r, 0);
    for (int i = 0; i < t->ny + t->nu; i++) {
        const char *of = i < t->ny ? t->measured[i].name : t->input[i - t->ny].name;
        if (!(made = mcp_bag_get(r->bag, strlen(of) + 8, 1))) return mcp_read_memory(r);
        snprintf(made, strlen(of) + 8, "%s%s", prefix[i >= t->ny], of);
        add(&s, made);
    }
    if ((st = check_list(&s, &t->observer.memory_start)) != MCP_OK) return st;
    add_list(&s, &t->observer.memory_next);
    for (int i = 0; i < t->observer.output.n && st == MCP_OK; i++) {
        st = check(&s, &t->observer.output.item[i].expr, 0);
        add(&s, t->observer.output.item[i].name);
    }
    return st == MCP_OK ? check_list(&s, &t->observer.memory_next) : st;
}

static mcp_status check_goal(mcp_reader *r)
{
    const mcp_task *t = r->task;
    scope           s = names(r, STATES | INPUTS);
    mcp_status      st = check(&s, &t->cost, 0);
    if (st == MCP_OK) st = check(&s, &t->metric, 0);
    if (st == MCP_OK) st = check(&s, &t->success, 0);
    for (int i = 0; i < t->limits && st == MCP_OK; i++) st = check(&s, &t->limit[i].when, 0);
    for (int i = 0; i < t->draws && st == MCP_OK; i++) st = check_list(&s, &t->draw[i].args);
    return st;
}

/* A position's derivative is its velocity unless the file says otherwise; nothing else may be missing. */
static mcp_status complete_ode(mcp_reader *r, mcp_node *ode)
{
    mcp_task *t = r->task;
    for (int i = 0; i < t->ngp; i++) {
        if (t->gp[i].position < 0) continue;
        const char *q = t->state[t->gp[i].position], *v = t->state[t->gp[i].state];
        if (mcp_node_find(ode, q)) continue;
        mcp_status st = mcp_fill(r, ode, q, v);
        if (st != MCP_OK) return st;
    }
    mcp_status st = mcp_read_exprs(r, ode, &t->plant.ode);
    for (int i = 0; i < t->nx && st == MCP_OK; i++)
        if (!mcp_node_find(ode, t->state[i]))
            return mcp_fail_at(r->err, ode->at, "plant.ode: the derivative of \"%s\" is missing, expected one for every state", t->state[i]);
    for (int i = 0; i < t->plant.hidden.n && st == MCP_OK; i++)
        if (!mcp_node_find(ode, t->plant.hidden.item[i].name))
            return mcp_fail_at(r->err, ode->at, "plant.ode: the derivative of hidden state \"%s\" is missing, expected one", t->plant.hidden.item[i].name);
    return st;
}

static mcp_status check_plant(mcp_reader *r, mcp_node *root)
{
    mcp_task *t = r->task;
    mcp_node *plant = mcp_node_find(root, "plant"), *ode = plant ? mcp_node_find(plant, "ode") : NULL;
    if (!ode) return MCP_OK;
    scope      s = names(r, STATES | INPUTS);
    mcp_status st = check_list(&s, &t->plant.hidden);
    if (st != MCP_OK) return st;
    for (int i = 0; i < t->plant.hidden.n; i++) {
        const char *name = t->plant.hidden.item[i].name;
        if (is_in(name, s.name, s.count) || mcp_is_reserved(name))
            return mcp_fail_at(r->err, t->plant.hidden.item[i].expr.at, "found hidden state \"%s\", expected a name that means nothing else yet", name);
        add(&s, name);
    }
    for (mcp_node *c = ode->first; c; c = c->next) {
        int state;
        if (is_in(c->key, s.name + s.count - t->plant.hidden.n, t->plant.hidden.n)) continue;
        if ((st = mcp_read_state(r, c->key, c->key_at, &state)) != MCP_OK) return st;
    }
    if ((st = complete_ode(r, ode)) != MCP_OK) return st;
    for (int i = 0, state; i < t->plant.after.n; i++)
        if ((st = mcp_read_state(r, t->plant.after.item[i].name, t->plant.after.item[i].expr.at, &state)) != MCP_OK) return st;
    if ((st = check_in_order(&s, &t->plant.let)) != MCP_OK) return st;
    if ((st = check_list(&s, &t->plant.ode)) != MCP_OK) return st;
    return check_list(&s, &t->plant.after);
}

mcp_status mcp_task_consistent(mcp_reader *r, mcp_node *root)
{
    const mcp_task *t = r->task;
    mcp_status      st = check_constants(r);
    if (st == MCP_OK) st = check_model(r);
    if (st == MCP_OK) st = check_controller(r);
    if (st == MCP_OK) st = check_goal(r);
    if (st == MCP_OK) st = check_plant(r, root);
    if (st != MCP_OK) return st;
    const mcp_node *trial = mcp_node_find(root, "trial"), *success = mcp_node_find(root, "success");
    double          steps = t->trial * t->rate;
    if (steps < 3.0 || steps > 100000.0)
        return mcp_fail_at(r->err, trial->at, "trial: found %g s at %g Hz, which is %g samples, expected 3 to 100000", t->trial, t->rate, steps);
    if (fabs(steps - round(steps)) > 1e-6 * steps)
        return mcp_fail_at(r->err, trial->at, "trial: found %g s at %g Hz, which is %g samples, expected a whole number", t->trial, t->rate, steps);
    if (success && t->success_last > t->trial)
        return mcp_fail_at(r->err, success->at, "success.last: found %g s, expected at most the trial's %g s", t->success_last, t->trial);
    if (t->optimise.step_size_min > t->optimise.step_size)
        return mcp_fail_at(r->err, mcp_node_find(root, "optimise")->at, "optimise: found step_size_min %g above step_size %g, expected at most that",
                           t->optimise.step_size_min, t->optimise.step_size);
    return MCP_OK;
}
