/* adam.h - Adam on a vector: gradient in, parameters updated. */
#ifndef MCP_ADAM_H
#define MCP_ADAM_H

typedef struct {
    int           n;
    double        beta1, beta2, epsilon;
    const double *factor; /* [n] on the step size of each parameter, or NULL */
    double       *m, *v;  /* [n] running mean and mean square of the gradient */
    double        power1, power2; /* beta1^k, beta2^k after k steps */
} mcp_adam;

void mcp_adam_reset(mcp_adam *a);
void mcp_adam_step(mcp_adam *a, double step_size, const double *gradient, double *theta);
/* Scales g to norm `most` if it is longer (0 = never); returns the norm it had. */
double mcp_clip_norm(int n, double most, double *g);

#endif
