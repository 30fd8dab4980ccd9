/* correlated_noise.c - noise that is correlated between neighbouring data points.
 *
 * The error of a velocity change from position differences is a moving average of the sensor's noise: what is
 * too much in one change is missing in the next ones. Sums of changes are thus known far better than white
 * noise of the same size would let them be, and a GP that is told so learns more from the same data. R has
 * ones on its diagonal and a few bands beside it.
 *
 * Where the sensor's noise is known, its part C of the covariance is: N = s2 I + C, s2 what is left for the
 * likelihood to find. All that is written for s2 R holds for it with R = I + C/s2, which follows s2. */
#include <math.h>
#include <string.h>

#include "math/arena.h"
#include "model/gp_parts.h"

/* Of the variance that a known covariance gives each point: what counts as noise where accuracies are
 * measured in it. Errors that cancel from point to point leave more to be learned than their size says. */
static const double known_share = 0.1;

/* Of the noise of points i and j whose white part has variance s2. */
static double covariance(const mcp_gp *gp, int i, int j, double s2)
{
    int low = i < j ? i : j, k = i < j ? j - i : i - j;
    if (k > gp->band) return 0.0;
    double c = gp->band > 0 ? gp->lag[(size_t)low * (size_t)(gp->band + 1) + (size_t)k] : 0.0;
    if (gp->known) return k == 0 ? s2 + c : c;
    return k == 0 ? s2 : c * s2;
}

double mcp_gp_noise_between(const mcp_gp *gp, int i, int j)
{
    return covariance(gp, i, j, mcp_gp_noise_var(gp));
}

double mcp_noise_level(const mcp_gp *gp)
{
    double sum = 0.0;
    for (int i = 0; gp->known && i < gp->n; i++) sum += gp->lag[(size_t)i * (size_t)(gp->band + 1)];
    return mcp_gp_noise_var(gp) + known_share * sum / gp->n;
}

void mcp_noise_add(const mcp_gp *gp, int m, const int *index, double s2, double *A, int ld)
{
    for (int i = 0; i < m; i++) {
        int at = index ? index[i] : i;
        A[(size_t)i * (size_t)ld + (size_t)i] += covariance(gp, at, at, s2);
        for (int j = 0; gp->band > 0 && j < i; j++) {
            if (!index && i - j > gp->band) continue;
            double c = covariance(gp, at, index ? index[j] : j, s2);
            A[(size_t)i * (size_t)ld + (size_t)j] += c;
            A[(size_t)j * (size_t)ld + (size_t)i] += c;
        }
    }
}

double mcp_noise_trace(const mcp_gp *gp, const double *W, int ld)
{
    double sum = 0.0;
    for (int i = 0; i < gp->n; i++) {
        const double *row = W + (size_t)i * (size_t)ld;
        sum += row[i];
        for (int k = 1; !gp->known && k <= gp->band && i + k < gp->n; k++)
            sum += 2.0 * covariance(gp, i, i + k, 1.0) * row[i + k];
    }
    return sum;
}

/* R = L L', both banded. */
static int factor(const mcp_gp *gp)
{
    double s2 = gp->known ? mcp_gp_noise_var(gp) : 1.0;
    int    b = gp->band;
    size_t row = (size_t)b + 1;
    for (int i = 0; i < gp->n; i++)
        for (int k = b < i ? b : i; k >= 0; k--) {
            int    j = i - k;
            double v = covariance(gp, i, j, s2) / s2;
            for (int q = k + 1; q <= b && i - q >= 0; q++) {
                int back = q - k; /* L(i, i - q) L(j, i - q) */
                if (back <= b)
                    v -= gp->root[(size_t)i * row + (size_t)q] * gp->root[(size_t)j * row + (size_t)back];
            }
            if (k == 0) {
                if (!(v > 1e-12)) return 0;
                gp->root[(size_t)i * row] = sqrt(v);
            } else {
                gp->root[(size_t)i * row + (size_t)k] = v / gp->root[(size_t)j * row];
            }
        }
    return 1;
}

void mcp_noise_solve(const mcp_gp *gp, double *x)
{
    int    b = gp->band, n = gp->n;
    size_t row = (size_t)b + 1;
    if (b == 0) return;
    for (int i = 0; i < n; i++) {
        for (int k = 1; k <= b && k <= i; k++) x[i] -= gp->root[(size_t)i * row + (size_t)k] * x[i - k];
        x[i] /= gp->root[(size_t)i * row];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = 1; k <= b && i + k < n; k++)
            x[i] -= gp->root[(size_t)(i + k) * row + (size_t)k] * x[i + k];
        x[i] /= gp->root[(size_t)i * row];
    }
}

void mcp_noise_follow(mcp_gp *gp)
{
    if (gp->known) (void)factor(gp); /* R - I is positive semi-definite for every s2 if it was for one */
}

static void make_white(mcp_gp *gp)
{
    mcp_free(gp->lag);
    gp->lag   = NULL;
    gp->band  = 0;
    gp->known = 0;
    mcp_gp_forget(gp);
}

static mcp_status take_shape(mcp_gp *gp, int band, const double *lag, int known, mcp_error *err)
{
    size_t size = (size_t)gp->n * (size_t)(band + 1);
    if (band < 0 || band >= gp->n)
        return mcp_fail(err, MCP_ERR_ARG, "gp: noise correlated over %d points; 0 to %d are possible", band,
                        gp->n - 1);
    make_white(gp);
    if (band == 0) return MCP_OK;
    if (!(gp->lag = mcp_calloc(2 * size, sizeof *gp->lag)))
        return mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory for the noise of %d points", gp->n);
    memcpy(gp->lag, lag, size * sizeof *lag);
    gp->root  = gp->lag + size;
    gp->band  = band;
    gp->known = known;
    if (factor(gp)) return MCP_OK;
    make_white(gp);
    return mcp_fail(err, MCP_ERR_NUMERIC,
                    "gp: the correlation of the noise is not positive definite; raise its white part");
}

mcp_status mcp_gp_noise_shape(mcp_gp *gp, int band, const double *lag, mcp_error *err)
{
    return take_shape(gp, band, lag, 0, err);
}

mcp_status mcp_gp_noise_known(mcp_gp *gp, int band, const double *covariance, mcp_error *err)
{
    return take_shape(gp, band, covariance, 1, err);
}

/* C of all n data with one more, whose own part is `variance`. */
static double *longer(const mcp_gp *gp, int band, double variance)
{
    const size_t row = (size_t)band + 1;
    const double white = mcp_gp_noise_var(gp);
    double      *lag = mcp_calloc(((size_t)gp->n + 1) * row, sizeof *lag);
    for (int i = 0; lag && i < gp->n; i++)
        for (int k = 0; k <= gp->band && i + k < gp->n; k++)
            lag[(size_t)i * row + (size_t)k] = covariance(gp, i, i + k, white) - (k == 0 ? white : 0.0);
    if (lag) lag[(size_t)gp->n * row] = variance;
    return lag;
}

mcp_status mcp_gp_add(mcp_gp *gp, const double *x, double y, double variance, mcp_error *err)
{
    const size_t n = (size_t)gp->n, D = (size_t)gp->features;
    const int    band = gp->band > 0 ? gp->band : 1;
    if (!(variance >= 0.0) || isinf(variance))
        return mcp_fail(err, MCP_ERR_ARG, "gp: a datum whose noise has variance %g; 0 or more is possible",
                        variance);
    double    *X = mcp_calloc((n + 1) * (D + 1), sizeof *X), *lag = longer(gp, band, variance);
    mcp_status st = X && lag ? MCP_OK : mcp_fail(err, MCP_ERR_MEMORY, "gp: out of memory for one datum more");
    if (st == MCP_OK) {
        double *Y = X + (n + 1) * D;
        memcpy(X, gp->X, n * D * sizeof *X);
        memcpy(X + n * D, x, D * sizeof *x);
        memcpy(Y, gp->y, n * sizeof *Y);
        Y[n] = y;
        st = mcp_gp_set_data(gp, gp->n + 1, X, Y, err);
    }
    if (st == MCP_OK) st = take_shape(gp, band, lag, 1, err);
    mcp_free(lag);
    mcp_free(X);
    return st;
}
