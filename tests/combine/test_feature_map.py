"""FeatureMap: features once, as arrays and as data frames."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import gramlet
from gramlet import EMDKernel, FeatureMap, GeometricAssignment, ShortestPath, WeisfeilerLehman
from reference.examples import molecules, random_graphs


def test_features_of_the_fitted_graphs_are_counted_once(monkeypatch):
    from gramlet.kernels.weisfeiler_lehman.colour_counts import Colouring

    calls = []
    plain = Colouring.fit

    def counted(self, batch):
        calls.append(len(batch))
        return plain(self, batch)

    monkeypatch.setattr(Colouring, "fit", counted)
    monkeypatch.setattr(Colouring, "apply", lambda self, batch: pytest.fail("refined twice"))
    batch = random_graphs(0)
    features = FeatureMap(WeisfeilerLehman(n_iter=2)).fit_transform(batch)
    assert calls == [len(batch)]
    gram = gramlet.gram(batch, "wl", n_iter=2)
    np.testing.assert_allclose((features @ features.T).toarray(), gram)


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(1), ShortestPath(), GeometricAssignment()])
def test_pandas_output_has_names_and_the_index(kernel):
    pd = pytest.importorskip("pandas", reason="needs pandas")
    pytest.importorskip("networkx", reason="needs networkx")
    graphs = molecules()
    transformer = FeatureMap(kernel).set_output(transform="pandas")
    frame = transformer.fit_transform(graphs)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(transformer.get_feature_names_out())
    plain = FeatureMap(kernel).fit_transform(graphs)
    plain = plain.toarray() if hasattr(plain, "toarray") else plain
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    np.testing.assert_array_equal(transformer.transform(graphs).to_numpy(), plain)


def test_kernels_without_features_are_refused():
    with pytest.raises(TypeError, match="EMDKernel has no explicit feature map"):
        FeatureMap(EMDKernel()).fit(molecules())
    with pytest.raises(TypeError, match="neither a kernel nor an embedding"):
        FeatureMap(LogisticRegression()).fit(molecules())


def test_a_linear_model_on_features():
    mutag = gramlet.load_dataset("MUTAG")
    model = make_pipeline(FeatureMap(WeisfeilerLehman(2)), LogisticRegression(max_iter=2000))
    assert model.fit(mutag.graphs, mutag.target).score(mutag.graphs, mutag.target) > 0.85
