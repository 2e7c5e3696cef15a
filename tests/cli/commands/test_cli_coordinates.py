"""``gramlet embed`` and ``gramlet map``."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gramlet import GraphHopper, WeisfeilerLehman, load_dataset
from gramlet.cli import main


def test_embed(tmp_path, capsys):
    dense, packed, text = (tmp_path / f"z{ending}" for ending in (".npy", ".npz", ".csv"))
    for place in (dense, packed, text):
        assert main(["embed", "MUTAG", "-k", "wl", "-p", "n_iter=1", "-o", str(place)]) == 0
    expected = WeisfeilerLehman(n_iter=1).fit(load_dataset("MUTAG").graphs)
    features = expected.features(load_dataset("MUTAG").graphs)
    assert np.array_equal(np.load(dense), features.toarray())
    assert (sparse.load_npz(packed) != features).nnz == 0
    assert np.load(packed)["names"].tolist() == expected.get_feature_names_out().tolist()
    assert np.array_equal(np.loadtxt(text, delimiter=","), features.toarray())
    assert f"188 × {features.shape[1]} features" in capsys.readouterr().out


def test_features_of_a_kernel_that_compares_labels_because_there_is_nothing_else(tmp_path):
    place = tmp_path / "f.npz"
    assert main(["embed", "MUTAG", "-k", "graph-hopper", "-o", str(place)]) == 0
    graphs = load_dataset("MUTAG").graphs
    expected = GraphHopper("label").fit(graphs).features(graphs)
    assert (sparse.load_npz(place) != expected).nnz == 0


def test_map(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    place = tmp_path / "map.png"
    assert main(["map", "MUTAG", "-k", "wl-oa", "-o", str(place), "--examples", "2"]) == 0
    assert place.read_bytes()[:4] == b"\x89PNG"
    assert "188 graphs" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["embed", "MUTAG", "-k", "wl-oa", "-o", "{}/z.npy"], 2, "no explicit features"),
        (
            ["embed", "MUTAG", "-k", "subgraph-matching(edge_kernel=one)", "-o", "{}/z.npy"],
            2,
            "no explicit features",
        ),
        (["embed", "MUTAG", "-k", "wl", "-o", "{}/z.txt"], 2, "must end in"),
        (["embed", "MUTAG", "-k", "nothing", "-o", "{}/z.npy"], 2, "No kernel is called"),
        (["map", "MUTAG", "-o", "{}/no/map.png"], 2, "there is no folder"),
        (["map", "no-such-file.zip", "-o", "{}/map.png"], 2, "no-such-file"),
    ],
)
def test_wrong_use(arguments, code, message, tmp_path, capsys):
    assert main([a.format(tmp_path) for a in arguments]) == code
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert list(tmp_path.iterdir()) == []
