#!/usr/bin/env python3
"""Writes smooth.csv beside itself: one noisy signal and what SciPy's filtfilt and savgol_filter make of it;
and the posterior of the white-acceleration model computed densely (one Gaussian over all samples at once, no
recursion), which the RTS smoother must equal. Needs NumPy and SciPy."""
import os
import numpy as np
from scipy.signal import butter, filtfilt, savgol_filter

rng = np.random.default_rng(7)
n, Ts = 61, 1 / 30
t = np.arange(n) * Ts
q = np.sin(4 * t) + 0.3 * t**2 + 3e-3 * rng.standard_normal(n)
cols = {"q": q}
for order, cut in [(1, 0.5), (2, 0.5), (3, 0.3), (4, 0.2)]:
    b, a = butter(order, cut)
    cols[f"butter{order}"] = filtfilt(b, a, q)
b, a = butter(2, 0.5)
for short in [2, 3, 5, 9, 10, 11]:  # padded by all it has where the usual 9 samples are not there
    y = filtfilt(b, a, q[:short], padlen=min(9, short - 1))
    cols[f"short{short}"] = np.r_[y, np.zeros(n - short)]
for order, window in [(2, 5), (3, 9), (4, 11)]:
    cols[f"savgol{order}"] = savgol_filter(q, window, order)
    cols[f"savgol{order}d"] = savgol_filter(q, window, order, deriv=1, delta=Ts)

drive, r = 15.0, 3e-3
# x_k = F^k x_0 + sum_j F^(k-1-j) G a_j as one linear map of (p0, v0, a_0/drive, a_1/drive, ..); flat prior on
# p0 and v0
A = np.zeros((2 * n, n + 1))
A[0, 0] = A[1, 1] = 1
F, G = np.array([[1, Ts], [0, 1]]), np.array([Ts * Ts / 2, Ts])
for k in range(1, n):
    A[2 * k:2 * k + 2] = F @ A[2 * k - 2:2 * k]
    A[2 * k:2 * k + 2, k + 1] += drive * G
# least squares of |a/drive|^2 + |(q - position)/r|^2 by QR; R^-1 is a factor of the posterior covariance
Q, R = np.linalg.qr(np.r_[np.eye(n + 1)[2:], A[0::2] / r])
x = A @ np.linalg.solve(R, Q.T @ np.r_[np.zeros(n - 1), q / r])
cols["rts"], cols["rtsd"] = x[0::2], x[1::2]
change = [np.sqrt((np.linalg.solve(R.T, np.diff(A[part::2], axis=0).T)**2).sum() / (n - 1))
          for part in (0, 1)]
cols["rts_change"] = np.r_[change, np.zeros(n - 2)]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "smooth.csv"), "w") as out:
    out.write(",".join(cols) + "\n")
    for row in zip(*cols.values()):
        out.write(",".join(f"{v:.17g}" for v in row) + "\n")
