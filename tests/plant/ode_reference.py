#!/usr/bin/env python3
"""Writes ode_*.csv beside itself: trajectories of the three benchmark systems by SciPy's DOP853 at rtol 1e-13, atol 1e-14,
restarted at every sample because the input is held over a sample and jumps between samples. Needs NumPy and SciPy."""
import os
import numpy as np
from scipy.integrate import solve_ivp

g = 9.81


def cartpole(x, u):
    p, v, th, w = x
    mc, mp, l, b = 0.5, 0.5, 0.5, 0.1
    s, c = np.sin(th), np.cos(th)
    den = 4 * (mc + mp) - 3 * mp * c * c
    return [v, (2 * mp * l * w * w * s + 3 * mp * g * s * c + 4 * u[0] - 4 * b * v) / den,
            w, (-3 * mp * l * w * w * s * c - 6 * (mc + mp) * g * s - 6 * (u[0] - b * v) * c) / (l * den)]


def furuta(x, u, friction=1.0):
    th, al, dth, dal = x
    R, k, Jm, Lr, mp, L = 8.4, 0.042, 4.6e-6, 0.085, 0.024, 0.129
    Ja, lp, Jp = 0.095 * 0.085**2 / 3, 0.129 / 2, 0.024 * 0.129**2 / 3
    b1, b2 = 2.7e-4 * friction, 5e-5 * friction
    J0 = Ja + Jm + mp * Lr**2
    M11, M12, M22 = J0 + Jp * np.sin(al)**2, mp * Lr * lp * np.cos(al), Jp
    tau = friction * k * (u[0] - k * dth) / R - b1 * dth
    r1 = tau - Jp * np.sin(2 * al) * dth * dal + mp * Lr * lp * np.sin(al) * dal**2
    r2 = -b2 * dal + 0.5 * Jp * np.sin(2 * al) * dth**2 - mp * g * lp * np.sin(al)
    det = M11 * M22 - M12 * M12
    return [dth, dal, (M22 * r1 - M12 * r2) / det, (M11 * r2 - M12 * r1) / det]


def ballplate(x, u):
    bx, by, vx, vy, a, b = x
    k, c, mu, eps, Ts = 5 / 7, 0.2, 0.02, 1e-3, 1 / 30
    da, db = u[0] / Ts, u[1] / Ts
    grip = mu * g * np.cos(a) * np.cos(b) / np.sqrt(vx * vx + vy * vy + eps * eps)
    return [vx, vy, k * (g * np.sin(a) + bx * da * da + by * da * db) - c * vx - grip * vx,
            k * (g * np.sin(b) + by * db * db + bx * da * db) - c * vy - grip * vy, da, db]


def run(name, f, x0, inputs, names, unames):
    Ts, x, rows = 1 / 30, np.array(x0, float), []
    for k, u in enumerate(inputs):
        rows.append([k * Ts, *u, *x])
        x = solve_ivp(lambda t, y: f(y, u), (0, Ts), x, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    rows.append([len(inputs) * Ts, *inputs[-1], *x])
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"ode_{name}.csv"), "w") as out:
        out.write(",".join(["t", *unames, *names]) + "\n")
        for r in rows:
            out.write(",".join(f"{v:.17g}" for v in r) + "\n")


n = np.arange(60)
run("cartpole", cartpole, [0.1, 0, 0.2, 0], [[6 * np.sin(0.7 * k) * np.cos(0.11 * k)] for k in n], ["p", "dp", "theta", "dtheta"], ["u"])
run("furuta", furuta, [0.1, 0.3, 0, 0], [[3 * np.sin(0.9 * k)] for k in n], ["th", "al", "dth", "dal"], ["u"])
run("furuta_free", lambda x, u: furuta(x, u, 0.0), [0.0, 2.5, 0.5, 0], [[0.0] for k in n], ["th", "al", "dth", "dal"], ["u"])
run("ballplate", ballplate, [0.1, -0.05, 0, 0, 0, 0], [[0.03 * np.cos(0.4 * k), 0.02 * np.sin(0.5 * k)] for k in n],
    ["bx", "by", "vx", "vy", "a", "b"], ["u1", "u2"])
