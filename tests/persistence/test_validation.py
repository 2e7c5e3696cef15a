"""The content of files is checked before use: classes, arrays, parameters."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, SVR

import gramlet
from gramlet.common.fields import declared_fields
from gramlet.kernels import registry
from gramlet.persistence import ModelFileError, classes, container
from gramlet.persistence.container import read_container, write_container
from gramlet.persistence.sklearn_models import SCHEMAS

sys.path.insert(0, str(Path(__file__).parent))
from mutants import CLASSES, FITTED, NEW, models


def nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every node of a tree that has a tag."""
    if isinstance(tree, dict):
        yield tree
        for item in tree.values():
            yield from nodes(item)
    elif isinstance(tree, list):
        for item in tree:
            yield from nodes(item)


def node_of(tree: Any, name: str) -> dict[str, Any]:
    """The first object of a class, by the end of its name."""
    return next(n for n in nodes(tree) if str(n.get("object", "")).endswith(f":{name}"))


def forged(model: Any, path: Path, change: Any) -> Path:
    """The file of a model after a change to its tree and arrays."""
    gramlet.save(model, path)
    manifest, arrays = read_container(path)
    change(manifest["model"], arrays)
    write_container(path, manifest, arrays)
    return path


# Classes


@pytest.mark.filterwarnings("ignore")
def test_every_class_of_gramlet_in_a_saved_model_checks_itself(tmp_path):
    seen = set()
    for make in models().values():
        gramlet.save(make(), tmp_path / "m")
        tree = read_container(tmp_path / "m")[0]["model"]
        seen |= {n["object"] for n in nodes(tree) if "object" in n}
    own = {name for name in seen if name.startswith("gramlet.")}
    assert len(own) > 40
    for name in own:
        home, _, inside = name.partition(":")
        cls = getattr(importlib.import_module(home), inside)
        assert declared_fields(cls) is not None or hasattr(cls, "validate"), name
    assert {name for name in seen if name.startswith("sklearn.")} <= set(SCHEMAS)


def test_the_models_that_are_mutated_have_every_kernel_and_machine():
    assert {entry.name for entry in registry.entries()} <= set(models())
    assert {"svc", "svr", "nu-svc", "forest", "neighbours", "gaussian-process"} <= set(models())


class NoCheck:
    """A class that, by its module name, belongs to gramlet, and has no check."""


def test_classes_without_a_check_of_their_own_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(NoCheck, "__module__", "gramlet.kernels.contract.labels")
    with pytest.raises(TypeError, match="does not declare"):
        gramlet.save([NoCheck()], tmp_path / "m")
    home = importlib.import_module("gramlet.kernels.contract.labels")
    monkeypatch.setattr(home, "NoCheck", NoCheck, raising=False)
    with pytest.raises(ValueError, match="does not declare"):
        classes.find_class("gramlet.kernels.contract.labels:NoCheck")


def test_classes_that_are_not_on_the_list_are_refused(tmp_path):
    with pytest.raises(TypeError, match=r"Pipeline\.steps\[1\]\[1\].*can be checked"):
        gramlet.save(make_pipeline(gramlet.VertexHistogram(), KMeans()), tmp_path / "m")

    def rename(tree: Any, arrays: Any) -> None:
        node_of(tree, "SVC")["object"] = "sklearn.cluster._kmeans:KMeans"

    with pytest.raises(ModelFileError, match="not on the list"):
        gramlet.load(forged(SVC(), tmp_path / "m", rename))


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_every_class_on_the_list_exists(name):
    assert classes.qualified_name(classes.find_class(name)) == name


UNFITTED = [
    name
    for name in sorted(SCHEMAS)
    if issubclass(classes.find_class(name), BaseEstimator)
    and not name.rpartition(":")[2].startswith("_")
    and not getattr(classes.find_class(name), "_required_parameters", [])
    and name.rpartition(":")[2]
    not in ("Pipeline", "FeatureUnion", "GridSearchCV", "RandomizedSearchCV")
]


@pytest.mark.parametrize("name", UNFITTED)
def test_every_estimator_on_the_list_can_be_saved_unfitted(name, tmp_path):
    cls = classes.find_class(name)
    try:
        model = cls()
    except TypeError:  # needs an estimator
        model = cls(SVC())
    gramlet.save(model, tmp_path / "m")
    assert type(gramlet.load(tmp_path / "m")) is cls


def test_functions_that_write_files_are_refused(tmp_path):
    names = ["gramlet.common.safe_writing:writing", "gramlet.persistence.files:save"]
    for name in (*names, "sklearn.metrics.pairwise:pairwise_distances", "os:system"):
        with pytest.raises(ValueError, match="not allowed"):
            classes.find_function(name)


# Content


@pytest.fixture
def pipeline() -> Pipeline:
    kernel = gramlet.WeisfeilerLehman(n_iter=1)
    return make_pipeline(kernel, SVC(kernel="precomputed")).fit(FITTED, CLASSES)


def array_named(tree: Any, owner: str, name: str) -> int:
    node = node_of(tree, owner)
    told = node.get("attributes") or dict(map(tuple, node["state"]["dict"]))
    return int(told[name]["array"])


@pytest.mark.parametrize("value", [-1, len(FITTED), 2**30, -(2**31)])
def test_support_vectors_that_point_outside_are_refused(value, pipeline, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        arrays[array_named(tree, "SVC", "support_")][0] = value

    with pytest.raises(ModelFileError, match="support_"):
        gramlet.load(forged(pipeline, tmp_path / "m", change))


@pytest.mark.parametrize("name", ["_n_support", "dual_coef_", "intercept_", "_probA"])
def test_arrays_of_libsvm_must_fit_together(name, pipeline, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        number = array_named(tree, "SVC", name)
        arrays[number] = np.concatenate([arrays[number], arrays[number][..., :1]], axis=-1)
        if not arrays[number].size:
            arrays[number] = np.zeros(1)

    with pytest.raises(ModelFileError, match="SVC"):
        gramlet.load(forged(pipeline, tmp_path / "m", change))


def test_a_regression_counts_its_support_vectors(tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        arrays[array_named(tree, "SVR", "_n_support")][:] = 10**6

    model = SVR().fit(np.eye(4), [0.0, 1.0, 2.0, 3.0])
    with pytest.raises(ModelFileError, match="_n_support"):
        gramlet.load(forged(model, tmp_path / "m", change))


@pytest.mark.parametrize("value", [-1, 5, 2**40])
def test_walks_to_nodes_that_are_not_there_are_refused(value, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        node = node_of(tree, "LabelledGraphs")
        arrays[node["items"][2]["array"]][0] = value

    model = gramlet.RandomWalk().fit(FITTED)
    with pytest.raises(ModelFileError, match="heads"):
        gramlet.load(forged(model, tmp_path / "m", change))


@pytest.mark.parametrize("field", ["right_child", "feature"])
def test_trees_that_point_outside_are_refused(field, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        for array in arrays:
            if array.dtype.names:
                array[field][0] = 10**6

    model = RandomForestClassifier(2, random_state=0).fit(np.eye(6), [0, 1, 0, 1, 0, 1])
    with pytest.raises(ModelFileError, match="tree"):
        gramlet.load(forged(model, tmp_path / "m", change))


def test_the_depth_of_a_tree_is_its_own(tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        for node in nodes(tree):
            for pair in node.get("dict", []):
                if pair[0] == "max_depth" and type(pair[1]) is int:
                    pair[1] = 0

    model = RandomForestClassifier(1, random_state=0).fit(np.eye(6), [0, 1, 0, 1, 0, 1])
    with pytest.raises(ModelFileError, match="tree"):
        gramlet.load(forged(model, tmp_path / "m", change))


def test_more_neighbours_than_samples_are_refused(tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        node_of(tree, "KNeighborsClassifier")["attributes"]["n_neighbors"] = 100

    model = KNeighborsClassifier(1).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ModelFileError, match="n_neighbors"):
        gramlet.load(forged(model, tmp_path / "m", change))


@pytest.mark.parametrize("jobs", [10**9, -(10**9), 0])
@pytest.mark.parametrize("name", ["WeisfeilerLehman", "KNeighborsClassifier"])
def test_more_threads_than_a_machine_has_are_refused(jobs, name, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        node_of(tree, name)["attributes"]["n_jobs"] = jobs

    model = gramlet.WeisfeilerLehman() if name == "WeisfeilerLehman" else KNeighborsClassifier()
    with pytest.raises(ModelFileError, match="n_jobs"):
        gramlet.load(forged(model, tmp_path / "m", change))


def test_a_folder_for_a_pipeline_to_write_to_is_refused(pipeline, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        node_of(tree, "Pipeline")["attributes"]["memory"] = str(tmp_path / "cache")

    with pytest.raises(ModelFileError, match="memory"):
        gramlet.load(forged(pipeline, tmp_path / "m", change))


@pytest.mark.parametrize("name", ["transform", "validate", "_fit", "__class__", "predict", "x y"])
def test_attributes_that_hide_methods_are_refused(name, pipeline, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        node_of(tree, "WeisfeilerLehman")["attributes"][name] = 1

    with pytest.raises(ModelFileError, match=r"attribute|parameters"):
        gramlet.load(forged(pipeline, tmp_path / "m", change))


@pytest.mark.parametrize(
    ("name", "value"), [("n_iter", -1), ("n_iter", "two"), ("normalize", 3), ("include_initial", 3)]
)
def test_parameters_are_checked_as_in_fit(name, value, pipeline, tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        node_of(tree, "WeisfeilerLehman")["attributes"][name] = value

    with pytest.raises(ModelFileError, match=name):
        gramlet.load(forged(pipeline, tmp_path / "m", change))


def test_steps_that_do_not_fit_each_other_are_refused(tmp_path):
    model = make_pipeline(gramlet.VertexHistogram(), SVC(kernel="precomputed"))
    model.fit(FITTED, CLASSES)
    model.steps[0] = ("vertexhistogram", gramlet.VertexHistogram().fit(NEW))
    with pytest.raises(TypeError, match="features"):
        gramlet.save(model, tmp_path / "m")


def test_what_cannot_be_loaded_is_not_saved(tmp_path):
    model = SVC(kernel="precomputed").fit(np.eye(4), [0, 1, 0, 1])
    model.support_ = model.support_ + 100
    with pytest.raises(TypeError, match="support_"):
        gramlet.save(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_offsets_of_sparse_matrices_that_fall_are_refused(tmp_path):
    def change(tree: Any, arrays: list[Any]) -> None:
        node = next(n for n in nodes(tree) if "sparse" in n)
        parts = dict(map(tuple, node["sparse"]["dict"]))["parts"]["tuple"]
        arrays[parts[2]["array"]][-1] = 0

    model = gramlet.VertexHistogram().fit(FITTED)
    with pytest.raises(ModelFileError, match="offsets"):
        gramlet.load(forged(model, tmp_path / "m", change))
    assert container.ModelFileError is ModelFileError
