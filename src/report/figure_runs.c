/* figure_runs.c - figures of many runs at once, as the paper draws them:
 *
 *   runs    one policy, 400 times: on the particles of its model (left) and on the plant (right), a row per
 *     state
 *   plane   the first two measured states against each other, ten runs on the plant, their ends marked
 *   trials  every trial up to the first success, a row per state
 *
 * Many trajectories are one line with gaps (NaN), so that a figure stays one path per colour. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "learn/evaluate.h"
#include "math/arena.h"
#include "report/parts.h"

enum { RUNS = 400, PLANE_RUNS = 10 };

/* Trajectories of one policy: states [runs][samples + 1][nx]; the last sample of each is NaN, and so is what
 * a run that ended early did not see. */
typedef struct {
    int     runs, samples, nx, successes;
    double *x, *t;  /* states, and the time of each row */
    int    *success;
} bundle;

static void bundle_free(bundle *b)
{
    mcp_free(b->x);
    mcp_free(b->t);
    mcp_free(b->success);
}

static mcp_status bundle_make(bundle *b, const mcp_system *s, int runs, mcp_error *err)
{
    *b = (bundle){.runs = runs, .samples = s->steps + 1, .nx = s->nx};
    size_t rows = (size_t)runs * (size_t)(b->samples + 1);
    b->x       = mcp_calloc(rows * (size_t)b->nx, sizeof *b->x);
    b->t       = mcp_calloc(rows, sizeof *b->t);
    b->success = mcp_calloc((size_t)runs, sizeof *b->success);
    if (!b->x || !b->t || !b->success)
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a figure of %d runs", runs);
    for (size_t i = 0; i < rows * (size_t)b->nx; i++) b->x[i] = NAN;
    for (size_t i = 0; i < rows; i++) b->t[i] = s->ts * (double)(i % (size_t)(b->samples + 1));
    return MCP_OK;
}

static double *row(const bundle *b, int run, int sample)
{
    return b->x + ((size_t)run * (size_t)(b->samples + 1) + (size_t)sample) * (size_t)b->nx;
}

static mcp_status on_plant(bundle *b, const mcp_run *r, const mcp_run_item *policy, int runs, mcp_error *err)
{
    mcp_plant   *plant = NULL;
    mcp_run_item it = {0};
    mcp_status   st = bundle_make(b, r->system, runs, err);
    if (st == MCP_OK && !mcp_plant_is_simulated(r->task))
        st = mcp_fail(err, MCP_ERR_ARG,
                      "%s: this figure runs the policy many times, and its plant is not a simulation; see "
                      "mcpilco evaluate",
                      r->folder);
    if (st == MCP_OK) st = mcp_plant_open(&plant, r->system, err);
    if (st == MCP_OK) st = mcp_trial_create(&it.trial, r->task, err);
    for (int k = 0; k < runs && st == MCP_OK; k++) {
        mcp_score score;
        mcp_trial_key key = {r->seed, (uint32_t)policy->info.number, (uint32_t)k + 1};
        st = mcp_plant_run(plant, policy->theta, key, NULL, NULL, it.trial, err);
        double *x = st == MCP_OK ? mcp_run_outcome(&it) : NULL;
        if (st == MCP_OK && !x)
            st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a figure of %d runs", runs);
        if (st != MCP_OK) break;
        mcp_trial_score(r->system, it.trial, x, &score);
        memcpy(row(b, k, 0), x, (size_t)it.trial->samples * (size_t)b->nx * sizeof *x);
        b->successes += b->success[k] = score.success;
        mcp_free(x);
    }
    mcp_plant_close(plant);
    mcp_trial_free(it.trial);
    return st;
}

static mcp_status on_model(bundle *b, const mcp_run *r, const mcp_run_item *policy, int runs, mcp_error *err)
{
    mcp_pool             *pool = NULL;
    mcp_fit              *fit = NULL;
    mcp_particles        *p = NULL;
    mcp_status            st = bundle_make(b, r->system, runs, err);
    mcp_particle_settings q = {.count = runs,
                               .true_state = r->algorithm->true_state,
                               .seed = r->seed,
                               .trial = (uint32_t)policy->info.number,
                               .set = 1};
    if (st == MCP_OK) st = mcp_pool_create(&pool, 0, err);
    if (st == MCP_OK) st = mcp_run_model(&fit, r, policy->info.number, pool, err);
    if (st == MCP_OK) st = mcp_particles_run(&p, r->system, fit->gp, policy->theta, &q, pool, err);
    if (st == MCP_OK) st = mcp_particles_score(p, r->system, b->success, NULL, NULL, err);
    for (int k = 0; k < runs && st == MCP_OK; k++) {
        b->successes += b->success[k];
        for (int t = 0; t < p->samples; t++)
            memcpy(row(b, k, t), p->states + ((size_t)t * (size_t)runs + (size_t)k) * (size_t)b->nx,
                   (size_t)b->nx * sizeof(double));
    }
    mcp_particles_free(p);
    mcp_fit_free(fit);
    mcp_pool_free(pool);
    return st;
}

/* Successes first, so that each kind is one line. */
static void sort_bundle(bundle *b)
{
    size_t size = (size_t)(b->samples + 1) * (size_t)b->nx;
    for (int k = 0, good = 0; k < b->runs; k++) {
        if (!b->success[k]) continue;
        double *one = row(b, k, 0), *other = row(b, good, 0);
        for (size_t i = 0; k != good && i < size; i++) {
            double v = one[i];
            one[i]   = other[i];
            other[i] = v;
        }
        b->success[k] = b->success[good];
        b->success[good++] = 1;
    }
}

/* Runs that fail are drawn last and in another colour: they are what one looks for. */
static void draw_bundle(mcp_plot *p, const bundle *b, int state)
{
    int good = b->successes * (b->samples + 1), all = b->runs * (b->samples + 1);
    mcp_plot_line(p, good, b->t, b->x + state, b->nx, MCP_C1, NULL)->weight = 0.5;
    mcp_plot_line(p, all - good, b->t + good, b->x + (size_t)good * (size_t)b->nx + state, b->nx, MCP_C2,
                  NULL)
        ->weight = 0.8;
}

/* Both columns share their axes. */
static void range(const bundle *b, int state, double *low, double *high)
{
    for (int k = 0; k < b->runs * (b->samples + 1); k++) {
        double v = b->x[(size_t)k * (size_t)b->nx + (size_t)state];
        if (!isfinite(v)) continue;
        *low  = fmin(*low, v);
        *high = fmax(*high, v);
    }
}

mcp_status mcp_figure_runs(mcp_panels *out, const mcp_run *r, const mcp_run_item *it, mcp_error *err)
{
    bundle     side[2] = {{0}, {0}};
    mcp_status st = on_model(&side[0], r, it, RUNS, err);
    if (st == MCP_OK) st = on_plant(&side[1], r, it, RUNS, err);
    for (int c = 0; c < 2 && st == MCP_OK; c++) sort_bundle(&side[c]);
    for (int k = 0; k < r->system->nx && st == MCP_OK; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int c = 0; c < 2; c++) range(&side[c], k, &low, &high);
        for (int c = 0; c < 2; c++) {
            char     label[96], title[200];
            mcp_plot p;
            snprintf(title, sizeof title, "%s, %d %s, %d succeed", mcp_state_label(r, k, label, sizeof label),
                     side[c].runs, c ? "runs on the plant" : "particles of the model", side[c].successes);
            mcp_plot_init(&p, 0, 0, title, "s", NULL);
            if (low < high) {
                p.y0 = low - 0.05 * (high - low);
                p.y1 = high + 0.05 * (high - low);
            }
            draw_bundle(&p, &side[c], k);
            mcp_panel(out, &p, c, k);
        }
    }
    bundle_free(&side[0]);
    bundle_free(&side[1]);
    return st;
}

mcp_status mcp_figure_plane(mcp_panels *out, const mcp_run *r, const mcp_run_item *it, mcp_error *err)
{
    bundle b = {0};
    if (r->task->nseen < 2)
        return mcp_fail(err, MCP_ERR_ARG, "a figure in the plane needs two measured states; task %s has %d",
                        r->task->name, r->task->nseen);
    int        at[2] = {r->task->seen[0].state, r->task->seen[1].state};
    mcp_status st = on_plant(&b, r, it, PLANE_RUNS, err);
    double *flat =
        mcp_calloc((size_t)PLANE_RUNS * (size_t)(r->system->steps + 2) + 2 * PLANE_RUNS, sizeof *flat);
    if (st == MCP_OK && !flat)
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a figure of %d runs", PLANE_RUNS);
    if (st == MCP_OK) {
        int      n = PLANE_RUNS * (b.samples + 1);
        double  *end = flat + n, *start = end + PLANE_RUNS;
        char     label[2][96], title[120];
        mcp_plot p;
        double  *last = mcp_calloc(2 * PLANE_RUNS, sizeof *last);
        for (int i = 0; i < n; i++) flat[i] = b.x[(size_t)i * (size_t)b.nx + (size_t)at[0]];
        for (int k = 0; last && k < PLANE_RUNS; k++) {
            int t = b.samples - 1;
            while (t > 0 && isnan(row(&b, k, t)[at[0]])) t--;
            end[k]  = row(&b, k, t)[at[0]];
            last[k] = row(&b, k, t)[at[1]];
            start[k] = row(&b, k, 0)[at[0]];
            last[PLANE_RUNS + k] = row(&b, k, 0)[at[1]];
        }
        snprintf(title, sizeof title, "%d runs on the plant, %d succeed", b.runs, b.successes);
        mcp_plot_init(&p, 0, 0, title, mcp_state_label(r, at[0], label[0], sizeof label[0]),
                      mcp_state_label(r, at[1], label[1], sizeof label[1]));
        mcp_plot_line(&p, n, flat, b.x + at[1], b.nx, MCP_C1, NULL)->weight = 1;
        if (last) {
            mcp_plot_points(&p, PLANE_RUNS, start, last + PLANE_RUNS, 1, MCP_FAINT, "start")->weight = 3;
            mcp_plot_points(&p, PLANE_RUNS, end, last, 1, MCP_C2, "end")->weight = 3;
            mcp_panel(out, &p, 0, 0);
        } else st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a figure of %d runs", PLANE_RUNS);
        mcp_free(last);
    }
    mcp_free(flat);
    bundle_free(&b);
    return st;
}

mcp_status mcp_figure_trials(mcp_panels *out, const mcp_run *r, mcp_error *err)
{
    enum { MOST = 12 };
    double *x[MOST] = {0};
    char    name[MOST][48];
    int     n = 0, item[MOST];
    mcp_status st = MCP_OK;
    for (int i = 0; i < r->items && n < MOST && st == MCP_OK; i++) {
        if (r->item[i]->info.explored) continue;
        item[n] = i;
        if (!(x[n] = mcp_run_outcome(r->item[i])))
            st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a figure of %d trials", r->items);
        mcp_item_name(r->item[i], name[n], sizeof name[n]);
        n++;
        if (r->item[i]->info.success) break;
    }
    for (int k = 0; k < r->system->nx && st == MCP_OK; k++) {
        char     label[96];
        mcp_plot p;
        mcp_plot_init(&p, 0, 0, mcp_state_label(r, k, label, sizeof label), "s", NULL);
        for (int i = 0; i < n; i++) {
            const mcp_trial *t = r->item[item[i]]->trial;
            mcp_plot_line(&p, t->samples, t->t, x[i] + k, r->system->nx, (mcp_colour)(MCP_C1 + i % 6),
                          name[i])
                ->weight = i == n - 1 ? 2.2 : 1;
        }
        mcp_panel(out, &p, 0, k);
    }
    for (int i = 0; i < n; i++) mcp_free(x[i]);
    return st;
}
