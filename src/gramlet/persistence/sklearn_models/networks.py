"""Multi-layer perceptrons: matrices whose shapes match from layer to layer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    count,
    exactly,
    floats,
    instance,
    labels,
    list_of,
    one_of,
    optional,
    plain,
    real,
)

__all__ = ["NETWORKS"]

_NETWORK: dict[str, Field] = {
    "n_features_in_": count("p", least=1),
    "feature_names_in_": optional(labels("p")),
    "n_outputs_": count("outputs", least=1),
    "_random_state": instance("RandomState"),
    "n_iter_": count(),
    "t_": count(),
    "n_layers_": count("layers"),
    "out_activation_": one_of("identity", "logistic", "softmax"),
    "coefs_": list_of(floats(None, None), "layers-1"),
    "intercepts_": list_of(floats(None), "layers-1"),
    "_best_coefs": optional(list_of(floats(None, None), "layers-1")),
    "_best_intercepts": optional(list_of(floats(None), "layers-1")),
    "_optimizer": optional(instance("BaseOptimizer")),
    **{
        name: optional(plain())
        for name in (
            "loss_curve_",
            "_no_improvement_count",
            "best_loss_",
            "validation_scores_",
            "best_validation_score_",
            "loss_",
            "_coef_indptr",
            "_intercept_indptr",
        )
    },
}


def _check_network(model: Any, dims: Dims) -> None:
    extents = [matrix.shape for matrix in model.coefs_]
    chained = all(before[1] == after[0] for before, after in pairwise(extents))
    ends = (
        bool(extents)
        and (extents[0][0], extents[-1][1]) == (dims["p"], dims["outputs"])
        and [len(each) for each in model.intercepts_] == [columns for _, columns in extents]
    )
    if not chained or not ends:
        raise ValueError("the shapes of the layers do not match.")
    if hasattr(model, "classes_"):
        n_classes = dims["classes"]
        if n_classes < 2 or dims["outputs"] != (1 if n_classes == 2 else n_classes):
            raise ValueError("the outputs do not fit the number of classes.")


_OPTIMIZER: dict[str, Field] = {"learning_rate_init": real(), "learning_rate": real()}
_STATE = list_of(plain())
_WHERE = "sklearn.neural_network._multilayer_perceptron"
_OPTIMIZERS = "sklearn.neural_network._stochastic_optimizers"
NETWORKS = {
    f"{_WHERE}:MLPClassifier": Schema(
        {**_NETWORK, "classes_": labels("classes"), "_label_binarizer": instance("LabelBinarizer")},
        {"loss": exactly("log_loss")},
        _check_network,
    ),
    f"{_WHERE}:MLPRegressor": Schema(_NETWORK, {"loss": optional(plain())}, _check_network),
    f"{_OPTIMIZERS}:AdamOptimizer": Schema(
        always={
            **_OPTIMIZER,
            "beta_1": real(),
            "beta_2": real(),
            "epsilon": real(),
            "t": count(),
            "ms": _STATE,
            "vs": _STATE,
        },
    ),
    f"{_OPTIMIZERS}:SGDOptimizer": Schema(
        always={
            **_OPTIMIZER,
            "lr_schedule": plain(),
            "momentum": real(),
            "nesterov": plain(),
            "power_t": real(),
            "velocities": _STATE,
        },
    ),
}
