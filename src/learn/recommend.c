/* recommend.c - which of a run's policies to use.
 *
 * One trial says little: a policy that succeeds half of the time passes it by luck, a good one may meet a
 * start it cannot handle. The present model has seen every trial and can run each policy hundreds of times,
 * but may be wrong. So the model counts as much as MODEL_TRIALS trials:
 *
 *   success = (successes + MODEL_TRIALS p) / (trials + MODEL_TRIALS),   p the share of its particles
 *
 * and the cost likewise. The highest success wins; within MARGIN of it, the lowest cost. */
#include "learn/recommend.h"

#include <math.h>
#include <string.h>

#include "io/file.h"
#include "math/arena.h"
#include "optim/particles.h"

enum { MODEL_TRIALS = 4, PARTICLES = 300, ASKED_MOST = 4, NOISE_SET = 4 };
static const double MARGIN = 0.005;

double mcp_run_cost_scale(const mcp_run *r)
{
    double scale = NAN;
    for (int i = 0; i < r->items; i++) {
        const mcp_learn_info *info = &r->item[i]->info;
        if (info->samples < 1 || !isfinite(info->cost)) continue;
        scale = fmax(scale, fabs(info->cost) * (r->system->steps + 1) / info->samples);
    }
    return scale;
}

static double mixed(double sum, int trials, double model)
{
    if (isnan(model)) return trials ? sum / trials : NAN;
    return (sum + MODEL_TRIALS * model) / (trials + MODEL_TRIALS);
}

int mcp_evidence_weigh(mcp_policy_evidence *policy, int count, int test)
{
    double most = -INFINITY;
    int    best = -1, asked = 0;
    for (int i = 0; i < count; i++) asked |= !isnan(policy[i].model_cost);
    for (int i = 0; i < count; i++) {
        mcp_policy_evidence *p = &policy[i];
        p->success = mixed(p->successes, p->trials, p->model_success);
        p->cost = mixed(p->plant_cost * p->trials, p->trials, p->model_cost);
        if (test && (!asked || !isnan(p->model_cost))) most = fmax(most, p->success);
    }
    for (int i = 0; i < count; i++) {
        if (asked && isnan(policy[i].model_cost)) continue; /* not hopeful enough to be asked about */
        if (test && !(policy[i].success >= most - MARGIN)) continue;
        if (best < 0 || policy[i].cost < policy[best].cost) best = i;
    }
    return best;
}

static int same_policy(const mcp_run *r, int a, int b)
{
    const double *x = mcp_run_trial(r, a)->theta, *y = mcp_run_trial(r, b)->theta;
    return !memcmp(x, y, (size_t)r->params * sizeof *x);
}

/* A trial that ended early has paid less than it would have: its cost is that of a whole one. */
static double whole_cost(const mcp_run *r, const mcp_learn_info *info)
{
    return info->samples > 0 ? info->cost * (r->system->steps + 1) / info->samples : NAN;
}

static void gather(mcp_recommendation *m, const mcp_run *r)
{
    for (int number = 1; number <= m->trials; number++) {
        const mcp_learn_info *info = &mcp_run_trial(r, number)->info;
        int                   k = 0;
        while (k < m->count && !same_policy(r, m->policy[k].number, number)) k++;
        mcp_policy_evidence *p = &m->policy[k];
        if (k == m->count) {
            *p = (mcp_policy_evidence){.model_success = NAN, .model_cost = NAN};
            m->count++;
        }
        p->number = number;
        p->plant_cost = (p->plant_cost * p->trials + whole_cost(r, info)) / (p->trials + 1);
        p->trials++;
        p->successes += info->success && !info->limit;
    }
}

static mcp_status ask_model(mcp_policy_evidence *p, const mcp_run *r, const mcp_fit *fit, mcp_pool *pool,
                            mcp_error *err)
{
    int                   success[PARTICLES];
    mcp_particles        *particles = NULL;
    mcp_particle_settings q = {.count = PARTICLES,
                               .true_state = r->algorithm->true_state,
                               .seed = r->seed,
                               .trial = (uint32_t)mcp_run_trials(r) + 1,
                               .set = NOISE_SET};
    const double         *theta = mcp_run_trial(r, p->number)->theta;
    mcp_status            st = mcp_particles_run(&particles, r->system, fit->gp, theta, &q, pool, err);
    if (st == MCP_ERR_NUMERIC) { /* particles that run away: the model expects nothing good of it */
        p->model_success = 0.0;
        p->model_cost = INFINITY;
        return MCP_OK;
    }
    if (st == MCP_OK) st = mcp_particles_score(particles, r->system, success, NULL, NULL, err);
    if (st == MCP_OK) {
        p->model_success = 0.0;
        for (int i = 0; i < PARTICLES; i++) p->model_success += success[i] / (double)PARTICLES;
        p->model_cost = particles->cost_mean;
    }
    mcp_particles_free(particles);
    return st;
}

/* 1: a is to be asked about before b. */
static int more_hopeful(const mcp_policy_evidence *a, const mcp_policy_evidence *b)
{
    if ((a->successes > 0) != (b->successes > 0)) return a->successes > 0;
    return a->plant_cost < b->plant_cost;
}

/* The model is asked about the policies that could be the best: those whose trials went best, the latest of
 * equals first. */
static mcp_status ask_about_best(mcp_recommendation *m, const mcp_run *r, const mcp_fit *fit, mcp_pool *pool,
                                 mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (int k = 0; k < ASKED_MOST && k < m->count && st == MCP_OK; k++) {
        mcp_policy_evidence *next = NULL;
        for (int i = m->count - 1; i >= 0; i--) {
            mcp_policy_evidence *p = &m->policy[i];
            if (isnan(p->model_cost) && (!next || more_hopeful(p, next))) next = p;
        }
        if (!next) break;
        st = ask_model(next, r, fit, pool, err);
    }
    return st;
}

static mcp_status create(mcp_recommendation **out, int count, mcp_error *err)
{
    mcp_recommendation *m = mcp_calloc(1, sizeof *m);
    if (m) m->policy = mcp_calloc((size_t)count + 1, sizeof *m->policy);
    *out = m && m->policy ? m : NULL;
    if (*out) return MCP_OK;
    mcp_free(m);
    return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for the evidence on %d policies", count);
}

mcp_status mcp_recommend(mcp_recommendation **out, const mcp_run *r, const mcp_fit *fit, mcp_pool *pool,
                         mcp_error *err)
{
    mcp_recommendation *m;
    int                 trials = mcp_run_trials(r);
    mcp_status          st = create(&m, trials, err);
    *out = NULL;
    if (st != MCP_OK) return st;
    m->trials = trials;
    gather(m, r);
    if (fit && m->count) {
        m->data = fit->pairs->n;
        st = ask_about_best(m, r, fit, pool, err);
    }
    int best = mcp_evidence_weigh(m->policy, m->count, r->task->success.text != NULL);
    m->number = best < 0 ? 0 : m->policy[best].number;
    if (st == MCP_OK) *out = m;
    else mcp_recommendation_free(m);
    return st;
}

void mcp_recommendation_free(mcp_recommendation *m)
{
    if (!m) return;
    mcp_free(m->policy);
    mcp_free(m);
}

/* recommend.json */

static char *path_of(const mcp_run *r)
{
    return mcp_sprintf("%s/recommend.json", r->folder);
}

mcp_status mcp_recommendation_store(const mcp_run *r, const mcp_recommendation *m, mcp_error *err)
{
    if (!r->folder) return MCP_OK;
    char   *path = path_of(r);
    json_t *list = json_array();
    for (int i = 0; i < m->count; i++) {
        const mcp_policy_evidence *p = &m->policy[i];
        mcp_json_append(&list,
                        json_pack("{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "policy", p->number, "trials",
                                  p->trials, "successes", p->successes, "plant_cost",
                                  mcp_json_number(p->plant_cost), "model_success",
                                  mcp_json_number(p->model_success), "model_cost",
                                  mcp_json_number(p->model_cost), "success", mcp_json_number(p->success),
                                  "cost", mcp_json_number(p->cost)));
    }
    json_t *root = json_pack("{s:i, s:i, s:i, s:o}", "policy", m->number, "trials", m->trials, "data",
                             m->data, "policies", list);
    mcp_status st = path ? mcp_json_write_in(r->lock, path, root, err)
                         : mcp_fail(err, MCP_ERR_MEMORY, "%s: out of memory", r->folder);
    json_decref(root);
    mcp_free(path);
    return st;
}

/* 1: the file speaks of the trials that are there now, and of nothing else. */
static int read_evidence(mcp_recommendation *m, const mcp_run *r, const json_t *root)
{
    const json_t *list = json_object_get(root, "policies");
    int           trials = mcp_run_trials(r), seen = 0, found = 0;
    m->number = mcp_json_get_int(root, "policy", 0);
    m->trials = mcp_json_get_int(root, "trials", -1);
    m->data = mcp_json_get_int(root, "data", 0);
    if (m->trials != trials || json_array_size(list) > (size_t)trials) return 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t        *o = json_array_get(list, i);
        mcp_policy_evidence *p = &m->policy[m->count++];
        p->number = mcp_json_get_int(o, "policy", 0);
        p->trials = mcp_json_get_int(o, "trials", 0);
        p->successes = mcp_json_get_int(o, "successes", 0);
        p->plant_cost = mcp_json_get_double(o, "plant_cost", NAN);
        p->model_success = mcp_json_get_double(o, "model_success", NAN);
        p->model_cost = mcp_json_get_double(o, "model_cost", NAN);
        p->success = mcp_json_get_double(o, "success", NAN);
        p->cost = mcp_json_get_double(o, "cost", NAN);
        if (p->number < 1 || p->number > trials) return 0;
        seen += p->trials;
        found |= p->number == m->number;
    }
    return seen == trials && (found || trials == 0);
}

mcp_status mcp_recommendation_load(mcp_recommendation **out, const mcp_run *r, mcp_error *err)
{
    mcp_recommendation *m = NULL;
    json_t             *root = NULL;
    char               *path = r->folder ? path_of(r) : NULL;
    mcp_status          st = MCP_OK;
    *out = NULL;
    if (path && mcp_file_exists(path) && mcp_json_read(&root, path, NULL) == MCP_OK) {
        st = create(&m, mcp_run_trials(r), err);
        if (st == MCP_OK && read_evidence(m, r, root)) *out = m;
        else mcp_recommendation_free(m);
    }
    json_decref(root);
    mcp_free(path);
    /* Not there, damaged, or of fewer trials: what the trials themselves say. */
    return st != MCP_OK || *out ? st : mcp_recommend(out, r, NULL, NULL, err);
}

int mcp_recommended(const mcp_run *r)
{
    mcp_recommendation *m = NULL;
    int                 number = 0;
    if (mcp_recommendation_load(&m, r, NULL) == MCP_OK) number = m->number;
    mcp_recommendation_free(m);
    return number;
}
