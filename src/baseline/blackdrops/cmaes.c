/* cmaes.c - CMA-ES after Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772 (equation numbers
 * are its own).
 *
 *   x_k = m + sigma y_k,   y_k = B D z_k,  z_k ~ N(0, I)           C = B D^2 B^T          (5), (38)-(40)
 *   m  <- m + sigma y_w,   y_w = sum_{i<=mu} w_i y_{i:lambda}                             (41), (42)
 *   p_s <- (1-cs) p_s + sqrt(cs (2-cs) mueff) C^-1/2 y_w                                  (43)
 *   sigma <- sigma exp(cs/ds (|p_s|/E|N(0,I)| - 1))                                       (44)
 *   p_c <- (1-cc) p_c + hs sqrt(cc (2-cc) mueff) y_w                                      (45)
 *   C <- (1 + c1 dh - c1 - cmu sum w) C + c1 p_c p_c^T + cmu sum_i w_i y_i y_i^T          (46), (47)
 *
 * Restarts grow the population (Auger and Hansen, CEC 2005). Noise handling: second evaluations and the
 * change of ranks they cause (Hansen, Niederberger, Guzzella, Koumoutsakos, IEEE Trans. Evolutionary
 * Computation 13(1), 2009, algorithm 3). */
#include "baseline/blackdrops/cmaes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/linalg.h"
#include "math/rng.h"

enum { HISTORY = 120 };

struct mcp_cmaes {
    mcp_cmaes_settings set;
    int    n, lambda, mu, restarts, generation, eigen_age, eigen_every;
    double mueff, cs, ds, cc, c1, cmu, chi, sum_w;
    double sigma, effort, noise_s;
    long   evaluations;
    mcp_cmaes_stop stop;
    double best_f;
    double *mean, *best, *scale,
        *start; /* n: centre, best so far, scale of the first deviations, first deviations */
    void   *block;                           /* everything below: re-laid when the population grows */
    double *w;                               /* [lambda] weights by rank, best first */
    double *ps, *pc, *yw, *tmp;              /* n */
    double *C, *B, *D; /* n x n covariance; eigenvectors as rows; square roots of the eigenvalues */
    double *X, *Y;                           /* [lambda][n] candidates and steps */
    double *value, *rank;                    /* [2 lambda] sort keys; [lambda] */
    int    *order;                           /* [lambda] best first */
    double *history, *median;                /* best and median value of recent generations, newest last */
    int    histories;
};

void mcp_cmaes_settings_default(mcp_cmaes_settings *s)
{
    *s = (mcp_cmaes_settings){.sigma = 0.3,
                              .active = 1,
                              .growth = 2.0,
                              .tol_f = 1e-12,
                              .tol_x = 1e-12,
                              .effort_max = 1.0,
                              .noise_step = 1};
}

static size_t layout(mcp_cmaes *c, char *mem)
{
    mcp_arena a = {.base = mem, .used = 0};
    size_t    n = (size_t)c->n, l = (size_t)c->lambda;
    c->w = mcp_arena_doubles(&a, l);
    c->ps = mcp_arena_doubles(&a, n);
    c->pc = mcp_arena_doubles(&a, n);
    c->yw = mcp_arena_doubles(&a, n);
    c->tmp = mcp_arena_doubles(&a, n);
    c->C = mcp_arena_doubles(&a, n * n);
    c->B = mcp_arena_doubles(&a, n * n);
    c->D = mcp_arena_doubles(&a, n);
    c->X = mcp_arena_doubles(&a, l * n);
    c->Y = mcp_arena_doubles(&a, l * n);
    c->value = mcp_arena_doubles(&a, 2 * l);
    c->rank = mcp_arena_doubles(&a, l);
    c->order = mcp_arena_ints(&a, l);
    c->history = mcp_arena_doubles(&a, HISTORY);
    c->median = mcp_arena_doubles(&a, HISTORY);
    return a.used;
}

/* Weights, equations (49) to (53): positive ones sum to 1; negative ones only in the covariance update. */
static void set_weights(mcp_cmaes *c)
{
    int    l = c->lambda, n = c->n;
    double sp = 0, sp2 = 0, sn = 0, sn2 = 0;
    c->mu = l / 2;
    for (int i = 0; i < l; i++) {
        double w = log(0.5 * (l + 1)) - log(i + 1.0);
        c->w[i] = w;
        if (i < c->mu) {
            sp += w;
            sp2 += w * w;
        } else {
            sn += w;
            sn2 += w * w;
        }
    }
    c->mueff = sp * sp / sp2;
    double mueff_minus = sn2 > 0 ? sn * sn / sn2 : 0;

    c->cc = (4 + c->mueff / n) / (n + 4 + 2 * c->mueff / n);                             /* (56) */
    c->cs = (c->mueff + 2) / (n + c->mueff + 5);                                         /* (55) */
    c->ds = 1 + 2 * fmax(0, sqrt((c->mueff - 1) / (n + 1)) - 1) + c->cs;
    c->c1 = 2 / ((n + 1.3) * (n + 1.3) + c->mueff);                                      /* (57) */
    c->cmu = fmin(1 - c->c1,
                  2 * (0.25 + c->mueff + 1 / c->mueff - 2) / ((n + 2.0) * (n + 2.0) + c->mueff)); /* (58) */
    if (c->set.separable) { /* fewer numbers to learn, so faster: Ros and Hansen, PPSN 2008 */
        c->c1 = fmin(0.5, c->c1 * (n + 2) / 3.0);
        c->cmu = fmin(1 - c->c1, c->cmu * (n + 2) / 3.0);
    }
    c->chi = sqrt(n) * (1 - 1 / (4.0 * n) + 1 / (21.0 * n * n));

    double a_mu = 1 + c->c1 / c->cmu, a_eff = 1 + 2 * mueff_minus / (c->mueff + 2),
           a_pos = (1 - c->c1 - c->cmu) / (n * c->cmu);
    double a = c->set.active ? fmax(0, fmin(a_mu, fmin(a_eff, a_pos))) : 0;
    c->sum_w = 0;
    for (int i = 0; i < l; i++) {
        c->w[i] = i < c->mu ? c->w[i] / sp : sn < 0 ? -a * c->w[i] / sn : 0;
        c->sum_w += c->w[i];
    }
    c->eigen_every = c->set.separable ? 1 : (int)fmax(1, floor(1 / (10.0 * n * (c->c1 + c->cmu))));
}

static mcp_status begin(mcp_cmaes *c, const double *x0, mcp_error *err)
{
    int        n = c->n;
    mcp_status st;
    mcp_block_free(c->block);
    c->block = NULL;
    if ((st = mcp_block_alloc(&c->block, layout(c, NULL), err)) != MCP_OK) return st;
    layout(c, c->block);
    set_weights(c);
    memcpy(c->mean, x0, (size_t)n * sizeof *x0);
    c->sigma = c->set.sigma;
    c->effort = 1;
    c->generation = c->histories = c->eigen_age = 0;
    c->stop = MCP_CMAES_GOING;
    for (int i = 0; i < n; i++) {
        c->B[(size_t)i * (size_t)n + (size_t)i] = 1;
        c->D[i] = c->scale[i];
        c->C[(size_t)i * (size_t)n + (size_t)i] = c->scale[i] * c->scale[i];
    }
    return MCP_OK;
}

mcp_status mcp_cmaes_create(mcp_cmaes **out, int n, const double *x0, const mcp_cmaes_settings *s,
                            mcp_error *err)
{
    *out = NULL;
    if (n < 1 || n > 10000)
        return mcp_fail(err, MCP_ERR_ARG, "cmaes: %d parameters; 1 to 10000 are possible", n);
    if (!(s->sigma > 0))
        return mcp_fail(err, MCP_ERR_ARG, "cmaes: first step size %g must be positive", s->sigma);
    mcp_cmaes *c = mcp_calloc(1, sizeof *c);
    double    *v = mcp_calloc(4 * (size_t)n, sizeof *v);
    if (!c || !v) {
        mcp_free(c);
        mcp_free(v);
        return mcp_fail(err, MCP_ERR_MEMORY, "cmaes: out of memory");
    }
    c->set = *s;
    c->n = n;
    c->mean = v;
    c->best = v + n;
    c->scale = v + 2 * (size_t)n;
    c->start = v + 3 * (size_t)n;
    c->best_f = INFINITY;
    memcpy(c->best, x0, (size_t)n * sizeof *x0);
    for (int i = 0; i < n; i++) {
        c->scale[i] = s->scale ? s->scale[i] : 1.0;
        c->start[i] = s->sigma * c->scale[i];
    }
    c->set.scale = NULL;
    c->lambda = s->population > 0 ? s->population : 4 + (int)floor(3 * log(n));
    if (c->lambda < 4) c->lambda = 4;
    mcp_status st = begin(c, x0, err);
    if (st != MCP_OK) mcp_cmaes_free(c);
    else *out = c;
    return st;
}

void mcp_cmaes_free(mcp_cmaes *c)
{
    if (!c) return;
    mcp_block_free(c->block);
    mcp_free(c->mean);
    mcp_free(c);
}

mcp_status mcp_cmaes_restart(mcp_cmaes *c, const double *x0, mcp_error *err)
{
    c->restarts++;
    c->lambda = (int)floor(c->lambda * fmax(1, c->set.growth));
    return begin(c, x0, err);
}

const double *mcp_cmaes_ask(mcp_cmaes *c)
{
    size_t     n = (size_t)c->n;
    mcp_stream s = {.seed = c->set.seed,
                    .trial = c->set.trial,
                    .step = (uint32_t)c->generation,
                    .purpose = MCP_RNG_CMAES};
    for (int k = 0; k < c->lambda; k++) {
        double *z = c->tmp, *y = c->Y + (size_t)k * n, *x = c->X + (size_t)k * n;
        mcp_rng_normals(&s, (uint32_t)c->restarts, 0, (uint32_t)k * (uint32_t)n, c->n, z);
        memset(y, 0, n * sizeof *y);
        for (size_t j = 0; j < n; j++) {
            const double *b = c->B + j * n;
            double        g = c->D[j] * z[j];
            for (size_t i = 0; i < n; i++) y[i] += b[i] * g;
        }
        for (size_t i = 0; i < n; i++) x[i] = c->mean[i] + c->sigma * y[i];
    }
    return c->X;
}

/* C^-1/2 y into out; returns |C^-1/2 y|^2. */
static double whiten(const mcp_cmaes *c, const double *y, double *out)
{
    size_t n = (size_t)c->n;
    double q = 0;
    if (out) memset(out, 0, n * sizeof *out);
    for (size_t j = 0; j < n; j++) {
        const double *b = c->B + j * n;
        double        g = 0;
        for (size_t i = 0; i < n; i++) g += b[i] * y[i];
        g /= c->D[j];
        q += g * g;
        for (size_t i = 0; out && i < n; i++) out[i] += b[i] * g;
    }
    return q;
}

/* Stable insertion by value: equal candidates keep their numbers, so the order is the same everywhere. */
static void sort_order(int n, const double *value, int *order)
{
    for (int i = 0; i < n; i++) {
        int j = i;
        for (; j > 0 && value[order[j - 1]] > value[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
}

static double place(const double *all, int n, double v, int self)
{
    int below = 0;
    for (int i = 0; i < n; i++) below += i < self ? all[i] <= v : all[i] < v;
    return below + 1;
}

/* theta times the median of |1-R| .. |m-R|. */
static double rank_limit(double theta, double R, int m)
{
    /* distances from R inside 1..m: sorted they are 0, 1, 1, 2, 2, .. up to the nearer end, then single steps
     */
    int r = (int)fmin(fmax(R, 1), m), near = r - 1 < m - r ? r - 1 : m - r, half = (m - 1) / 2;
    double d = half <= 2 * near ? (half + 1) / 2 : half - near;
    return theta * d;
}

/* Algorithm 3 of the 2009 paper: ranks of old and new values among all; s > 0 means the noise disturbs the
 * ranking. */
static void noise_measure(mcp_cmaes *c, const double *f, const double *again, int reev)
{
    int l = c->lambda, all = l + reev;
    double s = 0;
    for (int i = 0; i < l; i++) c->value[i] = isnan(f[i]) ? DBL_MAX : f[i];
    for (int i = 0; i < reev; i++) c->value[l + i] = isnan(again[i]) ? DBL_MAX : again[i];
    for (int i = 0; i < l; i++) c->rank[i] = 2 * place(c->value, all, c->value[i], i);
    for (int i = 0; i < reev; i++) {
        double ro = 0.5 * c->rank[i], rn = place(c->value, all, c->value[l + i], l + i);
        double change = fabs(rn - ro) - 1;
        s += 2 * change - rank_limit(0.2, rn - (rn > ro), all - 1) - rank_limit(0.2, ro - (ro > rn), all - 1);
        c->rank[i] = ro + rn;
    }
    c->noise_s = s / reev;
    double before = c->effort;
    if (c->noise_s > 0) c->effort = fmin(c->set.effort_max, 1.5 * c->effort);
    else c->effort = fmax(1, c->effort / 1.5);
    /* No more averaging to be had: keep the steps large enough to be seen through the noise. */
    if (c->set.noise_step && c->noise_s > 0 && before >= c->set.effort_max) c->sigma *= 1 + 2.0 / (c->n + 10);
}

static void note_values(mcp_cmaes *c, const double *f)
{
    size_t n = (size_t)c->n;
    int    b = c->order[0];
    if (f[b] < c->best_f) {
        c->best_f = f[b];
        memcpy(c->best, c->X + (size_t)b * n, n * sizeof *c->best);
    }
    if (c->histories == HISTORY) {
        memmove(c->history, c->history + 1, (HISTORY - 1) * sizeof *c->history);
        memmove(c->median, c->median + 1, (HISTORY - 1) * sizeof *c->median);
        c->histories--;
    }
    c->history[c->histories] = f[b];
    c->median[c->histories++] = f[c->order[c->lambda / 2]];
}

/* First column of row i of the covariance that is learned. */
static size_t first(const mcp_cmaes *c, size_t i) { return c->set.separable ? i : 0; }

static void update_paths(mcp_cmaes *c)
{
    size_t n = (size_t)c->n;
    memset(c->yw, 0, n * sizeof *c->yw);
    for (int k = 0; k < c->mu; k++) {
        const double *y = c->Y + (size_t)c->order[k] * n;
        for (size_t i = 0; i < n; i++) c->yw[i] += c->w[k] * y[i];
    }
    for (size_t i = 0; i < n; i++) c->mean[i] += c->sigma * c->yw[i];
    whiten(c, c->yw, c->tmp);
    double g = sqrt(c->cs * (2 - c->cs) * c->mueff), norm = 0;
    for (size_t i = 0; i < n; i++) {
        c->ps[i] = (1 - c->cs) * c->ps[i] + g * c->tmp[i];
        norm += c->ps[i] * c->ps[i];
    }
    norm = sqrt(norm);
    double unbias = sqrt(1 - pow(1 - c->cs, 2.0 * (c->generation + 1)));
    double hs = norm / unbias < (1.4 + 2.0 / (c->n + 1)) * c->chi;
    double gc = hs * sqrt(c->cc * (2 - c->cc) * c->mueff), dh = (1 - hs) * c->cc * (2 - c->cc);
    for (size_t i = 0; i < n; i++) c->pc[i] = (1 - c->cc) * c->pc[i] + gc * c->yw[i];

    /* (47): bad steps are cut to the length they would have in a sphere, so that C stays positive definite.
     */
    double keep = 1 + c->c1 * dh - c->c1 - c->cmu * c->sum_w;
    for (size_t i = 0; i < n; i++)
        for (size_t j = first(c, i); j <= i; j++)
            c->C[i * n + j] = keep * c->C[i * n + j] + c->c1 * c->pc[i] * c->pc[j];
    for (int k = 0; k < c->lambda; k++) {
        const double *y = c->Y + (size_t)c->order[k] * n;
        double        w = c->cmu * c->w[k];
        if (w == 0) continue;
        if (w < 0) w *= c->n / fmax(whiten(c, y, NULL), DBL_MIN);
        for (size_t i = 0; i < n; i++)
            for (size_t j = first(c, i); j <= i; j++) c->C[i * n + j] += w * y[i] * y[j];
    }
    c->sigma *= exp(fmin(1, c->cs / c->ds * (norm / c->chi - 1)));
}

static mcp_status update_eigen(mcp_cmaes *c, mcp_error *err)
{
    size_t     n = (size_t)c->n;
    mcp_status st;
    if (c->set.separable) {
        for (size_t i = 0; i < n; i++) {
            if (!(c->C[i * n + i] > 0))
                return mcp_fail(err, MCP_ERR_NUMERIC, "cmaes: a variance is no longer positive");
            c->D[i] = sqrt(c->C[i * n + i]);
        }
        return MCP_OK;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) c->C[j * n + i] = c->C[i * n + j];
    memcpy(c->B, c->C, n * n * sizeof *c->B);
    if ((st = mcp_eigen_symmetric(c->n, c->B, c->n, c->D, err)) != MCP_OK) return st;
    double top = c->D[n - 1];
    if (!(top > 0))
        return mcp_fail(err, MCP_ERR_NUMERIC, "cmaes: the covariance has no positive eigenvalue left");
    if (c->D[0] <= top * 1e-14) c->stop = MCP_CMAES_CONDITION;
    for (size_t i = 0; i < n; i++) c->D[i] = sqrt(fmax(c->D[i], top * 1e-16));
    return MCP_OK;
}

static double range(const double *v, int n)
{
    double lo = v[0], hi = v[0];
    for (int i = 1; i < n; i++) {
        lo = fmin(lo, v[i]);
        hi = fmax(hi, v[i]);
    }
    return hi - lo;
}

/* Appendix B.3 of the tutorial; the limits of Auger and Hansen. */
static void check_stop(mcp_cmaes *c, const double *f)
{
    int    n = c->n, recent = 10 + (int)ceil(30.0 * n / c->lambda), small = 1, effect = 0;
    double spread = f[c->order[c->lambda / 2]] - f[c->order[0]];
    if (recent > HISTORY) recent = HISTORY;
    if (c->histories >= recent && spread <= c->set.tol_f &&
        range(c->history + c->histories - recent, recent) <= c->set.tol_f)
        c->stop = MCP_CMAES_TOL_F;
    for (int i = 0; i < n; i++) {
        double d = c->sigma * sqrt(c->C[(size_t)i * (size_t)n + (size_t)i]);
        if (d > c->set.tol_x * c->start[i] || c->sigma * fabs(c->pc[i]) > c->set.tol_x * c->start[i])
            small = 0;
        if (c->mean[i] == c->mean[i] + 0.2 * d) c->stop = MCP_CMAES_NO_EFFECT;
    }
    if (small) c->stop = MCP_CMAES_TOL_X;
    int           axis = c->generation % n;
    const double *b = c->B + (size_t)axis * (size_t)n;
    for (int i = 0; i < n; i++) effect |= c->mean[i] != c->mean[i] + 0.1 * c->sigma * c->D[axis] * b[i];
    if (!effect) c->stop = MCP_CMAES_NO_EFFECT;
    if (c->histories == HISTORY && c->generation > HISTORY + 30 * n / c->lambda) {
        double old = 0, now = 0, old_m = 0, now_m = 0;
        int    part = HISTORY * 3 / 10;
        for (int i = 0; i < part; i++) {
            old += c->history[i];
            now += c->history[HISTORY - 1 - i];
            old_m += c->median[i];
            now_m += c->median[HISTORY - 1 - i];
        }
        if (now >= old && now_m >= old_m) c->stop = MCP_CMAES_STAGNATION;
    }
}

mcp_status mcp_cmaes_tell(mcp_cmaes *c, const double *f, const double *again, mcp_error *err)
{
    int        l = c->lambda, reev = again ? mcp_cmaes_reevaluations(c) : 0;
    mcp_status st = MCP_OK;
    c->evaluations += l + reev;
    for (int i = 0; i < l; i++) c->value[i] = isnan(f[i]) ? DBL_MAX : f[i];
    sort_order(l, c->value, c->order);
    if (isnan(f[c->order[0]]))
        return mcp_fail(err, MCP_ERR_NUMERIC, "cmaes: all %d candidates have a value that is not a number",
                        l);
    note_values(c, c->value);
    if (again) {
        noise_measure(c, f, again, reev);
        sort_order(l, c->rank, c->order);
    }
    update_paths(c);
    if (!isfinite(c->sigma)) return mcp_fail(err, MCP_ERR_NUMERIC, "cmaes: the step size ran away");
    if (++c->eigen_age >= c->eigen_every) {
        c->eigen_age = 0;
        st = update_eigen(c, err);
    }
    c->generation++;
    if (!again) check_stop(c, c->value);
    return st;
}

int mcp_cmaes_reevaluations(const mcp_cmaes *c)
{
    int k = (int)ceil(0.1 * c->lambda);
    return k < 2 ? 2 : k;
}

int            mcp_cmaes_population(const mcp_cmaes *c) { return c->lambda; }
double         mcp_cmaes_effort(const mcp_cmaes *c) { return c->effort; }
mcp_cmaes_stop mcp_cmaes_stopped(const mcp_cmaes *c) { return c->stop; }
const double  *mcp_cmaes_mean(const mcp_cmaes *c) { return c->mean; }
double         mcp_cmaes_sigma(const mcp_cmaes *c) { return c->sigma; }
long           mcp_cmaes_evaluations(const mcp_cmaes *c) { return c->evaluations; }

const double *mcp_cmaes_best(const mcp_cmaes *c, double *f)
{
    if (f) *f = c->best_f;
    return c->best;
}
