/* adam.c - m = b1 m + (1-b1) g,  v = b2 v + (1-b2) g^2,  theta -= step (m/(1-b1^k)) / (sqrt(v/(1-b2^k)) +
 * eps) */
#include "optim/adam.h"

#include <math.h>
#include <string.h>

void mcp_adam_reset(mcp_adam *a)
{
    memset(a->m, 0, (size_t)a->n * sizeof *a->m);
    memset(a->v, 0, (size_t)a->n * sizeof *a->v);
    a->power1 = a->power2 = 1.0;
}

void mcp_adam_step(mcp_adam *a, double step_size, const double *gradient, double *theta)
{
    a->power1 *= a->beta1;
    a->power2 *= a->beta2;
    const double c1 = 1.0 / (1.0 - a->power1), c2 = 1.0 / (1.0 - a->power2);
    for (int i = 0; i < a->n; i++) {
        const double g = gradient[i];
        a->m[i] = a->beta1 * a->m[i] + (1.0 - a->beta1) * g;
        a->v[i] = a->beta2 * a->v[i] + (1.0 - a->beta2) * g * g;
        const double step = step_size * (a->factor ? a->factor[i] : 1.0);
        theta[i] -= step * (a->m[i] * c1) / (sqrt(a->v[i] * c2) + a->epsilon);
    }
}

double mcp_clip_norm(int n, double most, double *g)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += g[i] * g[i];
    const double norm = sqrt(sum);
    if (most > 0.0 && norm > most)
        for (int i = 0; i < n; i++) g[i] *= most / norm;
    return norm;
}
