"""Files that are foreign, damaged or hostile are refused, before they take time or memory."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

import gramlet
from gramlet.persistence import ModelFileError
from gramlet.persistence.container import read_container, write_container

GRAPHS = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"]), ([], ["N"])]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """A small pipeline, saved."""
    model = make_pipeline(gramlet.WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    path = tmp_path / "model.gramlet"
    gramlet.save(model.fit(GRAPHS, [0, 1, 1]), path)
    return path


def manifest(tree: Any = None, **changes: Any) -> dict[str, Any]:
    return {"format": "gramlet-model", "version": 3, "libraries": {}, "model": tree, **changes}


def archive(path: Path, *members: tuple[str, bytes], how: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", how) as target:
        for name, content in members:
            target.writestr(name, content)
    return path


def refused(path: Path, match: str | None = None) -> None:
    """Check that a file is refused, with little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=match) as caught:
            gramlet.load(path)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    assert repr(str(path)) in str(caught.value)


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def header(dtype: str, shape: str) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def text_of(tree: Any) -> bytes:
    return json.dumps(manifest(tree)).encode()


# Names and trees


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "builtins:eval",
        "numpy:ndarray",
        "pathlib:Path",
        "sklearn:RandomForestClassifier",
        "sklearn.svm._classes:SVC",
        "gramlet:GraphBatch",
        "gramlet.graphs.batch:GraphBatch.from_edges",
        "gramlet.files.dataset:Dataset",
        "gramlet.persistence.files:save",
        "gramlet.kernels.contract.kernel:np",
        "gramlet.kernels.no_such_module:Thing",
        "gramlet.kernels.contract.kernel:NoSuchKernel",
        "gramlet.kernels.histograms.rconvolution:RConvolutionParts",
        "gramlet.cli.__main__:main",
        "gramlet.kernels.__main__:main",
        "gramlet..kernels:x",
        "no name at all",
        None,
        ["gramlet.kernels.contract.kernel:CountKernel"],
    ],
    ids=str,
)
def test_names_outside_the_list_are_refused(name, tmp_path, monkeypatch):
    called: list[Any] = []
    monkeypatch.setattr(os, "system", called.append)
    write_container(tmp_path / "m", manifest([{"class": name, "state": {}}]), [])
    refused(tmp_path / "m", "class|needs")
    assert called == []


@pytest.mark.parametrize(
    "tree",
    [
        {"class": "sklearn:SVC"},
        {"class": "sklearn:SVC", "state": []},
        {"class": "sklearn:SVC", "state": {}},
        {"class": "gramlet.kernels.contract.kernel:CountKernel", "state": {}},
        {"class": "gramlet.graphs.batch:GraphBatch", "state": {"indptr": {"array": 0}}},
        {"scalar": ["|O", 1]},
        {"scalar": ["<f8", "x"]},
        {"scalar": ["<i1", 300]},
        {"csr_matrix": [[1, 2], 1, 2, 3]},
        {"bytes": "?"},
        {"float": "1"},
        {"array": 0},
        {"array": -1},
        {"array": True},
        {"ref": 0},
        {"tuple": None},
        {"tuple": {}},
        {"dict": [["key"]]},
        {"dict": [[[], 1]]},
        {"dict": [["a", 1], ["a", 2]]},
        {"set": [{"dict": []}]},
        {"set": [], "tuple": []},
        {"function": "os:system"},
        {},
        10**1300,
    ],
    ids=lambda tree: json.dumps(tree)[:60],
)
def test_trees_that_make_no_sense_are_refused(tree, tmp_path):
    write_container(tmp_path / "m", manifest([tree]), [])
    refused(tmp_path / "m", "cannot be loaded")


def test_small_trees_that_stand_for_endless_ones_are_refused(tmp_path):
    # Each sum contains the one before twice: expanded, these are 2^60 kernels.
    gramlet.save(gramlet.KernelSum([gramlet.VertexHistogram()]), tmp_path / "m")
    node = read_container(tmp_path / "m")[0]["model"]
    levels = [node]
    for level in range(1, 60):
        state = {**node["state"], "kernels": [{"ref": level}, {"ref": level}]}
        levels.append({**node, "state": state})
    write_container(tmp_path / "m", manifest(levels), [])
    refused(tmp_path / "m", "refers too often|recursion|nested")


class Bomb:
    """An object whose unpickling would create a file."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.sentinel,))


def test_nothing_is_unpickled(tmp_path):
    sentinel, path = tmp_path / "sentinel", tmp_path / "m"
    payload = npy(np.array([Bomb(sentinel)], dtype=object))
    path.write_bytes(pickle.dumps(Bomb(sentinel)))
    refused(path, "not a zip")
    refused(archive(path, ("manifest.json", pickle.dumps(Bomb(sentinel)))))
    refused(
        archive(path, ("manifest.json", text_of({"array": 0})), ("arrays/0.npy", payload)),
        "neither numbers nor text",
    )
    assert not sentinel.exists()


# Archives


@pytest.mark.parametrize(
    "name",
    ["../../evil.npy", "/tmp/evil", "arrays/00.npy", "arrays/1.npy", "manifest.json/", "readme"],
)
def test_members_under_other_names_are_refused(name, tmp_path):
    path = archive(tmp_path / "m", ("manifest.json", text_of([])), (name, npy(np.zeros(2))))
    refused(path, "has the members")
    refused(archive(path, (name, b"hello")), "has the members")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_claim_more_than_the_file_has_are_refused(tmp_path):
    first = ("manifest.json", text_of({"array": 0}))
    zeros = ("arrays/0.npy", npy(np.zeros(10**6)))
    refused(archive(tmp_path / "m", first, zeros, how=zipfile.ZIP_DEFLATED), "is compressed")
    refused(archive(tmp_path / "m", first, zeros, zeros), "each once")
    content = bytearray(archive(tmp_path / "m", first, zeros).read_bytes())
    entry = content.rindex(b"PK\x01\x02")  # of the array, in the list of members
    content[entry + 20 : entry + 28] = struct.pack("<II", 2**31, 2**31)
    (tmp_path / "m").write_bytes(bytes(content))
    refused(tmp_path / "m", "declares 2147")
    content[content.index(b"PK\x03\x04") + 6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "m").write_bytes(bytes(content))
    refused(tmp_path / "m")  # encrypted


@pytest.mark.parametrize("dtype", ["<f8", "<U0", "|O", "|V8"])
@pytest.mark.parametrize(
    "shape",
    ["(1000000000000,)", "(0, 1000000000000)", "(4294967296, 4294967296)", "(-1, -1)", "(3,)"],
)
def test_arrays_that_claim_another_size_are_refused(dtype, shape, tmp_path):
    content = header(dtype, shape) + bytes(8)
    first = ("manifest.json", text_of({"array": 0}))
    refused(archive(tmp_path / "m", first, ("arrays/0.npy", content)), "array")


@pytest.mark.parametrize("opening", ["[", '{"tuple":[', '{"a":'])
def test_deep_json_is_refused(opening, tmp_path):
    for depth in (100, 200_000):
        text = text_of("X").replace(b'"X"', (opening * depth).encode())
        refused(archive(tmp_path / "m", ("manifest.json", text)))
    closed = text_of("X").replace(b'"X"', b"[" * 100 + b"]" * 100)
    refused(archive(tmp_path / "m", ("manifest.json", closed)), "nested too deeply")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "cannot be read"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1, "a": 2}', "twice"),
        ("{ü}".encode(), "cannot be read"),
        (b"[]", "not that of a saved model"),
        (json.dumps(manifest(format="other")).encode(), "not that of a saved model"),
        (json.dumps(manifest(version=4)).encode(), "version 4.*Install a later gramlet"),
        (
            json.dumps(manifest(version=2, libraries={"gramlet": "0.0.1"})).encode(),
            r"version 2 \(written by gramlet 0\.0\.1\).*fit and save the model again",
        ),
        (json.dumps(manifest(version="3")).encode(), "version '3'"),
        (b'{"format": "gramlet-model", "version": 3}', "no model"),
    ],
)
def test_other_manifests_are_refused(text, message, tmp_path):
    refused(archive(tmp_path / "m", ("manifest.json", text)), message)


def test_files_of_older_formats_say_what_to_do(model_file):
    with zipfile.ZipFile(model_file, "a") as target:
        target.comment = b"gramlet sha256 " + b"0" * 64
    refused(model_file, "earlier gramlet.*fit and save the model again")


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04", b"not a model", b"\x80\x04K\x01."])
def test_foreign_files_are_refused(content, tmp_path):
    (tmp_path / "m").write_bytes(content)
    refused(tmp_path / "m")
    with pytest.raises(FileNotFoundError):
        gramlet.load(tmp_path / "nothing")


@pytest.mark.filterwarnings("ignore")
def test_damage_is_refused_or_without_effect(model_file):
    content = model_file.read_bytes()
    expected = gramlet.load(model_file).predict(GRAPHS).tolist()
    for length in {*range(0, len(content), 97), *range(len(content) - 60, len(content))}:
        model_file.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            gramlet.load(model_file)
    n_refused = 0
    for place in [*range(0, len(content), 31), *range(len(content) - 200, len(content), 3)]:
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        model_file.write_bytes(bytes(changed))
        try:
            loaded = gramlet.load(model_file)
        except ModelFileError:
            n_refused += 1
        else:  # a field of zip that nothing depends on, such as a date
            assert loaded.predict(GRAPHS).tolist() == expected
    assert n_refused > 100


# State


def nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every instance of a tree."""
    for item in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(item, dict | list):
            yield from nodes(item)
    if isinstance(tree, dict) and "class" in tree:
        yield tree


def with_array(name: str, value: Any, place: Any = 0) -> Any:
    def change(state: dict[str, Any], arrays: list[np.ndarray]) -> None:
        arrays[state[name]["array"]][place] = value

    return change


def with_field(name: str, value: Any) -> Any:
    def change(state: dict[str, Any], arrays: list[np.ndarray]) -> None:
        state[name] = value

    return change


def longer(name: str) -> Any:
    def change(state: dict[str, Any], arrays: list[np.ndarray]) -> None:
        number = state[name]["array"]
        arrays[number] = np.ones((*arrays[number].shape[:-1], arrays[number].shape[-1] + 1))

    return change


def offsets_of_counts(state: dict[str, Any], arrays: list[np.ndarray]) -> None:
    arrays[state["counts"]["csr_matrix"][3]["array"]][-1] = 0


def _pipeline() -> Any:
    model = make_pipeline(gramlet.WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    return model.fit(GRAPHS, [0, 1, 1])


_NEIGHBOURS = KNeighborsClassifier(1).fit(np.eye(4), [0, 1, 0, 1])
_REGRESSION = SVR().fit(np.eye(4), [0.0, 1.0, 2.0, 3.0])
_HIDING = ("transform", "validate", "_fit", "__class__", "x y")


@pytest.mark.parametrize(
    ("make", "owner", "change", "message"),
    [
        *((_pipeline, "SVC", with_array("support_", v), "support_") for v in (-1, 3, 2**30)),
        *(
            (_pipeline, "SVC", longer(name), "dual_coef_|_prob")
            for name in ("dual_coef_", "_probB")
        ),
        (_pipeline, "SVC", with_array("_n_support", 10**6), "_n_support"),
        (_pipeline, "SVC", with_array("intercept_", np.nan), "not finite"),
        (_pipeline, "Pipeline", with_field("memory", "cache"), "memory"),
        (_pipeline, "Pipeline", with_field("steps", [1]), "steps"),
        *((_pipeline, "WeisfeilerLehman", with_field(n, 1), "no attributes") for n in _HIDING),
        (_pipeline, "WeisfeilerLehman", with_field("n_iter", -1), "n_iter"),
        (_pipeline, "WeisfeilerLehman", with_field("n_iter", "two"), "n_iter"),
        *((_pipeline, "WeisfeilerLehman", with_field("n_jobs", n), "n_jobs") for n in (0, 10**9)),
        (_pipeline, "SignatureTable", with_array("offsets", 10**6, -1), "data"),
        (_pipeline, "CountProfile", offsets_of_counts, "offsets"),
        (lambda: _REGRESSION, "SVR", with_array("_n_support", 10**6), "_n_support"),
        (lambda: _NEIGHBOURS, "KNeighborsClassifier", with_field("n_neighbors", 5), "n_neighbors"),
        (lambda: _NEIGHBOURS, "KNeighborsClassifier", with_field("n_jobs", 10**9), "n_jobs"),
        *(
            (lambda: gramlet.as_batch(GRAPHS), "GraphBatch", with_array(*change), "loaded")
            for change in (("indices", 99), ("indices", 5), ("indptr", -4, 1))
        ),
        *(
            (lambda: gramlet.RandomWalk().fit(GRAPHS), "LabelledGraphs", change, "heads")
            for change in (with_array("heads", -1), with_array("heads", 2**40))
        ),
    ],
)
def test_state_that_cannot_be_is_refused(make, owner, change, message, tmp_path):
    gramlet.save(make(), tmp_path / "m")
    whole, arrays = read_container(tmp_path / "m")
    node = next(node for node in nodes(whole) if node["class"].endswith(f":{owner}"))
    change(node["state"], arrays)
    write_container(tmp_path / "m", whole, arrays)
    refused(tmp_path / "m", message)
