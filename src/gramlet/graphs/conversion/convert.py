"""as_batch: convert graphs of any supported type into one batch.

The type of each object is recognised by its name, without importing any library. The converter of
that type (one module per library) turns it into a record, and the records are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from functools import cache
from typing import Any

import numpy as np

from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.conversion.edges import (
    NOT_GRAPHS,
    from_array,
    from_edges_and_labels,
    from_matrix,
)
from gramlet.graphs.conversion.frames import graphs_of, is_frame
from gramlet.graphs.conversion.libraries import (
    from_grakel,
    from_igraph,
    from_networkx,
    from_pyg,
    settle_one_hot,
)
from gramlet.graphs.conversion.record import (
    ATTR,
    LABEL,
    WEIGHT,
    AttributeNames,
    GraphRecord,
    check_names,
    join_records,
    records_of_batch,
    require_names,
)
from gramlet.graphs.direction import two_arcs_per_edge
from gramlet.graphs.molecules.molecules import from_molecule, from_smiles, is_molecule, molecules

Converter = Callable[[int, Any, AttributeNames], GraphRecord]

# (library, class) -> converter; subclasses are found by their bases.
_CONVERTERS: dict[tuple[str, str], Converter] = {
    ("networkx", "Graph"): from_networkx,
    ("igraph", "Graph"): from_igraph,
    ("torch_geometric", "Data"): from_pyg,
    ("grakel", "Graph"): from_grakel,
    ("rdkit", "Mol"): from_molecule,
    ("scipy", "spmatrix"): from_matrix,
    ("scipy", "sparray"): from_matrix,
    ("numpy", "ndarray"): from_array,
    ("builtins", "str"): from_smiles,
    ("builtins", "tuple"): from_edges_and_labels,
    ("builtins", "list"): from_edges_and_labels,
    ("builtins", "set"): from_edges_and_labels,
    ("builtins", "frozenset"): from_edges_and_labels,
}

_ACCEPTED = (
    "networkx graphs, igraph graphs, scipy sparse or numpy adjacency matrices, "
    "edge lists, (edges, node_labels) pairs, PyTorch Geometric Data, GraKeL graphs, RDKit "
    "molecules, SMILES strings and GraphBatches"
)


def as_batch(
    x: Any,
    *,
    directed: bool | None = None,
    label: str | None = LABEL,
    edge_label: str | None = LABEL,
    weight: str | None = WEIGHT,
    attr: str | None = ATTR,
    edge_attr: str | None = ATTR,
    node_labels: str | None = None,
) -> GraphBatch:
    """Convert graphs of any accepted type into one immutable batch.

    Graphs are simple: repeated edges are merged (labels, weights and attributes of repeats must
    agree), self-loops are refused. A column (labels, weights, attributes) must be present for all
    graphs or for none; graphs without nodes or edges are compatible with both. Types may be mixed.
    The cost is linear in nodes and edges; adjacency matrices are read entry by entry.

    Parameters
    ----------
    x : GraphBatch, or iterable of graphs
        A batch is returned unchanged, a list of batches is joined. Otherwise a list (or tuple,
        object array, generator, a column or a frame of one column of pandas, polars or
        pyarrow) of

        - networkx graphs: columns under the names below; None counts as missing;
        - igraph graphs: likewise;
        - square matrices, numpy or scipy.sparse: entries other than 0 and 1 are weights; if all
          matrices are 0/1 the graphs have no weights;
        - edge lists: ``[(0, 1), (1, 2)]``, a set of pairs, or an integer array of two columns
          (a square array, 2 x 2 too, is a matrix);
        - ``(edges, node_labels)`` or ``(edges, node_labels, edge_labels)``: edges an (m, 2) array
          or a list of pairs, or of triples with a weight, nodes counted from 0; node labels a list,
          or a dictionary (then nodes have the dictionary's names), or None; edge labels a list in
          the order of the edges, or a dictionary ``{(u, v): label}``; a matrix in place of the
          edges should be a numpy array: three lists of three numbers are ambiguous and refused;
        - GraKeL graphs, as ``grakel.Graph`` or as lists of a structure and dictionaries; sets and
          dictionaries of edges name their own nodes, and labels that are lists of numbers become
          attributes;
        - PyTorch Geometric ``Data``: ``x`` gives attributes (labels, if it is a single column of
          integers), ``edge_weight`` weights, ``edge_attr`` labels (one column of integers, or
          one-hot rows in all graphs), weights (one column of floats) or edge attributes;
        - RDKit molecules or SMILES strings: atoms' symbols and charges become node labels, bond
          types ("single", "aromatic", ...) edge labels; :func:`molecules` has options.
    directed : bool or None, default=None
        None leaves graphs as they are: networkx graphs, igraph graphs and batches are directed or
        not; matrices and PyTorch Geometric data are all directed if one of them is asymmetric;
        edge lists and GraKeL graphs are undirected. Directed and undirected graphs in one list are
        refused. True turns every edge of an undirected graph into two arcs, and takes the pairs of
        edge lists as arcs as they stand; False removes
        directions, as `GraphBatch.to_undirected` does.
    label, attr : str or None
        Under which names networkx and igraph graphs store node labels and node attributes; None
        leaves that column out. A name that is given but found in no node is an error.
    edge_label, weight, edge_attr : str or None
        The same for edge labels, edge weights and edge attributes.
    node_labels : "degree", "none" or None, default=None
        "degree" labels every node with its degree, "none" drops the labels.

    Returns
    -------
    GraphBatch

    Warns
    -----
    UserWarning
        If networkx or igraph graphs have data on nodes or edges, but only under other names.

    Examples
    --------
    >>> from gramlet import as_batch
    >>> as_batch([([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "N"])])
    GraphBatch(2 graphs, 5 nodes, 3 edges, 3 node labels)
    >>> import numpy as np
    >>> as_batch([np.array([[0, 1], [1, 0]]), np.zeros((3, 3))])
    GraphBatch(2 graphs, 5 nodes, 1 edge)
    >>> as_batch([np.array([[0, 1], [0, 0]])])
    GraphBatch(1 graph, 2 nodes, 1 arc, directed)
    """
    if directed is not None and not isinstance(directed, bool | np.bool_):
        raise TypeError(f"directed must be True, False or None; got {directed!r}.")
    items = [x] if isinstance(x, GraphBatch) else _items(x)
    if items and all(isinstance(item, GraphBatch) for item in items):
        return label_nodes(_join_batches(items, directed), node_labels)
    names = AttributeNames(label, edge_label, weight, attr, edge_attr)
    require_names(names)
    if items and all(isinstance(item, str) or is_molecule(item) for item in items):
        return label_nodes(_join_batches([molecules(items)], directed), node_labels)
    records: list[GraphRecord] = []
    for item in items:
        _convert(item, names, records)
    check_names(records, names)
    settle_one_hot(records)
    return label_nodes(join_records(records, directed), node_labels)


def _join_batches(batches: list[GraphBatch], directed: bool | None) -> GraphBatch:
    if directed is None or (not directed and not any(batch.directed for batch in batches)):
        return GraphBatch.concatenate(batches)
    # Converted after joining, so that an error names the position in the whole list.
    both_ways = GraphBatch.concatenate([two_arcs_per_edge(batch) for batch in batches])
    return both_ways if directed else both_ways.to_undirected()


def _convert(item: Any, names: AttributeNames, records: list[GraphRecord]) -> None:
    """Append the record of one item, or those of all graphs that it contains."""
    if isinstance(item, GraphBatch):
        records += records_of_batch(item)
    elif _is_pyg_batch(item.__class__):
        parts = item.to_data_list()
        records += [from_pyg(len(records) + i, part, names) for i, part in enumerate(parts)]
    else:
        convert = _converter(item.__class__)
        if convert is None:
            raise _unknown(len(records), item)
        records.append(convert(len(records), item, names))


def as_single(x: Any, name: str | None = None, **options: Any) -> GraphBatch:
    """Convert one graph, of any type that `as_batch` accepts, into a batch of one.

    Parameters
    ----------
    x : GraphBatch of one graph, a single foreign graph, or a list with one
    name : str, optional
        The caller's parameter, for errors: where there are several graphs, "Graph 0" would be
        ambiguous.
    **options
        ``directed``, ``label`` and the others, as for `as_batch`.

    Returns
    -------
    GraphBatch

    Examples
    --------
    >>> from gramlet.graphs.conversion.convert import as_single
    >>> as_single(([(0, 1)], ["C", "O"]))
    GraphBatch(1 graph, 2 nodes, 1 edge, 2 node labels)
    """
    try:
        whole = isinstance(x, GraphBatch) or _holds_graphs(x)
        batch = as_batch(x if whole else [x], **options)
        if len(batch) != 1:
            raise ValueError(f"Expected a single graph; got {len(batch)}. Pick one: graphs[i].")
    except (ValueError, TypeError) as why:
        if name is None:
            raise
        said, first = str(why), "Graph 0"
        said = name + said[len(first) :] if said.startswith(first) else f"{name}: {said}"
        raise (TypeError if isinstance(why, TypeError) else ValueError)(said) from why
    return batch


def _holds_graphs(x: Any) -> bool:
    """Whether a list contains whole graphs, rather than one graph's edges and labels."""
    if is_frame(x):
        return True
    if isinstance(x, np.ndarray):
        return x.dtype == object
    if not isinstance(x, list | tuple) or not x:
        return False
    return isinstance(x[0], GraphBatch | str) or _is_library_graph(x[0].__class__)


def _items(x: Any) -> list[Any]:
    """The single graphs of a collection; a bare graph or a collection without order is refused."""
    if is_frame(x):
        return graphs_of(x)
    if isinstance(x, np.ndarray) and x.dtype == object:
        return list(x.ravel())
    if _is_pyg_batch(x.__class__):
        return list(x.to_data_list())
    is_table = isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind == "f"
    if is_table and (x.shape[0] != x.shape[1] or x.diagonal().any()):
        raise TypeError(
            f"as_batch takes a list of graphs; got an array of shape {x.shape} and type {x.dtype}: "
            f"{NOT_GRAPHS}."
        )
    if isinstance(x, str) or getattr(x, "ndim", 1) == 2 or _is_library_graph(x.__class__):
        what = f"the string {x!r}" if isinstance(x, str) else f"a single {_type_name(x)}"
        raise TypeError(
            f"as_batch takes a list of graphs; got {what}. Put it in a list: as_batch([graph])."
        )
    if not isinstance(x, Iterable) or isinstance(x, Mapping | Set | bytes):
        raise TypeError(
            f"as_batch takes a GraphBatch or a list of graphs; got an object of type "
            f"{_type_name(x)}. Accepted are lists of {_ACCEPTED}."
        )
    return list(x)


def _unknown(position: int, item: Any) -> TypeError:
    hint = ""
    if item is None:
        hint = " (RDKit gives None for molecules it cannot read)"
    return TypeError(
        f"Graph {position} is of type {_type_name(item)}{hint}, which is not supported. "
        f"Accepted are {_ACCEPTED}."
    )


def _type_name(x: Any) -> str:
    kind = type(x)
    library = kind.__module__.partition(".")[0]
    return kind.__qualname__ if library == "builtins" else f"{library} {kind.__qualname__}"


def _bases(kind: type) -> list[tuple[str, str]]:
    """(library, class) of a type and its base classes."""
    return [(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__]


@cache
def _converter(kind: type) -> Converter | None:
    return next((_CONVERTERS[base] for base in _bases(kind) if base in _CONVERTERS), None)


@cache
def _is_library_graph(kind: type) -> bool:
    """Whether a type is a graph of some library, rather than an ambiguous value."""
    return any(
        base in _CONVERTERS and base[0] not in ("builtins", "numpy") for base in _bases(kind)
    )


@cache
def _is_pyg_batch(kind: type) -> bool:
    return ("torch_geometric", "Batch") in _bases(kind)


def label_nodes(batch: GraphBatch, node_labels: Any) -> GraphBatch:
    """The graphs with other node labels.

    Parameters
    ----------
    batch : GraphBatch
    node_labels : "degree", "none" or None
        "degree": the number of edges at each node (if directed, of outgoing plus incoming arcs);
        "none": no labels; None: the labels that the graphs have.

    Returns
    -------
    GraphBatch

    Examples
    --------
    >>> from gramlet import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> list(label_nodes(path, "degree").node_labels)
    [1, 2, 1]
    """
    if node_labels is None:
        return batch
    if not isinstance(node_labels, str) or node_labels not in ("degree", "none"):
        raise ValueError(f"node_labels must be 'degree', 'none' or None; got {node_labels!r}.")
    if node_labels == "none":
        return batch.with_columns(node_labels=None)
    degrees = batch.degrees + batch.in_degrees if batch.directed else batch.degrees
    return batch.with_columns(node_labels=Categorical.from_values(degrees))
