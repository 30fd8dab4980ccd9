#!/usr/bin/env python3
"""The numbers of test_rules.c, from the formulas; a name and a C literal a line.

Adam (Kingma and Ba 2015, algorithm 1) on f = (x - 1)^2 + 10 (y + 2)^2 from (0, 0), step 0.1. The monitor of
MC-PILCO: exponential means E of the cost's change, V of its variance, s of E/sqrt(V); 200 steps in a row with
|s| < sigma lower the step size and halve sigma, and nothing happens for 200 steps after that.
50 digits, rounded once at the end. test_rules_reference.sh compares them with what test_rules.c has."""
from decimal import Decimal as D, getcontext
import math

getcontext().prec = 50


def adam():
    b1, b2, eps, step = D("0.9"), D("0.999"), D("1e-8"), D("0.1")
    theta, m, v = [D(0), D(0)], [D(0), D(0)], [D(0), D(0)]
    for k in range(1, 6):
        g = [2 * (theta[0] - 1), 20 * (theta[1] + 2)]
        for i in range(2):
            m[i] = b1 * m[i] + (1 - b1) * g[i]
            v[i] = b2 * v[i] + (1 - b2) * g[i] ** 2
            theta[i] -= step * (m[i] / (1 - b1**k)) / ((v[i] / (1 - b2**k)).sqrt() + eps)
            yield f"theta[{k}][{i}]", theta[i]


def cost(j):
    return D(10.0 * math.exp(-j / 40.0) + 0.05 * math.sin(1.7 * j) + 0.03 * math.cos(0.9 * j * 1.01))


def monitor():
    a, sigma, E, V, s, J, calm, wait = D("0.99"), D("0.08"), D(0), D(0), D(0), None, 0, 200
    step, least = D("0.01"), D("0.0025")
    for j in range(1, 2000):
        now = cost(j)
        if J is not None:
            change = now - J
            E, V = a * E + (1 - a) * change, a * (V + (1 - a) * (change - E) ** 2)
            s = a * s + (1 - a) * (E / V.sqrt() if V > 0 else 0)
        J = now
        calm = calm + 1 if abs(s) < sigma else 0
        if j == 2:
            yield "s at 2", s
        if j == 3:
            yield "E at 3", E
            yield "V at 3", V
        if j == 400:
            yield "s at 400", s
        if j <= wait or calm < 200:
            continue
        yield "event", j
        if step / 2 < least:
            return
        step, sigma, calm, wait = step / 2, max(sigma / 2, D("0.01")), 0, j + 200


for name, value in [*adam(), *monitor()]:
    print(name, value if isinstance(value, int) else repr(float(value)))
