/* block.c - one block of particles: memory, forward over time, backward over time.
 *
 * The GP's derivative is taken in the forward sweep while its tape is in the cache: D = m(f) + sqrt(v(f)) eps
 * has the row dD/df = dm/df + eps/(2 sqrt(v)) dv/df, nf numbers a lane, and that is all the backward sweep
 * needs of it. */
#include "rollout/block.h"

#include <math.h>
#include <string.h>

static void rows(double **p, mcp_arena *a, int count, int ld)
{
    *p = mcp_arena_doubles(a, (size_t)(count > 0 ? count : 1) * (size_t)ld);
}

static void layout_slab(mcp_slab *k, const mcp_shape *s, int ld, mcp_arena *a)
{
    rows(&k->xe, a, s->nx + s->ny, ld);
    rows(&k->y, a, s->ny, ld);
    rows(&k->uz, a, s->nu + s->nx, ld);
    rows(&k->xad, a, s->nx + s->nu + s->ngp, ld);
    rows(&k->f, a, s->nf + s->ngp, ld);
    rows(&k->jacobian, a, s->nf * s->ngp, ld);
    for (int i = 0; i < STAGES; i++) {
        if (!s->program[i]) continue;
        rows(&k->memory[i], a, mcp_program_memory(s->program[i]), ld);
        k->tape[i] = mcp_arena_doubles(a, mcp_program_tape(s->program[i], ld) + 1);
    }
}

void mcp_block_layout(mcp_block *b, const mcp_shape *s, int ld, mcp_slab *slab, mcp_arena *a)
{
    size_t lanes = (size_t)ld, T = (size_t)s->T, gp_tape = 1, scratch = 1;
    *b = (mcp_block){.s = s, .ld = ld, .slab = slab};
    for (int t = 0; t <= s->T; t++) layout_slab(&slab[t], s, ld, a);
    rows(&b->x0, a, s->nx, ld);
    b->e   = mcp_arena_doubles(a, (T + 1) * (size_t)s->ny * lanes);
    b->eps = mcp_arena_doubles(a, T * (size_t)s->ngp * lanes + 1);
    b->keep = mcp_arena_u8(a, (T + 1) * (size_t)s->activations * lanes + 1);
    for (int g = 0; g < s->ngp; g++) {
        size_t n = mcp_posterior_tape(s->posterior[g], ld);
        if (n > gp_tape) gp_tape = n;
    }
    b->gp_tape = mcp_arena_doubles(a, gp_tape);
    rows(&b->mean, a, 1, ld);
    rows(&b->var, a, 1, ld);
    rows(&b->mean_bar, a, 1, ld);
    rows(&b->var_bar, a, 1, ld);
    rows(&b->cost_out, a, 2, ld);
    rows(&b->bad, a, 1, ld);
    rows(&b->x_bar, a, s->nx, ld);
    rows(&b->xe_bar, a, s->nx + s->ny, ld);
    rows(&b->y_bar, a, s->ny, ld);
    rows(&b->uz_bar, a, s->nu + s->nx, ld);
    rows(&b->a_bar, a, s->nu, ld);
    rows(&b->xad_bar, a, s->nx + s->nu + s->ngp, ld);
    rows(&b->f_bar, a, s->nf + s->ngp, ld);
    rows(&b->cost_bar, a, 2, ld);
    rows(&b->clip, a, 1, ld);
    for (int i = 0; i < STAGES; i++) {
        if (!s->program[i]) continue;
        rows(&b->memory_bar[i], a, mcp_program_memory(s->program[i]), ld);
        rows(&b->next_bar[i], a, mcp_program_memory(s->program[i]), ld);
        size_t n = mcp_program_scratch(s->program[i], ld);
        if (n > scratch) scratch = n;
    }
    b->scratch = mcp_arena_doubles(a, scratch);
}

static void copy(double *to, const double *from, int count, int ld)
{
    if (count > 0) memcpy(to, from, (size_t)count * (size_t)ld * sizeof *to);
}

static void zero(double *p, int count, int ld)
{
    if (count > 0) memset(p, 0, (size_t)count * (size_t)ld * sizeof *p);
}

static void add(double *restrict to, const double *restrict from, int count, int ld)
{
    for (int i = 0; i < count * ld; i++) to[i] += from[i];
}

/* One stage at time t. The last step's memory has nowhere to go but into scratch. */
static void run(mcp_block *b, int stage, const double *theta, int t, int n, const double *in,
                const uint8_t *keep, double keep_scale, double *out)
{
    const mcp_shape *s = b->s;
    double          *next = t < s->T ? b->slab[t + 1].memory[stage] : b->next_bar[stage];
    mcp_program_forward(s->program[stage], s->level, theta, t == 0, n, b->ld, in, b->slab[t].memory[stage],
                        keep, keep_scale, b->slab[t].tape[stage], out, next);
}

/* D = expected + mean + sqrt(var [+ noise]) eps, and its row of the Jacobian. */
static void sample_change(mcp_block *b, int g, int t, int n, int want_gradient)
{
    const mcp_shape     *s = b->s;
    const mcp_posterior *p = s->posterior[g];
    mcp_slab            *k = &b->slab[t];
    const int            ld = b->ld;
    const double        *eps = b->eps + ((size_t)t * (size_t)s->ngp + (size_t)g) * (size_t)ld;
    const double        *expected = k->f + (size_t)(s->nf + g) * (size_t)ld;
    double              *change = k->xad + (size_t)(s->nx + s->nu + g) * (size_t)ld;
    const double         more = s->set.noisy ? mcp_posterior_noise_var(p) : 0.0;
    if (want_gradient) mcp_posterior_forward(p, n, ld, k->f, b->mean, b->var, b->gp_tape);
    else mcp_posterior_predict(p, n, ld, k->f, b->mean, b->var, b->gp_tape);
    for (int j = 0; j < n; j++) {
        double std = sqrt(b->var[j] + more);
        change[j] = expected[j] + b->mean[j] + std * eps[j];
        b->mean_bar[j] = 1.0;
        b->var_bar[j] = std > 0.0 ? 0.5 * eps[j] / std : 0.0;
    }
    if (!want_gradient) return;
    double *row = k->jacobian + (size_t)(g * s->nf) * (size_t)ld;
    zero(row, s->nf, ld);
    mcp_posterior_backward(p, n, ld, k->f, b->mean_bar, b->var_bar, b->gp_tape, row);
}

/* x * 0 is 0, or NaN when x is not finite. */
static void note_bad(double *bad, const double *x, int count, int n, int ld)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < n; j++) bad[j] += x[(size_t)i * (size_t)ld + (size_t)j] * 0.0;
}

static void controller_at(mcp_block *b, const double *theta, int t, int n, const uint8_t *keep,
                          double keep_scale)
{
    const mcp_shape *s = b->s;
    mcp_slab        *k = &b->slab[t];
    const uint8_t   *keep_t = keep ? keep + (size_t)t * (size_t)s->activations * (size_t)b->ld : NULL;
    copy(k->xe + (size_t)s->nx * (size_t)b->ld, b->e + (size_t)t * (size_t)s->ny * (size_t)b->ld, s->ny,
         b->ld);
    if (s->program[SENSOR]) run(b, SENSOR, NULL, t, n, k->xe, NULL, 1.0, k->y);
    run(b, CONTROLLER, theta, t, n, s->program[SENSOR] ? k->y : k->xe, keep_t, keep_scale, k->uz);
}

static void cost_at(mcp_block *b, int t, int n, double *cost)
{
    run(b, COST, NULL, t, n, b->slab[t].xad, NULL, 1.0, b->cost_out);
    memcpy(cost, b->cost_out, (size_t)n * sizeof *cost);
    note_bad(b->bad, b->cost_out, 1, n, b->ld);
}

void mcp_block_forward(mcp_block *b, const double *theta, int n, const uint8_t *keep, double keep_scale,
                       int want_gradient, int want_last, double *cost, size_t cost_stride)
{
    const mcp_shape *s = b->s;
    const size_t     ld = (size_t)b->ld;
    zero(b->bad, 1, b->ld);
    copy(b->slab[0].xe, b->x0, s->nx, b->ld);
    for (int t = 0; t < s->T; t++) {
        mcp_slab *k = &b->slab[t];
        controller_at(b, theta, t, n, keep, keep_scale);
        copy(k->xad, k->xe, s->nx, b->ld);
        run(b, ACTUATOR, NULL, t, n, k->uz, NULL, 1.0, k->xad + (size_t)s->nx * ld);
        run(b, FEATURES, NULL, t, n, k->xad, NULL, 1.0, k->f);
        for (int g = 0; g < s->ngp; g++) sample_change(b, g, t, n, want_gradient);
        cost_at(b, t, n, cost + (size_t)t * cost_stride);
        run(b, INTEGRATE, NULL, t, n, k->xad, NULL, 1.0, b->slab[t + 1].xe);
        note_bad(b->bad, b->slab[t + 1].xe, s->nx, n, b->ld);
    }
    /* The state at T costs too; no input is applied any more, the last one stands for it. */
    mcp_slab *last = &b->slab[s->T];
    copy(last->xad, last->xe, s->nx, b->ld);
    copy(last->xad + (size_t)s->nx * ld, b->slab[s->T - 1].xad + (size_t)s->nx * ld, s->nu, b->ld);
    cost_at(b, s->T, n, cost + (size_t)s->T * cost_stride);
    if (want_last) controller_at(b, theta, s->T, n, keep, keep_scale);
}

/* Adjoint of one stage at time t: reads next_bar of its memory, leaves the memory's adjoint of time t there.
 */
static void back(mcp_block *b, int stage, const double *theta, int t, int n, const double *in,
                 const uint8_t *keep, double keep_scale, const double *out_bar, double *in_bar, double *sums)
{
    const mcp_shape   *s = b->s;
    const mcp_program *p = s->program[stage];
    const int          slots = mcp_program_memory(p);
    zero(b->memory_bar[stage], slots, b->ld);
    mcp_program_backward(p, s->level, theta, t == 0, n, b->ld, in, b->slab[t].memory[stage], keep, keep_scale,
                         b->slab[t].tape[stage], out_bar, b->next_bar[stage], b->scratch, in_bar,
                         b->memory_bar[stage], sums, s->sums);
    double *swap = b->next_bar[stage];
    b->next_bar[stage] = b->memory_bar[stage];
    b->memory_bar[stage] = swap;
}

/* Scales the state's adjoint of a lane to at most `most`, and the memories' by the same factor. */
static void clip_adjoint(mcp_block *b, int n)
{
    const mcp_shape *s = b->s;
    const double     most = s->set.adjoint_clip;
    int              any = 0;
    zero(b->clip, 1, b->ld);
    for (int i = 0; i < s->nx; i++)
        for (int j = 0; j < n; j++)
            b->clip[j] += b->x_bar[(size_t)i * (size_t)b->ld + (size_t)j] *
                          b->x_bar[(size_t)i * (size_t)b->ld + (size_t)j];
    for (int j = 0; j < n; j++) {
        any |= b->clip[j] > most * most;
        b->clip[j] = b->clip[j] > most * most ? most / sqrt(b->clip[j]) : 1.0;
    }
    if (!any) return;
    for (int k = -1; k < STAGES; k++) {
        if (k >= 0 && !s->program[k]) continue;
        double *v = k < 0 ? b->x_bar : b->next_bar[k];
        int     count = k < 0 ? s->nx : mcp_program_memory(s->program[k]);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < n; j++) v[(size_t)i * (size_t)b->ld + (size_t)j] *= b->clip[j];
    }
}

/* f_bar = sum over GPs of D_bar times its row; the expected change gets D_bar itself. */
static void back_changes(mcp_block *b, int t, int n)
{
    const mcp_shape *s = b->s;
    const size_t     ld = (size_t)b->ld;
    const double    *change_bar = b->xad_bar + (size_t)(s->nx + s->nu) * ld;
    zero(b->f_bar, s->nf, b->ld);
    copy(b->f_bar + (size_t)s->nf * ld, change_bar, s->ngp, b->ld);
    for (int g = 0; g < s->ngp; g++)
        for (int i = 0; i < s->nf; i++) {
            const double *restrict row = b->slab[t].jacobian + (size_t)(g * s->nf + i) * ld;
            const double *restrict bar = change_bar + (size_t)g * ld;
            double *restrict to = b->f_bar + (size_t)i * ld;
            for (int j = 0; j < n; j++) to[j] += row[j] * bar[j];
        }
}

static void back_step(mcp_block *b, const double *theta, int t, int n, const uint8_t *keep, double keep_scale,
                      double *sums)
{
    const mcp_shape *s = b->s;
    const size_t     ld = (size_t)b->ld;
    mcp_slab        *k = &b->slab[t];
    const uint8_t   *keep_t = keep ? keep + (size_t)t * (size_t)s->activations * ld : NULL;
    if (s->set.adjoint_clip > 0.0) clip_adjoint(b, n);

    /* x, a and D: through integrate, the GPs, the features and the cost at t; a_bar comes from the cost at T
     */
    zero(b->xad_bar, s->nx + s->nu + s->ngp, b->ld);
    add(b->xad_bar + (size_t)s->nx * ld, b->a_bar, s->nu, b->ld);
    zero(b->a_bar, s->nu, b->ld);
    back(b, INTEGRATE, NULL, t, n, k->xad, NULL, 1.0, b->x_bar, b->xad_bar, NULL);
    back_changes(b, t, n);
    back(b, FEATURES, NULL, t, n, k->xad, NULL, 1.0, b->f_bar, b->xad_bar, NULL);
    back(b, COST, NULL, t, n, k->xad, NULL, 1.0, b->cost_bar, b->xad_bar, NULL);

    /* back to the measurements, and from them to the state once more */
    zero(b->uz_bar, s->nu + s->nx, b->ld);
    back(b, ACTUATOR, NULL, t, n, k->uz, NULL, 1.0, b->xad_bar + (size_t)s->nx * ld, b->uz_bar, NULL);
    if (s->program[SENSOR]) {
        zero(b->y_bar, s->ny, b->ld);
        zero(b->xe_bar, s->nx + s->ny, b->ld);
        back(b, CONTROLLER, theta, t, n, k->y, keep_t, keep_scale, b->uz_bar, b->y_bar, sums);
        back(b, SENSOR, NULL, t, n, k->xe, NULL, 1.0, b->y_bar, b->xe_bar, NULL);
        add(b->xad_bar, b->xe_bar, s->nx, b->ld);
    } else {
        back(b, CONTROLLER, theta, t, n, k->xe, keep_t, keep_scale, b->uz_bar, b->xad_bar, sums);
    }
    copy(b->x_bar, b->xad_bar, s->nx, b->ld);
}

void mcp_block_backward(mcp_block *b, const double *theta, int n, int live, const uint8_t *keep,
                        double keep_scale, double *sums)
{
    const mcp_shape *s = b->s;
    for (int i = 0; i < STAGES; i++)
        if (s->program[i]) zero(b->next_bar[i], mcp_program_memory(s->program[i]), b->ld);
    zero(b->cost_bar, 2, b->ld);
    for (int j = 0; j < live; j++) b->cost_bar[j] = 1.0;

    zero(b->xad_bar, s->nx + s->nu + s->ngp, b->ld);
    back(b, COST, NULL, s->T, n, b->slab[s->T].xad, NULL, 1.0, b->cost_bar, b->xad_bar, NULL);
    copy(b->x_bar, b->xad_bar, s->nx, b->ld);
    copy(b->a_bar, b->xad_bar + (size_t)s->nx * (size_t)b->ld, s->nu, b->ld);
    for (int t = s->T - 1; t >= 0; t--) back_step(b, theta, t, n, keep, keep_scale, sums);
}
