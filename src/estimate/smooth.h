/* smooth.h - smoothers of one recorded channel q[n], sampled every ts seconds: value and derivative, looking
 * both ways. */
#ifndef MCP_SMOOTH_H
#define MCP_SMOOTH_H

#include <stddef.h>

/* v[k] = (q[k+1] - q[k-1])/(2 ts), k = 1 .. n-2; the end values take the one-sided difference. Noise of
 * deviation r in q becomes r/(sqrt(2) ts) in v and r/ts in v[k+1] - v[k]; the error of the derivative itself
 * is ts^2/6 q'''. */
void mcp_central_difference(int n, const double *q, double ts, double *v);

/* Butterworth low-pass of the given order forwards and then backwards: no phase, gain squared. The signal is
 * continued oddly by 3 (order + 1) samples at both ends and each pass starts from its steady state (what
 * SciPy's filtfilt does). cutoff: fraction of the Nyquist frequency. work: n + 6 (order + 1) doubles. */
void   mcp_filtfilt(int order, double cutoff, int n, const double *q, double *y, double *work);
size_t mcp_filtfilt_work(int n, int order);

/* Savitzky-Golay: least-squares polynomial of the given order over a window of odd length <= n, order <
 * window; value (or NULL) and derivative (or NULL) at the middle; near the ends the polynomial of the
 * outermost window. */
void mcp_savgol(int order, int window, int n, const double *q, double ts, double *value, double *slope);

/* Rauch-Tung-Striebel smoother of position and velocity driven by white acceleration (deviation `drive`,
 * constant over a sample), measurement deviation r > 0, start unknown. change[0], change[1]: standard
 * deviation, by the smoother's own covariance (lag-one covariance included), of the error in position[k+1] -
 * position[k] and velocity[k+1] - velocity[k], root mean square over k. work: mcp_rts_work(n) doubles. */
size_t mcp_rts_work(int n);
typedef struct {
    double ts;    /* s, a sample */
    double drive; /* standard deviation of the acceleration */
    double noise; /* of the measurement */
} mcp_rts_model;
void mcp_rts(const mcp_rts_model *m, int n, const double *q, double *position, double *velocity,
             double change[2], double *work);

/* A position q whose velocity v is measured too, smoothed along the trapezoid sums of v; measurement
 * deviation r > 0. The sums' own error has the likeliest deviation of a row that starts with least > 0, each
 * half as large again; returned. work: 2 n doubles. */
double mcp_trapezoid(int n, const double *q, const double *v, double ts, double r, double least, double *y,
                     double *work);

#endif
