#!/usr/bin/env python3
"""Writes ode_*.csv beside itself: trajectories of the three benchmark systems by SciPy's DOP853 at rtol
1e-13, atol 1e-14, restarted at every sample because the input is held over a sample and jumps between
samples. Needs NumPy and SciPy."""
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
    th, dth, al, dal = x
    R, k, Jm, Lr, mp, L = 8.4, 0.042, 4.6e-6, 0.085, 0.024, 0.129
    Ja, lp, Jp = 0.095 * 0.085**2 / 3, 0.129 / 2, 0.024 * 0.129**2 / 3
    b1, b2 = 2.7e-4 * friction, 5e-5 * friction
    J0 = Ja + Jm + mp * Lr**2
    M11, M12, M22 = J0 + Jp * np.sin(al)**2, mp * Lr * lp * np.cos(al), Jp
    tau = friction * k * (u[0] - k * dth) / R - b1 * dth
    r1 = tau - Jp * np.sin(2 * al) * dth * dal + mp * Lr * lp * np.sin(al) * dal**2
    r2 = -b2 * dal + 0.5 * Jp * np.sin(2 * al) * dth**2 - mp * g * lp * np.sin(al)
    det = M11 * M22 - M12 * M12
    return [dth, (M22 * r1 - M12 * r2) / det, dal, (M11 * r2 - M12 * r1) / det]


def ballplate(x, u):
    """State of tasks/ballplate.yaml, then what the two motors have reached; the references th1, th2 move
    after the sample."""
    bx, vx, by, vy, th1, th2, ta, tb = x
    k, c, mu, eps, lag, deg, most = 5 / 7, 0.2, 0.02, 1e-3, 0.025, np.pi / 180, np.pi / 6
    da = (np.clip(th1 + u[0] * deg, -most, most) - ta) / lag
    db = (np.clip(th2 + u[1] * deg, -most, most) - tb) / lag
    dry = mu * g * np.cos(ta) * np.cos(tb) / np.sqrt(vx * vx + vy * vy + eps * eps)
    return [vx, k * (g * np.sin(ta) + bx * da * da + by * da * db) - c * vx - dry * vx,
            vy, k * (g * np.sin(tb) + by * db * db + bx * da * db) - c * vy - dry * vy, 0, 0, da, db]


def move_references(x, u):
    x[4:6] = np.clip(x[4:6] + np.array(u) * np.pi / 180, -np.pi / 6, np.pi / 6)
    return x


def run(name, f, x0, inputs, names, unames, after=lambda x, u: x):
    Ts, x, rows = 1 / 30, np.array(x0, float), []
    for k, u in enumerate(inputs):
        rows.append([k * Ts, *u, *x])
        x = solve_ivp(lambda t, y: f(y, u), (0, Ts), x, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
        x = after(x, u)
    rows.append([len(inputs) * Ts, *inputs[-1], *x])
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"ode_{name}.csv"), "w") as out:
        out.write(",".join(["t", *unames, *names]) + "\n")
        for r in rows:
            out.write(",".join(f"{v:.17g}" for v in r) + "\n")


n = np.arange(60)
run("cartpole", cartpole, [0.1, 0, 0.2, 0], [[6 * np.sin(0.7 * k) * np.cos(0.11 * k)] for k in n],
    ["p", "dp", "theta", "dtheta"], ["u"])
run("furuta", furuta, [0.1, 0, 0.3, 0], [[3 * np.sin(0.9 * k)] for k in n], ["th", "dth", "al", "dal"], ["u"])
run("furuta_free", lambda x, u: furuta(x, u, 0.0), [0.0, 0.5, 2.5, 0], [[0.0] for k in n],
    ["th", "dth", "al", "dal"], ["u"])
run("ballplate", ballplate, [0.1, 0, -0.05, 0, 0, 0, 0, 0],
    [[2 * np.cos(0.4 * k), 1.5 * np.sin(0.5 * k)] for k in n],
    ["bx", "dbx", "by", "dby", "th1", "th2", "ta", "tb"], ["u1", "u2"], move_references)
