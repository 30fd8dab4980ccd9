"""Gaussian process regression for any data: kernel text, fit, predict, sample."""
import ctypes
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from ._binding import ArgumentError, call, lib, mcp_gp_settings, mcp_posterior_info

_EXACT, _SPARSE = 0, 1


def _matrix(X: Any) -> np.ndarray:
    X = np.ascontiguousarray(X, dtype=float)
    return X[:, None] if X.ndim == 1 else X


class GP:
    """Regression by maximum marginal likelihood, exact or certified sparse.

    >>> gp = mcpilco.GP("se + linear").fit(X, y)
    >>> mean, std = gp.predict(X_new, return_std=True)
    >>> draws = gp.sample(X_new, 5, seed=1)

    kernel: base kernels joined by + and *: se, matern32, matern52, rq, periodic, linear, mp(degree), each
    with the columns it reads in brackets, e.g. "se(0,1) + periodic(2)"; docs/kernels.md has the formulas.
    There is a length-scale per column.

    tolerance: None predicts exactly. A number predicts through inducing points, added until the prior
    variance
    that they leave unexplained at every data point is at most this share of the noise variance; `certificate`
    tells what was reached.
    """

    def __init__(
        self,
        kernel: str = "se",
        *,
        tolerance: Optional[float] = None,
        restarts: int = 1,
        noise_floor: float = 0.0,
        lengthscale_floor: float = 0.0,
        evaluations_max: int = 200,
        seed: int = 1,
    ):
        self.kernel, self.tolerance, self.seed = kernel, tolerance, seed
        self.restarts, self.noise_floor, self.lengthscale_floor = restarts, noise_floor, lengthscale_floor
        self.evaluations_max = evaluations_max
        self._gp: Optional[ctypes.c_void_p] = None

    def fit(self, X: Any, y: Any, train: bool = True) -> "GP":
        """X: n x d, or n numbers. train=False: the hyper-parameters are those that the data suggest."""
        X, y = _matrix(X), np.ascontiguousarray(y, dtype=float).ravel()
        if len(X) != len(y):
            raise ArgumentError(f"found {len(X)} rows in X and {len(y)} numbers in y, expected as many")
        self._free()
        gp = ctypes.c_void_p()
        n, self.features = X.shape
        call(
            "mcp_gp_from_text",
            ctypes.byref(gp),
            self.kernel.encode(),
            n,
            self.features,
            X.ctypes.data,
            y.ctypes.data,
        )
        self._gp = gp
        if train:
            settings = mcp_gp_settings()
            lib.mcp_gp_settings_init(ctypes.byref(settings), ctypes.sizeof(settings))
            settings.noise_floor, settings.lengthscale_floor = self.noise_floor, self.lengthscale_floor
            settings.restarts, settings.evaluations_max = self.restarts, self.evaluations_max
            settings.seed = self.seed
            call("mcp_gp_train", gp, ctypes.byref(settings))
        if self.tolerance is not None:
            call("mcp_gp_posterior", gp, _SPARSE, float(self.tolerance), 0)
        return self

    def _handle(self) -> ctypes.c_void_p:
        if self._gp is None:
            raise ArgumentError("this GP has seen no data yet; call fit(X, y) first")
        return self._gp

    def _points(self, X: Any) -> np.ndarray:
        self._handle()
        X = _matrix(X)
        if X.shape[1] != self.features:
            raise ArgumentError(f"found {X.shape[1]} columns, expected the {self.features} of fit")
        return X

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, noisy: bool = False
    ) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]:
        """Mean at the rows of X; with return_std also the standard deviation of the function (noisy: of a new
        measurement), with return_cov its exact covariance between the rows."""
        X = self._points(X)
        mean, var = np.empty(len(X)), np.empty(len(X)) if return_std else None
        call(
            "mcp_gp_predict",
            self._gp,
            len(X),
            X.ctypes.data,
            mean.ctypes.data,
            var.ctypes.data if var is not None else None,
        )
        if return_cov:
            covariance = np.empty((len(X), len(X)))
            call("mcp_gp_covariance", self._gp, len(X), X.ctypes.data, covariance.ctypes.data)
            return mean, covariance
        if var is None:
            return mean
        return mean, np.sqrt(np.maximum(var, 0.0) + (self.noise_std**2 if noisy else 0.0))

    def sample(self, X: Any, draws: int = 1, seed: int = 1) -> np.ndarray:
        """Functions of the exact posterior at the rows of X: draws x rows. The same seed gives the same."""
        X = self._points(X)
        out = np.empty((draws, len(X)))
        call("mcp_gp_sample", self._gp, len(X), X.ctypes.data, draws, seed, out.ctypes.data)
        return out

    @property
    def certificate(self) -> Dict[str, float]:
        """Of the posterior in use: points, unexplained variance (residual), largest differences from
        exact."""
        info = ctypes.POINTER(mcp_posterior_info)()
        call("mcp_gp_posterior_certificate", self._handle(), ctypes.byref(info))
        return {name: getattr(info.contents, name) for name, _ in mcp_posterior_info._fields_}

    @property
    def trained(self) -> Dict[str, float]:
        """What the training did: nlml, evaluations, seconds."""
        info = lib.mcp_gp_trained(self._handle()).contents
        return {name: getattr(info, name) for name, _ in info._fields_}

    @property
    def noise_std(self) -> float:
        return float(np.sqrt(lib.mcp_gp_noise_var(self._handle())))

    @property
    def nlml(self) -> float:
        """Negative log marginal likelihood at the present hyper-parameters."""
        value = ctypes.c_double()
        call("mcp_gp_nlml", self._handle(), ctypes.byref(value), None)
        return value.value

    @property
    def hyper(self) -> Dict[str, float]:
        """Hyper-parameters by name; natural logarithms. Assign some of them to change them."""
        gp = self._handle()
        count = lib.mcp_gp_hyper_count(gp)
        return {lib.mcp_gp_hyper_name(gp, i).decode(): lib.mcp_gp_hyper(gp)[i] for i in range(count)}

    @hyper.setter
    def hyper(self, values: Dict[str, float]) -> None:
        for name, value in values.items():
            call("mcp_gp_hyper_set", self._handle(), name.encode(), float(value))

    def _free(self) -> None:
        if getattr(self, "_gp", None) is not None:
            lib.mcp_gp_free(self._gp)
        self._gp = None

    __del__ = _free
