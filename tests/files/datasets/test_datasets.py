"""Data sets by name: where they are looked for, and downloads that fail in every possible way.

Tests do not use the network: a server on 127.0.0.1 replaces the collection.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import gramlet
from gramlet import GraphBatch, list_datasets, load_dataset, read_tu, write_tu
from gramlet.common.places import cache_folder
from gramlet.files.dataset import DatasetNotFoundError
from gramlet.files.datasets import catalogue, datasets, download
from gramlet.files.datasets.download import DownloadError, digest_of, fetch

MUTAG = Path(gramlet.__file__).parent / "files" / "data" / "MUTAG.zip"
QUICK = {"timeout": 0.3, "retries": 1, "pause": 0.01}


class Collection(ThreadingHTTPServer):
    """A server that answers requests for some names as specified, and counts them."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.behaviour: dict[str, str] = {}
        self.requests: dict[str, int] = {}
        self.closing = threading.Event()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}.zip"


class _Handler(BaseHTTPRequestHandler):
    server: Collection

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        name = self.path.strip("/").removesuffix(".zip")
        behaviour = self.server.behaviour.get(name, "serve")
        seen = self.server.requests[name] = self.server.requests.get(name, 0) + 1
        body = self.server.files.get(name)
        if body is None:
            self.send_error(404)
        elif behaviour == "busy" or (behaviour == "busy once" and seen == 1):
            self.send_error(503)
        elif behaviour == "silent":
            self.server.closing.wait(20)
        else:
            self.answer(body, behaviour)

    def answer(self, body: bytes, behaviour: str) -> None:
        self.send_response(200)
        if behaviour != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if behaviour == "cut off":
            self.wfile.write(body[: len(body) // 2])
        elif behaviour == "trickle":
            for byte in body:
                if self.server.closing.wait(0.05):
                    return
                self.wfile.write(bytes([byte]))
        else:
            self.wfile.write(body)


@pytest.fixture
def collection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Collection]:
    """A collection to download from, an empty cache, and no local folders."""
    server = Collection()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    monkeypatch.setenv("GRAMLET_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("GRAMLET_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GRAMLET_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def tiny(tmp_path: Path) -> bytes:
    """The archive of a data set of two graphs."""
    graphs = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]], node_labels=[[0, 1], [2, 2, 3]])
    write_tu(graphs, tmp_path / "make" / "TINY.zip", target=[1, 2])
    return (tmp_path / "make" / "TINY.zip").read_bytes()


def cached(tmp_path: Path) -> list[str]:
    return sorted(p.name for p in (tmp_path / "cache" / "datasets").glob("*"))


# MUTAG


def test_mutag_needs_neither_network_nor_folders(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "create_connection", None)
    data = load_dataset("MUTAG")
    assert len(data.graphs) == 188
    assert np.bincount(data.target == 1).tolist() == [63, 125]
    assert data.target_names == {-1: "not mutagenic", 1: "mutagenic"}
    assert "".join(data.node_label_names[i] + " " for i in range(7)) == "C N O F I Cl Br "
    assert data.edge_label_names == {0: "aromatic", 1: "single", 2: "double", 3: "triple"}
    assert set(data.graphs.node_labels) == set(range(7))
    assert "mutagenic effect" in data.description
    assert not collection.requests


def test_mutag_is_the_public_one(shared_data: Path) -> None:
    assert load_dataset("MUTAG").graphs == read_tu(shared_data / "MUTAG.zip").graphs
    grakel = importlib.util.find_spec("grakel")
    folder = Path(grakel.origin).parent / "tests" / "data" / "MUTAG" if grakel else Path("none")
    if not folder.is_dir():
        pytest.skip("needs GraKeL with its test data")
    theirs = read_tu(folder)
    assert load_dataset("MUTAG").graphs == theirs.graphs
    assert np.array_equal(load_dataset("MUTAG").target, theirs.target)


# Local folders


def test_data_home_with_archives_and_folders(collection: Collection, tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]])
    write_tu(graphs, tmp_path / "home" / "PACKED.zip", target=[1])
    write_tu(graphs, tmp_path / "home" / "OPEN", target=[2])
    assert load_dataset("PACKED", data_home=tmp_path / "home").target.tolist() == [1]
    assert load_dataset("OPEN", data_home=str(tmp_path / "home")).target.tolist() == [2]
    assert not collection.requests


def test_order_of_places(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: bytes
) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]])
    collection.files["SET"] = tiny
    for number, folder in enumerate(("given", "first", "second")):
        write_tu(graphs, tmp_path / folder / "SET.zip", target=[number])
    monkeypatch.setenv("GRAMLET_DATA", f"{tmp_path / 'first'}{os.pathsep}{tmp_path / 'second'}")
    assert load_dataset("SET", data_home=tmp_path / "given").target.tolist() == [0]
    assert load_dataset("SET").target.tolist() == [1]
    (tmp_path / "first" / "SET.zip").unlink()
    assert load_dataset("SET").target.tolist() == [2]
    (tmp_path / "second" / "SET.zip").unlink()
    assert load_dataset("SET").target.tolist() == [1, 2]
    assert collection.requests == {"SET": 1}
    # A local MUTAG has precedence over that of the package.
    write_tu(graphs, tmp_path / "given" / "MUTAG.zip", target=[7])
    assert load_dataset("MUTAG", data_home=tmp_path / "given").target.tolist() == [7]


def test_shared_data_from_the_root_of_the_repository(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    data = load_dataset("NCI1", data_home="../shared/data")
    assert len(data.graphs) == 4110
    assert data.name == "NCI1"


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"data_home='.*' is not a folder"):
        load_dataset("NCI1", data_home=tmp_path / "missing")
    for name in ("../secret", "a/b", "", ".hidden", 3, "C:\\x"):
        with pytest.raises(ValueError, match=r"is not the name of a data set.*gramlet.read"):
            load_dataset(name)  # type: ignore[arg-type]


# Downloads


def test_download_is_kept_and_used_again(
    collection: Collection, tmp_path: Path, tiny: bytes
) -> None:
    collection.files["TINY"] = tiny
    first = load_dataset("TINY")
    assert cached(tmp_path) == ["TINY.zip"]
    assert load_dataset("TINY").graphs == first.graphs
    assert collection.requests == {"TINY": 1}
    assert (tmp_path / "cache" / "datasets" / "TINY.zip").read_bytes() == tiny


def test_an_answer_of_unknown_length_is_fine(
    collection: Collection, tmp_path: Path, tiny: bytes
) -> None:
    collection.files["TINY"] = tiny
    collection.behaviour["TINY"] = "no length"
    assert len(load_dataset("TINY").graphs) == 2


def test_download_can_be_forbidden(collection: Collection, tiny: bytes) -> None:
    collection.files["TINY"] = tiny
    with pytest.raises(DatasetNotFoundError, match=r"downloading was not allowed.*GRAMLET_DATA"):
        load_dataset("TINY", download=False)
    assert not collection.requests


def test_known_data_must_be_what_it_is_known_to_be(
    collection: Collection, tmp_path: Path, tiny: bytes
) -> None:
    collection.files["PTC_MR"] = tiny
    with pytest.raises(DatasetNotFoundError, match=r"PTC_MR.*not the known data set.*SHA-256"):
        load_dataset("PTC_MR")
    assert cached(tmp_path) == []
    assert collection.requests == {"PTC_MR": 1}


def test_known_digests(shared_data: Path, collection: Collection, tmp_path: Path) -> None:
    # The local COLLAB and REDDIT-BINARY have their lines in another order.
    archives = [a for a in sorted(shared_data.glob("*.zip")) if catalogue.content_digest(a.stem)]
    assert len(archives) == 7
    for archive in archives:
        assert digest_of(archive) == catalogue.content_digest(archive.stem)
    # The same files in a new archive are the same data.
    with (
        zipfile.ZipFile(shared_data / "PTC_MR.zip") as old,
        zipfile.ZipFile(tmp_path / "PTC_MR.zip", "w") as new,
    ):
        for member in reversed(old.namelist()):
            if "README" not in member:
                new.writestr(member, old.read(member))
    collection.files["PTC_MR"] = (tmp_path / "PTC_MR.zip").read_bytes()
    assert load_dataset("PTC_MR").graphs == read_tu(shared_data / "PTC_MR.zip").graphs


def test_a_name_the_collection_does_not_have(collection: Collection, tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset("ENZYME")
    message = str(caught.value)
    assert "answers 404" in message
    assert "Did you mean ENZYMES?" in message
    assert "data_home" in message
    assert "ENZYME.zip" in message
    assert collection.requests == {"ENZYME": 1}  # a second request would not help
    assert cached(tmp_path) == []


def test_offline_says_where_to_put_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("GRAMLET_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("GRAMLET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with pytest.raises(DatasetNotFoundError, match=r"cannot be reached.*Put PROTEINS.zip"):
        load_dataset("PROTEINS")


@pytest.mark.parametrize(
    ("behaviour", "message", "n_requests"),
    [
        ("silent", "did not answer within 0.3 seconds", 2),
        ("cut off", r"was cut off after [\d,]+ of [\d,]+ bytes", 2),
        ("busy", "answers 503", 2),
        ("trickle", r"is too slow: \d+ bytes arrived", 2),
    ],
)
def test_failures_that_may_pass_are_tried_again_then_told(
    collection: Collection,
    tmp_path: Path,
    tiny: bytes,
    behaviour: str,
    message: str,
    n_requests: int,
) -> None:
    collection.files["TINY"] = tiny
    collection.behaviour["TINY"] = behaviour
    place = tmp_path / "cache" / "TINY.zip"
    begun = time.monotonic()
    with pytest.raises(DownloadError, match=message):
        fetch(collection.url("TINY"), place, deadline=0.5, **QUICK)
    assert time.monotonic() - begun < 5
    assert collection.requests == {"TINY": n_requests}
    assert list(place.parent.iterdir()) == []


def test_a_second_try_may_succeed(collection: Collection, tmp_path: Path, tiny: bytes) -> None:
    collection.files["TINY"] = tiny
    collection.behaviour["TINY"] = "busy once"
    place = tmp_path / "TINY.zip"
    assert fetch(collection.url("TINY"), place, **QUICK) == place
    assert place.read_bytes() == tiny
    assert collection.requests == {"TINY": 2}


@pytest.mark.parametrize("behaviour", ["serve", "no length"])
def test_too_large(collection: Collection, tmp_path: Path, tiny: bytes, behaviour: str) -> None:
    collection.files["TINY"] = tiny
    collection.behaviour["TINY"] = behaviour
    with pytest.raises(DownloadError, match=r"larger than expected.*the limit is 100"):
        fetch(collection.url("TINY"), tmp_path / "new" / "TINY.zip", max_bytes=100, **QUICK)
    assert list((tmp_path / "new").iterdir()) == []
    assert collection.requests == {"TINY": 1}


def test_what_is_no_archive_is_not_kept(collection: Collection, tmp_path: Path) -> None:
    collection.files["PAGE"] = b"<html>Please log in to this network</html>"
    with pytest.raises(DatasetNotFoundError, match=r"PAGE.zip is not a TU archive"):
        load_dataset("PAGE")
    assert cached(tmp_path) == []


def test_only_web_addresses(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="neither an http nor an https"):
        fetch(f"file://{MUTAG}", tmp_path / "MUTAG.zip")


def test_a_cache_that_cannot_be_written(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: bytes
) -> None:
    collection.files["TINY"] = tiny
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GRAMLET_CACHE", str(tmp_path / "file"))
    with pytest.raises(DatasetNotFoundError, match=r"the cache folder .* cannot be written"):
        load_dataset("TINY")


def test_processes_at_once(collection: Collection, tmp_path: Path, tiny: bytes) -> None:
    collection.files["TINY"] = tiny
    code = "import gramlet; print(gramlet.load_dataset('TINY').target.tolist())"
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in running] == ["[1, 2]"] * 3
    assert cached(tmp_path) == ["TINY.zip"]
    assert hashlib.sha256((tmp_path / "cache/datasets/TINY.zip").read_bytes()).hexdigest() == (
        hashlib.sha256(tiny).hexdigest()
    )


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAMLET_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("GRAMLET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "gramlet"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    for platform, expected in (
        ("linux", ".cache/gramlet"),
        ("darwin", "Library/Caches/gramlet"),
        ("win32", "AppData/Local/gramlet"),
    ):
        monkeypatch.setattr(download.sys, "platform", platform)
        monkeypatch.delenv("LOCALAPPDATA", raising=False)
        assert cache_folder() == tmp_path / expected


# The catalogue


def test_catalogue_rows() -> None:
    rows = {row.name: row for row in list_datasets()}
    assert len(rows) == len(list_datasets()) > 40
    assert [name for name, row in rows.items() if row.embedded] == ["B3DB", "B3DB-logBB", "MUTAG"]
    for name in rows:
        assert datasets.re.fullmatch(r"[A-Za-z0-9][\w.-]*", name)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.*self-loops were dropped")
def test_catalogue_agrees_with_the_data(shared_data: Path) -> None:
    for archive in sorted(shared_data.glob("*.zip")):
        row = catalogue.facts_of(archive.stem)
        assert row is not None
        data = read_tu(archive)
        attributes = data.graphs.node_attributes
        assert row.n_graphs == len(data.graphs)
        assert row.n_classes == len(np.unique(data.target))
        assert row.mean_nodes == pytest.approx(data.graphs.sizes.mean(), abs=0.0051)
        # The published number for COLLAB counts its self-loops.
        n_loops = 2837 if archive.stem == "COLLAB" else 0
        n_edges = data.graphs.n_edges.sum() + n_loops
        assert row.mean_edges == pytest.approx(n_edges / row.n_graphs, abs=0.0051)
        assert row.node_labels == (data.graphs.node_labels is not None)
        assert row.edge_labels == (data.graphs.edge_labels is not None)
        assert row.node_attributes == (0 if attributes is None else attributes.shape[1])


def test_graphs_and_target_alone() -> None:
    X, y = load_dataset("mutag", return_X_y=True, download=False)
    whole = load_dataset("MUTAG")
    assert whole.graphs == X
    assert y.tolist() == whole.target.tolist()
    assert [part is not None for part in load_dataset("b3db", return_X_y=True)] == [True, True]


def test_names_of_files_are_not_looked_up(collection: Collection) -> None:
    for name in ("molecules.csv", "MUTAG.zip", "graphs.json.gz"):
        with pytest.raises(ValueError, match=r"not the name of a data set.*gramlet.read\(path\)"):
            load_dataset(name)
    assert collection.requests == {}


def test_loading_imports_nothing_heavy() -> None:
    code = (
        "import sys, gramlet; gramlet.load_dataset('MUTAG'); gramlet.list_datasets();"
        "print([m for m in ('sklearn', 'numba', 'scipy', 'pandas', 'rich') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
