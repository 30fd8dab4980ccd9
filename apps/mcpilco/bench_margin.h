/* bench_margin.h - what single precision changes in J and in its gradient, against what another draw of the
 * particles' noise changes.
 *
 *   noise  root mean square over draws of J - mean J and of |g - mean g|, in double precision
 *   error  root mean square over the draws of J_single - J and of |g_single - g|; the largest of each; and
 *          the median of |g_single - g|, what a usual draw has. A gradient jumps where a particle stands at a
 *          fork, a clip or a clamp: in some draws any change of the last digits sends one the other way. */
#ifndef BENCH_MARGIN_H
#define BENCH_MARGIN_H

#include "mcpilco/error.h"

/* J and gradient [params] of one draw of the noise, in single or in double precision. */
typedef mcp_status margin_draw(void *context, int single, int draw, double *J, double *gradient,
                               mcp_error *err);
typedef struct {
    double J, J_noise, J_error, gradient_noise, gradient_error, J_largest, gradient_largest, gradient_usual;
    double J_ratio, gradient_ratio, usual_ratio; /* noise over error; infinite where there is none */
} margin_figures;

mcp_status margin_compare(margin_figures *out, int draws, int params, margin_draw *draw, void *context,
                          mcp_error *err);

#endif
