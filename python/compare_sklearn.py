"""compare_sklearn.py - mcpilco.GP beside scikit-learn's GaussianProcessRegressor on the same data: a
kernel with
a length-scale per column and noise, one further start, both on one BLAS thread. Prints the table of
docs/python.md.

    OPENBLAS_NUM_THREADS=1 python3 python/compare_sklearn.py"""
import time
import warnings

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import mcpilco


def data(n, d=4):
    random = np.random.default_rng(n)
    X = random.uniform(-2, 2, (n, d))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * X[:, 3]
    return X, f + 0.05 * random.normal(size=n), random.uniform(-2, 2, (1000, d))


def timed(work, repeats):
    best, value = float("inf"), None
    for _ in range(repeats):
        begun = time.process_time()  # of all threads; other programs do not count
        value = work()
        best = min(best, time.process_time() - begun)
    return best, value


def theirs(X, y):
    kernel = ConstantKernel(1.0) * RBF(np.ones(X.shape[1])) + WhiteKernel(0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianProcessRegressor(kernel, n_restarts_optimizer=1, random_state=1).fit(X, y)


def main():
    print(
        f"mcpilco {mcpilco.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"{mcpilco.machine()['blas']}\n"
    )
    print(
        "| data | | fit, CPU | 1000 predictions with deviation, CPU | negative log likelihood "
        "| error of the mean |"
    )
    print("|---|---|---|---|---|---|")
    for n in (100, 300, 1000):
        X, y, at = data(n)
        truth = np.sin(2 * at[:, 0]) + at[:, 1] * at[:, 2] + 0.3 * at[:, 3]
        repeats = 5 if n < 1000 else 1
        rows = []
        fit, gp = timed(lambda: theirs(X, y), min(repeats, 3))
        predict, (mean, _) = timed(lambda: gp.predict(at, return_std=True), repeats)
        rows.append(("scikit-learn", fit, predict, -gp.log_marginal_likelihood_value_, mean))
        for name, tolerance in (("mcpilco, exact", None), ("mcpilco, sparse 0.01", 0.01)):
            fit, gp = timed(lambda: mcpilco.GP("se", tolerance=tolerance).fit(X, y), repeats)
            gp.predict(at[:2], return_std=True)  # factorise, as scikit-learn does in fit
            predict, (mean, _) = timed(lambda: gp.predict(at, return_std=True), repeats)
            rows.append((name, fit, predict, gp.nlml, mean))
        for name, fit, predict, nlml, mean in rows:
            error = np.sqrt(np.mean((mean - truth) ** 2))
            print(f"| {n} | {name} | {fit:.3f} s | {1e3 * predict:.1f} ms | {nlml:.2f} | {error:.4f} |")


if __name__ == "__main__":
    main()
