/* vectors_rollout.c - whole rollouts against reference data: J, trajectories, gradients.
 * Each case is written as a task file and goes through the product's own path: task -> system -> GPs ->
 * particles. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "control/filter.h"
#include "control/system.h"
#include "math/arena.h"
#include "math/text.h"
#include "rollout/rollout.h"
#include "vectors.h"

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static double at1(const json_t *a, size_t i)
{
    return json_number_value(json_array_get(a, i));
}

static double at2(const json_t *a, size_t i, size_t j)
{
    return at1(json_array_get(a, i), j);
}

static double at3(const json_t *a, size_t i, size_t j, size_t k)
{
    return at2(json_array_get(a, i), j, k);
}

static const char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

typedef struct {
    int           T, M, basis, ny;
    const json_t *c;
} dims;

/* Two measured positions named X with velocities dX, in the order of the state list. */
static int split_states(const char *list, char name[][32], int most)
{
    int n = 0;
    while (*list && n < most) {
        size_t k = strcspn(list, ", ");
        if (k > 0 && k < 32) {
            memcpy(name[n], list, k);
            name[n++][k] = '\0';
        }
        list += k;
        while (*list == ',' || *list == ' ') list++;
    }
    return n;
}

static int velocity_of(int n, char name[][32], int i)
{
    for (int j = 0; j < n; j++)
        if (name[j][0] == 'd' && !strcmp(name[j] + 1, name[i])) return j;
    return -1;
}

/* |x| of the reference's notation to abs(x); ends at the first comma outside brackets. */
static void add_expression(mcp_text *t, const char *e)
{
    int open = 0, depth = 0;
    for (; *e && !(*e == ',' && depth == 0); e++) {
        depth += *e == '(';
        depth -= *e == ')';
        if (*e != '|') mcp_text_bytes(t, e, 1);
        else mcp_text_add(t, (open = !open) ? "abs(" : ")");
    }
}

/* A low-pass with b0 = b1 = (1 + a1)/2 is a first-order Butterworth; another one is written as the user's
 * recurrence. */
static void add_lowpass(mcp_text *t, const json_t *lp, int n, char name[][32])
{
    double b0 = number(lp, "b0"), b1 = number(lp, "b1"), a1 = number(lp, "a1");
    if (fabs(b0 - b1) < 1e-14 && fabs(b0 - 0.5 * (1.0 + a1)) < 1e-14) {
        double w = (1.0 + a1) / (1.0 - a1);
        mcp_text_add(t, "observer: {type: difference, lowpass: %.17g}\n",
                     fabs(a1) < 1e-15 ? 0.5 : atan(w) * 2.0 / M_PI);
        return;
    }
    mcp_text_add(t, "observer:\n  type: custom\n  memory:\n");
    for (int i = 0; i < n; i++)
        if (velocity_of(n, name, i) >= 0)
            mcp_text_add(t, "    m%s: {start: 0, next: %.17g*(y_%s - prev(y_%s))/Ts - (%.17g)*d%s}\n",
                         name[i], b1, name[i], name[i], a1, name[i]);
    mcp_text_add(t, "  output:\n");
    for (int i = 0; i < n; i++)
        if (velocity_of(n, name, i) >= 0)
            mcp_text_add(t, "    %s: y_%s\n    d%s: %.17g*(y_%s - prev(y_%s))/Ts + m%s\n", name[i], name[i],
                         name[i], b0, name[i], name[i], name[i]);
}

static void add_observer(mcp_text *t, const json_t *c, int n, char name[][32])
{
    const char *kind = text(c, "observer");
    if (strcmp(kind, "none")) mcp_text_add(t, "smoother: central-difference\n");
    if (!strcmp(kind, "none")) {
        mcp_text_add(t, "observer: none\n");
    } else if (!strcmp(kind, "difference")) {
        mcp_text_add(t, "observer: difference\n");
    } else if (!strcmp(kind, "kalman")) {
        const json_t *g = json_object_get(c, "kalman_gain");
        const char   *sep = "";
        mcp_text_add(t, "observer: {type: kalman, gains: {");
        for (int i = 0; i < n; i++) {
            if (velocity_of(n, name, i) < 0) continue;
            mcp_text_add(t, "%s%s: [%.17g, %.17g]", sep, name[i], number(g, "position"),
                         number(g, "velocity"));
            sep = ", ";
        }
        mcp_text_add(t, "}}\n");
    } else {
        add_lowpass(t, json_object_get(c, "lowpass"), n, name);
    }
}

/* Sensor noise has deviation 1 in the file: the reference's noise is already in the sensor's unit. */
static char *task_text(const dims *d)
{
    const json_t *c = d->c;
    mcp_text      t = {0};
    char          name[16][32], policy[256];
    int           n = split_states(text(c, "state"), name, 16), none = !strcmp(text(c, "observer"), "none");
    const char   *sep = "", *of = strstr(text(c, "policy_features"), " of ");
    size_t length = of ? (size_t)(of - text(c, "policy_features")) : strlen(text(c, "policy_features"));
    snprintf(policy, sizeof policy, "%.*s", (int)length, text(c, "policy_features"));
    mcp_text_add(&t, "name: reference\nrate: %.17g\ntrial: %.17g\nstate: [%s]\n", 1.0 / number(c, "Ts"),
                 (d->T < 3 ? 3 : d->T) * number(c, "Ts"),
                 text(c, "state")); /* a task has at least three samples; the rollout takes T */
    mcp_text_add(&t, "inputs: {u: {limit: %.17g}}\nmeasured: {", number(c, "umax"));
    for (int i = 0; i < n; i++) {
        if (!none && velocity_of(n, name, i) < 0) continue;
        mcp_text_add(&t, "%s%s: {noise: %d}", sep, name[i], none ? 0 : 1);
        sep = ", ";
    }
    mcp_text_add(&t, "}\n");
    add_observer(&t, c, n, name);
    mcp_text_add(&t, "model:\n  velocities: {");
    sep = "";
    for (int i = 0; i < n; i++) {
        if (velocity_of(n, name, i) < 0) continue;
        mcp_text_add(&t, "%s%s: d%s", sep, name[i], name[i]);
        sep = ", ";
    }
    mcp_text_add(&t, "}\n  features: [%s]\n  kernel: se\n", text(c, "gp_features"));
    mcp_text_add(&t, "policy: %.17g*tanh(rbf(%d, %s)/%.17g)\ncost: ", number(c, "umax"), d->basis, policy,
                 number(c, "umax"));
    add_expression(&t, text(c, "cost"));
    mcp_text_add(&t, "\nstart: {std: 0.01}\nplant:\n  ode:\n");
    for (int i = 0; i < n; i++)
        if (velocity_of(n, name, i) >= 0) mcp_text_add(&t, "    d%s: 0\n", name[i]);
    char *out = NULL;
    mcp_text_take(&t, &out, NULL);
    return out;
}

static void fill(void *context, const mcp_noise_block *to)
{
    const dims   *d = context;
    const json_t *c = d->c, *mask = json_object_get(json_object_get(c, "dropout"), "keep");
    const json_t *x = json_object_get(c, "x0"), *noise = json_object_get(c, "measurement_noise"),
                 *ep = json_object_get(c, "eps");
    const size_t L = (size_t)to->ld, nx = json_array_size(json_array_get(x, 0)),
                 ngp = json_array_size(json_array_get(ep, 0));
    const size_t  ny = (size_t)d->ny, basis = (size_t)d->basis, T = (size_t)to->steps;
    const size_t  act = (basis + 7) / 8 * 8; /* activations of one net, padded */
    const int     none = !strcmp(text(c, "observer"), "none");
    for (size_t j = 0; j < (size_t)to->n; j++) {
        size_t m = (size_t)to->first + j;
        int    live = m < (size_t)d->M;
        for (size_t i = 0; i < nx; i++) to->x0[i * L + j] = live ? at2(x, m, i) : 0.0;
        for (size_t t = 0; t <= T; t++) {
            for (size_t i = 0; i < ny; i++)
                to->e[(t * ny + i) * L + j] = live && !none ? at3(noise, t, i, m) : 0.0;
            for (size_t g = 0; g < ngp && t < T; g++)
                to->eps[(t * ngp + g) * L + j] = live ? at3(ep, t, g, m) : 0.0;
            for (size_t b = 0; to->keep && b < basis; b++) {
                const json_t *v = json_array_get(json_array_get(json_array_get(mask, t), m), b);
                size_t at = (j / 8 * (act / 8) + b / 8) * 64 + j % 8 * 8 + b % 8;
                int    stays = t >= T || !live || json_is_true(v) || json_number_value(v) > 0.5;
                to->keep[t * act * L + at] = stays ? 255 : 0;
            }
        }
    }
}

static mcp_status make_gp(mcp_gp **gp, const mcp_kernel *kernel, const json_t *o, int nf, mcp_error *err)
{
    const json_t *X = json_object_get(o, "X"), *y = json_object_get(o, "y"),
                 *l = json_object_get(o, "log_lengthscale");
    size_t        n = json_array_size(y), D = (size_t)nf;
    double       *x = mcp_calloc(n * D + n + D + 2, sizeof *x), *target = x + n * D, *hyper = target + n;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < D; j++) x[i * D + j] = at2(X, i, j);
        target[i] = at1(y, i);
    }
    hyper[0] = number(o, "log_lambda");
    for (size_t j = 0; j < D; j++) hyper[1 + j] = at1(l, j);
    hyper[1 + D] = number(o, "log_noise");
    mcp_status st = mcp_gp_create(gp, kernel, (int)n, nf, x, target, err);
    if (st == MCP_OK) st = mcp_gp_set(*gp, hyper, err);
    mcp_free(x);
    return st;
}

static void put_theta(const mcp_program *p, const json_t *policy, double *theta)
{
    for (int k = 0; k < mcp_program_groups(p); k++) {
        const mcp_param_group *g = mcp_program_group(p, k);
        for (int i = 0; i < g->count; i++)
            theta[g->offset + i] =
                g->kind == MCP_RBF_WEIGHTS ? at1(json_object_get(policy, "w"), (size_t)i)
                : g->kind == MCP_RBF_CENTRES
                    ? at2(json_object_get(policy, "centers"), (size_t)(i / g->cols), (size_t)(i % g->cols))
                    : at1(json_object_get(policy, "log_lengthscale"), (size_t)i);
    }
}

/* Largest difference relative to the largest entry of the group. */
static double group_error(const mcp_param_group *g, const double *mine, const json_t *dJ)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < g->count; i++) {
        double ref = g->kind == MCP_RBF_WEIGHTS ? at1(json_object_get(dJ, "w"), (size_t)i)
                     : g->kind == MCP_RBF_CENTRES
                         ? at2(json_object_get(dJ, "centers"), (size_t)(i / g->cols), (size_t)(i % g->cols))
                         : at1(json_object_get(dJ, "log_lengthscale"), (size_t)i);
        double e = fabs(mine[g->offset + i] - ref);
        most = e <= most ? most : e; /* NaN wins */
        size = fmax(size, fabs(ref));
    }
    return most / (size > 0.0 ? size : 1.0);
}

static double track_error(const json_t *ref, const double *mine, size_t M, size_t width)
{
    double most = 0.0;
    for (size_t t = 0; t < json_array_size(ref); t++)
        for (size_t m = 0; m < M; m++)
            for (size_t i = 0; i < width; i++) {
                const json_t *v = json_array_get(json_array_get(ref, t), m);
                double        r = json_is_array(v) ? at1(v, i) : json_number_value(v);
                double        e = fabs(mine[(t * M + m) * width + i] - r);
                most = e <= most ? most : e;
            }
    return most;
}

static int report(const char *file, size_t number_, const dims *d, const mcp_system *s,
                  const mcp_rollout_result *r)
{
    const json_t *c = d->c;
    double        J = fabs(r->J - number(c, "J"));
    double        states = track_error(json_object_get(c, "states"), r->states, (size_t)d->M, (size_t)s->nx);
    double observed = track_error(json_object_get(c, "observed"), r->observed, (size_t)d->M, (size_t)s->nx);
    double        inputs = track_error(json_object_get(c, "inputs"), r->inputs, (size_t)d->M, (size_t)s->nu);
    double        gradient = 0.0;
    for (int k = 0; k < mcp_program_groups(s->controller); k++) {
        double e = group_error(mcp_program_group(s->controller, k), r->gradient, json_object_get(c, "dJ"));
        gradient = e <= gradient ? gradient : e;
    }
    int ok = J <= 1e-10 && states <= 1e-9 && observed <= 1e-9 && inputs <= 1e-9 && gradient <= 1e-8;
    printf("{\"file\": \"%s\", \"case\": %zu, \"observer\": \"%s\", \"particles\": %d, \"steps\": %d, \"J\": "
           "%.3g, \"states\": %.3g, "
           "\"observed\": %.3g, \"inputs\": %.3g, \"gradient\": %.3g, \"ok\": %s}\n",
           file, number_, text(c, "observer"), d->M, d->T, J, states, observed, inputs, gradient,
           ok ? "true" : "false");
    return !ok;
}

static int check_case(const char *file, size_t number_, const json_t *c)
{
    dims          d = {.c = c};
    mcp_error     err = {MCP_OK, ""};
    mcp_task     *task = NULL;
    mcp_system   *s = NULL;
    mcp_rollout  *r = NULL;
    mcp_gp       *gp[16] = {0};
    mcp_posterior *posterior[16] = {0};
    const mcp_posterior_settings exact = {.type = MCP_POSTERIOR_EXACT};
    int           bad = 1;
    d.T = (int)json_array_size(json_object_get(c, "eps"));
    d.M = (int)json_array_size(json_object_get(c, "x0"));
    d.basis = (int)json_array_size(json_object_get(json_object_get(c, "policy"), "w"));
    char *yaml = task_text(&d);
    double *memory = NULL;

    mcp_status st = yaml ? mcp_task_parse(&task, file, yaml, NULL, 0, &err) : MCP_ERR_MEMORY;
    if (st == MCP_OK) st = mcp_system_create(&s, task, &err);
    for (int g = 0; st == MCP_OK && g < s->ngp && g < 16; g++) {
        st = make_gp(&gp[g], s->kernel[g], json_array_get(json_object_get(c, "gps"), (size_t)g), s->nf, &err);
        if (st == MCP_OK)
            st = mcp_posterior_create(&posterior[g], gp[g], &exact, mcp_isa_level(), NULL, &err);
    }
    mcp_rollout_settings set = {.particles = d.M, .steps = d.T};
    if (st == MCP_OK) st = mcp_rollout_create(&r, s, posterior, &set, NULL, &err);
    if (st == MCP_OK) {
        size_t P = (size_t)mcp_program_params(s->controller), rows = (size_t)(d.T + 1) * (size_t)d.M;
        d.ny = s->ny;
        memory = mcp_calloc(2 * P + rows * (size_t)(2 * s->nx + s->nu), sizeof *memory);
        double *theta = memory;
        mcp_rollout_result result = {.gradient = theta + P, .states = theta + 2 * P};
        result.observed = result.states + rows * (size_t)s->nx;
        result.inputs = result.observed + rows * (size_t)s->nx;
        mcp_noise noise = {fill, &d};
        put_theta(s->controller, json_object_get(c, "policy"), theta);
        st = mcp_rollout_run(r, theta, number(json_object_get(c, "dropout"), "p"), &noise, &result, &err);
        if (st == MCP_OK) bad = report(file, number_, &d, s, &result);
    }
    if (st != MCP_OK)
        printf("{\"file\": \"%s\", \"case\": %zu, \"ok\": false, \"error\": \"%s\"}\n", file, number_,
               err.text);
    mcp_rollout_free(r);
    for (int g = 0; g < 16; g++) {
        mcp_posterior_free(posterior[g]);
        mcp_gp_free(gp[g]);
    }
    mcp_system_free(s);
    mcp_task_free(task);
    mcp_free(memory);
    mcp_free(yaml);
    return bad;
}

int vectors_rollout(int files, char **file)
{
    int bad = 0;
    for (int i = 0; i < files; i++) {
        json_error_t why;
        json_t      *root = json_load_file(file[i], 0, &why);
        if (!root || !json_is_array(root) || json_array_size(root) == 0) {
            printf("{\"file\": \"%s\", \"ok\": false, \"error\": \"line %d: %s\"}\n", file[i],
                   root ? 0 : why.line, root ? "no list of cases" : why.text);
            bad = 1;
        } else {
            for (size_t k = 0; k < json_array_size(root); k++)
                bad |= check_case(file[i], k, json_array_get(root, k));
        }
        json_decref(root);
    }
    return bad;
}
