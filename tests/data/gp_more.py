#!/usr/bin/python3
"""Writes gp_more.json: further cases in the format of gp.json, by NumPy alone. Derivatives are complex steps
through the textbook formulas (one n x n solve per derivative), so they are exact to rounding and share no
code with the library."""
import json
import sys

import numpy as np

rng = np.random.default_rng(20)


def terms(kernel):
    return [t.strip() for t in kernel.split("+")]


def basis(c, X):
    env = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "tanh": np.tanh, "x": X}
    names = env | {f"x{d}": X[:, d] for d in range(X.shape[1])}
    return np.stack([eval(e.replace("^", "**"), names) for e in c["pi"]], 1)


def cov(c, p, A, B):
    K = 0
    for t in terms(c["kernel"]):
        if t == "se":
            w = np.exp(-p["se.log_lengthscale"])
            d = (A[:, None] - B[None]) * w
            K = K + np.exp(2 * p["se.log_lambda"]) * np.exp(-(d * d).sum(-1))
        elif t == "pi":
            K = K + (basis(c, A) * np.exp(p["pi.log_diag"])) @ basis(c, B).T
        else:
            f = 1
            for s, g in zip(p["mp.log_sigma2"], p["mp.log_diag"]):
                f = f * (np.exp(s) + (A * np.exp(g)) @ B.T)
            K = K + f
    return K


def nlml(c, p, X, y):
    A = cov(c, p, X, X) + np.exp(2 * p["log_noise"]) * np.eye(len(y))
    logdet = 0  # by elimination: works for complex steps, where a conjugating factorisation would not
    M = A.copy()
    for i in range(len(y)):
        logdet = logdet + np.log(M[i, i])
        M[i + 1:] = M[i + 1:] - np.outer(M[i + 1:, i] / M[i, i], M[i])
    return 0.5 * y @ np.linalg.solve(A, y) + 0.5 * logdet + 0.5 * len(y) * np.log(2 * np.pi)


def predict(c, p, X, y, x):
    A = cov(c, p, X, X) + np.exp(2 * p["log_noise"]) * np.eye(len(y))
    k = cov(c, p, x[None], X)[0]
    s = np.linalg.solve(A, np.stack([y + 0 * k, k], 1))
    return k @ s[:, 0], cov(c, p, x[None], x[None])[0, 0] - k @ s[:, 1]


def step(p, name, index):
    q = {k: np.array(v, dtype=complex) for k, v in p.items()}
    q[name][index] += 1e-30j
    return q


def make(kernel, n, D, pi=None, scale=1.0, noise=-2.0):
    c = {"kernel": kernel, "pi": pi or []}
    X, Xs = rng.normal(size=(n, D)), rng.normal(size=(5, D))
    p = {}
    for t in terms(kernel):
        if t == "se":
            p["se.log_lambda"], p["se.log_lengthscale"] = np.array(0.2), 0.3 * rng.normal(size=D) + scale
        elif t == "pi":
            p["pi.log_diag"] = 0.5 * rng.normal(size=len(pi))
        else:
            d = int(t[2:])
            p["mp.log_sigma2"] = 0.5 * rng.normal(size=d) - 1
            p["mp.log_diag"] = 0.5 * rng.normal(size=(d, D)) - 1
    p["log_noise"] = np.array(noise)
    y = np.sin(X[:, 0]) + 0.3 * X[:, -1] ** 2 + 0.1 * rng.normal(size=n)
    grad = {k: np.zeros(v.shape) for k, v in p.items()}
    for k, v in p.items():
        for i in np.ndindex(v.shape):
            grad[k][i] = nlml(c, step(p, k, i), X, y).imag / 1e-30
    out = [predict(c, p, X, y, x) for x in Xs]
    dx = np.zeros((2, len(Xs), D))
    for i, x in enumerate(Xs):
        for d in range(D):
            z = x.astype(complex)
            z[d] += 1e-30j
            dx[:, i, d] = [v.imag / 1e-30 for v in predict(c, p, X, y, z)]
    return {
        "kernel": kernel, "features_of_pi": ", ".join(pi) if pi else None, "X": X.tolist(), "y": y.tolist(),
        "params": {k: v.tolist() for k, v in p.items()}, "nlml": float(nlml(c, p, X, y)),
        "dnlml": {k: v.tolist() for k, v in grad.items()}, "Xstar": Xs.tolist(),
        "mean": [float(o[0]) for o in out],
        "var_latent": [float(o[1]) for o in out], "dmean_dx": dx[0].tolist(), "dvar_dx": dx[1].tolist(),
    }


cases = [
    make("se", 17, 1),
    make("mp3", 20, 2),
    make("mp1 + se", 23, 4),
    make("pi", 12, 2, ["x0^2*sin(x1)", "x1", "cos(x0)"]),
    make("se + pi + mp2", 33, 3, ["x2*cos(x0 - x1)", "exp(-(x0^2))", "tanh(x1)/(2 + x2^2)", "x0"]),
    make("mp2+pi", 25, 5, ["(x0 + x4)*x1"]),
    make("se", 60, 11, scale=1.5, noise=-5.0),
]
json.dump(cases, open(sys.argv[1], "w"))
