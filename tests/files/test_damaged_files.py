"""Reading a damaged file gives a Dataset or an error of one line that names the file."""

from __future__ import annotations

import gzip
import json
import random
import warnings
from pathlib import Path

import pytest

import gramlet
from gramlet import Dataset

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

Chem = pytest.importorskip("rdkit.Chem")

PIECES = [
    b"\x00",
    b"\xff",
    b",",
    b";",
    b"\n",
    b"\r",
    b'"',
    b"-1",
    b"1e999",
    b"nan",
    b"9" * 30,
    b"<",
    b">",
    b"&",
    b"[",
    b"{",
    b"]",
    b"}",
    b"null",
    b"true",
    b"~",
    b":",
    b"$$$$\n",
    b"\t",
    b"  ",
    b"1",
]


def whole_files(folder: Path) -> dict[str, bytes]:
    """A valid file of each format."""
    graph = nx.petersen_graph()
    nx.set_node_attributes(graph, "a", "label")
    graph.graph["target"] = 2
    files = {}
    for kind in ("graphml", "gexf", "gml"):
        getattr(nx, f"write_{kind}")(graph, folder / f"whole.{kind}")
        files[kind] = (folder / f"whole.{kind}").read_bytes()
    line = json.dumps(nx.node_link_data(graph, edges="edges")).encode()
    files |= {"json": line, "jsonl": b"\n".join([line] * 3)}
    files["g6"] = nx.to_graph6_bytes(graph) * 2
    files["s6"] = nx.to_sparse6_bytes(graph) * 2
    files["csv"] = b'id,smiles,y\n"a,b",CCO,1.5\nc,c1ccccc1,2\nd,CC(=O)O,3\n'
    files["tsv"] = files["csv"].replace(b",", b"\t")
    files["smi"] = b"CCO a b\nCC c\nc1ccccc1\n"
    blocks = [Chem.MolToMolBlock(Chem.MolFromSmiles(s)) for s in ("CCO", "c1ccccc1O")]
    files["sdf"] = "".join(f"{block}>  <y>\n1\n\n$$$$\n" for block in blocks).encode()
    files["csv.gz"] = gzip.compress(files["csv"])
    data = Dataset(gramlet.as_batch([graph, graph]), [1, 2], description="Node labels:\n 0 C\n")
    gramlet.write_tu(data, folder / "T.zip")
    return {**files, "zip": (folder / "T.zip").read_bytes()}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content with one to four random changes."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        begin = rng.randrange(len(changed) + 1)
        end = begin + rng.randint(1, 20)
        how = rng.random()
        if how < 0.3:
            del changed[begin:end]
        elif how < 0.6:
            changed[begin:begin] = rng.choice(PIECES)
        elif how < 0.75:
            changed[begin:end] = changed[begin:end] * rng.randint(2, 5)
        elif how < 0.85:
            del changed[begin:]
        elif begin < len(changed):
            changed[begin] = rng.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_random_damage_is_read_or_named(tmp_path: Path, on_error: str) -> None:
    rng = random.Random(0)
    files = whole_files(tmp_path)
    n_read = 0
    for kind, content in files.items():
        for _ in range(25):
            path = tmp_path / f"x.{kind}"
            path.write_bytes(damaged(content, rng))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    data = gramlet.read(path, on_error=on_error)
            except ValueError as error:
                said = str(error)
                assert path.name in said, said
                assert len(said) < 1000, said
                continue
            n_read += 1
            assert data.target is None or len(data.target) == len(data.graphs)
            assert data.ids is None or len(data.ids) == len(data.graphs)
    assert n_read > 20


def test_xml_in_an_unknown_encoding(tmp_path: Path) -> None:
    for kind in ("graphml", "gexf"):
        path = tmp_path / f"x.{kind}"
        path.write_bytes(b"<?xml version='1.0' encoding='utf-81'?><graphml/>")
        with pytest.raises(ValueError, match="unknown encoding"):
            gramlet.read(path)
