/* test_smooth.c - the smoothers against SciPy, against a dense posterior, and on signals with a known
 * derivative. */
#include "estimate/smooth.h"

#include "io/csv.h"
#include "math/rng.h"
#include "test.h"

enum { N = 400 };

static mcp_csv *reference(void)
{
    mcp_csv  *c = NULL;
    mcp_error err;
    if (mcp_csv_read(&c, TEST_SOURCE_DIR "/tests/estimate/smooth.csv", &err) != MCP_OK) FAIL_("%s", err.text);
    return c;
}

static double cell(const mcp_csv *c, int row, const char *name)
{
    return c->value[row * c->columns + mcp_csv_find(c, name)];
}

static void column(const mcp_csv *c, const char *name, double *out)
{
    for (int k = 0; k < c->rows; k++) out[k] = cell(c, k, name);
}

CASE(filtfilt_equals_scipy)
{
    static const struct { int order; double cutoff; const char *name; } filters[] = {
        {1, 0.5, "butter1"}, {2, 0.5, "butter2"}, {3, 0.3, "butter3"}, {4, 0.2, "butter4"}};
    mcp_csv *c = reference();
    REQUIRE(c);
    double q[N], y[N], work[N];
    column(c, "q", q);
    for (int f = 0; f < 4; f++) {
        mcp_filtfilt(filters[f].order, filters[f].cutoff, c->rows, q, y, work);
        for (int k = 0; k < c->rows; k++) CHECK_CLOSE(y[k], cell(c, k, filters[f].name), 1e-11, 1e-12);
    }
    mcp_csv_free(c);
}

/* A trial shorter than the usual padding is padded by all it has. */
CASE(filtfilt_equals_scipy_in_short_trials)
{
    static const int length[] = {2, 3, 5, 9, 10, 11};
    mcp_csv         *c = reference();
    REQUIRE(c);
    double q[N], y[N], work[N];
    column(c, "q", q);
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        char name[16];
        snprintf(name, sizeof name, "short%d", length[i]);
        mcp_filtfilt(2, 0.5, length[i], q, y, work);
        for (int k = 0; k < length[i]; k++) CHECK_CLOSE(y[k], cell(c, k, name), 1e-11, 1e-12);
    }
    mcp_csv_free(c);
}

CASE(filtfilt_leaves_constants_alone_and_straight_lines_away_from_their_ends)
{
    double q[N], y[N], work[N];
    for (int n = 1; n < 40; n++) {
        for (int k = 0; k < n; k++) q[k] = 2.0;
        mcp_filtfilt(2, 0.5, n, q, y, work);
        for (int k = 0; k < n; k++) CHECK_CLOSE(y[k], 2.0, 1e-14, 0);
        for (int k = 0; k < n; k++) q[k] = 2.0 - 0.3 * k;
        mcp_filtfilt(2, 0.5, n, q, y, work);
        if (n > 30) CHECK_CLOSE(y[n / 2], q[n / 2], 1e-8, 0);
    }
}

CASE(savitzky_golay_equals_scipy_at_the_ends_too)
{
    static const struct { int order, window; const char *name, *slope; } fits[] = {
        {2, 5, "savgol2", "savgol2d"}, {3, 9, "savgol3", "savgol3d"}, {4, 11, "savgol4", "savgol4d"}};
    mcp_csv *c = reference();
    REQUIRE(c);
    double q[N], y[N], v[N];
    column(c, "q", q);
    for (int f = 0; f < 3; f++) {
        mcp_savgol(fits[f].order, fits[f].window, c->rows, q, 1.0 / 30, y, v);
        for (int k = 0; k < c->rows; k++) {
            CHECK_CLOSE(y[k], cell(c, k, fits[f].name), 1e-11, 1e-12);
            CHECK_CLOSE(v[k], cell(c, k, fits[f].slope), 1e-9, 1e-10);
        }
    }
    mcp_csv_free(c);
}

CASE(rts_equals_the_dense_posterior)
{
    mcp_csv *c = reference();
    REQUIRE(c);
    double q[N], y[N], v[N], change[2], work[8 * N];
    column(c, "q", q);
    mcp_rts(&(mcp_rts_model){1.0 / 30, 15.0, 3e-3}, c->rows, q, y, v, change, work);
    for (int k = 0; k < c->rows; k++) {
        CHECK_CLOSE(y[k], cell(c, k, "rts"), 0, 1e-11);
        CHECK_CLOSE(v[k], cell(c, k, "rtsd"), 0, 1e-9);
    }
    CHECK_CLOSE(change[0], cell(c, 0, "rts_change"), 1e-9, 0);
    CHECK_CLOSE(change[1], cell(c, 1, "rts_change"), 1e-9, 0);
    mcp_csv_free(c);
}

/* Largest error of the derivative of sin(3 t) at interior samples. */
static double derivative_error(int which, double ts)
{
    double q[N], y[N], v[N], work[8 * N], change[2], worst = 0.0;
    for (int k = 0; k < N; k++) q[k] = sin(3.0 * k * ts);
    if (which == 0) mcp_central_difference(N, q, ts, v);
    if (which == 1) mcp_savgol(4, 9, N, q, ts, y, v);
    if (which == 2) mcp_rts(&(mcp_rts_model){ts, 5.0, 1e-3 * ts * ts}, N, q, y, v, change, work);
    for (int k = N / 4; k < 3 * N / 4; k++) worst = fmax(worst, fabs(v[k] - 3.0 * cos(3.0 * k * ts)));
    return worst;
}

CASE(central_difference_is_of_second_order)
{
    double order = log2(derivative_error(0, 0.02) / derivative_error(0, 0.01));
    CHECK_CLOSE(order, 2.0, 0.01, 0);
    CHECK_CLOSE(derivative_error(0, 0.01), 27.0 * 1e-4 / 6.0, 0.01, 0); /* ts^2/6 max|q'''| */
}

CASE(savitzky_golay_of_degree_four_differentiates_to_fourth_order)
{
    CHECK_CLOSE(log2(derivative_error(1, 0.02) / derivative_error(1, 0.01)), 4.0, 0.05, 0);
}

CASE(rts_with_little_noise_follows_the_signal)
{
    CHECK(derivative_error(2, 0.01) < 3e-3);
}

CASE(savitzky_golay_is_exact_on_its_own_polynomials)
{
    double q[N], y[N], v[N];
    for (int k = 0; k < 50; k++) q[k] = 1.0 + k * (0.5 + k * (-0.02 + k * 3e-4));
    mcp_savgol(3, 7, 50, q, 0.1, y, v);
    for (int k = 0; k < 50; k++) {
        CHECK_CLOSE(y[k], q[k], 1e-11, 0);
        CHECK_CLOSE(v[k], (0.5 + k * (-0.04 + k * 9e-4)) / 0.1, 1e-9, 1e-9);
    }
}

/* Standard deviation of v[k+1] - v[k] when q is noise of deviation 1, over many samples. */
static double change_noise(int which, double ts)
{
    double q[N], y[N], v[N], work[8 * N], change[2], sum = 0.0;
    int    count = 0;
    for (int run = 0; run < 50; run++) {
        mcp_rand r = mcp_rand_make(5, 0, (uint32_t)run, MCP_RNG_OTHER);
        for (int k = 0; k < N; k++) q[k] = mcp_rand_normal(&r);
        if (which == 0) mcp_central_difference(N, q, ts, v);
        if (which == 1) {
            mcp_filtfilt(2, 0.5, N, q, y, work);
            mcp_central_difference(N, y, ts, v);
        }
        if (which == 2) mcp_savgol(2, 7, N, q, ts, y, v);
        if (which == 3) mcp_rts(&(mcp_rts_model){ts, 20.0, 1.0}, N, q, y, v, change, work);
        for (int k = 50; k < N - 50; k++, count++) sum += (v[k + 1] - v[k]) * (v[k + 1] - v[k]);
    }
    return sqrt(sum / count);
}

CASE(noise_gain_of_a_change_is_one_over_ts_for_the_central_difference)
{
    CHECK_CLOSE(change_noise(0, 0.1), 1.0 / 0.1, 0.02, 0);
    CHECK_CLOSE(change_noise(0, 0.05), 1.0 / 0.05, 0.02, 0);
}

CASE(every_other_smoother_passes_less_noise_than_the_central_difference)
{
    double plain = change_noise(0, 0.1);
    for (int which = 1; which < 4; which++) CHECK(change_noise(which, 0.1) < 0.6 * plain);
}

/* Signals that follow the smoother's own model: the error of the smoothed velocity change has the promised
 * deviation. */
CASE(rts_knows_its_own_error)
{
    double ts = 1.0 / 30, drive = 10.0, noise = 2e-3, sum = 0.0, promised = 0.0;
    int    count = 0;
    for (int run = 0; run < 200; run++) {
        double   q[90], truth[90], y[90], v[90], work[8 * 90], change[2], p = 0.0, w = 0.3;
        mcp_rand r = mcp_rand_make(9, 0, (uint32_t)run, MCP_RNG_OTHER);
        for (int k = 0; k < 90; k++) {
            truth[k] = w;
            q[k]     = p + noise * mcp_rand_normal(&r);
            double a = drive * mcp_rand_normal(&r);
            p += ts * w + 0.5 * ts * ts * a;
            w += ts * a;
        }
        mcp_rts(&(mcp_rts_model){ts, drive, noise}, 90, q, y, v, change, work);
        promised = change[1];
        for (int k = 0; k + 1 < 90; k++, count++) {
            double e = (v[k + 1] - v[k]) - (truth[k + 1] - truth[k]);
            sum += e * e;
        }
    }
    CHECK_CLOSE(sqrt(sum / count), promised, 0.03, 0);
}

/* y minimises sum (q - y)^2/r^2 + sum (change of y - trapezoid)^2/s^2: all its derivatives are zero there. */
CASE(trapezoid_is_the_least_squares_compromise_of_positions_and_velocities)
{
    enum { K = 61 };
    const double ts = 0.05, r = 1e-2, noise_v = 1e-2;
    mcp_stream   stream = {.seed = 5, .purpose = MCP_RNG_OTHER};
    double       e[2 * K], q[K], v[K], y[K], work[2 * K], raw = 0, left = 0;
    mcp_rng_normals(&stream, 0, 0, 0, 2 * K, e);
    for (int k = 0; k < K; k++) { /* x = sin 3t */
        q[k] = sin(3 * ts * k) + r * e[k];
        v[k] = 3 * cos(3 * ts * k) + noise_v * e[K + k];
    }
    double s = mcp_trapezoid(K, q, v, ts, r, ts * noise_v / sqrt(2.0), y, work);
    for (int k = 0; k < K; k++) {
        double slope = (y[k] - q[k]) / (r * r);
        if (k > 0) slope += (y[k] - y[k - 1] - 0.5 * ts * (v[k - 1] + v[k])) / (s * s);
        if (k + 1 < K) slope -= (y[k + 1] - y[k] - 0.5 * ts * (v[k] + v[k + 1])) / (s * s);
        CHECK_CLOSE(slope, 0, 0, 1e-9 / (s * s));
        raw += (q[k] - sin(3 * ts * k)) * (q[k] - sin(3 * ts * k));
        left += (y[k] - sin(3 * ts * k)) * (y[k] - sin(3 * ts * k));
    }
    CHECK(left < 0.25 * raw);
}

/* The trapezoid's error is a known random walk: its deviation is found to within a few steps of the row, and
 * what it leaves is what the formula of a stationary smoother says, r s/sqrt(4 r^2 + s^2) in deviation
 * squared. */
CASE(trapezoid_finds_the_error_of_its_sums)
{
    enum { K = 4000 };
    static double e[2 * K], q[K], v[K], y[K], work[2 * K];
    mcp_stream    stream = {.seed = 6, .purpose = MCP_RNG_OTHER};
    const double  r = 1e-2, sizes[] = {1e-3, 3e-3, 1e-2};
    mcp_rng_normals(&stream, 0, 0, 0, 2 * K, e);
    for (int i = 0; i < 3; i++) {
        double s = sizes[i], x = 0, left = 0;
        for (int k = 0; k < K; k++) {
            q[k] = x + r * e[k];
            x += s * e[K + k];
        }
        double found = mcp_trapezoid(K, q, v, 0.05, r, 1e-4, y, work);
        CHECK(found > s / 1.3 && found < s * 1.3);
        x = 0;
        for (int k = 0; k < K; k++) {
            left += (y[k] - x) * (y[k] - x) / K;
            x += s * e[K + k];
        }
        CHECK_CLOSE(left, r * r * s / sqrt(4 * r * r + s * s), 0.1, 0);
    }
    CHECK(mcp_trapezoid(1, q, v, 0.05, r, 1e-4, y, work) == 1e-4 && y[0] == q[0]);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(filtfilt_equals_scipy);
    RUN(filtfilt_equals_scipy_in_short_trials);
    RUN(filtfilt_leaves_constants_alone_and_straight_lines_away_from_their_ends);
    RUN(savitzky_golay_equals_scipy_at_the_ends_too);
    RUN(rts_equals_the_dense_posterior);
    RUN(central_difference_is_of_second_order);
    RUN(savitzky_golay_of_degree_four_differentiates_to_fourth_order);
    RUN(rts_with_little_noise_follows_the_signal);
    RUN(savitzky_golay_is_exact_on_its_own_polynomials);
    RUN(noise_gain_of_a_change_is_one_over_ts_for_the_central_difference);
    RUN(every_other_smoother_passes_less_noise_than_the_central_difference);
    RUN(rts_knows_its_own_error);
    RUN(trapezoid_is_the_least_squares_compromise_of_positions_and_velocities);
    RUN(trapezoid_finds_the_error_of_its_sums);
    return DONE();
}
