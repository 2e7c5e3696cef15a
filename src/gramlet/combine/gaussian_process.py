"""Any graph kernel as a kernel of scikit-learn's Gaussian processes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import GenericKernelMixin, Hyperparameter, Kernel

from gramlet.common.arrays import Floats
from gramlet.common.fields import Either, Instance, Optional, Plain, Text, Tuple, fields
from gramlet.common.stored_state import require
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.normalisation import compared
from gramlet.kernels.contract.tags import graph_tags, is_embedding
from gramlet.kernels.expression import estimator_of

# Step, in the logarithm of a hyperparameter, of the central difference for its gradient.
_STEP = 1e-4


def _graphs_of(X: Any) -> GraphBatch:
    """The graphs; TypeError for what scikit-learn makes of a list of networkx graphs."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
        raise TypeError(
            f"GraphKernelGP needs graphs; got an array of shape {X.shape}. scikit-learn turns a "
            "list of networkx graphs into an array of their nodes: give as_batch(graphs) instead, "
            "or make_pipeline(FunctionTransformer(as_batch), GaussianProcessRegressor(kernel))."
        )
    return as_batch(X)


def _snapped(value: float, bounds: Any) -> float:
    """A value, or the bound that it equals up to the rounding of logarithms."""
    near = [bound for bound in bounds if math.isclose(value, bound, rel_tol=1e-12)]
    return float(near[0]) if near else value


class GraphKernelGP(GenericKernelMixin, Kernel):
    """A graph kernel as a kernel of `GaussianProcessRegressor` and `GaussianProcessClassifier`.

    The input is graphs instead of vectors. It can be combined with scikit-learn's own kernels
    (``ConstantKernel() * GraphKernelGP(...) + WhiteKernel()``). Parameters named in ``tune`` are
    hyperparameters, chosen by marginal likelihood. Their gradient is exact if the kernel has
    `gram_with_gradient`, as `MarginalizedKernel` does; otherwise it is a difference within the
    bounds, which takes two Gram matrices per hyperparameter.

    Parameters
    ----------
    kernel : str or estimator
        A name in the registry, or a kernel of gramlet, which should be positive semi-definite.
    tune : mapping of str to (float, float), optional
        Real parameters of the kernel to tune, with their bounds.

    Notes
    -----
    A call with two sets of graphs, and `diag`, use the kernel as fitted by the last call with one
    set: so a kernel with random numbers, or whose values depend on the fitted graphs, remains the
    same. A ``random_state`` of None is replaced by 0.

    This kernel takes any input of `as_batch`. scikit-learn's Gaussian processes convert their input
    first: batches, lists of SMILES strings, and pandas Series or object arrays of graphs are passed
    on unchanged, but a list of networkx graphs would be converted to rows of numbers. Convert such
    lists to a batch with `as_batch`, or in a pipeline:
    ``make_pipeline(FunctionTransformer(as_batch), GaussianProcessRegressor(kernel))``.

    Examples
    --------
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from gramlet import GraphKernelGP, WeisfeilerLehman, as_batch
    >>> chains = as_batch([([(i, i + 1) for i in range(n)], ["C"] * (n + 1)) for n in range(6)])
    >>> kernel = GraphKernelGP(WeisfeilerLehman(n_iter=1))
    >>> model = GaussianProcessRegressor(kernel, alpha=1e-6).fit(chains, range(6))
    >>> model.predict(chains[2:4]).round(1).tolist()
    [2.0, 3.0]
    """

    stored = fields(
        kernel=Either(Text(), Instance(BaseEstimator)),
        tune=Optional(Plain()),
        _fitted=Optional(Tuple(Instance(BaseEstimator), Instance(GraphBatch))),
    )

    def __init__(self, kernel: Any, tune: Mapping[str, tuple[float, float]] | None = None) -> None:
        estimator = estimator_of(kernel)
        if is_embedding(estimator):
            name = type(estimator).__name__
            raise TypeError(
                f"GraphKernelGP needs a graph kernel; {name} is an embedding. Use "
                "its features with a kernel of scikit-learn, as in make_pipeline(embedding, "
                "GaussianProcessRegressor(RBF()))."
            )
        self.kernel = kernel
        self.tune = tune
        self._fitted: tuple[Any, GraphBatch] | None = None

    @property
    def _estimator(self) -> Any:
        """The kernel as an estimator of its own."""
        return estimator_of(self.kernel)

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """The tuned parameters, in the order of ``tune``."""
        found = []
        for name, bounds in (self.tune or {}).items():
            self._value(name)
            low, high = bounds
            if not 0 < low <= high:
                raise ValueError(
                    f"The bounds of {name!r} in tune must be 0 < low <= high; got {bounds!r}."
                )
            found.append(Hyperparameter(name, "numeric", (float(low), float(high))))
        return found

    def _value(self, name: str) -> float:
        kernel = self._estimator
        params = kernel.get_params()
        if name not in params:
            raise ValueError(
                f"{type(kernel).__name__} has no parameter {name!r} to tune. It has: "
                f"{', '.join(sorted(params))}."
            )
        value = params[name]
        if not isinstance(value, Real) or isinstance(value, Integral) or value <= 0:
            raise ValueError(
                f"Only real parameters above 0 can be tuned by marginal likelihood; {name!r} is "
                f"{value!r}. Choose others by GridSearchCV."
            )
        return float(value)

    @property
    def theta(self) -> Floats:
        """The logarithms of the tuned parameters."""
        return np.log([self._value(h.name) for h in self.hyperparameters])

    @theta.setter
    def theta(self, theta: Floats) -> None:
        tuned = self.hyperparameters
        values = {
            h.name: _snapped(value, h.bounds[0])
            for h, value in zip(tuned, np.exp(theta).tolist(), strict=True)
        }
        # A clone, so that the user's kernel is not changed.
        self.kernel = self._estimator.set_params(**values)
        self._fitted = None

    @property
    def bounds(self) -> Floats:
        """The logarithms of the bounds, one row per tuned parameter."""
        rows = [np.log(h.bounds[0]) for h in self.hyperparameters]
        return np.array(rows).reshape(len(rows), 2)

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Compute the kernel matrix, and with ``eval_gradient`` its derivatives by ``theta``.

        With one argument the kernel is fitted on these graphs; calls with two arguments use it.
        """
        if Y is not None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated when Y is None.")
            return self._compare(_graphs_of(X), _graphs_of(Y))
        graphs = _graphs_of(X)
        fitted = self._unfitted()
        if eval_gradient and graph_tags(fitted).gradients:
            self._fitted = (fitted.fit(graphs), graphs)
            return self._with_exact_gradient(graphs)
        matrix = fitted.fit_transform(graphs)
        self._fitted = (fitted, graphs)
        return (matrix, self._gradient(graphs, matrix)) if eval_gradient else matrix

    def _with_exact_gradient(self, graphs: GraphBatch) -> tuple[Floats, Floats]:
        """The matrix and its derivatives by the logarithms of the tuned parameters."""
        matrix, slopes = self._unfitted().gram_with_gradient(graphs)
        names = [h.name for h in self.hyperparameters]
        gradient = np.zeros((*matrix.shape, len(names)))
        for p, name in enumerate(names):
            if name in slopes:  # the derivative by an unused parameter is 0
                gradient[:, :, p] = slopes[name] * self._value(name)
        return matrix, gradient

    def _unfitted(self) -> Any:
        """A clone of the kernel that draws the same random numbers in every call.

        scikit-learn clones kernels at any time, so a random seed could not be kept: a
        ``random_state`` of None is replaced by 0.
        """
        kernel = self._estimator
        unseeded = {
            name: 0
            for name, value in kernel.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        }
        return kernel.set_params(**unseeded)

    def _fitted_kernel(self, graphs: GraphBatch) -> tuple[Any, GraphBatch]:
        """The kernel as last fitted, or fitted on these graphs if it has not been fitted."""
        if self._fitted is None:
            return self._unfitted().fit(graphs), graphs
        return self._fitted

    def _compare(self, X: GraphBatch, Y: GraphBatch) -> Floats:
        kernel, fitted = self._fitted_kernel(Y)
        if fitted == Y:
            return np.asarray(kernel.transform(X))
        if fitted == X:
            return np.asarray(kernel.transform(Y)).T
        rows, columns = kernel.profile_of(X), kernel.profile_of(Y)
        return compared(rows, columns, kernel.normalize)

    def _gradient(self, graphs: GraphBatch, matrix: Floats) -> Floats:
        """Central differences; at an end of the bounds, differences of second order inwards."""
        theta = self.theta
        gradient = np.zeros((len(graphs), len(graphs), len(theta)))
        for p, (low, high) in enumerate(self.bounds):

            def at(distance: float, p: int = p) -> Floats:
                moved = theta.copy()
                moved[p] += distance
                return np.asarray(self.clone_with_theta(moved)(graphs))

            below, above = theta[p] - low, high - theta[p]
            if min(below, above) >= _STEP:
                gradient[:, :, p] = (at(_STEP) - at(-_STEP)) / (2 * _STEP)
                continue
            step = min(_STEP, max(below, above) / 2) * (1 if above > below else -1)
            if step:  # otherwise both bounds are the value itself
                gradient[:, :, p] = (4 * at(step) - at(2 * step) - 3 * matrix) / (2 * step)
        return gradient

    def diag(self, X: Any) -> Floats:
        """Compute the self-similarities of the graphs."""
        graphs = _graphs_of(X)
        return np.array(self._fitted_kernel(graphs)[0].diagonal(graphs))

    def validate(self) -> None:
        """Raise ValueError if kernel, bounds and fitted kernel do not fit together."""
        require(not is_embedding(self._estimator), "kernel must be a graph kernel")
        self.bounds  # noqa: B018 (raises an error for invalid names and bounds)
        if self._fitted is not None:
            kernel, graphs = self._fitted
            require(type(kernel) is type(self._estimator), "_fitted is another kernel")
            require(kernel.n_fitted_ == len(graphs), "_fitted has a different number of graphs")

    def is_stationary(self) -> bool:
        """False: graphs cannot be shifted."""
        return False

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GraphKernelGP)
            and type(self._estimator) is type(other._estimator)
            and self._estimator.get_params() == other._estimator.get_params()
            and self.tune == other.tune
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"GraphKernelGP({self.kernel!r})"
