#!/usr/bin/env python3
"""Evaluations to a target value of python3-cmaes, for test_cmaes.c: prints one C table row per function and
dimension.

   mean over the successful runs of the evaluations until the best value is below 1e-9, and the share of
   successful runs (a run is given up after 2000 n generations or when the library's own stop rules apply)
"""
import numpy as np
from cmaes import CMA, SepCMA


def sphere(x):
    return float(np.sum(x * x))


def ellipsoid(x):
    n = len(x)
    return float(np.sum(10.0 ** (6.0 * np.arange(n) / (n - 1)) * x * x))


def rosenbrock(x):
    return float(np.sum(100.0 * (x[:-1] ** 2 - x[1:]) ** 2 + (x[:-1] - 1.0) ** 2))


def rastrigin(x):
    return float(np.sum(x * x + 10.0 - 10.0 * np.cos(2 * np.pi * x)))


# class, function, dimensions, start of every coordinate, sigma, population per dimension (0: default), runs
CASES = [
    (CMA, sphere, (5, 10, 20, 40), 3.0, 1.0, 0, 21),
    (CMA, ellipsoid, (5, 10, 20, 40), 3.0, 1.0, 0, 11),
    (CMA, rosenbrock, (5, 10, 20, 40), 0.0, 0.1, 0, 21),
    (CMA, rastrigin, (5, 10, 20), 3.0, 2.0, 20, 21),
    (CMA, rastrigin, (40,), 3.0, 2.0, 20, 11),
    (SepCMA, ellipsoid, (10, 20, 40), 3.0, 1.0, 0, 21),  # learns variances only; positive weights only
]

for kind, f, dims, x0, sigma, pop, runs in CASES:
    for n in dims:
        counts = []
        for seed in range(runs):
            es = kind(mean=np.full(n, x0), sigma=sigma, seed=1000 + seed,
                      population_size=pop * n if pop else None)
            best, evals = np.inf, 0
            for _ in range(2000 * n):
                told = []
                for _ in range(es.population_size):
                    x = es.ask()
                    v = f(x)
                    evals += 1
                    best = min(best, v)
                    told.append((x, v))
                es.tell(told)
                if best < 1e-9 or es.should_stop():
                    break
            if best < 1e-9:
                counts.append(evals)
        print(f'    {{"{f.__name__}", {f.__name__}, {n}, {int(kind is SepCMA)}, {x0}, {sigma}, {pop * n}, '
              f'{np.mean(counts):.0f}, '
              f'{np.std(counts):.0f}, {len(counts) / runs:.3f}}},', flush=True)
