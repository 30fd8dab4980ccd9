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
    rows(&k->state_noise, a, s->nx + s->ny, ld);
    rows(&k->y, a, s->ny, ld);
    rows(&k->command_observed, a, s->nu + s->nx, ld);
    rows(&k->state_input_change, a, s->nx + s->nu + s->ngp, ld);
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
    rows(&b->std, a, 1, ld);
    rows(&b->cost_out, a, 2, ld);
    rows(&b->bad, a, 1, ld);
    rows(&b->x_bar, a, s->nx, ld);
    rows(&b->state_noise_bar, a, s->nx + s->ny, ld);
    rows(&b->y_bar, a, s->ny, ld);
    rows(&b->command_observed_bar, a, s->nu + s->nx, ld);
    rows(&b->a_bar, a, s->nu, ld);
    rows(&b->state_input_change_bar, a, s->nx + s->nu + s->ngp, ld);
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

/* Row i of an array of rows. */
static double *row(double *p, int i, int ld)
{
    return p + (size_t)i * (size_t)ld;
}

/* A stage at time t: what its forward and its backward have in common. The policy's parameters and dropout
 * concern the controller alone. */
static mcp_batch_call stage_call(const mcp_block *b, const mcp_pass *q, int stage, int t)
{
    const mcp_shape *s = b->s;
    mcp_batch_call   c = {.program = s->program[stage],
                          .level = s->level,
                          .first = t == 0,
                          .n = q->n,
                          .ld = b->ld,
                          .mem = b->slab[t].memory[stage],
                          .tape = b->slab[t].tape[stage],
                          .keep_scale = 1.0};
    if (stage != CONTROLLER) return c;
    c.theta = q->theta;
    c.table = q->table;
    c.keep = q->keep ? q->keep + (size_t)t * (size_t)s->activations * (size_t)b->ld : NULL;
    c.keep_scale = q->keep_scale;
    return c;
}

/* The last step's memory has nowhere to go but into scratch. */
static void run(mcp_block *b, const mcp_pass *q, int stage, int t, const double *in, double *out)
{
    mcp_batch_call c = stage_call(b, q, stage, t);
    c.in = in;
    c.out = out;
    c.next = t < b->s->T ? b->slab[t + 1].memory[stage] : b->next_bar[stage];
    mcp_batch_forward(&c);
}

/* D = expected + mean + sqrt(var [+ noise]) eps, and its row of the Jacobian. */
static void sample_change(mcp_block *b, int g, int t, int n, int want_gradient)
{
    const mcp_shape     *s = b->s;
    const mcp_posterior *p = s->posterior[g];
    mcp_slab            *k = &b->slab[t];
    const int            ld = b->ld;
    const double        *eps = row(b->eps, t * s->ngp + g, ld);
    const double        *expected = row(k->f, s->nf + g, ld);
    double              *change = row(k->state_input_change, s->nx + s->nu + g, ld);
    mcp_posterior_sample(p, &(mcp_sample_call){.n = n,
                                               .ld = ld,
                                               .F = k->f,
                                               .eps = eps,
                                               .single = s->set.single,
                                               .more = s->set.noisy ? mcp_posterior_noise_var(p) : 0.0,
                                               .mean = b->mean,
                                               .std = b->std,
                                               .row = want_gradient ? row(k->jacobian, g * s->nf, ld) : NULL,
                                               .tape = b->gp_tape});
    for (int j = 0; j < n; j++) change[j] = expected[j] + b->mean[j] + b->std[j] * eps[j];
}

/* x * 0 is 0, or NaN when x is not finite. */
static void note_bad(double *bad, const double *x, int count, int n, int ld)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < n; j++) bad[j] += x[i * ld + j] * 0.0;
}

static void controller_at(mcp_block *b, const mcp_pass *q, int t)
{
    const mcp_shape *s = b->s;
    mcp_slab        *k = &b->slab[t];
    copy(row(k->state_noise, s->nx, b->ld), row(b->e, t * s->ny, b->ld), s->ny, b->ld);
    if (s->program[SENSOR]) run(b, q, SENSOR, t, k->state_noise, k->y);
    run(b, q, CONTROLLER, t, s->program[SENSOR] ? k->y : k->state_noise, k->command_observed);
}

static void cost_at(mcp_block *b, const mcp_pass *q, int t)
{
    run(b, q, COST, t, b->slab[t].state_input_change, b->cost_out);
    memcpy(q->cost + (size_t)t * q->cost_stride, b->cost_out, (size_t)q->n * sizeof *q->cost);
    note_bad(b->bad, b->cost_out, 1, q->n, b->ld);
}

void mcp_block_forward(mcp_block *b, const mcp_pass *q)
{
    const mcp_shape *s = b->s;
    const int        ld = b->ld;
    zero(b->bad, 1, ld);
    copy(b->slab[0].state_noise, b->x0, s->nx, ld);
    for (int t = 0; t < s->T; t++) {
        mcp_slab *k = &b->slab[t];
        controller_at(b, q, t);
        copy(k->state_input_change, k->state_noise, s->nx, ld);
        run(b, q, ACTUATOR, t, k->command_observed, row(k->state_input_change, s->nx, ld));
        run(b, q, FEATURES, t, k->state_input_change, k->f);
        for (int g = 0; g < s->ngp; g++) sample_change(b, g, t, q->n, q->gradient);
        cost_at(b, q, t);
        run(b, q, INTEGRATE, t, k->state_input_change, b->slab[t + 1].state_noise);
        note_bad(b->bad, b->slab[t + 1].state_noise, s->nx, q->n, ld);
    }
    /* The state at T costs too; no input is applied any more, the last one stands for it. */
    mcp_slab *last = &b->slab[s->T];
    copy(last->state_input_change, last->state_noise, s->nx, ld);
    copy(row(last->state_input_change, s->nx, ld), row(b->slab[s->T - 1].state_input_change, s->nx, ld),
         s->nu, ld);
    cost_at(b, q, s->T);
    if (q->last) controller_at(b, q, s->T);
}

/* Adjoint of one stage at time t: reads next_bar of its memory, leaves the memory's adjoint of time t
 * there. */
static void back(mcp_block *b, const mcp_pass *q, int stage, int t, const double *in, const double *out_bar,
                 double *in_bar)
{
    mcp_batch_call c = stage_call(b, q, stage, t);
    double        *now_bar = b->memory_bar[stage];
    zero(now_bar, mcp_program_memory(c.program), b->ld);
    c.in = in;
    c.out_bar = out_bar;
    c.next_bar = b->next_bar[stage];
    c.scratch = b->scratch;
    c.in_bar = in_bar;
    c.mem_bar = now_bar;
    c.sums = stage == CONTROLLER ? q->sums : NULL;
    c.sums_stride = b->s->sums;
    mcp_batch_backward(&c);
    b->memory_bar[stage] = b->next_bar[stage];
    b->next_bar[stage] = now_bar;
}

/* Scales the state's adjoint of a lane, in its units, to at most `most`, and the memories' by the same
 * factor. */
static void clip_adjoint(mcp_block *b, int n)
{
    const mcp_shape *s = b->s;
    const double     most = s->set.adjoint_clip;
    int              any = 0;
    zero(b->clip, 1, b->ld);
    for (int i = 0; i < s->nx; i++) {
        const double  unit = s->set.adjoint_unit ? s->set.adjoint_unit[i] : 1.0;
        const double *bar = row(b->x_bar, i, b->ld);
        for (int j = 0; j < n; j++) b->clip[j] += unit * bar[j] * (unit * bar[j]);
    }
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
            for (int j = 0; j < n; j++) v[i * b->ld + j] *= b->clip[j];
    }
}

/* f_bar = sum over GPs of D_bar times its row; the expected change gets D_bar itself. */
static void back_changes(mcp_block *b, int t, int n)
{
    const mcp_shape *s = b->s;
    const int        ld = b->ld;
    double          *change_bar = row(b->state_input_change_bar, s->nx + s->nu, ld);
    zero(b->f_bar, s->nf, ld);
    copy(row(b->f_bar, s->nf, ld), change_bar, s->ngp, ld);
    for (int g = 0; g < s->ngp; g++)
        for (int i = 0; i < s->nf; i++) {
            const double *restrict slope = row(b->slab[t].jacobian, g * s->nf + i, ld);
            const double *restrict bar = row(change_bar, g, ld);
            double *restrict to = row(b->f_bar, i, ld);
            for (int j = 0; j < n; j++) to[j] += slope[j] * bar[j];
        }
}

static void back_step(mcp_block *b, const mcp_pass *q, int t)
{
    const mcp_shape *s = b->s;
    const int        ld = b->ld;
    mcp_slab        *k = &b->slab[t];
    if (s->set.adjoint_clip > 0.0) clip_adjoint(b, q->n);

    /* x, a and D: through integrate, the GPs, the features and the cost at t; a_bar: of the cost at T */
    zero(b->state_input_change_bar, s->nx + s->nu + s->ngp, ld);
    add(row(b->state_input_change_bar, s->nx, ld), b->a_bar, s->nu, ld);
    zero(b->a_bar, s->nu, ld);
    back(b, q, INTEGRATE, t, k->state_input_change, b->x_bar, b->state_input_change_bar);
    back_changes(b, t, q->n);
    back(b, q, FEATURES, t, k->state_input_change, b->f_bar, b->state_input_change_bar);
    back(b, q, COST, t, k->state_input_change, b->cost_bar, b->state_input_change_bar);

    /* back to the measurements, and from them to the state once more */
    zero(b->command_observed_bar, s->nu + s->nx, ld);
    back(b, q, ACTUATOR, t, k->command_observed, row(b->state_input_change_bar, s->nx, ld),
         b->command_observed_bar);
    if (s->program[SENSOR]) {
        zero(b->y_bar, s->ny, ld);
        zero(b->state_noise_bar, s->nx + s->ny, ld);
        back(b, q, CONTROLLER, t, k->y, b->command_observed_bar, b->y_bar);
        back(b, q, SENSOR, t, k->state_noise, b->y_bar, b->state_noise_bar);
        add(b->state_input_change_bar, b->state_noise_bar, s->nx, ld);
    } else {
        back(b, q, CONTROLLER, t, k->state_noise, b->command_observed_bar, b->state_input_change_bar);
    }
    copy(b->x_bar, b->state_input_change_bar, s->nx, ld);
}

void mcp_block_backward(mcp_block *b, const mcp_pass *q)
{
    const mcp_shape *s = b->s;
    const int        ld = b->ld;
    for (int i = 0; i < STAGES; i++)
        if (s->program[i]) zero(b->next_bar[i], mcp_program_memory(s->program[i]), ld);
    zero(b->cost_bar, 2, ld);
    for (int j = 0; j < q->live; j++) b->cost_bar[j] = 1.0;

    zero(b->state_input_change_bar, s->nx + s->nu + s->ngp, ld);
    back(b, q, COST, s->T, b->slab[s->T].state_input_change, b->cost_bar, b->state_input_change_bar);
    copy(b->x_bar, b->state_input_change_bar, s->nx, ld);
    copy(b->a_bar, row(b->state_input_change_bar, s->nx, ld), s->nu, ld);
    for (int t = s->T - 1; t >= 0; t--) back_step(b, q, t);
}
