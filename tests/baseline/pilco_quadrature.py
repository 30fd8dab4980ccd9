#!/usr/bin/env python3
"""More moment-matching cases in the format of tests/data/pilco.json, from the definitions alone: every
expectation is a tensor Gauss-Hermite quadrature over the Gaussian input. Shapes the toolbox's file does not
have: one input, one output, one basis point, two angles. Writes JSON to standard output; arrays with one
output are unboxed as the toolbox unboxes them."""
import json

import numpy as np

rng = np.random.default_rng(7)


def nodes(m, S, k=64):
    t, w = np.polynomial.hermite_e.hermegauss(k)
    w = w / np.sqrt(2 * np.pi)
    d = len(m)
    grid = np.stack(np.meshgrid(*[t] * d, indexing="ij"), -1).reshape(-1, d)
    weight = np.prod(np.stack(np.meshgrid(*[w] * d, indexing="ij"), -1).reshape(-1, d), 1)
    return m + grid @ np.linalg.cholesky(S).T, weight


def spd(d, scale):
    a = rng.normal(size=(d, d))
    return scale * (a @ a.T / d + 0.2 * np.eye(d))


def moments(m, S, f):
    x, w = nodes(m, S)
    y = f(x)
    M = w @ y
    V = (y - M).T @ (w[:, None] * (y - M))
    C = np.linalg.solve(S, (x - m).T @ (w[:, None] * (y - M)))
    return M, V, C


def unbox(a):
    a = np.squeeze(np.asarray(a))
    return a.tolist()


def gp0(n, D, E):
    X, m, S = rng.normal(size=(n, D)), 0.4 * rng.normal(size=D), spd(D, 0.15)
    Y = np.sin(X @ rng.normal(size=(D, E))) + 0.1 * rng.normal(size=(n, E))
    hyp = np.vstack([0.3 + 0.5 * rng.random((D, E)), 0.2 * rng.normal(size=(1, E)),
                     np.full((1, E), np.log(0.15))])
    x, w = nodes(m, S)
    mean, var = np.zeros((len(x), E)), np.zeros((len(x), E))
    for e in range(E):
        l, s2, n2 = np.exp(hyp[:D, e]), np.exp(2 * hyp[D, e]), np.exp(2 * hyp[D + 1, e])
        k = lambda a, b: s2 * np.exp(-0.5 * (((a[:, None] - b[None]) / l) ** 2).sum(-1))
        K, kx = k(X, X) + n2 * np.eye(n), k(x, X)
        mean[:, e] = kx @ np.linalg.solve(K, Y[:, e])
        var[:, e] = s2 - np.einsum("ij,ij->i", kx, np.linalg.solve(K, kx.T).T)
    M = w @ mean
    Sout = (mean - M).T @ (w[:, None] * (mean - M)) + np.diag(w @ var)
    V = np.linalg.solve(S, (x - m).T @ (w[:, None] * (mean - M)))
    # inputs and targets keep a row per point, as the toolbox writes them, unless a row is a single number
    return dict(what="gp0", inputs=unbox(X) if D == 1 else X.tolist(),
                targets=unbox(Y) if E == 1 else Y.tolist(), hyp=unbox(hyp) if E == 1 else hyp.tolist(),
                m=unbox(m), S=unbox(S), M=unbox(M), Sout=unbox(Sout), V=unbox(V))


def sines(what, n, i, e):
    m, S, i0 = rng.normal(size=n), spd(n, 0.3), np.array(i) - 1
    if what == "gTrig":
        f = lambda x: np.stack([g(x[:, a]) for a in i0 for g in (np.sin, np.cos)], 1)
    elif what == "gSin":
        f = lambda x: np.array(e) * np.sin(x[:, i0])
    else:
        f = lambda x: np.array(e) * (9 * np.sin(x[:, i0]) + np.sin(3 * x[:, i0])) / 8
    M, V, C = moments(m, S, f)
    c = dict(what=what, m=unbox(m), S=unbox(S), i=unbox(i), M=unbox(M), V=unbox(V), C=unbox(C))
    if what != "gTrig":
        c["e"] = unbox(e)
    return c


def loss(n):
    m, S, W, z = rng.normal(size=n), spd(n, 0.1), spd(n, 2.0), rng.normal(size=n)
    loss = lambda x: 1 - np.exp(-0.5 * np.einsum("ij,jk,ik->i", x - z, W, x - z))[:, None]
    f = lambda mm, SS: moments(mm, SS, loss)
    M, V, C = f(m, S)
    # d E[f]/dm = S^-1 cov(x, f); d E[f]/dS = S^-1 (E[(x-m)(x-m)^T f] - S E[f]) S^-1 / 2
    x, w = nodes(m, S)
    y = 1 - np.exp(-0.5 * np.einsum("ij,jk,ik->i", x - z, W, x - z))
    second = (x - m).T @ ((w * y)[:, None] * (x - m))
    dS = 0.5 * np.linalg.solve(S, np.linalg.solve(S, second - S * M[0]).T)
    return dict(what="lossSat", m=unbox(m), S=unbox(S), W=unbox(W), z=unbox(z), M=float(M[0]),
                V=float(V[0, 0]), dM_dm=unbox(C), dM_dS=unbox(dS))


cases = [gp0(12, 1, 1), gp0(15, 2, 3), gp0(9, 3, 1), gp0(17, 1, 2), gp0(1, 2, 2), gp0(16, 3, 2),
         sines("gTrig", 1, [1], None), sines("gTrig", 3, [3, 1], None), sines("gTrig", 2, [2], None),
         sines("gSin", 1, [1], [0.7]), sines("gSin", 3, [2], [1.5]),
         sines("gSat", 3, [3, 1], [10.0, 2.0]), sines("gSat", 1, [1], [10.0]),
         loss(1), loss(2), loss(3)]
print("[" + ",\n".join(json.dumps(c) for c in cases) + "]")
