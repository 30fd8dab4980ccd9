/* gp_fit.c - fit a Gaussian process to noisy samples of a sine and predict between and beyond them. */
#include <mcpilco/gp.h>

#include <math.h>
#include <stdio.h>

enum { N = 40, M = 7 };

int main(void)
{
    double    x[N], y[N], at[M], mean[M], var[M];
    mcp_error err;
    mcp_gp   *gp = NULL;

    for (int i = 0; i < N; i++) {
        x[i] = 6.0 * i / (N - 1);
        y[i] = sin(x[i]) + 0.05 * sin(1000.0 * i);
    }
    for (int i = 0; i < M; i++) at[i] = 1.2 * i + 0.1;

    if (mcp_gp_from_text(&gp, "se", N, 1, x, y, &err) || mcp_gp_train(gp, NULL, &err) ||
        mcp_gp_predict(gp, M, at, mean, var, &err)) {
        fprintf(stderr, "gp_fit: %s\n", err.text);
        mcp_gp_free(gp);
        return 1;
    }
    const mcp_gp_info *info = mcp_gp_trained(gp);
    printf("noise %.3f after %d evaluations\n", info->noise_std, info->evaluations);
    for (int i = 0; i < M; i++)
        printf("f(%.1f) = %6.3f +- %.3f    sine: %6.3f\n", at[i], mean[i], 2 * sqrt(var[i]), sin(at[i]));
    mcp_gp_free(gp);
    return 0;
}
