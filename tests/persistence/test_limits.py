"""Files that claim more than they contain are refused before they take time or memory."""

from __future__ import annotations

import io
import json
import stat
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gramlet
from gramlet.persistence import ModelFileError, container, limits


def sealed(content: bytes) -> bytes:
    file = io.BytesIO(content)
    container._seal(file)
    return file.getvalue()


def manifest_of(tree: Any) -> bytes:
    whole = {"format": "gramlet-model", "version": 2, "libraries": {}, "model": tree}
    return json.dumps(whole).encode()


def file_of(path: Path, manifest: bytes, *arrays: bytes, change: Any = None) -> Path:
    """An archive of these members with a valid checksum; ``change`` may alter their headers."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        names = ["manifest.json", *(f"arrays/{i}.npy" for i in range(len(arrays)))]
        for name, content in zip(names, (manifest, *arrays), strict=True):
            member = zipfile.ZipInfo(name)
            if change is not None:
                change(member)
            target.writestr(member, content)
        target.comment = container._SEAL + b"0" * 64
    path.write_bytes(sealed(file.getvalue()))
    return path


def refused_quickly(path: Path, match: str, memory: int = 50_000_000) -> None:
    """Check that a file is refused within little time and memory."""
    gramlet.save([1], path.with_name("warm"))
    gramlet.load(path.with_name("warm"))
    tracemalloc.start()
    begin = time.process_time()
    try:
        with pytest.raises(ModelFileError, match=match):
            gramlet.load(path)
        assert time.process_time() - begin < 5.0
        assert tracemalloc.get_traced_memory()[1] < memory
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("opening", ["[", '{"list":[', '{"a":'])
def test_deep_json_is_refused_before_it_is_parsed(opening, tmp_path):
    text = manifest_of("X").replace(b'"X"', (opening * 100_000).encode())
    refused_quickly(file_of(tmp_path / "m", text), "nested too deeply")


def test_brackets_in_text_are_no_nesting(tmp_path):
    model = ["[" * 5000, '"]}\\', "\\" * 3]
    gramlet.save(model, tmp_path / "m")
    assert gramlet.load(tmp_path / "m") == model


def test_json_of_too_many_values_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "MOST_VALUES", 1000)
    text = manifest_of({"list": [0] * 5000})
    refused_quickly(file_of(tmp_path / "m", text), "values, which no saved model does")


def test_a_name_twice_in_one_place_is_refused(tmp_path):
    text = manifest_of("X").replace(b'"X"', b'{"list": [], "list": [1]}')
    refused_quickly(file_of(tmp_path / "m", text), "twice")


@pytest.mark.parametrize("kind", ["list", "tuple", "frozenset"])
def test_small_trees_that_stand_for_endless_ones_are_refused(kind, tmp_path):
    # Level k refers twice to level k - 1: expanded, this is 2^60 values.
    levels: list[Any] = [{kind: ["x"], "id": 0}]
    for k in range(1, 60):
        levels.append({kind: [{"ref": k - 1}] * 2 if kind != "frozenset" else [], "id": k})
        if kind == "frozenset":
            levels[-1] = {"frozenset": [{"tuple": [{"ref": k - 1}] * 2}], "id": k}
    path = file_of(tmp_path / "m", manifest_of({"list": levels}))
    refused_quickly(path, "values", memory=500_000_000)


def test_parts_that_contain_themselves_are_refused(tmp_path):
    tree = {"list": [{"ref": 0}], "id": 0}
    refused_quickly(file_of(tmp_path / "m", manifest_of(tree)), "is not defined before")


def header(dtype: str, shape: str) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("<f8", "(0, 1000000000000)"),
        ("<f8", "(1000000000000, 0)"),
        ("<U0", "(1000000000000,)"),
        ("<f8", "(1000000000000,)"),
        ("<f8", "(4294967296, 4294967296)"),
        ("<f8", "(-1, -1)"),
    ],
)
def test_arrays_that_claim_much_are_refused(dtype, shape, tmp_path):
    path = file_of(tmp_path / "m", manifest_of({"array": 0}), header(dtype, shape))
    refused_quickly(path, "array")


def test_honest_empty_arrays_come_back(tmp_path):
    gramlet.save([np.zeros((3, 0)), np.zeros((0, 7))], tmp_path / "m")
    assert [a.shape for a in gramlet.load(tmp_path / "m")] == [(3, 0), (0, 7)]


def test_links_are_refused(tmp_path):
    def link(member: zipfile.ZipInfo) -> None:
        member.external_attr = (stat.S_IFLNK | 0o777) << 16

    path = file_of(tmp_path / "m", manifest_of([]), change=link)
    refused_quickly(path, "link")


def test_encrypted_members_are_refused(tmp_path):
    content = bytearray(file_of(tmp_path / "m", manifest_of([])).read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + at] |= 1
    (tmp_path / "m").write_bytes(sealed(bytes(content)))
    refused_quickly(tmp_path / "m", "encrypted")


def test_members_packed_too_tightly_are_refused(tmp_path):
    def pack(member: zipfile.ZipInfo) -> None:
        member.compress_type = zipfile.ZIP_DEFLATED

    zeros = header("<f8", "(1000000,)") + bytes(8_000_000)
    path = file_of(tmp_path / "m", manifest_of({"array": 0}), zeros, change=pack)
    refused_quickly(path, "declares")
    text = manifest_of(" " * 5_000_000)
    path = file_of(tmp_path / "n", text, change=pack)
    refused_quickly(path, "declares")


def seed_of(**changes: Any) -> Any:
    seed = {"entropy": 7, "spawn_key": {"tuple": []}, "pool_size": 4, "n_children_spawned": 0}
    seed.update(changes)
    state = {
        "bit_generator": "PCG64",
        "state": {"dict": [["state", 1], ["inc", 1]]},
        "has_uint32": 0,
        "uinteger": 0,
    }
    pairs = [{"dict": [[k, v] for k, v in part.items()]} for part in (state, seed)]
    return {"generator": {"tuple": pairs}}


@pytest.mark.filterwarnings("ignore:.*was saved with")
def test_an_honest_seed_loads(tmp_path):
    loaded = gramlet.load(file_of(tmp_path / "m", manifest_of(seed_of())))
    assert 0 <= loaded.random() < 1


@pytest.mark.parametrize(
    "changes",
    [
        {"pool_size": 2**40},
        {"pool_size": 2**20},
        {"entropy": {"int": hex(1 << 4_000)}, "pool_size": 2**31},
        {"entropy": {"int": "0x" + "f" * 100_000}},
        {"entropy": {"list": [1] * 10_000}},
        {"spawn_key": {"tuple": [1] * 10_000}},
        {"spawn_key": {"tuple": [-1]}},
        {"n_children_spawned": -1},
        {"more": 1},
    ],
    ids=str,
)
def test_seeds_that_take_long_to_mix_are_refused(changes, tmp_path):
    refused_quickly(
        file_of(tmp_path / "m", manifest_of(seed_of(**changes))), "seed|pool|integer|n_"
    )


@pytest.mark.parametrize("value", [2**4200, -(2**4200)])
def test_integers_too_long_are_refused_when_saving(value, tmp_path):
    with pytest.raises(TypeError, match="4096 bits"):
        gramlet.save([value], tmp_path / "m")
    assert limits.LARGEST_INTEGER == 2**4096
