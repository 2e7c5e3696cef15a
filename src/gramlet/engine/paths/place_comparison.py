"""GraphHopper between graphs whose nodes have attributes: Σ ⟨M_v, M_w⟩ κ(v, w) over node pairs.

The products ⟨M_v, M_w⟩ of two graphs are one matrix product of their tables, restricted to the
places that both have; they are multiplied by the node kernel κ and summed. The linear node kernel
is a dot product of features, which are computed here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import offsets_of, taken
from gramlet.engine.core.tiles import Tiling, for_tiles, mirror
from gramlet.engine.paths.path_places import n_places

__all__ = ["ALL", "DIAGONAL", "TRIANGLE", "AttributedPlaces", "attribute_sums", "compare_places"]

# Which entries of a matrix are computed.
ALL, TRIANGLE, DIAGONAL = 0, 1, 2


@dataclass(frozen=True)
class AttributedPlaces:
    """Groups of nodes with equal labels and attributes, and their places on shortest paths.

    Attributes
    ----------
    longest, offsets, counts, folded :
        As in `PlaceCounts`.
    group_offsets : array of int64, shape (graphs + 1,)
        Graph g has the groups ``group_offsets[g]:group_offsets[g + 1]``.
    labels : array of int64, shape (groups,)
    columns : array of float64, shape (attributes, groups)
    """

    stored = fields(
        longest=ArrayOf("int64", "n", least=0, most=1 << 25),
        group_offsets=Offsets("n", "groups"),
        labels=ArrayOf("int64", "groups"),
        columns=ArrayOf("float64", None, "groups"),
        counts=ArrayOf("float64", "counts", least=0.0),
        offsets=Offsets("n", "counts"),
    )

    longest: Ints
    offsets: Ints
    counts: Floats
    folded: bool
    group_offsets: Ints
    labels: Ints
    columns: Floats

    def __len__(self) -> int:
        return len(self.longest)

    def take(self, rows: Ints) -> AttributedPlaces:
        """The graphs at these positions."""
        offsets, entries = taken(self.offsets, rows)
        group_offsets, groups = taken(self.group_offsets, rows)
        return replace(
            self,
            longest=self.longest[rows],
            offsets=offsets,
            counts=self.counts[entries],
            group_offsets=group_offsets,
            labels=self.labels[groups],
            columns=np.ascontiguousarray(self.columns[:, groups]),
        )

    @property
    def lines(self) -> Ints:
        """The number of places of each graph: the lines of its table."""
        return n_places(self.longest, self.folded)

    def validate(self) -> None:
        """Raise ValueError if the places of graphs do not fit their longest paths."""
        n_groups = np.diff(self.group_offsets)
        same = np.array_equal(n_groups > 0, self.longest > 0)
        require(same, "a graph with nodes has a path")
        same = np.array_equal(np.diff(self.offsets), self.lines * n_groups)
        require(same, "offsets do not fit the places")


def compare_places(
    left: AttributedPlaces,
    right: AttributedPlaces,
    bridge: bool,
    scale: float,
    which: int,
    tiling: Tiling,
) -> Floats:
    """GraphHopper of all pairs, of the symmetric matrix of ``left``, or of its diagonal.

    Parameters
    ----------
    bridge : bool
        κ = max(0, 1 − ‖a − a'‖ / scale), otherwise exp(−scale ‖a − a'‖²); 0 if labels differ.
    which : {ALL, TRIANGLE, DIAGONAL}
        With the last two, ``right`` is ``left``; DIAGONAL gives one column.
    """
    if len(left.columns) != len(right.columns) and len(left.labels) and len(right.labels):
        raise ValueError(
            f"Nodes with {len(left.columns)} attributes cannot be compared with nodes with "
            f"{len(right.columns)}."
        )
    out = np.zeros((len(left), 1 if which == DIAGONAL else len(right)))
    folds = _multiplicities(int(left.lines.max(initial=0)), left.folded)
    partners = {
        ALL: np.full(len(left), float(len(right.counts) + len(right))),
        TRIANGLE: np.cumsum((np.diff(right.offsets) + 1.0)[::-1])[::-1],
        DIAGONAL: np.diff(right.offsets) + 1.0,
    }

    def work(begin: int, end: int) -> None:
        _fill_rows(
            begin,
            end,
            left.lines,
            left.offsets,
            left.counts,
            left.group_offsets,
            left.labels,
            left.columns,
            right.lines,
            right.offsets,
            right.counts,
            right.group_offsets,
            right.labels,
            right.columns,
            folds,
            bridge,
            scale,
            which,
            out,
        )

    costs = (np.diff(left.group_offsets) + 1.0) * partners[which]
    for_tiles(work, len(left), costs=costs, tiling=tiling)
    if which == TRIANGLE:
        mirror(out)
    return out


def _multiplicities(n_lines: int, folded: bool) -> Floats:
    """How many places each line of a table represents.

    >>> _multiplicities(6, True).tolist()
    [1.0, 2.0, 2.0, 1.0, 2.0, 2.0]
    """
    if not folded:
        return np.ones(n_lines)
    lengths = np.arange(1, 2 * int(np.sqrt(n_lines)) + 3)
    lines = np.full(int(n_places(lengths, True)[-1]), 2.0)
    # A path of an odd number of nodes has a middle node, the last of its lines.
    lines[n_places(lengths[::2], True) - 1] = 1.0
    return lines[:n_lines]


@njit(nogil=True, cache=True)
def _fill_rows(
    begin: int,
    end: int,
    left_lines: Ints,
    left_offsets: Ints,
    left_counts: Floats,
    left_groups: Ints,
    left_labels: Ints,
    left_columns: Floats,
    right_lines: Ints,
    right_offsets: Ints,
    right_counts: Floats,
    right_groups: Ints,
    right_labels: Ints,
    right_columns: Floats,
    folds: Floats,
    bridge: bool,
    scale: float,
    which: int,
    out: Floats,
) -> None:
    """Fill rows ``begin:end``: all columns, those from the diagonal on, or only the diagonal."""
    for i in range(begin, end):
        # The table of this graph, each line times the number of places it represents.
        n_left = left_groups[i + 1] - left_groups[i]
        table = np.empty((left_lines[i], n_left))
        for line in range(left_lines[i]):
            begins = left_offsets[i] + line * n_left
            for v in range(n_left):
                table[line, v] = folds[line] * left_counts[begins + v]
        first = 0 if which == 0 else i
        last = i + 1 if which == 2 else len(right_lines)
        for j in range(first, last):
            lines = min(left_lines[i], right_lines[j])
            if lines == 0:
                continue
            # Restrict both tables to the places that both have.
            n_right = right_groups[j + 1] - right_groups[j]
            other = right_counts[right_offsets[j] : right_offsets[j] + lines * n_right]
            shared = np.dot(table[:lines].T, other.reshape(lines, n_right))
            value = _sum_pairs(
                shared,
                left_groups[i],
                left_labels,
                left_columns,
                right_groups[j],
                right_labels,
                right_columns,
                bridge,
                scale,
            )
            out[i, 0 if which == 2 else j] = value


@njit(nogil=True, cache=True)
def _sum_pairs(
    shared: Floats,
    left_first: int,
    left_labels: Ints,
    left_columns: Floats,
    right_first: int,
    right_labels: Ints,
    right_columns: Floats,
    bridge: bool,
    scale: float,
) -> float:
    """Σ shared[v, w] κ(v, w) over the groups of two graphs."""
    n_left, n_right = shared.shape
    squares = np.empty(n_right)
    total = 0.0
    for v in range(n_left):
        # Squared distances of one group to all others, from differences: nothing cancels.
        squares[:] = 0.0
        for c in range(len(left_columns)):
            here = left_columns[c, left_first + v]
            for w in range(n_right):
                difference = here - right_columns[c, right_first + w]
                squares[w] += difference * difference
        label = left_labels[left_first + v]
        for w in range(n_right):
            if label != right_labels[right_first + w] or shared[v, w] == 0.0:
                continue
            if bridge:
                nearness = 1.0 - np.sqrt(squares[w]) / scale
                if nearness > 0.0:
                    total += shared[v, w] * nearness
            elif scale * squares[w] < 746.0:  # otherwise the exponential is 0
                total += shared[v, w] * np.exp(-scale * squares[w])
    return total


def attribute_sums(
    places: AttributedPlaces, label_offsets: Ints, label_of_group: Ints, tiling: Tiling
) -> tuple[Ints, Floats]:
    """Sums of attributes weighted by counts, per place, label and attribute.

    Parameters
    ----------
    places : AttributedPlaces
        Not folded.
    label_offsets : array of int64, shape (graphs + 1,)
        How many labels each graph has, as offsets.
    label_of_group : array of int64
        The number of each group's label within its graph.

    Returns
    -------
    offsets, sums :
        One table per graph: one line per place, one column per label and attribute, by label.
    """
    n_columns = np.diff(label_offsets) * len(places.columns)
    offsets = offsets_of(places.lines * n_columns)
    sums = np.zeros(offsets[-1])

    def work(begin: int, end: int) -> None:
        _add_attributes(
            begin,
            end,
            places.lines,
            places.offsets,
            places.counts,
            places.group_offsets,
            places.columns,
            label_of_group,
            offsets,
            n_columns,
            sums,
        )

    for_tiles(work, len(places), costs=np.diff(places.offsets) + 1.0, tiling=tiling)
    return offsets, sums


@njit(nogil=True, cache=True)
def _add_attributes(
    begin: int,
    end: int,
    lines: Ints,
    offsets: Ints,
    counts: Floats,
    groups: Ints,
    columns: Floats,
    label_of_group: Ints,
    sum_offsets: Ints,
    n_columns: Ints,
    sums: Floats,
) -> None:
    for graph in range(begin, end):
        n_groups = groups[graph + 1] - groups[graph]
        for line in range(lines[graph]):
            for g in range(n_groups):
                count = counts[offsets[graph] + line * n_groups + g]
                if count == 0.0:
                    continue
                at = sum_offsets[graph] + line * n_columns[graph]
                at += label_of_group[groups[graph] + g] * len(columns)
                for c in range(len(columns)):
                    sums[at + c] += count * columns[c, groups[graph] + g]
