"""Kernel ridge regression and classification with a bias, by solving the whole system.

Leave-one-out trains without each row in turn; closed forms are compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reference.combine import centred


def fit_ridge(K: np.ndarray, Y: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """(α, b) that minimise ‖Y − Kα − b‖² + penalty·αᵀKα, by the bordered system.

    (K + penalty·I) α + b = Y and Σα = 0: the penalised function is centred, the bias is free.
    """
    n = len(K)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K + penalty * np.eye(n)
    system[:n, n] = system[n, :n] = 1.0
    right = np.zeros((n + 1, Y.shape[1]))
    right[:n] = Y
    solution = np.linalg.solve(system, right)
    return solution[:n], solution[n]


def predict_ridge(K_train: np.ndarray, Y, K_new: np.ndarray, penalty: float) -> np.ndarray:
    """Predictions for new rows; Y is one column or several."""
    Y = np.asarray(Y, dtype=float)
    columns = Y.reshape(len(Y), -1)
    coefficients, bias = fit_ridge(np.asarray(K_train, float), columns, penalty)
    values = np.asarray(K_new, float) @ coefficients + bias
    return values.reshape((len(K_new), *Y.shape[1:]))


def predict_ridge_centred(K_train, y, K_new, penalty: float) -> np.ndarray:
    """The same in centred form: K_c α = y − ȳ with penalty, rows centred by the training part."""
    K_train, K_new, y = (np.asarray(part, dtype=float) for part in (K_train, K_new, y))
    coefficients = np.linalg.solve(
        centred(K_train) + penalty * np.eye(len(K_train)), y - y.mean(axis=0)
    )
    rows = K_new - K_new.mean(axis=1, keepdims=True) - K_train.mean(axis=0) + K_train.mean()
    return rows @ coefficients + y.mean(axis=0)


def leave_one_out(K: np.ndarray, Y, penalty: float) -> np.ndarray:
    """The prediction of each row by the machine trained on all other rows."""
    K, Y = np.asarray(K, dtype=float), np.asarray(Y, dtype=float)
    predictions = np.zeros_like(Y)
    for i in range(len(K)):
        rest = [j for j in range(len(K)) if j != i]
        predictions[i] = predict_ridge(K[np.ix_(rest, rest)], Y[rest], K[[i]][:, rest], penalty)[0]
    return predictions


def penalties(K: np.ndarray, C: Sequence[float]) -> list[float]:
    """(trace of the centred training matrix / n) / C."""
    return [float(np.trace(centred(np.asarray(K, dtype=float)))) / len(K) / c for c in C]


def one_hot(y) -> tuple[np.ndarray, list]:
    """One column per class, and the classes in sorted order."""
    classes = sorted(set(y))
    return np.array([[float(value == c) for c in classes] for value in y]), classes


def loo_scores(K, y, C: Sequence[float], task: str) -> list[float]:
    """The leave-one-out score of each C, larger is better: −mean squared error, or accuracy."""
    scores = []
    for penalty in penalties(K, C):
        if task == "regression":
            errors = np.asarray(y, dtype=float) - leave_one_out(K, y, penalty)
            scores.append(-float(np.mean(errors**2)))
        else:
            Y, classes = one_hot(y)
            chosen = leave_one_out(K, Y, penalty).argmax(axis=1)
            scores.append(float(np.mean([classes[c] == v for c, v in zip(chosen, y, strict=True)])))
    return scores


def choose_penalty(K, y, C: Sequence[float], task: str) -> float:
    """The penalty with the best leave-one-out score; the largest of equal ones."""
    scores = loo_scores(K, y, C, task)
    best = max(scores)
    return max(p for p, score in zip(penalties(K, C), scores, strict=True) if score == best)


def ridge_predictions(K_train, y, K_new, C: Sequence[float], task: str) -> np.ndarray:
    """Predictions for new rows; the penalty is chosen inside the training part."""
    penalty = choose_penalty(K_train, y, C, task)
    if task == "regression":
        return predict_ridge(K_train, y, K_new, penalty)
    Y, classes = one_hot(y)
    return np.array([classes[c] for c in predict_ridge(K_train, Y, K_new, penalty).argmax(axis=1)])


def scaled_features(train: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both centred by the training part and divided by the root mean square of its row lengths."""
    mean = train.mean(axis=0)
    squares = [float(row @ row) for row in train - mean]
    scale = float(np.sqrt(np.mean(squares))) or 1.0
    return (train - mean) / scale, (new - mean) / scale
