#!/usr/bin/env python3
"""cartpole.py - the cart-pole of tasks/cartpole.yaml simulated in another process, standard library only.

It tells its true state; mcpilco adds the sensors of the task. Equations and integrator are written down in
the order of operations of mcpilco's own plant, so that learning over a wire gives the same bits as
in-process:

    mcpilco learn tasks/cartpole.yaml --set 'plant={exec: [../examples/drivers/cartpole.py]}'
"""
import math

from mcpilco_plant import serve

MC, MP, L, B, G = 0.5, 0.5, 0.5, 0.1, 9.81


def slope(x, u):
    _, v, theta, w = x
    s, c = math.sin(theta), math.cos(theta)
    den = 4 * (MC + MP) - 3 * MP * (c * c)
    return [v,
            (2 * MP * L * (w * w) * s + 3 * MP * G * s * c + 4 * u - 4 * B * v) / den,
            w,
            (-3 * MP * L * (w * w) * s * c - 6 * (MC + MP) * G * s - 6 * (u - B * v) * c) / (L * den)]


A = [[], [1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9],
     [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
     [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
     [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
E = [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


class Integrator:
    """Dormand-Prince 5(4), the step carried from sample to sample."""

    def __init__(self, tolerance):
        self.tolerance, self.step, self.size = tolerance, 0.0, None

    def grow(self, factor, v):
        self.size = [max(a, factor * abs(b)) for a, b in zip(self.size or [0.0] * len(v), v)]

    def scaled(self, h, v, y):
        total = 0.0
        for i in range(len(v)):
            r = h * v[i]
            if r != 0.0:
                r /= self.tolerance * max(self.size[i], abs(y[i]))
                total += r * r
        return math.sqrt(total / len(v))

    def first(self, f, span, x, k0):
        d0, d1 = self.scaled(1.0, x, x), self.scaled(span, k0, x)
        h = min(0.01 * d0 / d1, 1.0) if d0 > 0.0 and d1 > 0.0 else 1e-4
        y = [x[i] + h * span * k0[i] for i in range(len(x))]
        d2 = max(d1, self.scaled(span, [a - b for a, b in zip(f(y), k0)], y) / h)
        h1 = math.pow(0.01 / d2, 0.2) if d2 > 0.0 else 1e-3 * h
        return min(min(100.0 * h, h1), 1.0) * span

    def advance(self, f, span, x):
        n, done, k = len(x), 0.0, [f(x)]
        self.grow(1.0, x)
        self.grow(span, k[0])
        if not self.step > 0.0:
            self.step = self.first(f, span, x, k[0])
        while done < span:
            last = done + self.step * (1.0 + 1e-10) >= span
            h = span - done if last else self.step
            k = k[:1]
            for s in range(1, 7):
                y = []
                for i in range(n):
                    total = 0.0
                    for j in range(s):
                        total += A[s][j] * k[j][i]
                    y.append(x[i] + h * total)
                k.append(f(y))
            off = []
            for i in range(n):
                e = 0.0
                for s in range(7):
                    e += E[s] * k[s][i]
                off.append(e)
            known = self.size
            for slope in k:  # they count for the size of this step alone
                self.grow(span, slope)
            e, self.size = self.scaled(h, off, y), known
            if e <= 1.0:
                done = span if last else done + h
                x, k = y, [k[6]]
                self.grow(1.0, x)
                longer = h * min(10.0, 0.9 * math.pow(max(e, 1e-10), -0.2))
                self.step = min(max(self.step, longer) if last else longer, span)
            else:
                self.step = h * max(0.2, 0.9 * math.pow(e, -0.2))
        return x


class CartPole:
    rate = 30
    inputs = ["u:N"]
    truth = ["p:m", "dp:m/s", "theta:rad", "dtheta:rad/s"]

    def reset(self, x0, seed, trial, run):
        self.x, self.integrator = x0, Integrator(1e-8)
        return self.x

    def step(self, u):
        self.x = self.integrator.advance(lambda x: slope(x, u[0]), 1.0 / self.rate, self.x)
        return self.x

    def stop(self, u):
        pass


if __name__ == "__main__":
    serve(CartPole())
