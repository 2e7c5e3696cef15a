"""Structural mutants of saved models, and a program that loads them in a limited process.

Run as ``python mutants.py FOLDER SEED COUNT [MODEL ...]``: it fits small models, saves them, and
loads COUNT files per model in which one thing was changed. Every mutant must be refused with
`ModelFileError`, or load and give finite numbers. Anything else is printed; a line is printed
before each mutant, so that the parent process knows which one ended the process.
"""

from __future__ import annotations

import copy
import json
import os
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
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import gramlet
from gramlet import GraphBatch
from gramlet.kernels import registry
from gramlet.persistence import ModelFileError
from gramlet.persistence.container import read_container, write_container
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
CENTRED_RIDGE = make_pipeline(
    KernelCenterer(),
    TransformedTargetRegressor(
        KernelRidge(kernel="precomputed"), transformer=StandardScaler(with_std=False)
    ),
)
CLASSIFIERS = {
    "svc": SVC(kernel="precomputed", probability=False),
    "svc-two": SVC(kernel="precomputed"),
    "svc-rbf": make_pipeline(StandardScaler(), SVC()),
    "linear-svc": make_pipeline(Normalizer(), LinearSVC(random_state=0)),
    "logistic": LogisticRegression(),
    "ridge-classifier": RidgeClassifier(),
    "sgd": SGDClassifier(random_state=0, loss="log_loss", average=True),
    "one-vs-rest": OneVsRestClassifier(CENTRED_RIDGE),
    "neighbours": KNeighborsClassifier(2, metric="precomputed"),
    "neighbours-tree": KNeighborsClassifier(2, algorithm="ball_tree"),
}
REGRESSORS = {
    "svr": SVR(kernel="precomputed"),
    "ridge": Ridge(),
    "sgd-regressor": SGDRegressor(random_state=0),
    "kernel-ridge": CENTRED_RIDGE,
    "neighbours-regression": KNeighborsRegressor(2),
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


def _on_graphs() -> Any:
    kernel = gramlet.GraphKernelGP(gramlet.WeisfeilerLehman(n_iter=1, normalize=True))
    kernel = ConstantKernel(2.0) * kernel + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(FITTED, TARGETS)


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
    made["hashed-linear"] = lambda: _hashed_linear(CLASSES)
    made["hashed-regression"] = lambda: _hashed_linear(TARGETS)
    made["graph-gaussian-process"] = _on_graphs
    for classifier in ("svc", "ridge"):
        made[f"classifier-{classifier}"] = lambda classifier=classifier: gramlet.GraphClassifier(
            "wl", classifier=classifier, options={"n_iter": [1]}, cv=2
        ).fit(FITTED, CLASSES)
    for regressor in ("gp", "ridge"):
        made[f"regressor-{regressor}"] = lambda regressor=regressor: gramlet.GraphRegressor(
            "wl", regressor=regressor, options={"n_iter": [1]}, cv=2
        ).fit(FITTED, TARGETS)
    made["kernel-map"] = lambda: gramlet.KernelMap("wl", n_components=2).fit(FITTED)
    made["feature-map"] = lambda: make_pipeline(
        gramlet.FeatureMap(gramlet.WeisfeilerLehman(n_iter=1)), LogisticRegression()
    ).fit(FITTED, CLASSES)
    return made


# Mutations

_INTEGERS = [-1, 0, 1, 7, 2**31, 2**62, -(2**62)]
_FLOATS = [np.nan, np.inf, -np.inf, 1e300, -1e300, -1.0, 0.0, 1e-320, 0.5]
_TYPES = ["int32", "int64", "float64", "float32", "bool", "uint64", ">i8", "<U3", "complex128"]
_NODES: list[Any] = [
    *(None, True, False, -1, 0, 1, 3, 2**31, 2**62, 10**40, 0.5, -0.5, 1e300),
    *("", "precomputed", "labels", [], [1, 2], {"float": "nan"}, {"float": "inf"}),
    *({"tuple": []}, {"tuple": [-1]}, {"dict": []}, {"array": 0}, {"ref": 0}, {"bytes": "00"}),
    {"scalar": ["<f8", 1.5]},
]
_NAMES = [
    "sklearn:SVC",
    "sklearn:StandardScaler",
    "sklearn:Pipeline",
    "gramlet.kernels.weisfeiler_lehman.subtree:WeisfeilerLehman",
    "gramlet.kernels.contract.labels:LabelVocabulary",
    "gramlet.engine.core.signature_table:SignatureTable",
    "gramlet.kernels.contract.kernel:GraphKernel",
    "gramlet.persistence.files:save",
    "os:system",
]


def changed_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An array with one thing changed: entries, extent, type, shape, or order."""
    kind = int(rng.integers(11))
    if kind < 6:
        return changed_entries(array.copy(), rng)
    if kind == 6:
        return array[:-1] if array.ndim and len(array) else array.reshape(1, -1)
    if kind == 7:
        return np.concatenate([array, array[-1:]]) if array.ndim else array.reshape(1)
    if kind == 8:
        with np.errstate(all="ignore"):
            return array.astype(_TYPES[rng.integers(len(_TYPES))])
    if kind == 9:
        return array[..., None] if rng.integers(2) else array.reshape(-1)
    return np.asfortranarray(array.T) if array.ndim > 1 else array.reshape(-1)[::-1].copy()


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
    else:
        flat[slice(None) if how == 1 else rng.integers(len(flat))] = value
    return flat.reshape(array.shape)


def spots_of(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every position in a tree: a container and a key."""
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from spots_of(tree[key])


def mutant(tree: Any, arrays: list[np.ndarray], rng: np.random.Generator) -> tuple[Any, Any, str]:
    """A tree and arrays with one thing changed, and a description of the change."""
    tree, arrays = copy.deepcopy(tree), list(arrays)
    how = rng.random()
    if arrays and how < 0.5:
        n, other = (int(rng.integers(len(arrays))) for _ in range(2))
        if how < 0.05:
            arrays[n], arrays[other] = arrays[other], arrays[n]
            return tree, arrays, f"arrays {n} and {other} swapped"
        before, arrays[n] = arrays[n], changed_array(arrays[n], rng)
        return tree, arrays, f"array {n}: {before.tolist()!r:.80} -> {arrays[n].tolist()!r:.80}"
    spots = list(spots_of(tree))
    holder, key = spots[rng.integers(len(spots))]
    text = f"{json.dumps(holder[key])[:80]} at {key!r}"
    if how < 0.8:
        source, at = (_NODES, rng.integers(len(_NODES)))
        if how >= 0.74:
            source, at = spots[rng.integers(len(spots))]
        holder[key] = copy.deepcopy(source[at])
        return tree, arrays, f"{text} -> {json.dumps(holder[key])[:80]}"
    if how < 0.86:
        del holder[key]
        return tree, arrays, f"{text} removed"
    objects = [node for node, name in spots if name == "class"]
    if how < 0.94 and objects:
        node = objects[rng.integers(len(objects))]
        names = [*_NAMES, *(other["class"] for other in objects)]
        before, node["class"] = node["class"], names[rng.integers(len(names))]
        return tree, arrays, f"{before} is now {node['class']}"
    if isinstance(holder, dict):
        name = ["transform", "predict", "validate", "extra_", "__class__"][rng.integers(5)]
        holder[name] = int(rng.integers(3))
        return tree, arrays, f"{name} added beside {text}"
    holder.append(copy.deepcopy(holder[key]))
    return tree, arrays, f"{text} twice"


# Trying them

# Mutants that are valid models of other graphs, or whose steps do not fit: their messages.
_OTHER_GRAPHS = re.compile(
    r"was fitted on|needs node attributes|of one size|too large for|is too large|"
    r"needs node labels|is not a numeric array|too many to tell patterns apart|lies in no bin|"
    r"not a finite number|numerically singular|has no code for the label|features, but|"
    r"were fitted. Use at most|other descriptors|samples in the training data|"
    r"must be finite|infinity|not aligned|mismatch|broadcast"
)


def outcome(path: Path, new: GraphBatch) -> str:
    """The outcome of loading a file: "refused", "fine", or what went wrong."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
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
        has_deviations = method == "predict" and isinstance(model, gramlet.GraphRegressor)
        with_deviations = has_deviations and model.machine_.kind == "gp"
        result = answer(new, return_std=True) if with_deviations else answer(new)
        numbers = result.data if sparse.issparse(result) else np.asarray(result)
        if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
            return f"use: {method} gives numbers that are not finite"
    return "fine"


def try_model(name: str, path: Path, seed: int, count: int) -> None:
    """Load ``count`` mutants of a model, and print outcomes that must not happen."""
    new = NEW_ARCS if name in DIRECTED else NEW
    manifest, arrays = read_container(path)
    for number in range(count):
        rng = np.random.default_rng([seed, number, *name.encode()])
        tree, changed, what = mutant(manifest["model"], arrays, rng)
        if number % 4 == 3:  # two changes at once
            tree, changed, more = mutant(tree, changed, rng)
            what = f"{what}; {more}"
        print(f"TRY {name} {number} {what}", flush=True)
        write_container(path, {**manifest, "model": tree}, changed)
        result = outcome(path, new)
        if result not in ("refused", "fine"):
            print(f"WRONG {name} {number} {what}: {result}", flush=True)


def main() -> None:
    folder, seed, count = Path(sys.argv[1]), *map(int, sys.argv[2:4])
    names = sys.argv[4:] or list(models())
    os.fsync = lambda handle: None  # type: ignore[assignment]
    for name in names:  # compile and import everything before the memory is limited
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gramlet.save(models()[name](), folder / name)
            result = outcome(folder / name, NEW_ARCS if name in DIRECTED else NEW)
            if result != "fine":
                print(f"WRONG {name} unchanged: {result}", flush=True)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for name in names:
        try_model(name, folder / name, seed, count)
    print("END", flush=True)


if __name__ == "__main__":
    main()
