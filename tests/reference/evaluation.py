"""Ridge machines by their definition, and small data sets, for the tests of evaluation."""

from __future__ import annotations

import numpy as np

from gramlet import GraphBatch


def points(n: int = 60, n_dims: int = 6, seed: int = 0):
    """Points, their Gram matrix, and a number that depends on them with noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n_dims)) + 2.0
    numbers = x[:, 0] - 0.5 * x[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return x, x @ x.T, numbers


def classes_of(numbers, n_classes: int = 2):
    """Classes by the size of numbers, with some errors."""
    cuts = np.quantile(numbers, np.arange(1, n_classes) / n_classes)
    found = np.digitize(numbers, cuts)
    rng = np.random.default_rng(0)
    wrong = rng.choice(len(found), len(found) // 10, replace=False)
    found[wrong] = rng.integers(n_classes, size=len(wrong))
    return found


def trees(n: int = 40, seed: int = 0):
    """Random labelled trees with edge labels."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 12, size=n)
    edges = [[(k, rng.integers(k)) for k in range(1, size)] for size in sizes]
    labels = [rng.integers(3, size=size).tolist() for size in sizes]
    bonds = [rng.integers(2, size=size - 1).tolist() for size in sizes]
    return GraphBatch.from_edges(edges, node_labels=labels, edge_labels=bonds)


def ridge(gram, cross, targets, penalty):
    """Minimise the squared error and the penalised norm over a function and a bias.

    Solves the normal equations of f(x) = Σ α_i k(x, x_i) + b directly.
    """
    n = len(gram)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = gram + penalty * np.eye(n)
    system[:n, n] = system[n, :n] = 1.0
    right = np.vstack([targets, np.zeros((1, targets.shape[1]))])
    solution = np.linalg.solve(system, right)
    return cross @ solution[:n] + solution[n]


def penalties(gram, costs):
    """The mean self-similarity of the centred matrix divided by C."""
    n = len(gram)
    middle = np.eye(n) - 1.0 / n
    return np.trace(middle @ gram @ middle) / n / np.asarray(costs)


def leave_one_out(gram, targets, penalty):
    """Residuals of each graph from the fit to the others."""
    found = np.empty(targets.shape)
    for i in range(len(gram)):
        rest = np.arange(len(gram)) != i
        told = ridge(gram[np.ix_(rest, rest)], gram[i : i + 1, rest], targets[rest], penalty)
        found[i] = targets[i] - told[0]
    return found


def chosen_cost(gram, targets, costs, of_classes):
    """The C with the least leave-one-out error; the smallest of equal ones."""
    found = []
    for penalty in penalties(gram, costs):
        residuals = leave_one_out(gram, targets, penalty)
        if of_classes:
            told = (targets - residuals).argmax(axis=1)
            found.append(np.count_nonzero(told != targets.argmax(axis=1)))
        else:
            found.append((residuals**2).sum())
    return int(np.argmin(found))


def plain_process(gram, y):
    """The Gaussian process of largest likelihood: ln p, mean, a², noise and (K + s I)⁻¹."""
    n = len(y)
    ones = np.ones(n)
    best = None
    for j in range(8, -17, -1):  # ties go to the larger noise
        noise = np.diag(gram).mean() * 10 ** (j / 4)
        inverse = np.linalg.inv(gram + noise * np.eye(n))
        mean = ones @ inverse @ y / (ones @ inverse @ ones)
        square = (y - mean) @ inverse @ (y - mean) / n
        _, determinant = np.linalg.slogdet(gram + noise * np.eye(n))
        likelihood = -0.5 * (n * np.log(2 * np.pi * square) + determinant + n)
        if best is None or likelihood > best[0]:
            best = likelihood, mean, square, noise, inverse
    return best
