"""Files that must be refused: foreign, damaged, hostile; and writes that were interrupted."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import gramlet
from gramlet.persistence import ModelFileError, container
from gramlet.persistence.container import write_container

GRAPHS = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"]), ([], ["N"])]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """A small pipeline, saved."""
    model = make_pipeline(gramlet.WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    path = tmp_path / "model.gramlet"
    gramlet.save(model.fit(GRAPHS, [0, 1, 1]), path)
    return path


def forge(path: Path, tree: Any, arrays: list[Any] | None = None, **fields: Any) -> Path:
    """A file with a given tree and a valid checksum."""
    manifest = {"format": "gramlet-model", "version": 2, "libraries": {}, "model": tree, **fields}
    write_container(path, manifest, arrays or [])
    return path


def reseal(content: bytes) -> bytes:
    """The content with a recomputed checksum."""
    file = io.BytesIO(content)
    container._seal(file)
    return file.getvalue()


def archive(members: list[tuple[str, bytes]], seal: bool = True) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        for name, content in members:
            target.writestr(name, content)
        if seal:
            target.comment = container._SEAL + b"0" * 64
    return reseal(file.getvalue()) if seal else file.getvalue()


def manifest(tree: Any = None, **fields: Any) -> bytes:
    whole = {"format": "gramlet-model", "version": 2, "libraries": {}, "model": tree, **fields}
    return json.dumps(whole).encode()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


# Hostile files


class Bomb:
    """An object whose unpickling would create a file."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.sentinel,))


NOT_ALLOWED = [
    "os:system",
    "builtins:eval",
    "builtins:object",
    "posixpath:join",
    "numpy:load",
    "numpy:ndarray",
    "subprocess:Popen",
    "pathlib:Path",
    "gramlet:GraphBatch",
    "gramlet.files.datasets.datasets:load_dataset",
    "gramlet.files.tu.dataset:read_tu",
    "gramlet.files.datasets.download:Path",
    "gramlet.graphs.batch:GraphBatch",
    "gramlet.graphs.columns:Categorical",
    "gramlet.graphs.batch:GraphBatch.from_edges",
    "gramlet.files.dataset:Dataset",
    "gramlet.persistence.container:ModelFileError",
    "gramlet.persistence.container:zipfile.ZipFile",
    "gramlet.persistence.container:os",
    "gramlet.kernels.contract.kernel:np",
    "gramlet.no_such_module:Thing",
    "gramlet.kernels.contract.kernel:NoSuchKernel",
    "gramlet.cli.__main__:main",
    "gramlet..kernels:x",
    "sklearn.datasets._base:load_iris",
    "sklearn.base:clone",
    "sklearn.utils._bunch:Bunch",
    "sklearn.tests.test_base:MyEstimator",
    "sklearn.utils.parallel:Parallel",
    "sklearn.tree._tree:Tree",
    "no name at all",
    "",
    None,
    7,
    ["gramlet.kernels.contract.kernel:CountKernel"],
]


@pytest.mark.parametrize("name", NOT_ALLOWED, ids=str)
@pytest.mark.parametrize("tag", ["object", "function"])
def test_names_outside_the_list_are_refused(name, tag, tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(os, "system", called.append)
    tree = {tag: name, "attributes": {}, "state": {"dict": []}, "items": []}
    path = forge(tmp_path / "m", {"list": [tree]})
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        gramlet.load(path)
    assert called == []


@pytest.mark.parametrize(
    "tree",
    [
        {"object": "sklearn.svm._classes:SVC"},
        {"object": "sklearn.svm._classes:SVC", "attributes": []},
        {"object": "gramlet.kernels.contract.kernel:CountKernel", "state": 3},
        {"loss": {"tuple": ["os", "system", {"tuple": []}]}},
        {"loss": {"tuple": ["sklearn._loss._loss", "np", {"tuple": []}]}},
        {"loss": {"tuple": ["sklearn._loss._loss", "CyHalfSquaredError", {"tuple": ["x"]}]}},
        {"type": "numpy.object"},
        {"type": "os.system"},
        {"type": "eval"},
        {"dtype": "O,O"},
        {"scalar": {"tuple": ["|O", {"bytes": "AAAAAAAAAAA="}]}},
        {"scalar": {"tuple": ["<f8", {"bytes": "AAAA"}]}},
        {"object_array": {"tuple": [{"tuple": [10**12]}, {"list": []}]}},
        {"object_array": {"tuple": [{"tuple": [-1]}, {"list": [1]}]}},
        {"generator": {"tuple": [{"dict": [["bit_generator", "system"]]}, {"dict": []}]}},
        {"range": {"tuple": []}},
        {"bytes": "?"},
        {"int": "ten"},
        {"int": 7},
        {"float": "1"},
        {"array": 0},
        {"array": -1},
        {"array": True},
        {"ref": 0},
        {"list": [{"tuple": [{"ref": 3}], "id": 3}]},
        {"list": [{"list": [], "id": 1}, {"list": [], "id": 1}]},
        {"list": {}},
        {"list": 3},
        {"tuple": None},
        {"dict": [["key"]]},
        {"dict": [[{"list": []}, 1]]},
        {"set": [{"dict": []}]},
        {"list": [], "tuple": []},
        {"unknown": 1},
        {},
        [1, 2],
        {"tree": {"tuple": [1]}},
        {"sparse": {"dict": [["class", "spmatrix"]]}},
        {"batch": {"dict": []}},
    ],
    ids=lambda tree: json.dumps(tree)[:60],
)
def test_trees_that_make_no_sense_are_refused(tree, tmp_path):
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        gramlet.load(forge(tmp_path / "m", tree))


def test_arrays_that_would_be_unpickled_are_refused(tmp_path):
    sentinel = tmp_path / "sentinel"
    payload = npy(np.array([Bomb(sentinel)], dtype=object))
    path = tmp_path / "m"
    path.write_bytes(
        archive([("manifest.json", manifest({"array": 0})), ("arrays/0.npy", payload)])
    )
    with pytest.raises(ModelFileError, match="Python objects"):
        gramlet.load(path)
    assert not sentinel.exists()


def test_pickles_are_refused(tmp_path):
    sentinel = tmp_path / "sentinel"
    path = tmp_path / "m"
    path.write_bytes(pickle.dumps(Bomb(sentinel)))
    with pytest.raises(ModelFileError, match="not a zip"):
        gramlet.load(path)
    path.write_bytes(
        archive([("manifest.json", pickle.dumps(Bomb(sentinel))), ("arrays/0.npy", b"")])
    )
    with pytest.raises(ModelFileError):
        gramlet.load(path)
    assert not sentinel.exists()


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.npy",
        "/tmp/evil",
        "arrays/../evil.npy",
        "arrays/00.npy",
        "arrays/1.npy",
        "arrays/-1.npy",
        "arrays/0.npy.exe",
        "manifest.json/",
        "ARRAYS/0.npy",
        "arrays\\0.npy",
    ],
)
def test_members_under_other_names_are_refused(name, tmp_path):
    path = tmp_path / "inner" / "m"
    path.parent.mkdir()
    path.write_bytes(archive([("manifest.json", manifest([])), (name, npy(np.zeros(2)))]))
    with pytest.raises(ModelFileError):
        gramlet.load(path)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["inner", "m"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice_is_refused(tmp_path):
    twice = [("arrays/0.npy", npy(np.zeros(2)))] * 2
    path = tmp_path / "m"
    path.write_bytes(archive([("manifest.json", manifest({"array": 0})), *twice]))
    with pytest.raises(ModelFileError, match="each once"):
        gramlet.load(path)


def test_a_small_file_that_claims_much_is_refused(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("manifest.json", manifest({"array": 0}))
        target.writestr("arrays/0.npy", npy(np.zeros(10**6)))
        target.comment = container._SEAL + b"0" * 64
    path = tmp_path / "m"
    path.write_bytes(reseal(file.getvalue()))
    with pytest.raises(ModelFileError, match="declares"):
        gramlet.load(path)


def test_an_honest_file_may_hold_a_million_zeros(tmp_path):
    gramlet.save([np.zeros(10**6), "a" * 10**6], tmp_path / "m")
    zeros, text = gramlet.load(tmp_path / "m")
    assert not zeros.any()
    assert len(text) == 10**6


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(-1,)", "(3,)", "(2, 99999999999)", "()"])
def test_arrays_that_claim_another_size_are_refused(shape, tmp_path):
    honest = npy(np.zeros(2))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    length = int.from_bytes(honest[8:10], "little")
    forged = honest[:10] + header.ljust(length - 1).encode() + b"\n" + honest[10 + length :]
    path = tmp_path / "m"
    path.write_bytes(archive([("manifest.json", manifest({"array": 0})), ("arrays/0.npy", forged)]))
    with pytest.raises(ModelFileError):
        gramlet.load(path)


def test_deep_nesting_is_refused(tmp_path):
    for depth, opening in ((100, b'{"list":['), (200_000, b'{"list":['), (200_000, b"[")):
        closing = b"]}" if opening.endswith(b"[") and len(opening) > 1 else b"]"
        text = manifest().replace(b"null", opening * depth + closing * depth)
        path = tmp_path / "m"
        path.write_bytes(archive([("manifest.json", text)]))
        with pytest.raises(ModelFileError, match=r"nested|list"):
            gramlet.load(path)


def tampered(path: Path, tag: str, change: Any) -> Path:
    """The file with one part of its tree changed, and a recomputed checksum."""
    told, arrays = container.read_container(path)

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if tag in node:
                change(node, arrays)
            for item in node.values():
                walk(item)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    walk(told["model"])
    write_container(path, told, arrays)
    return path


def test_sparse_matrices_that_point_outside_are_refused(model_file):
    def point_outside(node: dict[str, Any], arrays: list[np.ndarray]) -> None:
        parts = dict(map(tuple, node["sparse"]["dict"]))["parts"]["tuple"]
        arrays[parts[1]["array"]][0] = 10**6

    with pytest.raises(ModelFileError):
        gramlet.load(tampered(model_file, "sparse", point_outside))


def test_tables_of_signatures_that_point_outside_are_refused(model_file):
    def is_table(node: dict[str, Any]) -> bool:
        return str(node["object"]).endswith(":SignatureTable")

    def point_outside(node: dict[str, Any], arrays: list[np.ndarray]) -> None:
        if is_table(node):
            state = dict(map(tuple, node["state"]["dict"]))
            arrays[state["offsets"]["array"]][-1] = 10**6

    def avoid_the_check(node: dict[str, Any], arrays: list[np.ndarray]) -> None:
        if is_table(node):
            node["attributes"] = dict(map(tuple, node.pop("state")["dict"]))

    content = model_file.read_bytes()
    for change in (point_outside, avoid_the_check):
        model_file.write_bytes(content)
        with pytest.raises(ModelFileError):
            gramlet.load(tampered(model_file, "object", change))


@pytest.mark.parametrize("child", [0, 1000, -2])
def test_decision_trees_that_do_not_end_are_refused(child, tmp_path):
    tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    gramlet.save(tree, tmp_path / "m")

    def change(node: dict[str, Any], arrays: list[np.ndarray]) -> None:
        state = dict(map(tuple, node["tree"]["tuple"][3]["dict"]))
        arrays[state["nodes"]["array"]]["left_child"][0] = child

    with pytest.raises(ModelFileError):
        gramlet.load(tampered(tmp_path / "m", "tree", change))


def test_graphs_that_do_not_fit_together_are_refused(tmp_path):
    batch = gramlet.as_batch(GRAPHS)
    for name, place, value in (("indices", 0, 99), ("indices", 0, 5), ("indptr", 1, -4)):
        gramlet.save(batch, tmp_path / "m")

        def change(node, arrays, name=name, place=place, value=value):
            state = dict(map(tuple, node["batch"]["dict"]))
            arrays[state[name]["array"]][place] = value

        with pytest.raises(ModelFileError):
            gramlet.load(tampered(tmp_path / "m", "batch", change))


# Foreign and damaged files


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"PK\x03\x04", b"not a model", b"\x80\x04K\x01.", archive([], seal=False)],
)
def test_foreign_files_are_refused(content, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"'.*m' "):
        gramlet.load(path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("readme.txt", b"hello")], "no manifest.json"),
        ([("manifest.json", b"{")], "cannot be read"),
        ([("manifest.json", b'{"a": NaN}')], "NaN"),
        ([("manifest.json", b"[]")], "not that of a saved model"),
        ([("manifest.json", b"{}")], "not that of a saved model"),
        ([("manifest.json", manifest(format="other"))], "not that of a saved model"),
        ([("manifest.json", manifest(version=3))], "Install a later gramlet"),
        (
            [("manifest.json", manifest(version=1, libraries={"gramlet": "0.0.1"}))],
            r"version 1 \(written by gramlet 0\.0\.1\).*fit and save the model again",
        ),
        ([("manifest.json", manifest(version="1"))], "version '1'"),
        ([("manifest.json", b'{"format": "gramlet-model", "version": 2}')], "no model"),
        ([("manifest.json", "{ü}".encode())], "cannot be read"),
    ],
)
def test_other_archives_are_refused(members, message, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(archive(members))
    with pytest.raises(ModelFileError, match=message):
        gramlet.load(path)


def test_archives_without_a_checksum_are_refused(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(archive([("manifest.json", manifest(3))], seal=False))
    with pytest.raises(ModelFileError, match="no checksum"):
        gramlet.load(path)


def test_files_cut_short_anywhere_are_refused(model_file):
    content = model_file.read_bytes()
    for length in {*range(0, len(content), 37), *range(len(content) - 120, len(content))}:
        model_file.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            gramlet.load(model_file)


def test_a_change_of_any_byte_is_noticed(model_file):
    content = model_file.read_bytes()
    ends = [*range(80), *range(len(content) - 200, len(content))]
    for place in {*ends, *range(0, len(content), 23)}:
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        model_file.write_bytes(changed)
        with pytest.raises(ModelFileError):
            gramlet.load(model_file)


@pytest.mark.filterwarnings("ignore")
def test_damage_under_a_right_checksum_is_never_another_exception(model_file):
    content = model_file.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    end = len(content) - container._SEAL_LENGTH
    for place in [*range(100), *range(100, end - 400, 17), *range(end - 400, end, 2)]:
        changed = bytearray(content)
        changed[place] = (changed[place] + rng.integers(1, 256)) % 256
        model_file.write_bytes(reseal(bytes(changed)))
        try:
            gramlet.load(model_file)
        except ModelFileError:
            refused += 1
    assert refused > 100


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        gramlet.load(tmp_path / "nothing")


# Writing


def test_a_file_is_replaced_and_nothing_else_left(tmp_path):
    path = tmp_path / "m.gramlet"
    for n_iter in (1, 2):
        gramlet.save(gramlet.WeisfeilerLehman(n_iter=n_iter), path)
        assert gramlet.load(str(path)).n_iter == n_iter
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["os.replace", "os.fsync", "zipfile.ZipFile.writestr", "seal"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=type)
def test_an_interrupted_write_leaves_the_old_file(failing, error, model_file, monkeypatch):
    content = model_file.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise error

    target = {
        "os.replace": (os, "replace"),
        "os.fsync": (os, "fsync"),
        "zipfile.ZipFile.writestr": (zipfile.ZipFile, "open"),
        "seal": (container, "_seal"),
    }[failing]
    with monkeypatch.context() as patched:
        patched.setattr(*target, fail)
        with pytest.raises(type(error)):
            gramlet.save(gramlet.VertexHistogram(), model_file)
    assert model_file.read_bytes() == content
    assert list(model_file.parent.iterdir()) == [model_file]


def test_a_model_that_cannot_be_saved_leaves_the_old_file(model_file):
    content = model_file.read_bytes()
    with pytest.raises(TypeError):
        gramlet.save([object()], model_file)
    assert model_file.read_bytes() == content


def test_places_that_cannot_be_written_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder .*missing.* does not exist"):
        gramlet.save([], tmp_path / "missing" / "m")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        gramlet.save([], tmp_path)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "m")
    gramlet.save([1], tmp_path / "m")
    gramlet.save([2], tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert gramlet.load(tmp_path / "m") == [2]
