/* rollout.c - blocks of particles over the threads, and sums over particles in an order that does not depend
 * on them.
 *
 * Every cost goes to its own place [t][particle] and every group of MCP_LANES particles has its own gradient
 * sums; both are added up at the end, in order, by one thread. So neither threads nor block size can change a
 * bit. */
#include "rollout/rollout.h"

#include <math.h>
#include <string.h>

#include "rollout/block.h"

struct mcp_rollout {
    mcp_shape  shape;
    mcp_pool  *pool;
    int block, blocks, padded; /* most particles of a block, blocks, particles rounded up to whole groups */
    int        workers;
    mcp_block *worker;  /* one workspace a thread */
    mcp_slab  *slabs;   /* workers x (T+1) */
    double    *cost;    /* [T+1][padded]   */
    double    *sums;    /* [padded/MCP_LANES][shape.sums] */
    double    *total;   /* shape.sums */
    double    *table;   /* the policy's parameters in single precision */
    uint8_t   *bad;     /* [padded] */
    void      *memory;
    size_t     bytes;
};

/* Wide blocks read the packed inverse rarely; beyond about a hundred particles a step's arrays leave the
 * second-level cache. As few blocks as that allows, the same number for every thread. */
static int automatic_blocks(int padded, int threads)
{
    const int widest = 104, groups = padded / MCP_LANES;
    int       blocks = (padded + widest - 1) / widest;
    blocks = (blocks + threads - 1) / threads * threads;
    return blocks < groups ? blocks : groups;
}

/* First particle of block k: whole groups, dealt out as evenly as they go. */
static int first_of(const mcp_rollout *r, int k)
{
    return (int)((int64_t)k * (r->padded / MCP_LANES) / r->blocks) * MCP_LANES;
}

static mcp_status check(const mcp_system *s, const mcp_rollout_settings *r, mcp_error *err)
{
    if (r->particles < 1 || r->particles > 1000000)
        return mcp_fail(err, MCP_ERR_ARG, "particles = %d; 1 to 1000000 can be simulated", r->particles);
    if (r->steps < 1 || r->steps > MCP_MAX_STEPS)
        return mcp_fail(err, MCP_ERR_ARG, "horizon of %d steps; 1 to %d are possible", r->steps,
                        MCP_MAX_STEPS);
    if (r->block < 0)
        return mcp_fail(err, MCP_ERR_ARG, "block = %d particles; 0 (automatic) or more", r->block);
    if (!(r->adjoint_clip >= 0.0))
        return mcp_fail(err, MCP_ERR_ARG, "adjoint_clip = %g; 0 (off) or more", r->adjoint_clip);
    if (s->ngp > 250 || s->ny > 250)
        return mcp_fail(err, MCP_ERR_ARG, "more channels than the noise streams can number");
    return MCP_OK;
}

static void shape_make(mcp_shape *k, const mcp_system *s, mcp_posterior *const *posterior,
                       const mcp_rollout_settings *r)
{
    *k = (mcp_shape){.system = s,
                     .posterior = posterior,
                     .set = *r,
                     .level = mcp_isa_level(),
                     .nx = s->nx,
                     .nu = s->nu,
                     .ny = s->ny,
                     .nf = s->nf,
                     .ngp = s->ngp,
                     .T = r->steps};
    k->program[SENSOR] = r->true_state ? NULL : s->sensor;
    k->program[CONTROLLER] = r->true_state ? s->policy_true : s->controller;
    k->program[ACTUATOR] = s->actuator;
    k->program[FEATURES] = s->features;
    k->program[INTEGRATE] = s->integrate;
    k->program[COST] = s->cost;
    k->activations = mcp_program_activations(k->program[CONTROLLER]);
    k->sums = mcp_program_sums(k->program[CONTROLLER]);
}

static size_t layout(mcp_rollout *r, char *mem)
{
    mcp_arena a = {mem, 0};
    size_t    padded = (size_t)r->padded, T1 = (size_t)r->shape.T + 1;
    r->cost  = mcp_arena_doubles(&a, T1 * padded);
    r->sums  = mcp_arena_doubles(&a, padded / MCP_LANES * r->shape.sums + 1);
    r->total = mcp_arena_doubles(&a, r->shape.sums + 1);
    r->table = mcp_arena_doubles(&a, mcp_program_table(r->shape.program[CONTROLLER]));
    r->bad   = mcp_arena_u8(&a, padded);
    for (int w = 0; w < r->workers; w++)
        mcp_block_layout(&r->worker[w], &r->shape, r->block, r->slabs + (size_t)w * T1, &a);
    return a.used;
}

mcp_status mcp_rollout_create(mcp_rollout **out, const mcp_system *s, mcp_posterior *const *posterior,
                              const mcp_rollout_settings *set, mcp_pool *pool, mcp_error *err)
{
    mcp_status st;
    *out = NULL;
    if ((st = check(s, set, err)) != MCP_OK) return st;
    mcp_rollout *r = mcp_calloc(1, sizeof *r);
    if (!r) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a particle simulation");
    shape_make(&r->shape, s, posterior, set);
    r->pool    = pool;
    r->workers = mcp_pool_threads(pool);
    r->padded  = mcp_round_lanes(set->particles);
    int wish   = mcp_round_lanes(set->block);
    r->blocks  = wish > 0 ? (r->padded + wish - 1) / wish : automatic_blocks(r->padded, r->workers);
    r->block   = mcp_round_lanes((r->padded + r->blocks - 1) / r->blocks);
    int threads = r->workers; /* a block may run on any of them */
    r->worker = mcp_calloc((size_t)threads, sizeof *r->worker);
    r->slabs  = mcp_calloc((size_t)threads * ((size_t)r->shape.T + 1), sizeof *r->slabs);
    if (!r->worker || !r->slabs)
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a particle simulation");
    if (st == MCP_OK) {
        r->bytes = layout(r, NULL);
        if (r->bytes > (size_t)1 << 40) {
            st = mcp_fail(err, MCP_ERR_ARG,
                          "%d particles over %d steps would need %.0f GB; use fewer, or a smaller block",
                          set->particles, set->steps, (double)r->bytes / 1e9);
        } else {
            st = mcp_block_alloc(&r->memory, r->bytes, err);
        }
    }
    if (st != MCP_OK) {
        mcp_rollout_free(r);
        return st;
    }
    layout(r, r->memory);
    *out = r;
    return MCP_OK;
}

void mcp_rollout_free(mcp_rollout *r)
{
    if (!r) return;
    mcp_block_free(r->memory);
    mcp_free(r->worker);
    mcp_free(r->slabs);
    mcp_free(r);
}

size_t mcp_rollout_bytes(const mcp_rollout *r)
{
    return r->bytes;
}

/* Fitted to `bench step` at 88 to 1760 data: nanoseconds of a particle's step. */
int mcp_rollout_particles(const mcp_rollout *r)
{
    return r->shape.set.particles;
}

int mcp_rollout_block(const mcp_rollout *r)
{
    return r->block;
}

typedef struct {
    mcp_rollout        *r;
    const double       *theta;
    double              dropout;
    const mcp_noise    *noise;
    mcp_rollout_result *result;
} job;

/* [row][lane] of time t to [t][particle][row]. */
static void record(double *to, const double *from, int rows, int t, int first, int live, int ld,
                   int particles)
{
    double *at = to + ((size_t)t * (size_t)particles + (size_t)first) * (size_t)rows;
    for (int j = 0; j < live; j++)
        for (int i = 0; i < rows; i++)
            at[(size_t)j * (size_t)rows + (size_t)i] = from[(size_t)i * (size_t)ld + (size_t)j];
}

static void record_all(const mcp_rollout *r, const mcp_block *b, int first, int live, mcp_rollout_result *to)
{
    const mcp_shape *s = &r->shape;
    for (int t = 0; t <= s->T; t++) {
        const mcp_slab *k = &b->slab[t];
        if (to->states) record(to->states, k->state_noise, s->nx, t, first, live, b->ld, s->set.particles);
        if (to->observed)
            record(to->observed, k->command_observed + (size_t)s->nu * (size_t)b->ld, s->nx, t, first, live,
                   b->ld, s->set.particles);
        if (to->inputs && t < s->T)
            record(to->inputs, k->command_observed, s->nu, t, first, live, b->ld, s->set.particles);
        if (to->applied)
            record(to->applied, k->state_input_change + (size_t)s->nx * (size_t)b->ld, s->nu, t, first, live,
                   b->ld, s->set.particles);
        for (int i = 0; to->inputs && t == s->T && i < live * s->nu; i++)
            to->inputs[((size_t)t * (size_t)s->set.particles + (size_t)first) * (size_t)s->nu + (size_t)i] =
                NAN;
    }
}

static void run_block(void *context, int task, int worker)
{
    const job       *c = context;
    mcp_rollout     *r = c->r;
    const mcp_shape *s = &r->shape;
    mcp_block       *b = &r->worker[worker];
    const int        first = first_of(r, task);
    const int        n = first_of(r, task + 1) - first;
    const int        live = first + n <= s->set.particles ? n : s->set.particles - first;
    const int        drop = c->dropout > 0.0 && s->activations > 0;
    mcp_noise_block  noise = {.steps = s->T,
                              .first = first,
                              .n = n,
                              .ld = b->ld,
                              .x0 = b->x0,
                              .e = b->e,
                              .eps = b->eps,
                              .keep = drop ? b->keep : NULL};
    mcp_pass         pass = {.theta = c->theta,
                             .table = s->set.single ? r->table : NULL,
                             .n = n,
                             .live = live,
                             .keep = noise.keep,
                             .keep_scale = drop ? 1.0 / (1.0 - c->dropout) : 1.0,
                             .gradient = c->result->gradient != NULL,
                             .last = c->result->observed != NULL,
                             .cost = r->cost + first,
                             .cost_stride = (size_t)r->padded,
                             .sums = r->sums + (size_t)(first / MCP_LANES) * s->sums};
    c->noise->fill(c->noise->context, &noise);
    mcp_block_forward(b, &pass);
    for (int j = 0; j < n; j++) r->bad[first + j] = j < live && isnan(b->bad[j]);
    if (c->result->states || c->result->observed || c->result->inputs || c->result->applied)
        record_all(r, b, first, live, c->result);
    if (!c->result->gradient) return;
    memset(pass.sums, 0, (size_t)(n / MCP_LANES) * s->sums * sizeof *pass.sums);
    mcp_block_backward(b, &pass);
}

static void statistics(const mcp_rollout *r, mcp_rollout_result *to)
{
    const int    M = r->shape.set.particles, T = r->shape.T;
    const size_t padded = (size_t)r->padded;
    to->J = 0.0;
    for (int t = 0; t <= T; t++) {
        const double *c = r->cost + (size_t)t * padded;
        double        sum = 0.0, square = 0.0;
        for (int j = 0; j < M; j++) sum += c[j];
        double mean = sum / M;
        to->J += mean;
        if (to->step_mean) to->step_mean[t] = mean;
        if (!to->step_std) continue;
        for (int j = 0; j < M; j++) square += (c[j] - mean) * (c[j] - mean);
        to->step_std[t] = M > 1 ? sqrt(square / (M - 1)) : 0.0;
    }
    double square = 0.0;
    for (int j = 0; j < M; j++) {
        double sum = 0.0;
        for (int t = 0; t <= T; t++) sum += r->cost[(size_t)t * padded + (size_t)j];
        if (to->particle_cost) to->particle_cost[j] = sum;
        square += (sum - to->J) * (sum - to->J);
    }
    to->J_std = M > 1 ? sqrt(square / (M - 1)) : 0.0;
}

/* Sums of the groups, in order, then the gradient of the mean. Returns the number of entries that are not
 * finite. */
static int gradient(mcp_rollout *r, const double *theta, double *g)
{
    const mcp_shape   *s = &r->shape;
    const mcp_program *p = s->program[CONTROLLER];
    const int          params = mcp_program_params(p);
    int                bad = 0;
    memset(r->total, 0, s->sums * sizeof *r->total);
    for (int k = 0; k < r->padded / MCP_LANES; k++) {
        mcp_program_sums_add(p, theta, s->set.single, r->sums + (size_t)k * s->sums, r->total);
    }
    memset(g, 0, (size_t)params * sizeof *g);
    mcp_program_gradient(p, theta, r->total, g);
    for (int i = 0; i < params; i++) {
        g[i] /= s->set.particles;
        bad += !isfinite(g[i]);
    }
    return bad;
}

mcp_status mcp_rollout_run(mcp_rollout *r, const double *theta, double dropout, const mcp_noise *noise,
                           mcp_rollout_result *result, mcp_error *err)
{
    if (!(dropout >= 0.0 && dropout < 1.0))
        return mcp_fail(err, MCP_ERR_ARG, "dropout = %g is outside [0, 1)", dropout);
    job c = {r, theta, dropout, noise, result};
    if (r->shape.set.single) mcp_program_tabulate(r->shape.program[CONTROLLER], theta, r->table);
    mcp_pool_run(r->pool, r->blocks, run_block, &c);
    statistics(r, result);
    result->bad = 0;
    for (int j = 0; j < r->shape.set.particles; j++) result->bad += r->bad[j];
    int bad = result->gradient && !result->bad ? gradient(r, theta, result->gradient) : 0;
    if (result->bad)
        return mcp_fail(
            err, MCP_ERR_NUMERIC,
            "%d of %d particles reached a state or cost that is not a finite number; look in the task's "
            "expressions for divisions, roots and logarithms that fail far from the goal",
            result->bad, r->shape.set.particles);
    if (bad)
        return mcp_fail(err, MCP_ERR_NUMERIC, "the gradient has %d entries that are not finite numbers", bad);
    return MCP_OK;
}
