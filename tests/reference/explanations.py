"""What patterns add to a decision, by plain loops over graphs, fitted graphs and patterns."""

from __future__ import annotations

import numpy as np


def contributions(counts, fitted, dual, measure, how, n_known):
    """Σ_i α_i c_p(G, G_i) / d(G, G_i), shape (graphs, patterns).

    ``counts`` and ``fitted`` are dense; columns of ``counts`` from ``n_known`` on are not in
    ``fitted``, but part of a graph's own norm.
    """

    def term(x, y):
        return x * y if measure == "dot" else min(x, y)

    norms = [sum(term(x, x) for x in row) for row in fitted]
    out = np.zeros((len(counts), n_known))
    for g, row in enumerate(counts):
        own = sum(term(x, x) for x in row)
        for i, other in enumerate(fitted):
            terms = [term(x, y) for x, y in zip(row[:n_known], other[:n_known], strict=True)]
            divisor = 1.0
            if how == "tanimoto":
                divisor = own + norms[i] - sum(terms)
            elif how == "cosine":
                divisor = np.sqrt(own * norms[i])
            for p, value in enumerate(terms):
                out[g, p] += dual[i] * value / divisor if divisor else 0.0
    return out
