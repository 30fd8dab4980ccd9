"""rollout_more.py - writes rollout_more.json: more cases in the format of rollout.json, with other sizes,
observers and filters. Independent of the library: NumPy, gradients by the complex step (exact to rounding).

    /usr/bin/python3 tests/data/rollout_more.py > tests/data/rollout_more.json
"""
import json
import sys

import numpy as np


def magnitude(x):  # |x| that the complex step can pass through
    return np.where(x.real < 0, -x, x)


def se(a, b, lam, length):
    r = (a[:, None, :] - b[None, :, :]) / length
    return lam**2 * np.exp(-(r * r).sum(-1))


def simulate(c, w, centers, log_length):
    Ts, umax, kind = c["Ts"], c["umax"], c["observer"]
    gps = []
    for g in c["gps"]:
        X, y = np.array(g["X"]), np.array(g["y"])
        lam, length = np.exp(g["log_lambda"]), np.exp(np.array(g["log_lengthscale"]))
        Kinv = np.linalg.inv(se(X, X, lam, length) + np.exp(2 * g["log_noise"]) * np.eye(len(y)))
        gps.append((X, lam, length, Kinv, Kinv @ y))
    x = np.array(c["x0"]).astype(w.dtype)
    eps, noise = np.array(c["eps"]), np.array(c["measurement_noise"])
    keep = np.array(c["dropout"]["keep"], dtype=float)
    T, lp, k = len(eps), c["lowpass"], c["kalman_gain"]
    states, observed, inputs, memory = [x], [], [], None

    def cost(x):
        return (1 - np.exp(-(((magnitude(x[:, 2]) - np.pi) / 3) ** 2) - x[:, 0] ** 2)).mean()

    J = cost(x)
    for t in range(T):
        y = x[:, [0, 2]] + noise[t].T
        if kind == "none":
            z = x
        elif kind == "kalman":
            if memory is None:
                p, v = y, 0 * y
            else:
                ahead = memory[0] + Ts * memory[1]
                p, v = ahead + k["position"] * (y - ahead), memory[1] + k["velocity"] * (y - ahead)
            memory = (p, v)
            z = np.stack([p[:, 0], v[:, 0], p[:, 1], v[:, 1]], 1)
        else:
            last, slope_last, v_last = (y, 0 * y, 0 * y) if memory is None else memory
            slope = (y - last) / Ts
            low = lp["b0"] * slope + lp["b1"] * slope_last - lp["a1"] * v_last if kind != "difference" else 0
            v = slope if kind == "difference" else low
            memory = (y, slope, v)
            z = np.stack([y[:, 0], v[:, 0], y[:, 1], v[:, 1]], 1)
        f = np.stack([z[:, 0], z[:, 1], z[:, 3], np.cos(z[:, 2]), np.sin(z[:, 2])], 1)
        r = (f[:, None, :] - centers[None]) * np.exp(-log_length)
        phi = np.exp(-(r * r).sum(-1)) * keep[t] / (1 - c["dropout"]["p"])
        u = umax * np.tanh(phi @ w / umax)
        F = np.stack([x[:, 0], x[:, 1], x[:, 3], np.sin(x[:, 2]), np.cos(x[:, 2]), u], 1)
        D = []
        for i, (X, lam, length, Kinv, alpha) in enumerate(gps):
            q = se(F, X, lam, length)
            var = lam**2 - ((q @ Kinv) * q).sum(1)
            D.append(q @ alpha + np.sqrt(var) * eps[t][i])
        x = np.stack([x[:, 0] + Ts * x[:, 1] + Ts / 2 * D[0], x[:, 1] + D[0],
                      x[:, 2] + Ts * x[:, 3] + Ts / 2 * D[1], x[:, 3] + D[1]], 1)
        J = J + cost(x)
        states.append(x)
        observed.append(z)
        inputs.append(u)
    return J, states, observed, inputs


def make(seed, observer, M, T, N, B, dropout, Ts, umax, lowpass, gain):
    r = np.random.default_rng(seed)
    gps = []
    for i in range(2):
        s = np.stack([r.uniform(-1, 1, N), r.uniform(-2, 2, N), r.uniform(-6, 6, N)], 1)
        a = r.uniform(-np.pi, np.pi, N)
        X = np.stack([s[:, 0], s[:, 1], s[:, 2], np.sin(a), np.cos(a), r.uniform(-umax, umax, N)], 1)
        y = (0.05 if i == 0 else -0.1) * X[:, 5] + 0.3 * X[:, 3] * X[:, 4] + 0.03 * r.standard_normal(N)
        gps.append(dict(X=X.tolist(), y=y.tolist(), log_lambda=0.1 - 0.3 * i,
                        log_lengthscale=(np.log([1.4, 3, 6, 1.2, 1.1, 9])
                                         + 0.1 * r.standard_normal(6)).tolist(),
                        log_noise=np.log(0.04 + 0.03 * i)))
    c = dict(observer=observer, Ts=Ts, umax=umax, lowpass=lowpass, kalman_gain=gain,
             state="p, dp, theta, dtheta",
             gp_features="p, dp, dtheta, sin(theta), cos(theta), u",
             policy_features="p, dp, dtheta, cos(theta), sin(theta) of the observed state",
             cost="1 - exp(-((|theta|-pi)/3)^2 - p^2), mean over particles, summed over t = 0..T",
             dropout=dict(p=dropout, keep=(r.uniform(size=(T, M, B)) >= dropout).astype(int).tolist()),
             initial_observed_velocity=0, gps=gps,
             x0=(np.array([0.1, 0, 0.8, 0.3]) + 0.3 * r.standard_normal((M, 4))).tolist(),
             eps=r.standard_normal((T, 2, M)).tolist(),
             measurement_noise=(3e-3 * r.standard_normal((T + 1, 2, M))).tolist())
    w, centers = r.uniform(-umax / 2, umax / 2, B), r.uniform(-1.5, 1.5, (B, 5))
    length = np.log([1.2, 2.0, 3.0, 1.0, 1.1]) + 0.1 * r.standard_normal(5)
    c["policy"] = dict(w=w.tolist(), centers=centers.tolist(), log_lengthscale=length.tolist())
    J, states, observed, inputs = simulate(c, w, centers, length)
    flat, sizes = np.concatenate([w, centers.ravel(), length]), (B, B + 5 * B)
    grad = np.zeros(len(flat))
    for i in range(len(flat)):
        z = flat.astype(complex)
        z[i] += 1e-30j
        value = simulate(c, z[: sizes[0]], z[sizes[0] : sizes[1]].reshape(B, 5), z[sizes[1] :])[0]
        grad[i] = value.imag / 1e-30
    c["J"] = float(J)
    c["dJ"] = dict(w=grad[: sizes[0]].tolist(), centers=grad[sizes[0] : sizes[1]].reshape(B, 5).tolist(),
                   log_lengthscale=grad[sizes[1] :].tolist())
    c["states"], c["observed"], c["inputs"] = (np.array(v).tolist() for v in (states, observed, inputs))
    return c


half, other = dict(b0=0.5, b1=0.5, a1=0.0), dict(b0=0.2, b1=0.35, a1=-0.45)
butter = dict(b0=0.24523727525278557, b1=0.24523727525278557, a1=-0.5095254494944288)
gain = dict(position=0.8, velocity=11.0)
json.dump([make(1, "none", 9, 6, 15, 4, 0.25, 0.05, 6.0, half, gain),
           make(2, "difference+lowpass", 3, 14, 31, 9, 0.3, 0.02, 10.0, butter, gain),
           make(3, "difference+lowpass", 17, 5, 12, 3, 0.0, 1 / 30, 4.0, other, gain),
           make(4, "difference", 1, 9, 18, 2, 0.5, 1 / 30, 10.0, half, gain),
           make(5, "kalman", 8, 7, 40, 5, 0.1, 0.04, 8.0, half, gain)], sys.stdout)
print()
