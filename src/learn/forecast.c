/* forecast.c - particles beside the optimisation: forecast before a trial, coverage after it, evaluation on
 * the model.
 *
 * The noise is its own, never the optimiser's: a forecast on the noise the policy was chosen by would flatter
 * it. */
#include "learn/forecast.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "math/stats.h"

mcp_status mcp_forecast_alloc(mcp_forecast **out, int samples, int nx, int kept, mcp_error *err)
{
    mcp_forecast *f = NULL;
    size_t        n = (size_t)samples * (size_t)nx;
    void         *block;
    *out = NULL;
    for (int pass = 0; pass < 2; pass++) {
        mcp_arena     a = {.base = pass ? (char *)f : NULL};
        mcp_forecast *g = mcp_arena_bytes(&a, sizeof *g);
        double *low = mcp_arena_doubles(&a, n), *median = mcp_arena_doubles(&a, n),
               *high = mcp_arena_doubles(&a, n);
        double       *states = mcp_arena_doubles(&a, n * (size_t)kept);
        if (pass == 0) {
            mcp_status st = mcp_block_alloc(&block, a.used, err);
            if (st != MCP_OK) return st;
            f = block;
        } else {
            *g = (mcp_forecast){.samples = samples,
                                .nx = nx,
                                .kept = kept,
                                .low = low,
                                .median = median,
                                .high = high,
                                .states = states,
                                .cost = NAN,
                                .cost_std = NAN,
                                .success = NAN,
                                .limit = NAN};
        }
    }
    *out = f;
    return MCP_OK;
}

void mcp_forecast_free(mcp_forecast *f)
{
    mcp_block_free(f);
}

static void bands(mcp_forecast *f, const mcp_particles *p, double *column)
{
    for (int i = 0; i < p->samples; i++)
        for (int k = 0; k < p->nx; k++) {
            int at = i * p->nx + k;
            for (int j = 0; j < p->count; j++)
                column[j] = p->states[((size_t)i * (size_t)p->count + (size_t)j) * (size_t)p->nx + (size_t)k];
            f->low[at] = mcp_quantile(column, p->count, 0.05);
            f->median[at] = mcp_quantile_sorted(column, p->count, 0.5);
            f->high[at] = mcp_quantile_sorted(column, p->count, 0.95);
        }
}

mcp_status mcp_forecast_make(mcp_forecast **out, const mcp_system *s, const mcp_particles *p, int kept,
                             mcp_error *err)
{
    mcp_forecast *f = NULL;
    mcp_status    st;
    double       *column = mcp_calloc((size_t)p->count, sizeof *column);
    int *success = mcp_calloc((size_t)p->count, sizeof *success),
        *limit = mcp_calloc((size_t)p->count, sizeof *limit);
    *out = NULL;
    if (kept > p->count) kept = p->count;
    if (!column || !success || !limit) st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the forecast");
    else if ((st = mcp_forecast_alloc(&f, p->samples, p->nx, kept, err)) == MCP_OK)
        st = mcp_particles_score(p, s, success, limit, NULL, err);
    if (st == MCP_OK) {
        f->cost = p->cost_mean;
        f->cost_std = p->cost_std;
        f->success = f->limit = 0.0;
        for (int j = 0; j < p->count; j++) {
            f->success += success[j] != 0; /* counted, then divided: all of them is exactly 1 */
            f->limit += limit[j] != 0;
        }
        f->success /= p->count;
        f->limit /= p->count;
        bands(f, p, column);
        size_t row = (size_t)kept * (size_t)p->nx;
        for (int i = 0; i < p->samples; i++)
            memcpy(f->states + (size_t)i * row, p->states + (size_t)i * (size_t)p->count * (size_t)p->nx,
                   row * sizeof(double));
        *out = f;
    } else {
        mcp_forecast_free(f);
    }
    mcp_free(column);
    mcp_free(success);
    mcp_free(limit);
    return st;
}

void mcp_forecast_coverage(const mcp_forecast *f, int samples, const double *states, double *by_state,
                           double *all)
{
    int inside_all = 0, seen_all = 0;
    for (int k = 0; k < f->nx; k++)
        for (int w = 0; w < MCP_WINDOWS; w++) {
            int inside = 0, seen = 0;
            for (int i = 0; i < samples && i < f->samples; i++) {
                int    window = i * MCP_WINDOWS / f->samples;
                double x = states[i * f->nx + k];
                if (window != w || isnan(x)) continue;
                seen++;
                inside += x >= f->low[i * f->nx + k] && x <= f->high[i * f->nx + k];
            }
            by_state[k * MCP_WINDOWS + w] = seen ? (double)inside / seen : NAN;
            inside_all += inside;
            seen_all += seen;
        }
    *all = seen_all ? (double)inside_all / seen_all : NAN;
}
