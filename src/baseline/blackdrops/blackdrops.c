/* blackdrops.c - one policy improvement by Black-DROPS (Chatzilygeroudis, Rama, Kaushik, Goepp, Vassiliades,
 * Mouret, "Black-box data-efficient policy search for robotics", IROS 2017): maximise the expected return of
 * the model by CMA-ES with restarts, where every rollout samples the model's uncertainty (their equation 8
 * and algorithm 2).
 *
 * A candidate's cost is the mean over M particles. All candidates of an improvement see the same noise, so
 * CMA-ES minimises a plain function; every few generations the centre of its distribution is judged on ten
 * other sets of noise, and the best one judged there is the answer. Candidates go to threads; each is a pure
 * function of its parameters and of the noise's numbers, so the result does not depend on how many threads
 * there are. */
#include "baseline/blackdrops/blackdrops.h"

#include <math.h>
#include <string.h>

#include "baseline/blackdrops/cmaes.h"
#include "math/arena.h"
#include "math/clock.h"
#include "math/rng.h"
#include "model/posteriors.h"
#include "optim/policy_init.h"
#include "rollout/rollout.h"

enum {
    JUDGE_SETS = 10, /* sets of noise by which policies of different generations are compared */
    JUDGE_EVERY = 20, /* generations */
    PATIENCE = 300, /* generations without a better policy before a restart or the end: a wide search comes
                       down from far above */
    PATIENCE_WORKS = 100, /* the same for a policy that works; that one is not restarted either */
    RACES = 2, /* trials before which fresh starts are tried; later ones are far behind the last policy */
    RACE = 150, /* generations that each start has to show whether it is the best */
    RESTARTS = 2,
    DRAWS = 16, /* fresh policies: their spread scales the search */
    PICKS = 100 /* fresh policies of which the best is a start */
};
static const double gain = 0.005;              /* smallest relative gain that counts */
static const double sharp = 3.0;               /* a start's weights: so many times those of a fresh policy */
/* First step size, in units of that spread. A policy that works is polished. One that failed sits in a poor
 * optimum as a rule, and the search leaves it only by steps larger than those between fresh policies. */
static const double sigma_fresh = 1.0, sigma_works = 0.3, sigma_failed = 2.0;
static const uint32_t search_key = 64, judge_key = 0x80000000u;

typedef struct {
    const mcp_algorithm_input *in;
    mcp_optimise_info         *info;
    int              n, workers, generations; /* parameters, threads, most of them */
    int              works;           /* the last policy did, on the plant: it is polished */
    mcp_posteriors   posteriors;
    mcp_rollout    **rollout;         /* [workers] */
    double          *scale, *start, *best, *f;
    double           best_J;
    int              room;            /* of f */
    /* one batch of evaluations */
    const double    *X;
    double          *out;
    int              padded;          /* particles rounded up to whole groups */
    void            *noise;
    double *x0, *e, *eps; /* the noise that all candidates see, as a rollout takes it, [row][padded] */
    double           began;
} search;

static void copy_rows(int rows, const double *from, int stride, const mcp_noise_block *b, double *to)
{
    for (int i = 0; i < rows; i++)
        memcpy(to + (size_t)i * (size_t)b->ld, from + (size_t)i * (size_t)stride + b->first,
               (size_t)b->n * sizeof *to);
}

/* All candidates see the same noise: it is drawn once. */
static void fill_again(void *context, const mcp_noise_block *to)
{
    const search     *q = context;
    const mcp_system *s = q->in->system;
    copy_rows(s->nx, q->x0, q->padded, to, to->x0);
    copy_rows((to->steps + 1) * s->ny, q->e, q->padded, to, to->e);
    copy_rows(to->steps * s->ngp, q->eps, q->padded, to, to->eps);
}

/* Mean cost of one candidate; NaN when a particle ran away. */
static void evaluate(void *context, int k, int worker)
{
    search            *q = context;
    mcp_noise          fill = {fill_again, q};
    mcp_rollout_result r = {0};
    q->out[k] =
        mcp_rollout_run(q->rollout[worker], q->X + (size_t)k * (size_t)q->n, 0, &fill, &r, NULL) == MCP_OK
            ? r.J
            : NAN;
}

static void evaluate_all(search *q, int count, const double *X, double *out)
{
    q->X = X;
    q->out = out;
    mcp_pool_run(q->in->pool, count, evaluate, q);
}

/* Cost on the one set of noise by which policies of different generations are compared: a task each, added in
 * order. */
static void evaluate_set(void *context, int k, int worker)
{
    search            *q = context;
    mcp_stream_noise noise = {.system = q->in->system,
                              .seed = q->in->seed,
                              .trial = q->in->number,
                              .step = judge_key + (uint32_t)k};
    mcp_noise          fill = mcp_noise_from_stream(&noise);
    mcp_rollout_result r = {0};
    q->out[k] = mcp_rollout_run(q->rollout[worker], q->X, 0, &fill, &r, NULL) == MCP_OK ? r.J : NAN;
}

static double judge(search *q, const double *theta)
{
    double J[JUDGE_SETS] = {0}, sum = 0;
    q->X = theta;
    q->out = J;
    mcp_pool_run(q->in->pool, JUDGE_SETS, evaluate_set, q);
    for (int k = 0; k < JUDGE_SETS; k++) sum += J[k];
    return sum / JUDGE_SETS;
}

/* A policy that may become the answer. Returns 1 for a gain that counts. */
static int consider(search *q, const double *theta)
{
    double J = judge(q, theta), before = q->best_J;
    if (!(J < before)) return 0;
    q->best_J = J;
    memcpy(q->best, theta, (size_t)q->n * sizeof *theta);
    return !isfinite(before) || before - J > gain * fabs(before);
}

static mcp_status draw_policy(const mcp_algorithm_input *in, uint32_t draw, double *theta, mcp_error *err)
{
    const mcp_policy_request q = {.system = in->system,
                                  .visited = in->visited,
                                  .visits = in->visits,
                                  .seed = in->seed,
                                  .trial = in->number,
                                  .draw = draw};
    return mcp_policy_draw(&q, theta, err);
}

/* Spread of each parameter over fresh policies: what a step of size one should mean. */
static mcp_status find_scale(search *q, mcp_error *err)
{
    const mcp_algorithm_input *in = q->in;
    double                    *draw = mcp_calloc(2 * (size_t)q->n, sizeof *draw), *mean;
    mcp_status                 st = MCP_OK;
    if (!draw) return mcp_fail(err, MCP_ERR_MEMORY, "black-drops: out of memory");
    mean = draw + q->n;
    memset(q->scale, 0, (size_t)q->n * sizeof *q->scale);
    for (uint32_t k = 0; k < DRAWS && st == MCP_OK; k++) {
        if ((st = draw_policy(in, 1000 + k, draw, err)) != MCP_OK) break;
        for (int i = 0; i < q->n; i++) {
            double d = draw[i] - mean[i];
            mean[i] += d / (k + 1);
            q->scale[i] += d * (draw[i] - mean[i]);
        }
    }
    double typical = 0;
    for (int i = 0; st == MCP_OK && i < q->n; i++) {
        q->scale[i] = sqrt(q->scale[i] / (DRAWS - 1));
        typical = fmax(typical, q->scale[i]);
    }
    /* what every fresh policy has alike (log length-scales, scalar parameters) may still move by a few tenths
     */
    for (int i = 0; st == MCP_OK && i < q->n; i++)
        if (!(q->scale[i] > 1e-6 * typical)) q->scale[i] = 0.3;
    mcp_free(draw);
    return st;
}

/* Generations until the strategy stops, patience or the budget (until) ends, or the caller says so. */
static mcp_status run_strategy(search *q, mcp_cmaes *c, int until, int *generation, int *stop, mcp_error *err)
{
    const int  patience = q->works ? PATIENCE_WORKS : PATIENCE;
    int        waited = 0;
    mcp_status st = MCP_OK;
    if (until > q->generations) until = q->generations;
    while (st == MCP_OK && *generation < until && waited < patience && !mcp_cmaes_stopped(c) && !*stop) {
        int    l = mcp_cmaes_population(c);
        double low = INFINITY;
        evaluate_all(q, l, mcp_cmaes_ask(c), q->f);
        for (int k = 0; k < l; k++) low = q->f[k] < low ? q->f[k] : low;
        if ((st = mcp_cmaes_tell(c, q->f, NULL, err)) != MCP_OK) break;
        q->info->history[*generation] = low;
        q->info->rate_history[(*generation)++] = mcp_cmaes_sigma(c);
        waited++;
        if (*generation % JUDGE_EVERY == 0 && consider(q, mcp_cmaes_mean(c))) waited = 0;
        if (q->in->progress) {
            mcp_progress p = {.step = *generation,
                              .steps_max = q->generations,
                              .cost = low,
                              .best = q->best_J,
                              .step_size = mcp_cmaes_sigma(c),
                              .seconds = mcp_clock() - q->began};
            *stop = q->in->progress(q->in->progress_context, &p);
        }
    }
    return st;
}

static mcp_status grow(search *q, int population, mcp_error *err)
{
    if (population <= q->room) return MCP_OK;
    double *f = mcp_realloc(q->f, (size_t)population * sizeof *f);
    if (!f) return mcp_fail(err, MCP_ERR_MEMORY, "black-drops: out of memory for %d candidates", population);
    q->f = f;
    q->room = population;
    return MCP_OK;
}

static mcp_status make_strategy(search *q, mcp_cmaes **c, const double *start, double sigma, uint64_t salt,
                                mcp_error *err)
{
    mcp_cmaes_settings s;
    mcp_status         st;
    mcp_cmaes_settings_default(&s);
    s.sigma = sigma;
    s.scale = q->scale;
    /* the correlations of n parameters take some 10 n^2 evaluations to learn */
    s.separable = q->generations * (4 + 3 * log(q->n)) < 10.0 * q->n * q->n;
    s.noise_step = 0; /* a candidate's cost has no noise: all see the same */
    s.seed = q->in->seed + salt;
    s.trial = q->in->number;
    if ((st = mcp_cmaes_create(c, q->n, start, &s, err)) != MCP_OK) return st;
    return grow(q, mcp_cmaes_population(*c), err);
}

static void sharpen(const mcp_program *p, double *theta)
{
    for (int g = 0; g < mcp_program_groups(p); g++) {
        const mcp_param_group *group = mcp_program_group(p, g);
        if (group->kind == MCP_RBF_WEIGHTS || group->kind == MCP_MLP_WEIGHTS || group->kind == MCP_MLP_BIASES)
            for (int i = 0; i < group->count; i++) theta[group->offset + i] *= sharp;
    }
}

/* Start k: the best of many fresh policies. Sharp ones swing the system further than fresh policies of other
 * methods, which leave the cost's plateau by its slope; and holding an unstable rest needs a high gain. */
static mcp_status pick_start(search *q, uint32_t k, mcp_error *err)
{
    const mcp_algorithm_input *in = q->in;
    size_t                     n = (size_t)q->n;
    double                    *X = mcp_calloc((n + 1) * PICKS, sizeof *X), *f, low = INFINITY;
    int                        best = 0;
    mcp_status                 st = MCP_OK;
    if (!X) return mcp_fail(err, MCP_ERR_MEMORY, "black-drops: out of memory");
    f = X + n * PICKS;
    for (uint32_t i = 0; i < PICKS && st == MCP_OK; i++) {
        double *x = X + n * i;
        st = draw_policy(in, 5000 * (k + 1) + i, x, err);
        if (st == MCP_OK) sharpen(in->system->controller, x);
    }
    if (st == MCP_OK) {
        evaluate_all(q, PICKS, X, f);
        for (int i = 0; i < PICKS; i++)
            if (f[i] < low) {
                low = f[i];
                best = i;
            }
        memcpy(q->start, X + n * (size_t)best, n * sizeof *X);
    }
    mcp_free(X);
    return st;
}

/* The last policy did not work, or there is none: where the search begins decides where it ends. Fresh starts
 * get as many generations as the first one; the one with the best centre goes on. */
static mcp_status race(search *q, mcp_cmaes **c, int *generation, int *stop, mcp_error *err)
{
    const mcp_algorithm_input *in = q->in;
    mcp_status                 st = run_strategy(q, *c, *generation + RACE, generation, stop, err);
    double                     J = st == MCP_OK ? judge(q, mcp_cmaes_mean(*c)) : NAN;
    for (int k = 1; k <= in->system->task->optimise.starts && st == MCP_OK && !*stop; k++) {
        mcp_cmaes *other = NULL;
        st = pick_start(q, (uint32_t)k, err);
        if (st == MCP_OK)
            st = make_strategy(q, &other, q->start, sigma_fresh, (uint64_t)k * 0x9E3779B97F4A7C15u, err);
        if (st == MCP_OK) st = run_strategy(q, other, *generation + RACE, generation, stop, err);
        double its = st == MCP_OK ? judge(q, mcp_cmaes_mean(other)) : NAN;
        if (st == MCP_OK && !(J <= its)) {
            mcp_cmaes *worse = *c;
            *c = other;
            other = worse;
            J = its;
        }
        mcp_cmaes_free(other);
    }
    if (st == MCP_OK) consider(q, mcp_cmaes_mean(*c));
    return st;
}

static mcp_status optimise(search *q, mcp_error *err)
{
    mcp_cmaes *c = NULL;
    double     sigma = !q->in->warm ? sigma_fresh : q->works ? sigma_works : sigma_failed;
    mcp_status st = make_strategy(q, &c, q->start, sigma, 0, err);
    int        generation = 0, stop = 0;
    if (st == MCP_OK && q->in->number <= RACES && !q->works) st = race(q, &c, &generation, &stop, err);
    for (int restart = 0; st == MCP_OK; restart++) {
        if ((st = run_strategy(q, c, q->generations, &generation, &stop, err)) != MCP_OK) break;
        consider(q, mcp_cmaes_mean(c));
        if (restart == RESTARTS || q->works || stop || generation >= q->generations) break;
        if ((st = mcp_cmaes_restart(c, q->best, err)) == MCP_OK) st = grow(q, mcp_cmaes_population(c), err);
        q->info->restarts++;
    }
    q->info->steps = generation;
    q->info->outcome = stop ? MCP_INTERRUPTED : generation >= q->generations ? MCP_STEPS_MAX : MCP_CONVERGED;
    mcp_cmaes_free(c);
    return st;
}

static mcp_status prepare(search *q, mcp_error *err)
{
    const mcp_algorithm_input *in = q->in;
    const mcp_model_settings  *m = &in->system->task->model;
    mcp_posteriors_request p = {.ngp = in->system->ngp, .gp = in->gp, .set = m->posterior};
    mcp_rollout_settings r = {.particles = in->system->task->optimise.rollouts,
                              .steps = in->system->steps,
                              .true_state = 1,
                              .noisy = m->noisy};
    mcp_status                 st = MCP_OK;
    size_t n = (size_t)q->n, T = (size_t)r.steps, nx = (size_t)in->system->nx, ny = (size_t)in->system->ny,
           ngp = (size_t)in->system->ngp, P;
    q->padded = mcp_round_lanes(r.particles);
    P = (size_t)q->padded;
    if ((st = mcp_block_alloc(&q->noise, (nx + (T + 1) * ny + T * ngp) * P * sizeof(double), err)) != MCP_OK)
        return st;
    q->x0 = q->noise;
    q->e = q->x0 + nx * P;
    q->eps = q->e + (T + 1) * ny * P;
    mcp_stream_noise stream = {.system = in->system,
                               .seed = in->seed,
                               .trial = in->number,
                               .step = search_key};
    mcp_noise        noise = mcp_noise_from_stream(&stream);
    mcp_noise_block all = {.steps = r.steps, .n = q->padded, .ld = q->padded,
                           .x0 = q->x0, .e = q->e, .eps = q->eps};
    noise.fill(noise.context, &all);
    q->rollout = mcp_calloc((size_t)q->workers, sizeof *q->rollout);
    q->scale = mcp_calloc(3 * n, sizeof *q->scale);
    q->info->history = mcp_calloc((size_t)q->generations, sizeof(double));
    q->info->rate_history = mcp_calloc((size_t)q->generations, sizeof(double));
    if (!q->rollout || !q->scale || !q->info->history || !q->info->rate_history)
        return mcp_fail(err, MCP_ERR_MEMORY, "black-drops: out of memory");
    q->start = q->scale + n;
    q->best = q->start + n;
    p.set.accuracy = -1;
    if ((st = mcp_posteriors_create(&q->posteriors, &p, err)) != MCP_OK) return st;
    q->info->points = q->posteriors.points;
    for (int w = 0; w < q->workers && st == MCP_OK; w++)
        st = mcp_rollout_create(&q->rollout[w], in->system, q->posteriors.of, &r, NULL, err);
    return st;
}

static void release(search *q)
{
    for (int w = 0; q->rollout && w < q->workers; w++) mcp_rollout_free(q->rollout[w]);
    mcp_posteriors_free(&q->posteriors);
    mcp_block_free(q->noise);
    mcp_free(q->rollout);
    mcp_free(q->scale);
    mcp_free(q->f);
}

mcp_status mcp_blackdrops_check(const mcp_system *s, mcp_error *err)
{
    int n = mcp_program_params(s->controller);
    if (n < 1)
        return mcp_fail(
            err, MCP_ERR_TASK,
            "black-drops: the policy has no parameters; use mlp(10, ...), rbf(10, ...) or param(...) in it");
    if (n > 1000)
        return mcp_fail(err, MCP_ERR_TASK,
                        "black-drops: %d policy parameters are too many for CMA-ES; write the policy with a "
                        "small network, e.g. "
                        "mlp(10, ...) or rbf(10, ...)",
                        n);
    return MCP_OK;
}

mcp_status mcp_blackdrops_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                                  mcp_error *err)
{
    search q = {.in = in,
                .info = info,
                .n = mcp_program_params(in->system->controller),
                .works = in->warm && in->incumbent_works,
                .best_J = INFINITY,
                .began = mcp_clock()};
    mcp_status st;
    q.workers = mcp_pool_threads(in->pool);
    q.generations = in->system->task->optimise.generations;
    *info = (mcp_optimise_info){.check_cosine = NAN,
                                .check_first = NAN,
                                .tolerance = in->system->task->model.posterior.tolerance};
    if ((st = mcp_blackdrops_check(in->system, err)) != MCP_OK) return st;
    if ((st = prepare(&q, err)) == MCP_OK && (st = find_scale(&q, err)) == MCP_OK) {
        if (in->warm) memcpy(q.start, theta, (size_t)q.n * sizeof *theta);
        else st = pick_start(&q, 0, err);
    }
    if (st == MCP_OK) {
        consider(&q, q.start);
        info->cost_first = q.best_J;
        if ((st = optimise(&q, err)) == MCP_OK && !isfinite(q.best_J))
            st = mcp_fail(
                err, MCP_ERR_NUMERIC,
                "black-drops: no policy has a finite cost on the model; look at the data of the trials "
                "so far, and at model.noise_floor: a model that runs away was trained on outliers or on too "
                "little movement");
        info->cost_last = q.best_J;
        if (st == MCP_OK) memcpy(theta, q.best, (size_t)q.n * sizeof *theta);
    }
    info->seconds = mcp_clock() - q.began;
    release(&q);
    return st;
}
