"""Decision trees, forests and boosting; the compiled trees themselves are checked in `parts`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    count,
    either,
    exactly,
    floats,
    instance,
    ints,
    labels,
    list_of,
    nothing,
    one_of,
    optional,
    plain,
    real,
)

__all__ = ["TREES"]

_FEATURES: dict[str, Field] = {
    "n_features_in_": count("p", least=1),
    "feature_names_in_": optional(labels("p")),
}
_TREE: dict[str, Field] = {
    **_FEATURES,
    "n_outputs_": count("outputs", least=1),
    "max_features_": count(),
    "tree_": instance("Tree"),
}
_CLASSES: dict[str, Field] = {
    "classes_": either(labels("classes"), list_of(labels())),
    "n_classes_": either(count("classes"), list_of(count()), ints("outputs")),
}


def _sizes(model: Any) -> list[int]:
    """The numbers of classes, one per output; redundant attributes must agree."""
    groups = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    sizes = [len(group) for group in groups]
    said = np.atleast_1d(np.asarray(model.n_classes_)).tolist()
    if sizes != said or len(sizes) != model.n_outputs_ or min(sizes) < 1:
        raise ValueError("classes_, n_classes_ and n_outputs_ do not agree.")
    return sizes


def _check_tree(model: Any, dims: Dims) -> None:
    tree = model.tree_
    sizes = _sizes(model) if hasattr(model, "classes_") else [1] * model.n_outputs_
    if tree.n_features != dims["p"] or tree.n_outputs != model.n_outputs_:
        raise ValueError("tree_ does not fit the number of features and outputs.")
    if np.asarray(tree.n_classes).tolist() != sizes:
        raise ValueError("tree_ does not fit the number of classes.")


def _check_forest(forest: Any, dims: Dims) -> None:
    if not forest.estimators_:
        raise ValueError("a fitted forest must have a tree.")
    sizes = _sizes(forest) if hasattr(forest, "classes_") else [1] * forest.n_outputs_
    for tree in forest.estimators_:
        # The forest passes samples to the compiled trees without further checks.
        sound = (
            hasattr(tree, "tree_")
            and hasattr(tree, "classes_") is hasattr(forest, "classes_")
            and tree.tree_.n_features == dims["p"]
            and tree.tree_.n_outputs == forest.n_outputs_
            and np.asarray(tree.tree_.n_classes).tolist() == sizes
        )
        if not sound:
            raise ValueError("a tree of estimators_ does not fit the forest.")


def _check_boosting(model: Any, dims: Dims) -> None:
    stages = model.estimators_
    per_stage = model.n_trees_per_iteration_
    if stages.dtype != object or stages.shape != (model.n_estimators_, per_stage):
        raise ValueError("estimators_ does not fit the number of stages.")
    if hasattr(model, "classes_"):
        n_classes = len(model.classes_)
        if n_classes < 2 or per_stage != (1 if n_classes == 2 else n_classes):
            raise ValueError("the trees per stage do not fit the number of classes.")
    elif per_stage != 1:
        raise ValueError("a regression has one tree per stage.")
    for tree in stages.ravel():
        # Compiled code runs the stages: it needs one number per leaf, and features within the row.
        fitted = getattr(tree, "tree_", None)
        if fitted is None or fitted.n_features != dims["p"] or fitted.value.shape[1:] != (1, 1):
            raise ValueError("a tree of estimators_ does not fit the model.")
    init = model.init_
    if not isinstance(init, str) and getattr(init, "n_features_in_", None) != dims["p"]:
        raise ValueError("init_ does not fit the number of features.")


_TREE_NAMES = (
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeRegressor",
)
_FOREST: dict[str, Field] = {
    **_FEATURES,
    "n_outputs_": count("outputs", least=1),
    "_n_samples": optional(count()),
    "_sample_weight": optional(either(nothing(), floats(None))),
    "_n_samples_bootstrap": optional(either(nothing(), count())),
    "estimator_": instance(*_TREE_NAMES),
    "estimators_": list_of(instance(*_TREE_NAMES)),
    "oob_score_": optional(real()),
    "oob_decision_function_": optional(plain()),
    "oob_prediction_": optional(plain()),
}
_MADE_OF: dict[str, Field] = {"estimator": instance(*_TREE_NAMES), "estimator_params": plain()}
_NO_WEIGHTS: dict[str, Field] = {"class_weight": exactly(None)}
_BOOSTING: dict[str, Field] = {
    **_FEATURES,
    "n_trees_per_iteration_": count(least=1),
    "max_features_": count(),
    "_loss": instance("BaseLoss"),
    "init_": either(exactly("zero"), instance("DummyClassifier", "DummyRegressor")),
    "estimators_": instance("ndarray"),
    "train_score_": floats(None),
    "oob_improvement_": optional(floats(None)),
    "oob_scores_": optional(floats(None)),
    "oob_score_": optional(real()),
    "_rng": instance("RandomState"),
    "n_estimators_": count(least=1),
}


def _check_dummy_classifier(model: Any, dims: Dims) -> None:
    if isinstance(model.classes_, list) or _sizes(model) != [len(model.class_prior_)]:
        raise ValueError("class_prior_ does not fit the classes.")
    if (model.class_prior_ < 0).any() or abs(model.class_prior_.sum() - 1) > 1e-6:
        raise ValueError("class_prior_ must be shares that add up to 1.")
    if model._strategy != model.strategy:
        raise ValueError("_strategy and strategy differ.")


_WHERE, _FORESTS = "sklearn.tree._classes", "sklearn.ensemble._forest"
_BOOSTS = "sklearn.ensemble._gb"
TREES = {
    **{
        f"{_WHERE}:{kind}Classifier": Schema({**_TREE, **_CLASSES}, check=_check_tree)
        for kind in ("DecisionTree", "ExtraTree")
    },
    **{
        f"{_WHERE}:{kind}Regressor": Schema(_TREE, _NO_WEIGHTS, _check_tree)
        for kind in ("DecisionTree", "ExtraTree")
    },
    **{
        f"{_FORESTS}:{kind}Classifier": Schema({**_FOREST, **_CLASSES}, _MADE_OF, _check_forest)
        for kind in ("RandomForest", "ExtraTrees")
    },
    **{
        f"{_FORESTS}:{kind}Regressor": Schema(_FOREST, {**_MADE_OF, **_NO_WEIGHTS}, _check_forest)
        for kind in ("RandomForest", "ExtraTrees")
    },
    f"{_BOOSTS}:GradientBoostingClassifier": Schema(
        {**_BOOSTING, "classes_": labels("classes"), "n_classes_": count("classes")},
        {"alpha": optional(real())},
        _check_boosting,
    ),
    f"{_BOOSTS}:GradientBoostingRegressor": Schema(_BOOSTING, check=_check_boosting),
    "sklearn.dummy:DummyClassifier": Schema(
        {
            "n_features_in_": optional(count("p")),
            "_strategy": one_of("prior", "most_frequent", "stratified", "uniform", "constant"),
            "sparse_output_": exactly(False),
            "n_outputs_": exactly(1),
            **_CLASSES,
            "class_prior_": floats("classes"),
        },
        check=_check_dummy_classifier,
    ),
    "sklearn.dummy:DummyRegressor": Schema(
        {
            "n_features_in_": optional(count("p")),
            "n_outputs_": count("outputs", least=1),
            "constant_": floats(1, "outputs"),
        },
    ),
}
