/* mc_pilco.c - MC-PILCO and MC-PILCO4PMS: the policy of the trial before, optimised on particles; and a fresh
 * policy beside it where that one is expected to fail. */
#include "optim/mc_pilco.h"

#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "optim/optimise.h"
#include "optim/particles.h"

/* Fresh policies beside one that is expected to fail, at most. Three find little more than one on an early
 * model, and take their time. */
enum { TRIES = 1 };
enum { DOUBLED = 3 }; /* times at most: the budget while policies fail as the model says they will */
#define FIRST_SHARE    0.6 /* of the budget, for the first start where another one may follow */
#define WORTH_STARTING 0.2 /* share of the budget that must be left for another one */
#define SURE           0.98 /* share of successes with which a policy that worked needs no rival */
#define STALLED        0.01 /* of its cost: a start that gains less has nowhere to go */

/* Share of fresh particles that succeed with this policy. Without a success test: whether it is expected to
 * cost less than half of what a trial can. */
static mcp_status expected_success(const mcp_algorithm_input *in, int true_state, const double *theta,
                                   double cost, double *share, mcp_error *err)
{
    enum { COUNT = 200 };
    int                   success[COUNT];
    mcp_particles        *p = NULL;
    mcp_particle_settings q = {.count = COUNT,
                               .true_state = true_state,
                               .seed = in->seed,
                               .trial = in->number,
                               .set = 3};
    *share = cost < 0.5 * in->cost_scale;
    if (!in->system->task->success.text) return MCP_OK;
    mcp_status            st = mcp_particles_run(&p, in->system, in->gp, theta, &q, in->pool, err);
    if (st == MCP_OK) st = mcp_particles_score(p, in->system, success, NULL, NULL, err);
    *share = 0.0;
    for (int i = 0; st == MCP_OK && i < COUNT; i++) *share += success[i] / (double)COUNT;
    mcp_particles_free(p);
    return st;
}

static mcp_status join(double **a, int n, const double *b, int m, mcp_error *err)
{
    double *both = mcp_realloc(*a, ((size_t)n + (size_t)m + 1) * sizeof *both);
    if (!both) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the history of %d steps", n + m);
    if (b) memcpy(both + n, b, (size_t)m * sizeof *both);
    *a = both;
    return MCP_OK;
}

/* Steps of a second optimisation count on from those of the first. */
typedef struct {
    mcp_progress_fn *to;
    void            *context;
    int              steps;
} go_on;

static int pass_on(void *context, const mcp_progress *p)
{
    const go_on *g = context;
    mcp_progress q = *p;
    q.step += g->steps;
    q.steps_max += g->steps;
    if (p->step == 1) q.event = 3;
    return g->to(g->context, &q);
}

/* Fresh policy `number` beside the one in theta; the cheaper on the fixed noise set goes on. One that works
 * is replaced only for a gain that is worth the risk. */
static mcp_status another_try(const mcp_optimise_request *q, int number, double *theta,
                              mcp_optimise_info *info, mcp_error *err)
{
    int                  params = mcp_program_params(q->system->controller);
    go_on                count = {q->progress, q->progress_context, info->steps};
    mcp_optimise_request again = *q;
    again.attempt = (uint32_t)number;
    again.rival = info->score_last;
    if (q->work_max > 0.0) again.work_max = q->work_max - info->work;
    if (q->progress) {
        again.progress = pass_on;
        again.progress_context = &count;
    }
    double           *other = mcp_calloc((size_t)params + 1, sizeof *other);
    mcp_optimise_info more = {0};
    mcp_status st = other ? mcp_policy_optimise(&again, 0, other, &more, err)
                          : mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a policy");
    if (st == MCP_OK) st = join(&info->history, info->steps, more.history, more.steps, err);
    if (st == MCP_OK) st = join(&info->rate_history, info->steps, more.rate_history, more.steps, err);
    if (st == MCP_OK) {
        info->steps += more.steps;
        info->work += more.work;
        info->restarts += more.restarts;
        info->seconds += more.seconds;
        if (more.outcome == MCP_INTERRUPTED) info->outcome = MCP_INTERRUPTED;
        double gain = info->score_last - more.score_last, fewer = info->failed_last - more.failed_last;
        if (q->incumbent_works ? mcp_incumbent_yields(q, info->score_last, gain, fewer) : gain > 0.0) {
            memcpy(theta, other, (size_t)params * sizeof *theta);
            info->outcome = more.outcome;
            info->cost_last = more.cost_last;
            info->score_last = more.score_last;
            info->failed_last = more.failed_last;
            info->check_cosine = more.check_cosine;
            info->check_first = more.check_first;
            info->tolerance = more.tolerance;
        }
        if (info->outcome == MCP_STUCK && more.outcome != MCP_STUCK) info->outcome = more.outcome;
    }
    mcp_free(more.history);
    mcp_free(more.rate_history);
    mcp_free(other);
    return st == MCP_ERR_NUMERIC ? MCP_OK : st; /* a fresh policy that leads to NaN: the first one stays */
}

static mcp_status particles(const mcp_algorithm_input *in, int true_state, double *theta,
                            mcp_optimise_info *info, mcp_error *err)
{
    const mcp_optimise_settings *set = &in->system->task->optimise;
    const int                    doubled = in->foreseen < DOUBLED ? in->foreseen : DOUBLED;
    const double                 budget = set->budget * (1 << doubled);
    mcp_optimise_request q = {
        .system = in->system,
        .gp = in->gp,
        .pool = in->pool,
        .seed = in->seed,
        .trial = in->number,
        .true_state = true_state,
        .incumbent_works = in->incumbent_works && set->incumbent,
        .surprise = in->surprise,
        .cost_scale = in->cost_scale,
        .visited = in->visited,
        .visits = in->visits,
        .work_max = budget,
        .rival = NAN,
        .progress = in->progress,
        .progress_context = in->progress_context,
    };
    int        warm = in->warm && set->warm_start;
    int        more = warm && set->second_try && (int)in->number >= set->second_try;
    double     share;
    if (more) q.work_max = FIRST_SHARE * budget;
    mcp_status st = mcp_policy_optimise(&q, warm, theta, info, err);
    q.work_max = budget;
    if (st == MCP_OK && set->second_try && !q.incumbent_works &&
        info->cost_first - info->cost_last < STALLED * fabs(info->cost_first)) {
        more = 1;
        if (budget > 0.0) q.work_max = info->work + FIRST_SHARE * budget; /* whatever is left */
    }
    if (!more) return st;
    /* The last policy failed: if this one is expected to fail as well, the warm start may sit in a poor
     * optimum. The last policy worked: if it is expected to fail now and then, it was lucky, and polishing
     * will not make another one of it. */
    for (int k = 1; k <= TRIES && st == MCP_OK && info->outcome != MCP_INTERRUPTED; k++) {
        if (q.work_max > 0.0 && info->work > (1.0 - WORTH_STARTING) * q.work_max) break;
        if ((st = expected_success(in, true_state, theta, info->cost_last, &share, err)) != MCP_OK ||
            share >= (q.incumbent_works ? SURE : 0.5))
            break;
        st = another_try(&q, k, theta, info, err);
    }
    return st;
}

mcp_status mcp_mc_pilco4pms_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                                    mcp_error *err)
{
    return particles(in, 0, theta, info, err);
}

mcp_status mcp_mc_pilco_improve(const mcp_algorithm_input *in, double *theta, mcp_optimise_info *info,
                                mcp_error *err)
{
    return particles(in, 1, theta, info, err);
}
