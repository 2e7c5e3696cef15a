"""Kernels beside fingerprints and descriptors on measured molecules, same splits for all.

    python -m benchmarks fingerprints [--data FOLDER] [--seeds 5] [--only NAME ...]

Every method is fitted on the training part of each split and tested once on the test part (80/20,
random or by Murcko scaffold, largest scaffolds in training); what it chooses, it chooses inside the
training part. Finished cells are kept in ``benchmarks/papers/results/fingerprints.json``; the page
"Against fingerprints and networks" is made from them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "papers" / "results" / "fingerprints.json"


@dataclass(frozen=True)
class Table:
    """A table of molecules: its file, target and kind."""

    file: str
    target: str
    classes: bool


TABLES = {
    "ESOL": Table("ESOL.csv", "measured log solubility in mols per litre", False),
    "Lipophilicity": Table("Lipophilicity.csv", "exp", False),
    "BBBP": Table("BBBP.csv", "target", True),
    "ClinTox": Table("ClinTox.csv", "target", True),
}


def splits(groups: np.ndarray | None, y: np.ndarray, classes: bool, seed: int) -> Any:
    """Training and test positions: random (stratified), or scaffolds in random order."""
    from sklearn.model_selection import train_test_split

    everything = np.arange(len(y))
    if groups is None:
        stratify = y if classes else None
        return train_test_split(everything, test_size=0.2, random_state=seed, stratify=stratify)
    rng = np.random.default_rng(seed)
    test: list[int] = []
    for group in rng.permutation(np.unique(groups)):
        members = np.flatnonzero(groups == group)
        if len(test) + len(members) <= 0.2 * len(y):
            test.extend(members.tolist())
    train = np.setdiff1d(everything, test)
    if classes and len(np.unique(y[test])) < 2:
        raise ValueError("a test part has one class")
    return train, np.array(sorted(test))


def fingerprints(smiles: list[str], counts: bool) -> Any:
    """ECFP4 of 2,048 bits, or unfolded counts as sparse rows."""
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator
    from scipy import sparse

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    if not counts:
        return np.array([generator.GetFingerprintAsNumPy(m) for m in molecules])
    columns: dict[int, int] = {}
    rows, cols, values = [], [], []
    for row, molecule in enumerate(molecules):
        for key, count in (
            generator.GetSparseCountFingerprint(molecule).GetNonzeroElements().items()
        ):
            rows.append(row)
            cols.append(columns.setdefault(key, len(columns)))
            values.append(float(count))
    return sparse.csr_matrix((values, (rows, cols)), shape=(len(smiles), len(columns)))


def min_max(rows: Any, columns: Any) -> np.ndarray:
    """Σ min / Σ max of counts."""
    from gramlet.engine.counts.comparison import compare

    least = compare(rows, columns, "min")
    total = np.asarray(rows.sum(axis=1)) + np.asarray(columns.sum(axis=1)).T
    return least / np.maximum(total - least, 1.0)


def forest(classes: bool, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if classes else RandomForestRegressor
    return kind(500, random_state=seed)


def by_forest(data: Any, train: Any, test: Any, classes: bool, seed: int) -> np.ndarray:
    rows = fingerprints(data.smiles, counts=False)
    return predicted(forest(classes, seed).fit(rows[train], data.y[train]), rows[test], classes)


def by_boosting(data: Any, train: Any, test: Any, classes: bool, seed: int) -> np.ndarray:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    from gramlet import MolecularDescriptors

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # descriptors that are not finite
        rows = MolecularDescriptors().fit_transform(data.graphs)
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(random_state=seed).fit(rows[train], data.y[train])
    return predicted(model, rows[test], classes)


def by_min_max(data: Any, train: Any, test: Any, classes: bool, seed: int) -> np.ndarray:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    rows = fingerprints(data.smiles, counts=True)
    gram, cross = min_max(rows[train], rows[train]), min_max(rows[test], rows[train])
    if classes:
        scoring = "roc_auc"
        grid = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
        model = GridSearchCV(SVC(kernel="precomputed"), grid, scoring=scoring, cv=5)
        return model.fit(gram, data.y[train]).decision_function(cross)
    from gramlet.engine.machines.gaussian_regression import GaussianRegression

    process = GaussianRegression.fit(gram, data.y[train])
    return process.predict(cross, np.ones(len(cross)))[0]


def by_kernel(kernel: Any) -> Callable[..., np.ndarray]:
    def method(data: Any, train: Any, test: Any, classes: bool, seed: int) -> np.ndarray:
        from gramlet import GraphClassifier, GraphRegressor

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if classes:
                model = GraphClassifier(kernel, scoring="roc_auc", random_state=seed)
                model.fit(data.graphs[train], data.y[train])
                return model.decision_function(data.graphs[test])
            model = GraphRegressor(kernel, random_state=seed)
            return model.fit(data.graphs[train], data.y[train]).predict(data.graphs[test])

    return method


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "ECFP4 + random forest": by_forest,
    "ECFP4 counts, min-max kernel": by_min_max,
    "descriptors + gradient boosting": by_boosting,
    "wl-oa": by_kernel("wl-oa"),
    "wl-oa + rbf(descriptors)": by_kernel("wl-oa + rbf(descriptors)"),
    "auto": by_kernel("auto"),
}


def predicted(model: Any, rows: Any, classes: bool) -> np.ndarray:
    return model.predict_proba(rows)[:, 1] if classes else model.predict(rows)


def score(truth: np.ndarray, values: np.ndarray, classes: bool) -> float:
    """ROC AUC of classes, RMSE of numbers."""
    from sklearn.metrics import roc_auc_score

    if classes:
        return float(roc_auc_score(truth, values))
    return float(np.sqrt(np.mean((truth - values) ** 2)))


@dataclass(frozen=True)
class Molecules:
    graphs: Any
    smiles: list[str]
    y: np.ndarray
    scaffolds: np.ndarray


def load(table: Table, folder: Path) -> Molecules:
    import gramlet

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = gramlet.read(
            folder / table.file, target=table.target, molecules="smiles", on_error="skip"
        )
    smiles = list(data.graphs.molecules)
    scaffolds = np.unique(gramlet.scaffolds(smiles), return_inverse=True)[1]
    y = np.asarray(data.target, dtype=int if table.classes else float)
    return Molecules(data.graphs, smiles, y, scaffolds)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks fingerprints", description=__doc__)
    default = Path(__file__).resolve().parents[2] / "shared" / "data" / "molecules"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--ways", nargs="*", default=["random", "scaffold"])
    given = parser.parse_args(arguments)
    cells: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in given.only:
        table = TABLES[name]
        data = load(table, given.data)
        for way in given.ways:
            for method in given.methods:
                key = f"{name} | {way} | {method}"
                cell = cells.setdefault(key, {"scores": {}, "seconds": {}})
                for seed in range(given.seeds):
                    if str(seed) in cell["scores"]:
                        continue
                    groups = data.scaffolds if way == "scaffold" else None
                    train, test = splits(groups, data.y, table.classes, seed)
                    started = time.process_time()
                    values = METHODS[method](data, train, test, table.classes, seed)
                    cell["seconds"][str(seed)] = round(time.process_time() - started, 2)
                    cell["scores"][str(seed)] = score(data.y[test], values, table.classes)
                    RESULTS.write_text(json.dumps(cells, indent=1))
                scores = np.array(list(cell["scores"].values()))
                error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
                seconds = np.mean(list(cell["seconds"].values()))
                print(f"{key:<60} {scores.mean():.3f} ± {error:.3f}  {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
