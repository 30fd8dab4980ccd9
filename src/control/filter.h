/* filter.h - the filters an online observer is made of, as numbers. */
#ifndef MCP_FILTER_H
#define MCP_FILTER_H

enum { MCP_FILTER_ORDER_MAX = 16 };

/* One section, y = (b0 + b1/z + b2/z^2)/(1 + a1/z + a2/z^2) x; b2 = a2 = 0 for a first-order one. */
typedef struct {
    double b0, b1, b2, a1, a2;
} mcp_biquad;

/* Digital Butterworth low-pass by the bilinear transform with pre-warped cut-off (a fraction of the Nyquist
 * frequency, 0 < cutoff < 1), as a cascade of (order + 1)/2 sections of unit gain at zero frequency. Returns
 * their number. */
int mcp_butterworth(int order, double cutoff, mcp_biquad *section);

/* Kalman filter of one coordinate: n = 2 position and velocity driven by white acceleration held over a
 * sample, n = 3 the same one derivative up (white jerk). Position is measured. x+ = F x + G w,  w ~ N(0,
 * drive^2)    y = x[0] + r,  r ~ N(0, noise^2) F and Q = G G^T drive^2, n x n row-major. */
void mcp_kalman_model(int n, double ts, double drive, double *F, double *Q);
/* Iterates the Riccati recursion until it stands still: steady gains, and the covariance after the update (n
 * x n, may be NULL). Returns the number of iterations, 0 when it did not settle. */
int mcp_kalman_steady(int n, double ts, double drive, double noise, double *gain, double *covariance);
/* The same for a velocity that is the difference of two positions, v(t) = (q(t) - q(t-1))/ts, and changes by
 * `change` from sample to sample (a deviation, white): q+ = q + ts v+,  v+ = v + w. Two gains. Without noise
 * they are 1 and 1/ts: the difference itself. */
int mcp_backward_steady(double ts, double change, double noise, double gain[2]);

#endif
