/* explore.c - the inputs of an exploration trial, u[T][nu]; fractions are of L, half of each input's range
 * (its limit, where both sides are alike), about the middle of that range.
 *   uniform   a L (2 r - 1), a new r every `hold` samples
 *   sines     a L sum_i sin(2 pi f_i t + p_i), f_i uniform in [low, high] Hz, p_i zero, uniform in [0, 2 pi)
 *             or +-pi/2; spread: one f_i in each nth of the band, p_i = 2 pi (m + r)/ceil(n/2) (+ pi), m =
 *               i/2, so that
 *             neighbours oppose each other and the sum starts at zero (n even)
 *   triangle  +-a L tri(t/P) + noise L e, period P uniform in [low, high] s; it starts at a peak of either
 *     sign, so that an
 *             input that is integrated by the plant (a motor angle moved by increments) swings about its
 *               start
 *   file      the rows of a CSV file; exploration trial k takes the k-th T rows when there are that many,
 *     else the first T
 * All are clamped to the range. Every number is keyed by (seed, trial, time or index, input). */
#include <math.h>
#include <string.h>

#include "io/csv.h"
#include "math/angle.h"
#include "math/arena.h"
#include "math/rng.h"
#include "plant/plant_handle.h"
#include "plant/path.h"

enum { LASTED_LEAST = 4 }; /* samples */

static double uniform(const mcp_stream *s, int index, int input)
{
    double r;
    mcp_rng_uniforms(s, (uint32_t)index, (uint32_t)input, 0, 1, &r);
    return r;
}

static void fill_uniform(const mcp_task *t, const mcp_stream *s, int i, int T, double *u)
{
    int hold = t->explore.hold > 0 ? t->explore.hold : 1;
    for (int k = 0; k < T; k++)
        u[k * t->nu + i] = mcp_input_centre(&t->input[i]) + t->explore.amplitude *
                           mcp_input_reach(&t->input[i]) * (2.0 * uniform(s, k / hold, i) - 1.0);
}

/* Frequency and phase of sine j, by its two random numbers. */
static void one_sine(const mcp_task_explore *e, int j, double r, double q, double *f, double *phase)
{
    *f = e->low + (e->high - e->low) * r;
    switch (e->phase) {
    case MCP_SINES_ZERO: *phase = 0.0; break;
    case MCP_SINES_RANDOM: *phase = MCP_TURN * q; break;
    case MCP_SINES_CREST: *phase = 0.25 * (q < 0.5 ? MCP_TURN : -MCP_TURN); break;
    case MCP_SINES_SPREAD:
        *f = e->low + (e->high - e->low) * (j + r) / e->sines;
        *phase = MCP_TURN * ((j / 2 + q) / ((e->sines + 1) / 2) + 0.5 * (j % 2));
        break;
    }
}

/* Makes the sum smaller where it leaves the range or changes too fast for what moves with it. */
static void tame(const mcp_task *t, int i, int T, double *u)
{
    const mcp_task_input *in = &t->input[i];
    double centre = mcp_input_centre(in), reach = mcp_input_reach(in), peak = 0.0, change = 0.0;
    double most = 0.25 * reach;
    if (in->slew > 0.0) most = fmin(most, in->slew / t->rate);
    for (int k = 0; k < T; k++) {
        double now = u[k * t->nu + i] - centre, before = k ? u[(k - 1) * t->nu + i] - centre : 0.0;
        peak = fmax(peak, fabs(now));
        change = fmax(change, fabs(now - before));
    }
    double factor = fmin(1.0, fmin(peak > 0.0 ? reach / peak : 1.0, change > 0.0 ? most / change : 1.0));
    for (int k = 0; k < T; k++) u[k * t->nu + i] = centre + factor * (u[k * t->nu + i] - centre);
}

static void fill_sines(const mcp_task *t, const mcp_task_explore *e, const mcp_stream *s, int i, int T,
                       double *u)
{
    const double reach = mcp_input_reach(&t->input[i]), turn = uniform(s, 2 * e->sines, i);
    for (int k = 0; k < T; k++) u[k * t->nu + i] = mcp_input_centre(&t->input[i]);
    for (int j = 0; j < e->sines; j++) {
        double f = 0.0, phase = 0.0, q = e->phase == MCP_SINES_SPREAD ? turn : uniform(s, e->sines + j, i);
        one_sine(e, j, uniform(s, j, i), q, &f, &phase);
        for (int k = 0; k < T; k++)
            u[k * t->nu + i] += e->amplitude * reach * sin(MCP_TURN * f * k / t->rate + phase);
    }
    if (t->explore.phase == MCP_SINES_SPREAD) tame(t, i, T, u);
}

static void fill_triangle(const mcp_task *t, const mcp_stream *s, int i, int T, double *u)
{
    const mcp_task_explore *e = &t->explore;
    double period = e->low + (e->high - e->low) * uniform(s, 0, i);
    double sign   = uniform(s, 1, i) < 0.5 ? -1.0 : 1.0;
    for (int k = 0; k < T; k++) {
        double phase = k / (t->rate * period), r;
        double wave  = 4.0 * fabs(phase - floor(phase) - 0.5) - 1.0; /* 1 at phase 0, -1 at 1/2 */
        mcp_rng_normals(s, (uint32_t)k, (uint32_t)(MCP_MAX_INPUT + i), 0, 1, &r);
        u[k * t->nu + i] = mcp_input_centre(&t->input[i]) +
                           mcp_input_reach(&t->input[i]) * (sign * e->amplitude * wave + e->noise * r);
    }
}

static mcp_status fill_file(const mcp_task *t, uint32_t trial, int T, double *u, mcp_error *err)
{
    mcp_csv   *table = NULL;
    char      *path = mcp_path_beside(t->file, t->explore.file);
    if (!path) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the path of the exploration file");
    mcp_status st = mcp_csv_read(&table, path, err);
    if (st != MCP_OK) goto done;
    if (table->rows < T) {
        st = mcp_fail(err, MCP_ERR_IO, "%s: %d rows, but a trial of %g s at %g Hz needs %d", path,
                      table->rows, t->trial, t->rate, T);
        goto done;
    }
    size_t from = table->rows / T > (int)trial ? (size_t)trial * (size_t)T : 0;
    for (int i = 0; i < t->nu && st == MCP_OK; i++) {
        int col = mcp_csv_find(table, t->input[i].name);
        if (col < 0)
            st = mcp_fail(err, MCP_ERR_IO, "%s: no column named %s; its first line must name every input",
                          path, t->input[i].name);
        for (int k = 0; k < T && st == MCP_OK; k++) {
            u[k * t->nu + i] = table->value[(from + (size_t)k) * (size_t)table->columns + (size_t)col];
            if (!isfinite(u[k * t->nu + i]))
                st = mcp_fail(err, MCP_ERR_IO, "%s: column %s, row %d is not a finite number", path,
                              t->input[i].name, (int)from + k + 1);
        }
    }
done:
    mcp_csv_free(table);
    mcp_free(path);
    return st;
}

mcp_status mcp_explore_inputs(const mcp_task *task, uint64_t seed, uint32_t trial, double lasted, double *u,
                              mcp_error *err)
{
    mcp_task_explore e = task->explore;
    int        T = mcp_task_steps(task);
    mcp_stream s = {.seed = seed, .trial = trial, .step = 0, .purpose = MCP_RNG_EXPLORE};

    if (task->explore.type == MCP_EXPLORE_FILE) {
        mcp_status st = fill_file(task, trial, T, u, err);
        if (st != MCP_OK) return st;
    }
    if (e.own_band && lasted > 0.0) {
        mcp_explore_band(task, fmin(fmax(lasted, LASTED_LEAST / task->rate), task->trial), &e.low, &e.high);
        e.phase = MCP_SINES_RANDOM; /* sines that oppose each other at first would do so till it is over */
    }
    for (int i = 0; i < task->nu; i++) {
        switch (task->explore.type) {
        case MCP_EXPLORE_UNIFORM: fill_uniform(task, &s, i, T, u); break;
        case MCP_EXPLORE_SINES: fill_sines(task, &e, &s, i, T, u); break;
        case MCP_EXPLORE_TRIANGLE: fill_triangle(task, &s, i, T, u); break;
        case MCP_EXPLORE_FILE: break;
        }
    }
    return MCP_OK;
}
