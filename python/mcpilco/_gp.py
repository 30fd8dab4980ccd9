"""Gaussian process regression for any data: kernel text, fit, predict, sample."""
import ctypes
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from ._binding import ArgumentError, call, lib, mcp_gp_info, mcp_gp_settings


def _matrix(X: Any) -> np.ndarray:
    X = np.ascontiguousarray(X, dtype=float)
    return X[:, None] if X.ndim == 1 else X


class GP:
    """Exact regression by maximum marginal likelihood.

    >>> gp = mcpilco.GP("se + linear").fit(X, y)
    >>> mean, std = gp.predict(X_new, return_std=True)
    >>> draws = gp.sample(X_new, 5, seed=1)

    kernel: base kernels joined by + and *: se, matern32, matern52, rq, periodic, linear, mp(degree), each with the
    columns it reads in brackets, e.g. "se(0,1) + periodic(2)"; docs/kernels.md has the formulas. Length-scales are
    per column. Fields after fit: `noise_std`, `nlml` (negative log marginal likelihood), `hyper` by name (logs).
    """

    def __init__(self, kernel: str = "se", *, restarts: int = 1, noise_floor: float = 0.0,
                 lengthscale_floor: float = 0.0, evaluations_max: int = 200, seed: int = 1):
        self.kernel = kernel
        self.restarts, self.noise_floor, self.lengthscale_floor = restarts, noise_floor, lengthscale_floor
        self.evaluations_max, self.seed = evaluations_max, seed
        self.info: Dict[str, float] = {}
        self._kernel = self._gp = None

    def fit(self, X: Any, y: Any, train: bool = True) -> "GP":
        """X: n x d, or n numbers. train=False: hyper-parameters as the data suggest, or as set before."""
        X, y = _matrix(X), np.ascontiguousarray(y, dtype=float).ravel()
        if len(X) != len(y):
            raise ArgumentError(f"found {len(X)} rows in X and {len(y)} numbers in y, expected as many")
        self._free()
        self._kernel, self._gp = ctypes.c_void_p(), ctypes.c_void_p()
        n, d = X.shape
        call("mcp_kernel_parse", ctypes.byref(self._kernel), self.kernel.encode(), d, d)
        call("mcp_gp_create", ctypes.byref(self._gp), self._kernel, n, d, X.ctypes.data, y.ctypes.data)
        self.features = d
        if train:
            self._train()
        return self

    def _train(self) -> None:
        settings, info = mcp_gp_settings(), mcp_gp_info()
        lib.mcp_gp_settings_default(ctypes.byref(settings))
        settings.noise_floor, settings.lengthscale_floor = self.noise_floor, self.lengthscale_floor
        settings.restarts, settings.evaluations_max = self.restarts, self.evaluations_max
        settings.seed = self.seed
        call("mcp_gp_train", self._gp, ctypes.byref(settings), ctypes.byref(info))
        self.info = {name: getattr(info, name) for name, _ in info._fields_}

    def predict(self, X: Any, return_std: bool = False,
                noisy: bool = False) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]:
        """Mean at the rows of X; with return_std also the standard deviation of the function (noisy: of a new
        measurement)."""
        X = self._points(X)
        mean, var = np.empty(len(X)), np.empty(len(X)) if return_std else None
        call("mcp_gp_predict", self._gp, len(X), X.ctypes.data, mean.ctypes.data,
             var.ctypes.data if var is not None else None)
        if var is None:
            return mean
        return mean, np.sqrt(np.maximum(var, 0.0) + (self.noise_std**2 if noisy else 0.0))

    def _points(self, X: Any) -> np.ndarray:
        if not self._gp:
            raise ArgumentError("this GP has seen no data yet; call fit(X, y) first")
        X = _matrix(X)
        if X.shape[1] != self.features:
            raise ArgumentError(f"found {X.shape[1]} columns, expected the {self.features} of fit")
        return X

    @property
    def noise_std(self) -> float:
        return float(np.sqrt(lib.mcp_gp_noise_var(self._gp)))

    @property
    def nlml(self) -> float:
        """Negative log marginal likelihood at the present hyper-parameters."""
        value = ctypes.c_double()
        call("mcp_gp_nlml", self._gp, ctypes.byref(value), None)
        return value.value

    @property
    def hyper(self) -> Dict[str, float]:
        """Natural logarithms by name."""
        count = lib.mcp_kernel_params(self._kernel)
        names = [lib.mcp_kernel_param_name(self._kernel, i).decode() for i in range(count)] + ["log_noise"]
        return dict(zip(names, lib.mcp_gp_hyper(self._gp)[:count + 1]))

    @hyper.setter
    def hyper(self, values: Dict[str, float]) -> None:
        present = self.hyper
        unknown = set(values) - set(present)
        if unknown:
            raise ArgumentError(f"unknown {', '.join(sorted(unknown))}; expected some of {', '.join(present)}")
        array = np.array(list({**present, **values}.values()))
        call("mcp_gp_set", self._gp, array.ctypes.data)

    def _free(self) -> None:
        if self._gp:
            lib.mcp_gp_free(self._gp)
        if self._kernel:
            lib.mcp_kernel_free(self._kernel)
        self._kernel = self._gp = None

    def __del__(self) -> None:
        if getattr(self, "_kernel", None) is not None:
            self._free()
