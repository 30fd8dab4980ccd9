/* dynamics.c - the model section: which states Gaussian processes learn, on which features, with which
 * kernel. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "model/kernel.h"
#include "task/keys.h"

/* Every state is moved by exactly one thing. */
static mcp_status claim(mcp_reader *r, int state, mcp_where at, char *taken)
{
    if (taken[state])
        return mcp_fail_at(
            r->err, at,
            "found \"%s\" twice in model, expected each state once in velocities, changes or known",
            r->task->state[state]);
    taken[state] = 1;
    return MCP_OK;
}

static void claimed(const mcp_task *t, char *taken)
{
    memset(taken, 0, MCP_MAX_STATE);
    for (int i = 0; i < t->ngp; i++) {
        taken[t->gp[i].state] = 1;
        if (t->gp[i].position >= 0) taken[t->gp[i].position] = 1;
    }
    for (int i = 0; i < t->known.n; i++) taken[mcp_task_find_state(t, t->known.item[i].name)] = 1;
}

static mcp_status room_for_gps(mcp_reader *r)
{
    mcp_task *t = r->task;
    if (!t->gp) t->gp = mcp_task_memory_get(r->bag, MCP_MAX_STATE, sizeof *t->gp);
    return t->gp ? MCP_OK : mcp_read_memory(r);
}

static mcp_status read_velocities(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t = base;
    char       taken[MCP_MAX_STATE];
    mcp_status st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK || (st = room_for_gps(r)) != MCP_OK) return st;
    claimed(t, taken);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        mcp_task_gp gp = {.kind = MCP_GP_VELOCITY};
        const char *name;
        if ((st = mcp_read_state(r, c->key, c->key_at, &gp.position)) != MCP_OK) return st;
        if ((st = mcp_read_name(r, c, &name)) != MCP_OK ||
            (st = mcp_read_state(r, name, c->at, &gp.state)) != MCP_OK)
            return st;
        if ((st = claim(r, gp.position, c->key_at, taken)) != MCP_OK ||
            (st = claim(r, gp.state, c->at, taken)) != MCP_OK)
            return st;
        t->gp[t->ngp++] = gp;
    }
    return MCP_OK;
}

static mcp_status read_changes(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t = base;
    char       taken[MCP_MAX_STATE];
    mcp_status st = mcp_expect(r, n, MCP_YAML_LIST, key->form);
    if (st != MCP_OK || (st = room_for_gps(r)) != MCP_OK) return st;
    claimed(t, taken);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        mcp_task_gp gp = {.kind = MCP_GP_CHANGE, .position = -1};
        const char *name;
        if ((st = mcp_read_name(r, c, &name)) != MCP_OK ||
            (st = mcp_read_state(r, name, c->at, &gp.state)) != MCP_OK)
            return st;
        if ((st = claim(r, gp.state, c->at, taken)) != MCP_OK) return st;
        t->gp[t->ngp++] = gp;
    }
    return MCP_OK;
}

static mcp_status read_known(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task     *t    = base;
    mcp_expr_list list = {0};
    char          taken[MCP_MAX_STATE];
    int           state;
    mcp_status    st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    if (st != MCP_OK || (st = mcp_read_exprs(r, n, &list)) != MCP_OK) return st;
    claimed(t, taken);
    for (mcp_yaml *c = n->first; c; c = c->next)
        if ((st = mcp_read_state(r, c->key, c->key_at, &state)) != MCP_OK ||
            (st = claim(r, state, c->key_at, taken)) != MCP_OK)
            return st;
    t->known = list;
    return MCP_OK;
}

/* Features: a list of expressions (each its own name) or a mapping name: expression. */
static mcp_status read_features(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t = base;
    mcp_status st;
    if (n->kind == MCP_YAML_SCALAR || !n->count) return mcp_read_fail(r, n, key->form);
    if (n->count > MCP_MAX_FEATURE)
        return mcp_fail_at(r->err, n->at, "found %d features, expected at most %d", n->count,
                           MCP_MAX_FEATURE);
    t->features.n = 0;
    if (!(t->features.item = mcp_task_memory_get(r->bag, (size_t)n->count, sizeof(mcp_named_expr))))
        return mcp_read_memory(r);
    for (mcp_yaml *c = n->first; c; c = c->next) {
        mcp_named_expr *f    = &t->features.item[t->features.n];
        const char     *name = c->key ? c->key : c->text;
        if ((st = mcp_read_expr(r, c, &f->expr)) != MCP_OK) return st;
        for (int i = 0; i < t->features.n; i++)
            if (!strcmp(t->features.item[i].expr.text, f->expr.text))
                return mcp_read_fail(r, c, "each feature once");
        if (!(f->name = mcp_task_memory_text(r->bag, name, strlen(name)))) return mcp_read_memory(r);
        t->features.n++;
    }
    t->nf = t->features.n;
    return MCP_OK;
}

/* Index of the GP that learns the state of this name. */
static mcp_status find_gp(mcp_reader *r, const mcp_yaml *c, int *index)
{
    const mcp_task *t = r->task;
    const char     *names[MCP_MAX_STATE];
    for (int i = 0; i < t->ngp; i++) {
        names[i] = t->state[t->gp[i].state];
        if (!strcmp(names[i], c->key)) {
            *index = i;
            return MCP_OK;
        }
    }
    const char *near = mcp_nearest(c->key, names, t->ngp);
    return mcp_fail_at(r->err, c->key_at,
                       "found \"%s\" in model.%s, expected a velocity or change that the model learns%s%s%s",
                       c->key, c->parent->key, near ? "; did you mean \"" : "", near ? near : "",
                       near ? "\"?" : "");
}

/* Words outside brackets must name kernels; what stands inside them is read when the model is compiled. */
static mcp_status check_kernel(mcp_reader *r, const mcp_yaml *n)
{
    static const char *const words[] = {"se", "mp", "linear", "pi", "matern32", "matern52", "rq", "periodic"};
    char                     word[33];
    int                      depth = 0;
    for (const char *p = n->text; *p;) {
        if (!isalpha((unsigned char)*p) || depth > 0) {
            depth += (*p == '(') - (*p == ')');
            p++;
            continue;
        }
        size_t length = 0, known = sizeof words / sizeof *words;
        while (isalnum((unsigned char)p[length]) || p[length] == '_') length++;
        snprintf(word, sizeof word, "%.*s", (int)(length < 32 ? length : 32), p);
        if (!mcp_kernel_known(r->task->registry, word)) {
            const char *near = mcp_nearest(word, words, (int)known);
            mcp_where   at   = n->at;
            if (at.column) at.column += (int)(p - n->text);
            return mcp_fail_at(r->err, at,
                               "found kernel \"%s\", expected one of se, mp, linear, pi, matern32, matern52, "
                               "rq, periodic%s%s%s",
                               word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
        }
        p += length;
    }
    return MCP_OK;
}

static mcp_status read_kernel(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t = base;
    mcp_status st;
    int        i;
    if (n->kind == MCP_YAML_LIST) return mcp_read_fail(r, n, key->form);
    if (n->kind == MCP_YAML_SCALAR) {
        if ((st = check_kernel(r, n)) != MCP_OK) return st;
        for (i = 0; i < t->ngp; i++)
            if ((st = mcp_read_expr(r, n, &t->gp[i].kernel)) != MCP_OK) return st;
        return MCP_OK;
    }
    for (mcp_yaml *c = n->first; c; c = c->next) {
        if ((st = find_gp(r, c, &i)) != MCP_OK || (st = mcp_read_expr(r, c, &t->gp[i].kernel)) != MCP_OK)
            return st;
        if ((st = check_kernel(r, c)) != MCP_OK) return st;
    }
    for (i = 0; i < t->ngp; i++)
        if (!t->gp[i].kernel.text)
            return mcp_fail_at(
                r->err, n->at,
                "model.kernel: \"%s\" is missing, expected a kernel for every velocity and change",
                t->state[t->gp[i].state]);
    return MCP_OK;
}

static mcp_status read_prior_mean(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t  = base;
    mcp_status st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    int        i  = 0;
    if (st != MCP_OK) return st;
    for (mcp_yaml *c = n->first; c; c = c->next)
        if ((st = find_gp(r, c, &i)) != MCP_OK || (st = mcp_read_expr(r, c, &t->gp[i].prior_mean)) != MCP_OK)
            return st;
    return MCP_OK;
}

static mcp_status read_noise_floor(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task   *t = base;
    const char *names[MCP_MAX_STATE];
    double      floors[MCP_MAX_STATE];
    if (n->kind == MCP_YAML_SCALAR) return mcp_read_number(r, n, key, &t->model.gp.noise_floor);
    for (int i = 0; i < t->ngp; i++) names[i] = t->state[t->gp[i].state];
    mcp_status st = mcp_read_vector(r, n, key, t->ngp, names, 0.0, floors);
    for (int i = 0; i < t->ngp && st == MCP_OK; i++) t->gp[i].noise_floor = floors[i];
    return st;
}

/* p, theta as sine and cosine, u: what a model gets when the file names no features. */
static mcp_status natural_features(mcp_reader *r, mcp_yaml *map)
{
    const mcp_task *t          = r->task;
    char            text[4096] = "[";
    size_t          used       = 1;
    for (int i = 0; i < mcp_task_moving(t) && used < sizeof text - 160; i++)
        used += (size_t)(t->state_angle[i] ? snprintf(text + used, sizeof text - used, "sin(%s), cos(%s), ",
                                                      t->state[i], t->state[i])
                                           : snprintf(text + used, sizeof text - used, "%s, ", t->state[i]));
    for (int i = 0; i < t->nu && used < sizeof text - 80; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", t->input[i].name,
                                 i + 1 < t->nu ? ", " : "]");
    return mcp_fill(r, map, "features", text);
}

#define AT(field) offsetof(mcp_task, field)
const mcp_key mcp_model_table[] = {
    {"velocities", KEY_OWN, 0, .read = read_velocities,
     .shape = SHAPE_TEXT_MAP, .form = "a mapping position: velocity",
     .about =
         "learned velocities: the model predicts the change of each over a sample; its position follows by "
         "integration"},
    {"changes", KEY_OWN, 0, .read = read_changes, .shape = SHAPE_TEXTS, .form = "a list of states",
     .about = "states whose plain change over a sample is learned (systems that are not mechanical)"},
    {"known", KEY_OWN, 0, .read = read_known, .shape = SHAPE_TEXT_MAP, .form = "a mapping state: expression",
     .about = "states whose next value is known: an expression of state and inputs, e.g. th + u"},
    {"features", KEY_OWN, 0, .read = read_features,
     .shape = SHAPE_TEXTS | SHAPE_TEXT_MAP, .form = "a list of expressions, or name: expression",
     .about = "inputs of the Gaussian processes: expressions of state and inputs. Default: all states "
              "(angles as sine "
              "and cosine) and inputs"},
    {"kernel", KEY_OWN, 0, .read = read_kernel, .shape = SHAPE_TEXT | SHAPE_TEXT_MAP,
     .fallback = "se + linear",
     .form = "a kernel, or a mapping velocity: kernel",
     .about = "se, matern32, matern52, rq, periodic, linear, mp(degree), pi(expression, ...), with + and *; "
              "a list in "
              "brackets chooses features: linear(sin(th), u), mp(2; sin(th), u)"},
    {"prior_mean", KEY_OWN, 0, .read = read_prior_mean,
     .shape = SHAPE_TEXT_MAP, .form = "a mapping velocity: expression",
     .about = "expected change over a sample; the Gaussian process learns the rest"},
    {"noise_floor", KEY_OWN, 0, 0, 1e6, .fallback = "0", .read = read_noise_floor, .shape = SHAPE_VECTOR,
     .form = "a number, or velocity: number", .unit = "the change's unit",
     .about = "smallest noise deviation the training may choose; 0 = from what the smoother can know"},
    {"lengthscale_floor", KEY_NUMBER, AT(model.gp.lengthscale_floor), 0, 100, .fallback = "0.3",
     .unit = "deviations of the feature", .about = "smallest length-scale; 0 = none"},
    {"noise_start", KEY_NUMBER, AT(model.gp.noise_start), 0, 1e6, .fallback = "0",
     .unit = "the change's unit",
     .about = "noise deviation the training starts from; 0 = a tenth of the targets' deviation"},
    {"fix_lambda", KEY_FLAG, AT(model.gp.fix_lambda), .fallback = "no",
     .about = "keep the signal deviation of se at 1"},
    {"prior", KEY_NUMBER, AT(model.gp.prior), 0, 100, .fallback = "1",
     .about = "weight of weak log-normal priors on the hyper-parameters, around what the scale of the data "
              "suggests: short length-scales and little noise must earn their place; 0 = likelihood alone"},
    {"restarts", KEY_INT, AT(model.gp.restarts), 0, 100, .fallback = "1",
     .about = "further starts of the training besides the one from the data, or from the trial before"},
    {"evaluations_max", KEY_INT, AT(model.gp.evaluations_max), 1, 100000, .fallback = "200",
     .about = "most likelihood evaluations per start"},
    {"posterior", KEY_CHOICE, AT(model.posterior.type), .choices = "exact|sparse|subset",
     .fallback = "sparse",
     .about = "exact: all data; sparse: inducing points until a bound on the lost variance holds; subset: a "
              "subset of "
              "the data"},
    {"tolerance", KEY_NUMBER, AT(model.posterior.tolerance), 0, 100, OPEN_LO, .fallback = "0.3",
     .unit = "of the noise variance", .about = "sparse: bound on the lost variance at the data"},
    {"points_max", KEY_INT, AT(model.posterior.points_max), 0, 100000, .fallback = "0",
     .about = "sparse, subset: most points kept; 0 = no limit"},
    {"noisy", KEY_FLAG, AT(model.noisy), .fallback = "no",
     .about = "particles sample with the noise variance added to the latent one"},
    {"correlation", KEY_NUMBER, AT(model.correlation), 0, 1, OPEN_HI, .fallback = "0.8",
     .about = "share of the noise variance that is the sensor's, whose errors in neighbouring changes are "
              "correlated in a way the GPs are "
              "told (velocities by central-difference); 0: white noise"},
    {"rest", KEY_FLAG, AT(model.rest), .fallback = "yes",
     .about = "what must last at the goal can rest there: some input keeps every change at zero, and each GP "
              "is told so where the others bound that input; not where the data contradict it"},
    {"self_check", KEY_FLAG, AT(model.self_check), .fallback = "yes",
     .about = "sparse: compare the gradient of a few particles with the exact posterior's and tighten the "
              "tolerance "
              "until they agree, or until that brings them no nearer (chaotic motion)"},
    MCP_KEY_END,
};

/* Goals stand still: r+ = r. */
static mcp_status keep_goals(mcp_reader *r)
{
    mcp_task     *t = r->task;
    mcp_expr_list known = {0};
    if (!t->goals.n) return MCP_OK;
    known.item = mcp_task_memory_get(r->bag, (size_t)(t->known.n + t->goals.n), sizeof *known.item);
    if (!known.item) return mcp_read_memory(r);
    for (; known.n < t->known.n; known.n++) known.item[known.n] = t->known.item[known.n];
    for (int i = 0; i < t->goals.n; i++) {
        char *name = t->goals.item[i].name;
        known.item[known.n++] = (mcp_named_expr){name, {name, {t->file, 0, 0}}};
    }
    t->known = known;
    return MCP_OK;
}

mcp_status mcp_read_model(mcp_reader *r, mcp_yaml *n, void *base, const mcp_key *key)
{
    mcp_task  *t  = base;
    mcp_status st = mcp_expect(r, n, MCP_YAML_MAP, key->form);
    char       taken[MCP_MAX_STATE];
    if (st == MCP_OK && !mcp_yaml_find(n, "features")) st = natural_features(r, n);
    if (st == MCP_OK) st = mcp_keys_read(r, n, mcp_model_table, t);
    if (st != MCP_OK) return st;
    if (!t->ngp)
        return mcp_fail_at(
            r->err, n->at,
            "model: found nothing to learn, expected velocities: {position: velocity} or changes: [state]");
    claimed(t, taken);
    for (int i = mcp_task_moving(t); i < t->nx; i++)
        if (taken[i])
            return mcp_fail_at(r->err, n->at,
                               "model: found the goal \"%s\", expected states: goals stand still",
                               t->state[i]);
    for (int i = 0; i < mcp_task_moving(t); i++)
        if (!taken[i])
            return mcp_fail_at(
                r->err, n->at,
                "model: nothing moves state \"%s\", expected it in velocities, changes or known",
                t->state[i]);
    return keep_goals(r);
}
