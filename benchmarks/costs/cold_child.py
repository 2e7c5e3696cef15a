"""The process that `cold` measures: one matrix of one kernel, with no other imports.

``python -m benchmarks.costs.cold_child KERNEL FILE`` writes the matrix to the file.
"""

from __future__ import annotations

import sys

NOT_THERE = 3  # the exit code for a kernel that a revision does not have
_GRAPHS = 30


def compute(name: str, place: str) -> int:
    """Write the matrix of 30 graphs of MUTAG; returns the exit code of the process."""
    import numpy as np

    from benchmarks.data import WITH_ATTRIBUTES, sample
    from gramlet.kernels import registry

    if name not in {entry.name for entry in registry.entries()}:
        return NOT_THERE
    graphs, y = sample("MUTAG", _GRAPHS, name in WITH_ATTRIBUTES)
    matrix = registry.get(name).make().fit_transform(graphs, y)
    np.save(place, np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix))
    return 0


if __name__ == "__main__":
    sys.exit(compute(*sys.argv[1:]))
