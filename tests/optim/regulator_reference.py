#!/usr/bin/python3
"""Reference gains for test_regulator.c, from scipy's Riccati solver: a cart with a pole that falls.

A pair of positions p, theta and their velocities at 20 Hz, as the test's task has it:
  change of dp = Ts (6 u - 0.5 dp + 3),  change of dtheta = Ts (20 (theta - 0.3) - 9 u - 4.5),
  q+ = q + Ts v + Ts/2 change,  v+ = v + change;  cost 1 - exp(-((theta - 0.3)/0.8)^2 - (p - 1)^2).
The goal is p = 1, theta = 0.3, which u = -0.5 holds. Units as the test gives them; u within 3.
"""
import numpy as np
from scipy.linalg import solve_discrete_are

Ts = 0.05
change_dp = np.array([0.0, -0.5 * Ts, 0.0, 0.0, 6 * Ts])
change_dtheta = np.array([0.0, 0.0, 20 * Ts, 0.0, -9 * Ts])
whole = np.eye(4, 5)
whole[0] += Ts * np.eye(5)[1] + 0.5 * Ts * change_dp
whole[1] += change_dp
whole[2] += Ts * np.eye(5)[3] + 0.5 * Ts * change_dtheta
whole[3] += change_dtheta
A, B = whole[:, :4], whole[:, 4:]
unit, reach, h = np.array([2.0, 4.0, 1.5, 8.0]), 3.0, 0.05


def cost(x):
    return 1.0 - np.exp(-(x[2] / 0.8) ** 2 - x[0] ** 2)


Q = np.zeros((4, 4))  # second differences over a twentieth of a unit, as the program takes them
for i in range(4):
    for j in range(4):
        e, f = h * unit[i] * np.eye(4)[i], h * unit[j] * np.eye(4)[j]
        Q[i, j] = (cost(e + f) - cost(e - f) - cost(f - e) + cost(-e - f)) / (4 * h * h)
U = np.diag(unit)
A, B = np.linalg.inv(U) @ A @ U, np.linalg.inv(U) @ B * reach
for price in (0.01, 1.0):
    R = np.array([[price * Q.max()]])
    P = solve_discrete_are(A, B, Q, R)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    print(price, *(f"{k:.12g}" for k in (K @ np.linalg.inv(U) * reach).ravel()))
    # of a command that takes effect two samples later: the same on the state foreseen, K A^2 (x - goal) ..
    print(price, "delayed", *(f"{k:.12g}" for k in (K @ A @ A @ np.linalg.inv(U) * reach).ravel()))
