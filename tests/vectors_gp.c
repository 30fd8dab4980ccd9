/* vectors_gp.c - likelihood, posterior and all gradients against reference cases.
 *
 * A case: kernel (se, mpN, pi joined by +), features_of_pi (expressions of x0, x1, .. separated by commas, or
 * null), X, y, params, nlml, dnlml, Xstar, mean, var_latent, dmean_dx, dvar_dx. Basis functions of pi become
 * feature columns after those of X; derivatives in x go through them by the chain rule. Two lines of errors
 * per case in one JSON object: the exact posterior and the sparse one with every data point as inducing
 * point. */
#include "vectors.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "model/posterior.h"
#include "program/program.h"

static const double value_bound = 1e-9, gradient_bound = 1e-7;

typedef struct {
    json_t      *json;
    int          n, m, D, basis, features; /* data, queries, columns of X, basis functions, both together */
    mcp_program *program;                  /* x -> basis functions; NULL without any */
    mcp_kernel  *kernel;
    mcp_gp      *gp;
    mcp_error    err;
} gp_case;

static void *zeros(size_t n)
{
    void *p = calloc(n ? n : 1, sizeof(double));
    if (!p) abort();
    return p;
}

/* Largest relative error; an entry that happens to vanish is measured by a thousandth of the largest in its
 * array. */
static double compare(const double *got, const double *want, int n)
{
    double size = 0.0, worst = 0.0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(want[i]));
    for (int i = 0; i < n; i++) {
        double e = fabs(got[i] - want[i]) / (size > 0.0 ? fmax(fabs(want[i]), 1e-3 * size) : 1.0);
        if (!(e <= worst)) worst = e; /* NaN stays */
    }
    return worst;
}

/* Flattens nested arrays of numbers; returns how many, -1 when there is something else or too many. */
static int flatten(const json_t *a, double *out, int max)
{
    if (json_is_number(a)) {
        if (max < 1) return -1;
        *out = json_number_value(a);
        return 1;
    }
    if (!json_is_array(a)) return -1;
    int used = 0;
    for (size_t i = 0; i < json_array_size(a); i++) {
        int got = flatten(json_array_get(a, i), out + used, max - used);
        if (got < 0) return -1;
        used += got;
    }
    return used;
}

static double *numbers(gp_case *c, const json_t *from, const char *key, int expected)
{
    double *v   = zeros((size_t)expected);
    int     got = flatten(json_object_get(from, key), v, expected);
    if (got != expected) {
        snprintf(c->err.text, sizeof c->err.text, "\"%s\" should hold %d numbers", key, expected);
        free(v);
        return NULL;
    }
    return v;
}

/* a**b becomes a^b */
static void powers(char *text)
{
    for (char *at; (at = strstr(text, "**"));) {
        *at = '^';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
}

/* Cuts at commas outside parentheses and compiles each piece as an output. */
static mcp_status compile_basis(gp_case *c, const char *text)
{
    mcp_builder *b = NULL;
    mcp_where    w = {NULL, 0, 0};
    char         name[32], *copy = strdup(text);
    if (!copy) abort();
    mcp_status   st = mcp_builder_create(&b, &c->err);
    powers(copy);
    for (int d = 0; d < c->D && st == MCP_OK; d++) {
        snprintf(name, sizeof name, "x%d", d);
        st = mcp_builder_input(b, name, &c->err);
    }
    for (char *at = copy; at && st == MCP_OK;) {
        int   depth = 0;
        char *end   = at;
        while (*end && !(*end == ',' && depth == 0)) {
            depth += (*end == '(') - (*end == ')');
            end++;
        }
        char *next = *end ? end + 1 : NULL;
        *end       = 0;
        snprintf(name, sizeof name, "basis%d", c->basis++);
        st = mcp_builder_output(b, name, at, w, &c->err);
        at = next;
    }
    if (st == MCP_OK) st = mcp_builder_finish(b, &c->program, &c->err);
    mcp_builder_free(b);
    free(copy);
    return st;
}

/* Rows of X with the basis functions appended; J [row][basis][D] their derivatives, if wanted. */
static mcp_status extend(gp_case *c, int rows, const double *X, double *out, double *J)
{
    enum { LD = MCP_LANES };
    for (int i = 0; i < rows; i++)
        memcpy(out + (size_t)i * (size_t)c->features, X + (size_t)i * (size_t)c->D, (size_t)c->D * 8);
    if (!c->program) return MCP_OK;
    size_t     D = (size_t)c->D, B = (size_t)c->basis;
    void      *block;
    mcp_arena  a = {0};
    double    *in, *res, *res_bar, *in_bar, *tape, *scratch;
    mcp_status st;
    for (int pass = 0; pass < 2; pass++) {
        a.used  = 0;
        in      = mcp_arena_doubles(&a, D * LD);
        in_bar  = mcp_arena_doubles(&a, D * LD);
        res     = mcp_arena_doubles(&a, B * LD);
        res_bar = mcp_arena_doubles(&a, B * LD);
        tape    = mcp_arena_doubles(&a, mcp_program_tape(c->program, LD));
        scratch = mcp_arena_doubles(&a, mcp_program_scratch(c->program, LD));
        if (pass == 0) {
            if ((st = mcp_block_alloc(&block, a.used, &c->err)) != MCP_OK) return st;
            a.base = block;
        }
    }
    mcp_isa level = mcp_isa_level();
    for (int i = 0; i < rows; i++) {
        for (size_t d = 0; d < D; d++)
            for (int l = 0; l < LD; l++) in[d * LD + (size_t)l] = X[(size_t)i * D + d];
        mcp_batch_call call = {.program = c->program, .level = level, .first = 1, .n = LD, .ld = LD, .in = in,
                               .tape = tape, .out = res, .scratch = scratch};
        mcp_batch_forward(&call);
        for (size_t k = 0; k < B; k++) {
            out[(size_t)i * (size_t)c->features + D + k] = res[k * LD];
            if (!J) continue;
            memset(res_bar, 0, B * LD * sizeof *res_bar);
            memset(in_bar, 0, D * LD * sizeof *in_bar);
            res_bar[k * LD] = 1.0;
            call.out_bar = res_bar;
            call.in_bar = in_bar;
            mcp_batch_backward(&call);
            for (size_t d = 0; d < D; d++) J[((size_t)i * B + k) * D + d] = in_bar[d * LD];
        }
    }
    mcp_block_free(block);
    return MCP_OK;
}

/* "se+mp2" -> "se + mp(2)", "pi" -> "pi(3,4,5)"; se and mp read the columns of X. */
static mcp_status make_kernel(gp_case *c, const char *text)
{
    char   spec[2000];
    size_t used = 0;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "+");
        char   part[64];
        int    len = snprintf(part, sizeof part, "%.*s", (int)n, at), start = (int)strspn(part, " ");
        while (len > start && part[len - 1] == ' ') part[--len] = 0;
        char *p = part + start, end;
        int   degree;
        used += (size_t)snprintf(spec + used, sizeof spec - used, "%s", used ? " + " : "");
        if (sscanf(p, "mp%d%c", &degree, &end) == 1) {
            used += (size_t)snprintf(spec + used, sizeof spec - used, "mp(%d)", degree);
        } else if (!strcmp(p, "pi")) {
            for (int k = 0; k < c->basis; k++)
                used += (size_t)snprintf(spec + used, sizeof spec - used, "%s%d", k ? "," : "pi(", c->D + k);
            used += (size_t)snprintf(spec + used, sizeof spec - used, "%s", c->basis ? ")" : "pi");
        } else {
            used += (size_t)snprintf(spec + used, sizeof spec - used, "%s", p);
        }
        at += n + (at[n] == '+');
        if (used > sizeof spec - 100) return mcp_fail(&c->err, MCP_ERR_ARG, "kernel text is too long");
    }
    return mcp_kernel_parse(&c->kernel, spec, c->features, c->D, &c->err);
}

/* Where parameter i stands in the file: the name up to "[", and the place inside that array. Parameters of
 * one array come in the order of the file's nested list. */
static int locate(const gp_case *c, int i, char *key, size_t size)
{
    int at = 0;
    if (i == mcp_kernel_params(c->kernel)) {
        snprintf(key, size, "log_noise");
        return 0;
    }
    const char *name = mcp_kernel_param_name(c->kernel, i);
    int         len  = (int)strcspn(name, "[");
    snprintf(key, size, "%.*s", len, name);
    for (int j = 0; j < i; j++) {
        const char *other = mcp_kernel_param_name(c->kernel, j);
        if ((int)strcspn(other, "[") == len && !strncmp(other, name, (size_t)len)) at++;
    }
    return at;
}

static mcp_status read_hyper(gp_case *c, const char *object, double *out)
{
    const json_t *from = json_object_get(c->json, object);
    double        flat[1000];
    char          key[64];
    for (int i = 0; i <= mcp_kernel_params(c->kernel); i++) {
        int at = locate(c, i, key, sizeof key), got = flatten(json_object_get(from, key), flat, 1000);
        if (at >= got)
            return mcp_fail(&c->err, MCP_ERR_ARG, "\"%s\" has no number %d of \"%s\"", object, at, key);
        out[i] = flat[at];
    }
    return MCP_OK;
}

static mcp_status load(gp_case *c, json_t *json)
{
    memset(c, 0, sizeof *c);
    c->json            = json;
    const json_t *X    = json_object_get(json, "X"), *pi = json_object_get(json, "features_of_pi");
    const char   *text = json_string_value(json_object_get(json, "kernel"));
    c->n               = (int)json_array_size(X);
    c->m               = (int)json_array_size(json_object_get(json, "Xstar"));
    c->D               = (int)json_array_size(json_array_get(X, 0));
    if (!text || c->n < 1 || c->m < 1 || c->D < 1)
        return mcp_fail(&c->err, MCP_ERR_ARG,
                        "a case needs kernel, X, y, params, Xstar and what to compare with");
    mcp_status st = json_is_string(pi) ? compile_basis(c, json_string_value(pi)) : MCP_OK;
    c->features   = c->D + c->basis;
    if (st != MCP_OK || (st = make_kernel(c, text)) != MCP_OK) return st;
    double *x = numbers(c, json, "X", c->n * c->D), *y = numbers(c, json, "y", c->n),
           *full = zeros((size_t)(c->n * c->features));
    double *hyper = zeros((size_t)mcp_kernel_params(c->kernel) + 1);
    if (!x || !y) st = MCP_ERR_ARG;
    if (st == MCP_OK) st = extend(c, c->n, x, full, NULL);
    if (st == MCP_OK) st = mcp_gp_create(&c->gp, c->kernel, c->n, c->features, full, y, &c->err);
    if (st == MCP_OK) st = read_hyper(c, "params", hyper);
    if (st == MCP_OK) st = mcp_gp_set(c->gp, hyper, &c->err);
    free(x), free(y), free(full), free(hyper);
    return st;
}

/* Mean, variance and their derivatives in the original x, all queries in one batch. dx: [query][D] */
static mcp_status predict(gp_case *c, mcp_posterior_type type, const double *Xs, double *mean, double *var,
                          double *dmean, double *dvar, mcp_posterior_info *info)
{
    mcp_posterior_settings s = {.type = type, .tolerance = 0.0};
    mcp_posterior         *p = NULL;
    int                    ld = mcp_round_lanes(c->m), f = c->features, B = c->basis, D = c->D;
    double                *full = zeros((size_t)(c->m * f)), *J = zeros((size_t)(c->m * B * D));
    void                  *block = NULL;
    mcp_status             st = extend(c, c->m, Xs, full, J);
    if (st == MCP_OK) st = mcp_posterior_create(&p, c->gp, &s, mcp_isa_level(), info, &c->err);
    size_t rows = (size_t)ld;
    if (st == MCP_OK)
        st = mcp_block_alloc(&block,
                             ((size_t)(2 * f) * rows + 4 * rows + mcp_posterior_tape(p, ld)) * sizeof(double),
                             &c->err);
    if (st != MCP_OK) goto done;
    double *F = block, *F_bar = F + (size_t)f * rows, *mu = F_bar + (size_t)f * rows, *v = mu + rows,
           *bars = v + rows, *tape = bars + 2 * rows;
    for (int i = 0; i < c->m; i++)
        for (int d = 0; d < f; d++) F[(size_t)d * rows + (size_t)i] = full[i * f + d];
    mcp_posterior_forward(p, ld, ld, F, mu, v, tape);
    memcpy(mean, mu, (size_t)c->m * sizeof *mean);
    memcpy(var, v, (size_t)c->m * sizeof *var);
    for (int which = 0; which < 2; which++) {
        double *out = which ? dvar : dmean;
        memset(F_bar, 0, (size_t)f * rows * sizeof *F_bar);
        for (int i = 0; i < ld; i++) {
            bars[i] = which == 0;
            bars[ld + i] = which == 1;
        }
        mcp_posterior_backward(p, ld, ld, F, bars, bars + ld, tape, F_bar);
        for (int i = 0; i < c->m; i++)
            for (int d = 0; d < D; d++) {
                double g = F_bar[(size_t)d * rows + (size_t)i];
                for (int k = 0; k < B; k++)
                    g += F_bar[(size_t)(D + k) * rows + (size_t)i] * J[(i * B + k) * D + d];
                out[i * D + d] = g;
            }
    }
done:
    mcp_posterior_free(p);
    mcp_block_free(block);
    free(full), free(J);
    return st;
}

typedef struct {
    double nlml, dnlml, mean[2], var[2], dmean[2], dvar[2]; /* exact, sparse */
    int    points;
    double residual;
} errors;

static mcp_status check(gp_case *c, errors *e)
{
    int         np = mcp_kernel_params(c->kernel) + 1, mD = c->m * c->D;
    double      nlml, want = json_number_value(json_object_get(c->json, "nlml"));
    double     *g = zeros((size_t)np), *g_want = zeros((size_t)np);
    const char *keys[] = {"Xstar", "mean", "var_latent", "dmean_dx", "dvar_dx"};
    double     *ref[5] = {0}, *got[4];
    mcp_status st =
        json_is_number(json_object_get(c->json, "nlml")) ? MCP_OK : mcp_fail(&c->err, MCP_ERR_ARG, "no nlml");
    for (int i = 0; i < 4; i++) got[i] = zeros((size_t)mD);
    for (int i = 0; i < 5 && st == MCP_OK; i++)
        if (!(ref[i] = numbers(c, c->json, keys[i], i == 1 || i == 2 ? c->m : mD))) st = MCP_ERR_ARG;
    if (st == MCP_OK) st = mcp_gp_nlml(c->gp, &nlml, g, &c->err);
    if (st == MCP_OK) st = read_hyper(c, "dnlml", g_want);
    if (st != MCP_OK) goto done;
    e->nlml  = compare(&nlml, &want, 1);
    e->dnlml = compare(g, g_want, np);
    for (int s = 0; s < 2 && st == MCP_OK; s++) {
        mcp_posterior_info info;
        st = predict(c, s ? MCP_POSTERIOR_SPARSE : MCP_POSTERIOR_EXACT, ref[0], got[0], got[1], got[2],
                     got[3], &info);
        if (st != MCP_OK) break;
        e->mean[s]  = compare(got[0], ref[1], c->m);
        e->var[s]   = compare(got[1], ref[2], c->m);
        e->dmean[s] = compare(got[2], ref[3], mD);
        e->dvar[s]  = compare(got[3], ref[4], mD);
        e->points   = info.points;
        e->residual = info.residual;
    }
done:
    for (int i = 0; i < 4; i++) free(got[i]);
    for (int i = 0; i < 5; i++) free(ref[i]);
    free(g), free(g_want);
    return st;
}

static int run_case(const char *file, int index, json_t *json)
{
    gp_case    c;
    errors     e  = {0};
    mcp_status st = load(&c, json);
    if (st == MCP_OK) st = check(&c, &e);
    int ok = st == MCP_OK && e.nlml <= value_bound && e.dnlml <= gradient_bound;
    for (int s = 0; s < 2; s++)
        ok = ok && e.mean[s] <= value_bound && e.var[s] <= value_bound && e.dmean[s] <= gradient_bound &&
             e.dvar[s] <= gradient_bound;
    json_t *line =
        st != MCP_OK
            ? json_pack("{s:s, s:i, s:b, s:s}", "file", file, "case", index, "ok", 0, "error", c.err.text)
            : json_pack("{s:s, s:i, s:s, s:i, s:i, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:{s:i, s:f, s:f, s:f, "
                        "s:f, s:f}}",
                        "file", file, "case", index, "kernel",
                        json_string_value(json_object_get(json, "kernel")), "n", c.n, "dimension", c.D, "ok",
                        ok, "nlml", e.nlml, "dnlml", e.dnlml, "mean", e.mean[0], "var", e.var[0], "dmean_dx",
                        e.dmean[0], "dvar_dx", e.dvar[0], "sparse", "points", e.points, "residual",
                        e.residual, "mean", e.mean[1], "var", e.var[1], "dmean_dx", e.dmean[1], "dvar_dx",
                        e.dvar[1]);
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(3)) : NULL;
    printf("%s\n", text ? text : "{\"ok\":false,\"error\":\"an error is not a finite number\"}");
    free(text);
    json_decref(line);
    mcp_gp_free(c.gp);
    mcp_kernel_free(c.kernel);
    mcp_program_free(c.program);
    return ok && text;
}

int vectors_gp(int files, char **file)
{
    int failed = 0, cases = 0;
    for (int f = 0; f < files; f++) {
        json_error_t e;
        json_t      *root = json_load_file(file[f], 0, &e), *list = root;
        if (!root) {
            fprintf(stderr, "vectors: %s:%d: %s\n", file[f], e.line, e.text);
            return 2;
        }
        if (json_is_object(root) && json_is_array(json_object_get(root, "cases")))
            list = json_object_get(root, "cases");
        if (json_is_array(list)) {
            for (size_t i = 0; i < json_array_size(list); i++, cases++)
                failed += !run_case(file[f], (int)i, json_array_get(list, i));
        } else {
            cases++;
            failed += !run_case(file[f], 0, root);
        }
        json_decref(root);
    }
    return failed || cases == 0;
}
