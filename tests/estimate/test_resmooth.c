/* test_resmooth.c - smoother: auto. Differences as targets, the input before as a feature, and states freed
 * of what a model takes for the sensor's noise: q = y - r^2 D' (K + N)^-1 d, against that formula in long
 * double. */
#include "../long_double.h"
#include "../plant/rig.h"
#include "learn/fit.h"
#include "math/arena.h"
#include "model/kernel.h"

enum { TRIALS = 2, MOST = 128 };

static const char springs[] =
    "name: spring\nrate: 30\ntrial: 1.5\nstate: {q: m, v: m/s}\ninputs: {u: {limit: 10}}\n"
    "measured: {q: 2e-3}\nsmoother: auto\nmodel:\n  velocities: {q: v}\n  features: [q, v, u]\n"
    "cost: q^2\nstart: {std: 0.1}\nexplore: uniform\nplant: {ode: {v: u - 9*q - 0.3*v}}\n";
static const char tank[] = "name: tank\nrate: 5\ntrial: 8\nstate: {h: m}\ninputs: {u: {limit: 1}}\n"
                           "measured: {h: 5e-3}\nsmoother: auto\nmodel:\n  changes: [h]\n  features: [h, u]\n"
                           "cost: h^2\nstart: {std: 0.1}\nexplore: uniform\nplant: {ode: {h: u - 0.4*h}}\n";

typedef struct {
    rig         r;
    mcp_trial  *trial[TRIALS];
    mcp_states *states[TRIALS];
    mcp_fit    *fit;
} setup;

static int setup_open(setup *s, const char *text)
{
    mcp_task  *task = NULL;
    mcp_pool  *pool = NULL;
    mcp_error  why = {MCP_OK, ""};
    mcp_status st = mcp_task_parse(&task, "auto.yaml", text, NULL, 0, &why);
    memset(s, 0, sizeof *s);
    if (st == MCP_OK) st = rig_create(&s->r, task, NULL, NULL, &why);
    for (int i = 0; st == MCP_OK && i < TRIALS; i++) {
        st = mcp_trial_create(&s->trial[i], task, &why);
        if (st == MCP_OK)
            st = mcp_plant_run(s->r.plant, NULL, (mcp_trial_key){5, (uint32_t)i, 0}, NULL, NULL, s->trial[i],
                               &why);
        if (st == MCP_OK) st = mcp_estimate_states(&s->states[i], s->r.system, s->trial[i], &why);
    }
    if (st == MCP_OK) st = mcp_pool_create(&pool, 1, &why);
    mcp_fit_data data = {TRIALS, s->trial, s->states, NULL, 1, 1, NULL};
    if (st == MCP_OK) st = mcp_fit_create(&s->fit, s->r.system, &data, pool, &why);
    mcp_pool_free(pool);
    if (st != MCP_OK) FAIL_("%s", why.text);
    return st == MCP_OK;
}

static void setup_close(setup *s)
{
    mcp_fit_free(s->fit);
    for (int i = 0; i < TRIALS; i++) {
        mcp_states_free(s->states[i]);
        mcp_trial_free(s->trial[i]);
    }
    rig_close(&s->r);
}

/* D of all trials' changes over all trials' samples: rows of order + 1 numbers at sample[row]. */
typedef struct {
    int    order, rows, samples, sample[2 * MOST];
    double weight[3];
} differences;

static differences differences_of(const setup *s, int order)
{
    differences q = {.order = order};
    const double first[] = {-1, 1, 0}, second[] = {1, -2, 1};
    for (int i = 0; i < 3; i++) q.weight[i] = order == 1 ? first[i] : second[i] / s->r.system->ts;
    for (int t = 0; t < TRIALS; t++) {
        int n = s->trial[t]->samples;
        for (int k = 0; k + order < n; k++) q.sample[q.rows++] = q.samples + k;
        q.samples += n;
    }
    return q;
}

static double entry(const differences *q, int row, int sample)
{
    int k = sample - q->sample[row];
    return k >= 0 && k <= q->order ? q->weight[k] : 0;
}

/* What the first model takes for noise, sample by sample. */
static void expected_noise(const setup *s, const differences *q, double r, long double *noise)
{
    const mcp_gp *gp = s->fit->first[0];
    int           n = q->rows, D = mcp_gp_features(gp);
    long double  *A = calloc((size_t)n * (size_t)n, sizeof *A), *b = calloc((size_t)n, sizeof *b);
    CHECK(mcp_gp_count(gp) == n);
    for (int i = 0; i < n && A && b; i++) {
        b[i] = mcp_gp_targets(gp)[i];
        for (int j = 0; j < n; j++) {
            A[i * n + j] = mcp_kernel_value(s->r.system->kernel[0], mcp_gp_hyper(gp),
                                            mcp_gp_inputs(gp) + i * D, mcp_gp_inputs(gp) + j * D);
            if (i == j) A[i * n + j] += mcp_gp_noise_var(gp);
            for (int k = 0; k < q->samples; k++)
                A[i * n + j] += (long double)r * r * entry(q, i, k) * entry(q, j, k);
        }
    }
    long_solve(n, A, b);
    for (int k = 0; k < q->samples; k++) {
        noise[k] = 0;
        for (int i = 0; i < n; i++) noise[k] += (long double)r * r * entry(q, i, k) * b[i];
    }
    free(A);
    free(b);
}

CASE(positions_and_velocities_lose_what_the_model_takes_for_noise)
{
    setup       s;
    long double noise[2 * MOST];
    REQUIRE(setup_open(&s, springs));
    differences q = differences_of(&s, 2);
    expected_noise(&s, &q, 2e-3, noise);
    const mcp_pairs *p = s.fit->pairs;
    double           ts = s.r.system->ts;
    CHECK(p->n == q.rows && p->nf == 4 && s.fit->lost == 0);
    CHECK_CLOSE(s.fit->sensor_std[0], sqrt(6.0) * 2e-3 / ts, 1e-12, 0);
    for (int t = 0, row = 0, base = 0; t < TRIALS; base += s.trial[t++]->samples)
        for (int k = 1; k + 1 < s.trial[t]->samples; k++, row++) {
            const double *y = s.trial[t]->measured + k, *u = s.trial[t]->applied + k, *f = p->X + 4 * row;
            const long double *n = noise + base + k;
            CHECK_CLOSE(f[0], (double)(y[0] - n[0]), 0, 1e-6 * 2e-3);
            CHECK_CLOSE(f[1], (double)((y[0] - n[0] - y[-1] + n[-1]) / ts), 0, 1e-6 * 2e-3 / ts);
            CHECK_CLOSE(f[2], 0.5 * (u[0] + u[-1]), 1e-14, 0);
            CHECK_CLOSE(f[3], u[0] - u[-1], 1e-14, 0);
            CHECK_CLOSE(p->Y[row], (y[1] - 2 * y[0] + y[-1]) / ts, 1e-9, 1e-12); /* as measured */
        }
    setup_close(&s);
}

CASE(a_state_with_a_sensor_loses_it_too)
{
    setup       s;
    long double noise[2 * MOST];
    REQUIRE(setup_open(&s, tank));
    differences q = differences_of(&s, 1);
    expected_noise(&s, &q, 5e-3, noise);
    const mcp_pairs *p = s.fit->pairs;
    CHECK(p->n == q.rows && p->nf == 2); /* its change follows the input of its own sample alone */
    for (int t = 0, row = 0, base = 0; t < TRIALS; base += s.trial[t++]->samples)
        for (int k = 0; k + 1 < s.trial[t]->samples; k++, row++) {
            const double *y = s.trial[t]->measured + k;
            CHECK_CLOSE(p->X[2 * row], (double)(y[0] - noise[base + k]), 0, 1e-6 * 5e-3);
            CHECK(p->X[2 * row + 1] == s.trial[t]->applied[k]);
            CHECK_CLOSE(p->Y[row], y[1] - y[0], 1e-12, 1e-14);
        }
    setup_close(&s);
}

static double error_of(const setup *s, int refined)
{
    double sum = 0;
    int    n = 0, row = 0;
    for (int t = 0; t < TRIALS; t++)
        for (int k = 1; k + 1 < s->trial[t]->samples; k++, row++, n++) {
            const double *x = s->trial[t]->truth + 2 * k;
            double        v = (x[0] - x[-2]) / s->r.system->ts;
            double        raw = s->states[t]->state[2 * (k - 1) + 1];
            double        found = refined ? s->fit->pairs->X[4 * row + 1] : raw;
            sum += (found - v) * (found - v);
        }
    return sqrt(sum / n);
}

CASE(velocities_come_much_nearer_to_the_truth)
{
    setup s;
    REQUIRE(setup_open(&s, springs));
    double plain = error_of(&s, 0), smooth = error_of(&s, 1);
    CHECK_CLOSE(plain, sqrt(2.0) * 2e-3 * 30, 0.2, 0);
    CHECK(smooth < 0.4 * plain);
    setup_close(&s);
}

/* A trial the model has not seen: its own variance counts, and states come nearer to the truth as well. */
CASE(an_unseen_trial_is_smoothed_too)
{
    setup      s;
    mcp_trial *trial = NULL;
    mcp_states *z = NULL;
    mcp_pairs *p = NULL;
    double     plain = 0, smooth = 0;
    REQUIRE(setup_open(&s, springs));
    REQUIRE_OK(mcp_trial_create(&trial, s.r.task, err));
    REQUIRE_OK(mcp_plant_run(s.r.plant, NULL, (mcp_trial_key){6, 0, 0}, NULL, NULL, trial, err));
    REQUIRE_OK(mcp_estimate_states(&z, s.r.system, trial, err));
    REQUIRE_OK(mcp_fit_pairs(&p, s.fit, 1, &trial, &z, err));
    for (int k = 1; k + 1 < trial->samples; k++) {
        double v = (trial->truth[2 * k] - trial->truth[2 * k - 2]) / s.r.system->ts;
        plain += pow(z->state[2 * (k - 1) + 1] - v, 2);
        smooth += pow(p->X[4 * (k - 1) + 1] - v, 2);
    }
    CHECK(smooth < 0.3 * plain);
    mcp_pairs_free(p);
    mcp_states_free(z);
    mcp_trial_free(trial);
    setup_close(&s);
}

/* Where a velocity has a sensor beside a position without one, u keeps its own meaning. */
CASE(inputs_of_mixed_tasks_stay_what_they_are)
{
    static const char text[] =
        "name: mixed\nrate: 30\ntrial: 1\nstate: {q: m, v: m/s, h: m}\ninputs: {u: {limit: 10}}\n"
        "measured: {q: 2e-3, h: 1e-3}\nsmoother: auto\nmodel:\n  velocities: {q: v}\n  changes: [h]\n"
        "  features: [q, v, h, u]\ncost: q^2\nstart: {std: 0.1}\nexplore: uniform\n"
        "plant: {ode: {v: u - q, h: u - h}}\n";
    setup s;
    REQUIRE(setup_open(&s, text));
    CHECK(s.r.system->before == 1 && s.fit->pairs->nf == 5);
    for (int k = 0; k < 5; k++) {
        const double *u = s.trial[0]->applied + k + 1, *f = s.fit->pairs->X + 5 * k;
        CHECK(f[3] == u[0]);
        CHECK_CLOSE(f[4], u[0] - u[-1], 1e-14, 0);
    }
    setup_close(&s);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(positions_and_velocities_lose_what_the_model_takes_for_noise);
    RUN(a_state_with_a_sensor_loses_it_too);
    RUN(velocities_come_much_nearer_to_the_truth);
    RUN(an_unseen_trial_is_smoothed_too);
    RUN(inputs_of_mixed_tasks_stay_what_they_are);
    return DONE();
}
