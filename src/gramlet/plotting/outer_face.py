"""An order of the nodes around the outside of a graph, in which no edge crosses another.

Nodes placed on a circle in this order, with the nodes inside of rings at the means of their
neighbours, give a drawing without crossings, which `stress` then improves. Rings are the faces of
the drawing, found as a basis of shortest cycles in which no edge is in more than two. For graphs
without such a basis there is no start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from gramlet.common.arrays import Floats

__all__ = ["blocks_of", "flat_start", "ring_basis"]

Edge = tuple[int, int]
# Blocks of more than this number of nodes times edges are drawn without looking for rings.
_LARGEST_BLOCK = 30_000


def flat_start(neighbours: Sequence[Sequence[int]]) -> Floats | None:
    """Positions without crossings of a connected graph; None if none were found.

    >>> flat_start([[1, 3], [0, 2], [1, 3], [2, 0]]).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-0.0, -1.0]]
    """
    blocks = blocks_of(neighbours)
    faces = _outer_faces(blocks, len(neighbours))
    if faces is None:
        return None
    order = _around(faces, len(neighbours))
    points = np.full((len(neighbours), 2), np.nan)
    angles = 2 * np.pi * np.arange(len(order)) / len(order)
    points[order] = np.column_stack([np.cos(angles), np.sin(angles)])
    for block, face in zip(blocks, faces, strict=True):
        _place_enclosed(points, block, face)
    return points if np.isfinite(points).all() else None


def blocks_of(neighbours: Sequence[Sequence[int]]) -> list[list[Edge]]:
    """The edges of a connected graph by biconnected block; a bridge is a block of its own.

    >>> blocks_of([[1], [0, 2, 3], [1, 3], [1, 2]])
    [[(3, 1), (2, 3), (1, 2)], [(0, 1)]]
    """
    depth = [-1] * len(neighbours)
    low = [0] * len(neighbours)
    depth[0] = 0
    found: list[list[Edge]] = []
    waiting: list[Edge] = []
    way = [(0, -1, iter(neighbours[0]))]
    while way:
        node, parent, left = way[-1]
        step = next(left, None)
        if step is None:
            way.pop()
            if way:
                low[parent] = min(low[parent], low[node])
                if low[node] >= depth[parent]:
                    found.append(_taken(waiting, (parent, node)))
        elif depth[step] < 0:
            depth[step] = low[step] = depth[node] + 1
            waiting.append((node, step))
            way.append((step, node, iter(neighbours[step])))
        elif step != parent and depth[step] < depth[node]:
            low[node] = min(low[node], depth[step])
            waiting.append((node, step))
    return found


def _taken(waiting: list[Edge], last: Edge) -> list[Edge]:
    """The edges on top of the stack, down to the last one."""
    block: list[Edge] = []
    while not block or block[-1] != last:
        block.append(waiting.pop())
    return block


def ring_basis(edges: Sequence[Edge]) -> list[int]:
    """A shortest basis of the cycles of a block, each as a mask of edges (bit i: edge i).

    By Horton: the candidates are two shortest paths from a node, closed by an edge.

    >>> ring_basis([(0, 1), (1, 2), (2, 0)])
    [7]
    """
    around: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for bit, (u, v) in enumerate(edges):
        around[u].append((v, 1 << bit))
        around[v].append((u, 1 << bit))
    candidates = set()
    for root in around:
        ways, hops = {root: 0}, {root: 0}
        queue = [root]
        for node in queue:
            for other, bit in around[node]:
                if other not in ways:
                    ways[other], hops[other] = ways[node] | bit, hops[node] + 1
                    queue.append(other)
        for bit, (u, v) in enumerate(edges):
            cycle = ways[u] ^ ways[v] ^ (1 << bit)
            if cycle.bit_count() == hops[u] + hops[v] + 1:
                candidates.add(cycle)
    return _independent(sorted(candidates, key=lambda c: (c.bit_count(), c)),
                        len(edges) - len(around) + 1)  # fmt: skip


def _independent(candidates: Sequence[int], wanted: int) -> list[int]:
    """The first linearly independent cycles."""
    reduced: dict[int, int] = {}
    chosen = []
    for cycle in candidates:
        rest = cycle
        while rest:
            top = rest.bit_length()
            if top not in reduced:
                reduced[top] = rest
                chosen.append(cycle)
                break
            rest ^= reduced[top]
        if len(chosen) == wanted:
            break
    return chosen


def _outer_faces(blocks: Sequence[Sequence[Edge]], n_nodes: int) -> list[list[int]] | None:
    """The nodes around each block, in order, among them all that it shares with other blocks."""
    n_blocks = np.zeros(n_nodes, dtype=np.int64)
    for block in blocks:
        n_blocks[list({node for edge in block for node in edge})] += 1
    faces = []
    for block in blocks:
        if len(block) == 1:
            faces.append(list(block[0]))
            continue
        face = _outer_face(block, {n for e in block for n in e if n_blocks[n] > 1})
        if face is None:
            return None
        faces.append(face)
    return faces


def _outer_face(block: Sequence[Edge], shared: set[int]) -> list[int] | None:
    n_nodes = len({node for edge in block for node in edge})
    if n_nodes * len(block) > _LARGEST_BLOCK:
        return None
    rings = ring_basis(block)
    outside = twice = 0
    for ring in rings:
        if ring & twice:
            return None  # an edge in three rings: these are not the faces of a drawing
        twice |= ring & outside
        outside ^= ring
    candidates = []
    for mask in [outside, *rings]:
        face = _as_cycle(mask, block)
        if face is not None and shared <= set(face):
            candidates.append(face)
    return max(candidates, key=len, default=None)


def _as_cycle(mask: int, edges: Sequence[Edge]) -> list[int] | None:
    """The nodes of a set of edges in order, if it is one simple cycle."""
    around: dict[int, list[int]] = defaultdict(list)
    for bit, (u, v) in enumerate(edges):
        if mask >> bit & 1:
            around[u].append(v)
            around[v].append(u)
    if not around or any(len(ends) != 2 for ends in around.values()):
        return None
    first = next(iter(around))
    cycle, last, node = [first], first, around[first][0]
    while node != first:
        cycle.append(node)
        a, b = around[node]
        last, node = node, (b if a == last else a)
    return cycle if len(cycle) == len(around) else None


def _around(faces: Sequence[Sequence[int]], n_nodes: int) -> list[int]:
    """All nodes on outer faces, in the order of a walk around the whole graph."""
    if not faces:
        return list(range(n_nodes))
    at_node: dict[int, list[int]] = defaultdict(list)
    for position, face in enumerate(faces):
        for node in face:
            at_node[node].append(position)
    order: list[int] = []
    waiting = [(min(at_node), -1)]
    while waiting:
        node, came_from = waiting.pop()
        order.append(node)
        for position in at_node[node]:
            if position != came_from:
                face = list(faces[position])
                begin = face.index(node)
                walk = [*face[begin + 1 :], *face[:begin]]
                waiting.extend((other, position) for other in reversed(walk))
    return order


def _place_enclosed(points: Floats, block: Sequence[Edge], face: Sequence[int]) -> None:
    """Place the nodes inside a block at the means of their neighbours, all at once."""
    inside = sorted({node for edge in block for node in edge} - set(face))
    if not inside:
        return
    place = {node: row for row, node in enumerate(inside)}
    system = np.zeros((len(inside), len(inside)))
    known = np.zeros((len(inside), 2))
    for u, v in block:
        for node, other in ((u, v), (v, u)):
            if node in place:
                system[place[node], place[node]] += 1
                if other in place:
                    system[place[node], place[other]] -= 1
                else:
                    known[place[node]] += points[other]
    points[inside] = np.linalg.solve(system, known)
