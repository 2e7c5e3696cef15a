"""Gaussian processes and their kernels; the fitted samples may be graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    arrays,
    count,
    either,
    exactly,
    floats,
    instance,
    labels,
    optional,
    plain,
    real,
)

__all__ = ["GAUSSIAN_PROCESSES"]

_KERNEL = instance("Kernel")
_SCALE = either(real(least=1e-140), floats(None, least=1e-140))
_BOUNDS = plain()
_FEATURES: dict[str, Field] = {
    "n_features_in_": optional(count("p", least=1)),
    "feature_names_in_": optional(labels("p")),
}


def _check_graphs(place: str, value: Any, dims: Dims) -> None:
    """Require graphs that can be compared with each other: a batch, or an array of them."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    graphs = value if isinstance(value, list) else [value]
    if not all(isinstance(graph, GraphBatch) for graph in graphs):
        raise ValueError(f"{place} must be graphs.")
    if isinstance(value, list) and any(len(graph) != 1 for graph in graphs):
        raise ValueError(f"{place} must have one graph per entry.")
    as_batch(value)


_SAMPLES = either(floats("n", "p"), Field(_check_graphs))


def _check_samples(model: Any, dims: Dims) -> None:
    if len(model.X_train_) != dims["n"]:
        raise ValueError("X_train_ does not have as many samples as there are targets.")
    if (np.diagonal(model.L_) <= 0).any():
        raise ValueError("L_ must have a positive diagonal.")
    on_graphs = _on_graphs(model.kernel_)
    vectors = isinstance(model.X_train_, np.ndarray) and model.X_train_.dtype != object
    if on_graphs is vectors:
        raise ValueError("X_train_ is not what the kernel compares.")


def _on_graphs(kernel: Any) -> bool:
    """Whether a kernel of graphs is a part of this one."""
    parts = [kernel]
    for part in parts:
        inner = [getattr(part, name, None) for name in ("k1", "k2")]
        if type(part).__module__.startswith("sklearn."):
            inner.append(getattr(part, "kernel", None))
        parts += [each for each in (*inner, *getattr(part, "kernels", ())) if each is not None]
    return any(type(part).__name__ == "GraphKernelGP" for part in parts)


def _check_classifier(model: Any, dims: Dims) -> None:
    base = model.base_estimator_
    if not hasattr(base, "classes_") or len(base.classes_) != dims["classes"]:
        raise ValueError("base_estimator_ has another number of classes.")


def _kernel(**fields: Field) -> Schema:
    return Schema(always=fields)


_TARGETS = either(floats("n"), floats("n", "targets"))
_WHERE = "sklearn.gaussian_process"
_K = f"{_WHERE}.kernels"
GAUSSIAN_PROCESSES = {
    f"{_WHERE}._gpr:GaussianProcessRegressor": Schema(
        {
            **_FEATURES,
            "y_train_": _TARGETS,
            "X_train_": _SAMPLES,
            "kernel_": _KERNEL,
            "_rng": instance("RandomState"),
            "_y_train_mean": either(real(), floats("targets"), floats()),
            "_y_train_std": either(real(), floats("targets"), floats()),
            "log_marginal_likelihood_value_": real(),
            "L_": floats("n", "n"),
            "alpha_": _TARGETS,
        },
        check=_check_samples,
    ),
    f"{_WHERE}._gpc:GaussianProcessClassifier": Schema(
        {
            **_FEATURES,
            "base_estimator_": instance(
                "_BinaryGaussianProcessClassifierLaplace",
                "OneVsRestClassifier",
                "OneVsOneClassifier",
            ),
            "classes_": labels("classes"),
            "n_classes_": count("classes"),
            "log_marginal_likelihood_value_": real(),
        },
        check=_check_classifier,
    ),
    f"{_WHERE}._gpc:_BinaryGaussianProcessClassifierLaplace": Schema(
        {
            "y_train_": arrays("int64", "n", least=0, most=1),
            "X_train_": _SAMPLES,
            "classes_": labels("two"),
            "kernel_": _KERNEL,
            "rng": instance("RandomState"),
            "f_cached": optional(floats("n")),
            "log_marginal_likelihood_value_": real(),
            "pi_": floats("n"),
            "W_sr_": floats("n"),
            "L_": floats("n", "n"),
        },
        check=_check_samples,
        trial=False,
    ),
    f"{_K}:ConstantKernel": _kernel(constant_value=real(least=0.0), constant_value_bounds=_BOUNDS),
    f"{_K}:WhiteKernel": _kernel(noise_level=real(least=0.0), noise_level_bounds=_BOUNDS),
    f"{_K}:RBF": _kernel(length_scale=_SCALE, length_scale_bounds=_BOUNDS),
    f"{_K}:Matern": _kernel(
        length_scale=_SCALE, length_scale_bounds=_BOUNDS, nu=either(real(0.0), exactly(np.inf))
    ),
    f"{_K}:RationalQuadratic": _kernel(
        length_scale=_SCALE,
        length_scale_bounds=_BOUNDS,
        alpha=real(least=1e-140),
        alpha_bounds=_BOUNDS,
    ),
    f"{_K}:ExpSineSquared": _kernel(
        length_scale=_SCALE,
        length_scale_bounds=_BOUNDS,
        periodicity=real(least=1e-140),
        periodicity_bounds=_BOUNDS,
    ),
    f"{_K}:DotProduct": _kernel(sigma_0=real(), sigma_0_bounds=_BOUNDS),
    f"{_K}:Sum": _kernel(k1=_KERNEL, k2=_KERNEL),
    f"{_K}:Product": _kernel(k1=_KERNEL, k2=_KERNEL),
    f"{_K}:Exponentiation": _kernel(kernel=_KERNEL, exponent=real(-100, 100)),
}
