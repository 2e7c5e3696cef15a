"""Structural mutants of saved models, and a program that loads them in a limited process.

Run as ``python mutants.py FOLDER SEED FIRST COUNT [MODEL ...]``: it fits small models, saves them,
and loads COUNT files per model in which one thing was changed. Every mutant must be refused with
`ModelFileError`, or load and give finite numbers. Anything else is printed; a line is printed
before each mutant, so that the parent process knows which one ended the process.
"""

from __future__ import annotations

import copy
import io
import json
import re
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR
from sklearn.tree import DecisionTreeClassifier

import gramlet
from gramlet import GraphBatch
from gramlet.kernels import registry
from gramlet.persistence import ModelFileError, container
from reference.strategies import with_molecules

N_NODES = 5
# In addition to the memory in use after warming up; every model here takes some kilobytes.
MOST_MEMORY = 1 << 30


def graphs(n: int, seed: int, directed: bool = False) -> GraphBatch:
    """Small rings and paths with all columns."""
    rng = np.random.default_rng(seed)
    path = [(i, i + 1) for i in range(N_NODES - 1)]
    edges = [path + [(0, N_NODES - 1)] * int(rng.integers(2)) for _ in range(n)]
    return GraphBatch.from_edges(
        edges,
        node_labels=[rng.choice(["C", "N", "O"], N_NODES).tolist() for _ in edges],
        edge_labels=[rng.choice([1, 2], len(e)).tolist() for e in edges],
        edge_weights=[rng.uniform(0.5, 2, len(e)) for e in edges],
        node_attributes=[rng.normal(size=(N_NODES, 2)) for _ in edges],
        directed=directed,
    )


FITTED, NEW = with_molecules(graphs(9, 0)), with_molecules(graphs(4, 1))
FITTED_ARCS, NEW_ARCS = graphs(9, 0, directed=True), graphs(4, 1, directed=True)
CLASSES = np.arange(len(FITTED)) % 3
TARGETS = np.linspace(0.0, 1.0, len(FITTED))
_SMALL: dict[str, dict[str, Any]] = {
    "gsa-match": {"n_samples": 20, "k": 4},
    "gsa-gaussian": {"n_samples": 20, "k": 4, "feature_map__n_components": 6},
    "gsa-eigen": {"n_samples": 20, "k": 4, "feature_map__n_components": 6},
    "gsa-optical": {"n_samples": 20, "k": 4, "feature_map__n_components": 6},
    "netlsd": {"times": [0.1, 1.0]},
    "fgsd": {"n_bins": 10},
    "spectral": {"n_components": 4},
    "degree-profile": {"n_bins": 3},
    "deep": {"n_components": 4},
    "rge": {"n_components": 6, "max_nodes": 4},
    "mlg": {"rank": 3, "n_landmarks": 6},
    "pyramid-match": {"n_levels": 2, "n_dims": 2},
}
# Kernels with parameters that change the structure of their fitted state.
VARIANTS: dict[str, Callable[[], Any]] = {
    "rw-unlabelled": lambda: gramlet.RandomWalk(use_labels=False),
    "rw-weighted": lambda: gramlet.RandomWalk("exponential", weighted=True, use_labels=False),
    "laplacian": lambda: gramlet.LaplacianKernel(),
    "flg-attributes": lambda: gramlet.FeatureLaplacian(vertex_features="attributes"),
    "flg-heat": lambda: gramlet.FeatureLaplacian(vertex_features="heat"),
    "mlg-exact": lambda: gramlet.MultiscaleLaplacian(n_levels=1, method="exact"),
    "mlg-exact-published": lambda: gramlet.MultiscaleLaplacian(
        n_levels=1, method="exact", discount=True, top="pseudo-inverse"
    ),
    "mlg-published": lambda: gramlet.MultiscaleLaplacian(
        n_levels=2,
        rank=3,
        n_landmarks=6,
        discount=True,
        top="pseudo-inverse",
        growth="add",
        unique_landmarks=True,
        random_state=0,
    ),
    "mlg-attributes": lambda: gramlet.MultiscaleLaplacian(
        n_levels=1, rank=3, n_landmarks=6, vertex_features="attributes", random_state=0
    ),
    "emd-clip": lambda: gramlet.EMDKernel(psd="clip", n_dims=2),
    "graphlet-sampled": lambda: gramlet.GraphletKernel(
        k=3, method="sample", n_samples=20, random_state=0
    ),
    "nspdk-plain": lambda: gramlet.NSPDK(radius=1, normalize_levels=False),
    "matching-gaussian": lambda: gramlet.SubgraphMatching(size=2, node_kernel="gaussian"),
    "sp-weighted": lambda: gramlet.ShortestPath(weighted=True),
    "sp-sampled": lambda: gramlet.ShortestPath(n_sources=3, random_state=0),
    "sp-bins": lambda: gramlet.ShortestPath(weighted=True, bin_width=0.5),
    "graph-hopper-label": lambda: gramlet.GraphHopper("label"),
    "graph-hopper-linear": lambda: gramlet.GraphHopper("linear", weighted=True, use_labels=True),
    "graph-hopper-bridge": lambda: gramlet.GraphHopper("bridge", weighted=True),
    "propagation-attributes": lambda: gramlet.Propagation(use_attributes=True, random_state=0),
    "gsa-labelled": lambda: gramlet.GraphSampling(
        k=3, n_samples=10, feature_map="match", use_labels=True, random_state=0
    ),
    "wl-over-sp": lambda: gramlet.WeisfeilerLehman(1, base=gramlet.ShortestPath(normalize=True)),
    "wl-over-emd": lambda: gramlet.WeisfeilerLehman(1, base=gramlet.EMDKernel(n_dims=2)),
    "core-over-wl": lambda: gramlet.CoreKernel(gramlet.WeisfeilerLehman(1), min_core=1),
    "marginalized-attributes": lambda: gramlet.MarginalizedKernel(
        0.3, "label*gaussian", node_floor=0.1, weighted=True
    ),
    "weighted-box": lambda: gramlet.WeightedWassersteinWL(
        n_iter=1, solver="accelerated", constraint="box", fixed_levels=(0,)
    ),
    "rge-uniform": lambda: gramlet.RandomGraphEmbedding(
        n_components=4,
        n_dims=2,
        max_nodes=3,
        masses="uniform",
        label_draw="uniform",
        random_state=0,
    ),
    "rge-data": lambda: gramlet.RandomGraphEmbedding(
        n_components=4, n_dims=2, max_nodes=3, anchors="data", random_state=0
    ),
    "gsa-walks": lambda: gramlet.GraphSampling(
        k=3,
        n_samples=10,
        sampler=gramlet.RandomWalkSampler(0.2),
        feature_map="match",
        random_state=0,
    ),
    "neighborhood-hash-counted": lambda: gramlet.NeighborhoodHash(
        2, "count", n_bits=16, codes={"C": 1, "N": 2, "O": 3}
    ),
    "deep-over-sp": lambda: gramlet.DeepGraphKernel(gramlet.ShortestPath(), n_components=3),
    "matching-all": lambda: gramlet.SubgraphMatching(
        size=3, weights=[1.0, 0.5, 0.25], connected=False, edge_kernel="one", mu=0.5
    ),
    "sum": lambda: gramlet.KernelSum(
        [gramlet.WeisfeilerLehman(1), gramlet.RandomWalk(), gramlet.PyramidMatch(2, 2)],
        weights=[1, 2, 0.5],
    ),
    "product": lambda: gramlet.KernelProduct(
        [gramlet.VertexHistogram(), gramlet.GraphletKernel(k=3)], normalize=True
    ),
    "aligned": lambda: gramlet.AlignedKernelSum(
        [gramlet.VertexHistogram(), gramlet.ShortestPath()], normalize=True
    ),
    "sum-of-products": lambda: (
        gramlet.VertexHistogram() * gramlet.ShortestPath() + 2 * gramlet.WLOptimalAssignment(1)
    ),
    "distance": lambda: gramlet.KernelDistance("wl-oa"),
    "nystroem": lambda: gramlet.GraphNystroem("sp", n_components=4, random_state=0),
    "nystroem-scores": lambda: gramlet.GraphNystroem(
        gramlet.MarginalizedKernel(0.3), 3, sampling="kmeans++", random_state=0
    ),
    "graph-neighbours": lambda: gramlet.GraphNeighbors("wl-oa", n_neighbors=2),
    "graph-neighbours-deep": lambda: gramlet.GraphNeighbors("flg", n_neighbors=3),
    "embedding-as-kernel": lambda: gramlet.GraphNeighbors("degree-profile", n_neighbors=2),
    "hashed-features": lambda: gramlet.HashedFeatures(n_iter=1, n_bits=6),
    "hashed-paths": lambda: gramlet.HashedFeatures("sp", n_iter=1, n_bits=None),
}
# Models of directed graphs, which have other profiles.
DIRECTED: dict[str, Callable[[], Any]] = {
    "directed-wl": lambda: gramlet.WeisfeilerLehman(1),
    "directed-wl-edge": lambda: gramlet.WeisfeilerLehman(1, base="edge"),
    "directed-sp": lambda: gramlet.ShortestPath(weighted=True),
    "directed-rw": lambda: gramlet.RandomWalk(),
    "directed-rw-unlabelled": lambda: gramlet.RandomWalk("exponential", use_labels=False),
    "directed-marginalized": lambda: gramlet.MarginalizedKernel(0.3),
    "directed-hopper": lambda: gramlet.GraphHopper(),
    "directed-odd": lambda: gramlet.ODDSTh(height=2),
    "directed-wwl": lambda: gramlet.WassersteinWL(1),
    "directed-propagation": lambda: gramlet.Propagation(2, random_state=0),
    "directed-sum": lambda: gramlet.KernelSum([gramlet.EdgeHistogram(), gramlet.ShortestPath()]),
}
CLASSIFIERS = {
    "svc": SVC(kernel="precomputed"),
    "svc-two": SVC(kernel="precomputed"),
    "svc-rbf": make_pipeline(StandardScaler(), SVC()),
    "nu-svc": NuSVC(nu=0.2),
    "linear-svc": LinearSVC(random_state=0),
    "logistic": make_pipeline(MinMaxScaler(), LogisticRegression()),
    "ridge-classifier": RidgeClassifier(),
    "sgd": SGDClassifier(random_state=0, loss="log_loss"),
    "one-vs-rest": OneVsRestClassifier(LinearSVC(random_state=0)),
    "calibrated": CalibratedClassifierCV(LinearSVC(random_state=0), cv=2),
    "neighbours": KNeighborsClassifier(2, metric="precomputed"),
    "neighbours-tree": KNeighborsClassifier(2, algorithm="ball_tree"),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(2, random_state=np.random.RandomState(0)),
    "extra-trees": ExtraTreesClassifier(2, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0),
    "histogram-boosting": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2),
    "network": MLPClassifier((3,), max_iter=3, random_state=0),
    "gaussian-process": GaussianProcessClassifier(RBF() + WhiteKernel(), optimizer=None),
    "pca": make_pipeline(PCA(2), SelectKBest(k=1), LogisticRegression()),
    "kernel-pca": make_pipeline(KernelPCA(2, kernel="precomputed"), LogisticRegression()),
    "truncated": make_pipeline(TruncatedSVD(2), LogisticRegression()),
    "dummy": DummyClassifier(),
}
REGRESSORS = {
    "svr": SVR(kernel="precomputed"),
    "nu-svr": NuSVR(),
    "ridge": Ridge(),
    "least-squares": LinearRegression(),
    "kernel-ridge": KernelRidge(kernel="precomputed"),
    "neighbours-regression": KNeighborsRegressor(2),
    "forest-regression": RandomForestRegressor(2, random_state=0),
    "boosting-regression": GradientBoostingRegressor(n_estimators=2, random_state=0),
    "gaussian-process-regression": GaussianProcessRegressor(RBF(), random_state=0),
}


def _kernel(name: str) -> Any:
    made = registry.make(name)
    if name.startswith("gsa-"):
        made.set_params(random_state=0)
    made.set_params(**_SMALL.get(name, {}))
    return made.fit(FITTED, CLASSES)


def _with_kernel(machine: Any, y: Any) -> Any:
    kernel = gramlet.WeisfeilerLehman(n_iter=1, normalize=True)
    return make_pipeline(kernel, machine).fit(FITTED, y)


def _search() -> Any:
    model = make_pipeline(gramlet.WLOptimalAssignment(n_iter=1), SVC(kernel="precomputed"))
    return GridSearchCV(model, {"svc__C": [0.1, 1.0]}, cv=2, scoring="accuracy").fit(
        FITTED, CLASSES
    )


def _on_graphs() -> Any:
    kernel = gramlet.GraphKernelGP(gramlet.WeisfeilerLehman(n_iter=1, normalize=True))
    return GaussianProcessRegressor(kernel, alpha=0.1).fit(FITTED, TARGETS)


def _hashed_linear(y: Any) -> Any:
    data = gramlet.Dataset(FITTED, y)
    with tempfile.TemporaryDirectory() as folder:
        features = gramlet.HashedFeatures(n_iter=1, n_bits=5)
        store = gramlet.FeatureStore.write(f"{folder}/store", data, features)
        return gramlet.HashedLinearModel(n_epochs=2, alpha=1e-3).fit(store)


def models() -> dict[str, Callable[[], Any]]:
    """How to make each model: every kernel and embedding, and pipelines with every machine."""
    made: dict[str, Callable[[], Any]] = {
        entry.name: (lambda name=entry.name: _kernel(name)) for entry in registry.entries()
    }
    for name, variant in VARIANTS.items():
        made[name] = lambda variant=variant: variant().fit(FITTED, CLASSES)
    for name, variant in DIRECTED.items():
        made[name] = lambda variant=variant: variant().fit(FITTED_ARCS, CLASSES)
    for name, machine in CLASSIFIERS.items():
        y = CLASSES % 2 if name == "svc-two" else CLASSES
        made[name] = lambda machine=machine, y=y: _with_kernel(machine, y)
    for name, machine in REGRESSORS.items():
        made[name] = lambda machine=machine: _with_kernel(machine, TARGETS)
    made["search"] = _search
    made["hashed-linear"] = lambda: _hashed_linear(CLASSES)
    made["hashed-regression"] = lambda: _hashed_linear(TARGETS)
    made["graph-gaussian-process"] = _on_graphs
    made["kernel-map"] = lambda: gramlet.KernelMap("wl", n_components=2).fit(FITTED)
    made["feature-map"] = lambda: make_pipeline(
        gramlet.FeatureMap(gramlet.WeisfeilerLehman(n_iter=1)), LogisticRegression()
    ).fit(FITTED, CLASSES)
    made["embedding-forest"] = lambda: make_pipeline(
        gramlet.GraphSampling(k=3, n_samples=10, feature_map="match", random_state=0),
        RandomForestClassifier(2, random_state=0),
    ).fit(FITTED, CLASSES)
    return made


# Mutations

_INTEGERS = [-1, 0, 1, 7, 255, 2**31, 2**62, -(2**62), 2**63 - 1]
_FLOATS = [np.nan, np.inf, -np.inf, 1e300, -1e300, -1.0, 0.0, 1e-320, 0.5]
_SCALARS: list[Any] = [
    None,
    True,
    False,
    -1,
    0,
    1,
    3,
    2**31,
    2**52,
    {"int": hex(2**62)},
    {"int": hex(10**40)},
    0.5,
    -0.5,
    1e300,
    {"float": "nan"},
    {"float": "inf"},
    "",
    "precomputed",
    "labels",
    {"list": []},
    {"tuple": []},
    {"dict": []},
    {"list": [1, 2]},
    {"tuple": [-1]},
    {"array": 0},
    {"ref": 0},
    {"bytes": "AAAA"},
    {"scalar": {"tuple": ["<f8", {"bytes": "AAAAAAAA+H8="}]}},
]
_NAMES = [
    "sklearn.svm._classes:SVC",
    "sklearn.preprocessing._data:StandardScaler",
    "sklearn.pipeline:Pipeline",
    "gramlet.kernels.weisfeiler_lehman.subtree:WeisfeilerLehman",
    "gramlet.kernels.contract.labels:LabelVocabulary",
    "gramlet.engine.core.signature_table:SignatureTable",
    "gramlet.kernels.contract.kernel:GraphKernel",
    "gramlet.persistence.files:save",
    "os:system",
]


def changed_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array with one thing changed."""
    array = array.copy()
    kind = int(rng.integers(12))
    if array.dtype.names and kind < 6:
        name = array.dtype.names[rng.integers(len(array.dtype.names))]
        array[name] = changed_entries(array[name].copy(), rng)
        return array
    if kind < 5:
        return changed_entries(array, rng)
    if kind == 5:
        return array[:-1] if array.ndim and len(array) else array.reshape(1, -1)
    if kind == 6:
        return np.concatenate([array, array[-1:]]) if array.ndim else array.reshape(1)
    if kind == 7:
        return array[:0] if array.ndim else array.reshape(1)[:0]
    if kind == 8:
        types = [
            "int32",
            "int64",
            "float64",
            "float32",
            "bool",
            "uint64",
            ">i8",
            "<U3",
            "complex128",
        ]
        plain = array if not array.dtype.names else array.view(np.uint8)
        with np.errstate(all="ignore"):
            return plain.astype(types[rng.integers(len(types))])
    if kind == 9:
        return array[..., None] if rng.integers(2) else array.reshape(-1)
    if kind == 10:
        return np.asfortranarray(array.T) if array.ndim > 1 else array.reshape(-1)[::-1].copy()
    return np.zeros_like(array)


def changed_entries(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array with one or all entries replaced, or with entries in another order."""
    if array.size == 0 or array.dtype.kind in "USV":
        return array[..., None]
    flat = array.reshape(-1)
    pool = _INTEGERS if array.dtype.kind in "iub" else _FLOATS
    with np.errstate(all="ignore"):
        value = np.array(pool[rng.integers(len(pool))]).astype(array.dtype)
    how = rng.integers(4)
    if how == 0:
        rng.shuffle(flat)
    elif how == 1:
        flat[:] = value
    else:
        flat[rng.integers(len(flat))] = value
    return flat.reshape(array.shape)


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every position in a tree: a container and a key."""
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from places(tree[key])


def mutant(tree: Any, arrays: list[np.ndarray], rng: np.random.Generator) -> tuple[Any, Any, str]:
    """A tree and arrays with one thing changed, and a description of the change."""
    tree, arrays = copy.deepcopy(tree), list(arrays)
    how = rng.random()
    if arrays and how < 0.5:
        n = int(rng.integers(len(arrays)))
        before = arrays[n]
        if rng.random() < 0.1:
            other = int(rng.integers(len(arrays)))
            arrays[n], arrays[other] = arrays[other], arrays[n]
            return tree, arrays, f"arrays {n} and {other} swapped"
        arrays[n] = changed_array(before, rng)
        return tree, arrays, f"array {n}: {before.tolist()!r:.80} -> {arrays[n].tolist()!r:.80}"
    spots = list(places(tree))
    holder, key = spots[rng.integers(len(spots))]
    found = json.dumps(holder[key])[:80]
    text = f"{found} at {key!r}"
    if how < 0.75:
        holder[key] = copy.deepcopy(_SCALARS[rng.integers(len(_SCALARS))])
        return tree, arrays, f"{text} -> {json.dumps(holder[key])}"
    if how < 0.82:
        other, place = spots[rng.integers(len(spots))]
        holder[key] = copy.deepcopy(other[place])
        return tree, arrays, f"{text} -> {json.dumps(holder[key])[:80]}"
    if how < 0.88:
        del holder[key]
        return tree, arrays, f"{text} removed"
    if how < 0.94:
        return tree, arrays, _renamed(spots, rng)
    if isinstance(holder, dict):
        name = ["transform", "predict", "validate", "id", "extra_", "__class__"][rng.integers(6)]
        holder[name] = int(rng.integers(3))
        return tree, arrays, f"{name} added beside {text}"
    holder.append(copy.deepcopy(holder[key]))
    return tree, arrays, f"{text} twice"


def _renamed(spots: list[tuple[Any, Any]], rng: np.random.Generator) -> str:
    """Give an object the name of another class."""
    objects = [holder for holder, key in spots if key == "object" and isinstance(holder, dict)]
    if not objects:
        return "nothing to rename"
    node = objects[rng.integers(len(objects))]
    names = [*_NAMES, *(other["object"] for other in objects)]
    before = node["object"]
    node["object"] = names[rng.integers(len(names))]
    return f"{before} is now {node['object']}"


# Trying them

# Mutants that are valid models of other graphs: their messages when they get these.
_OTHER_GRAPHS = re.compile(
    r"was fitted on|needs node attributes|of one size|too large for|is too large|"
    r"needs node labels|is not a numeric array|too many to tell patterns apart|lies in no bin|"
    r"not a finite number|numerically singular|has no code for the label"
)


def outcome(path: Path, new: GraphBatch) -> str:
    """The outcome of loading a file: "refused", "fine", or what went wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = gramlet.load(path)
        except ModelFileError:
            return "refused"
        except Exception as error:
            return f"load: {type(error).__name__}: {error}"
        try:
            return answers(model, new)
        except NotFittedError:
            return "fine"
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            sound = isinstance(error, ValueError | TypeError) and _OTHER_GRAPHS.search(text)
            return "fine" if sound else f"use: {text[:300]}"


def answers(model: Any, new: GraphBatch) -> str:
    """Whether a model gives finite numbers for new graphs."""
    for method in ("transform", "predict", "decision_function", "predict_proba", "diagonal"):
        answer = getattr(model, method, None)
        if answer is None or not hasattr(model, "get_params"):
            continue
        result = answer(new)
        numbers = result.data if sparse.issparse(result) else np.asarray(result)
        if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
            return f"use: {method} gives numbers that are not finite"
    return "fine"


def written(path: Path, manifest: Any, arrays: list[np.ndarray]) -> Path:
    """The file of a tree and arrays, without waiting for the disk."""
    file = io.BytesIO()
    container._write_archive(file, manifest, arrays)
    container._seal(file)
    path.write_bytes(file.getvalue())
    return path


def limit_memory() -> None:
    """Limit the memory of this process to little more than it uses."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def try_model(name: str, folder: Path, seed: int, first: int, count: int) -> None:
    """Load ``count`` mutants of a model, and print outcomes that must not happen."""
    path, new = folder / "mutant.gramlet", NEW_ARCS if name in DIRECTED else NEW
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gramlet.save(models()[name](), path)
    if outcome(path, new) != "fine":
        print(f"WRONG {name} unchanged: {outcome(path, new)}", flush=True)
        return
    manifest, arrays = container.read_container(path)
    refused = 0
    for number in range(first, first + count):
        rng = np.random.default_rng([seed, number, *name.encode()])
        tree, changed, what = mutant(manifest["model"], arrays, rng)
        if number % 4 == 3:  # two changes at once
            tree, changed, more = mutant(tree, changed, rng)
            what = f"{what}; {more}"
        print(f"TRY {name} {number} {what}", flush=True)
        try:
            written(path, {**manifest, "model": tree}, changed)
        except (ValueError, TypeError):  # cannot be written to a file
            continue
        found = outcome(path, new)
        refused += found == "refused"
        if found not in ("refused", "fine"):
            print(f"WRONG {name} {number} {what}: {found}", flush=True)
    print(f"DONE {name} {refused} of {count} refused", flush=True)


def main() -> None:
    folder, seed, first, count = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    names = sys.argv[5:] or list(models())
    for name in names:  # compile and import everything before the memory is limited
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = models()[name]()
            gramlet.save(model, folder / "mutant.gramlet")
            outcome(folder / "mutant.gramlet", NEW_ARCS if name in DIRECTED else NEW)
    limit_memory()
    for name in names:
        try_model(name, folder, seed, first, count)


if __name__ == "__main__":
    main()
