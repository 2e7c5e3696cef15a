"""The gap-weighted subsequence kernel on strings and other sequences of tokens.

Checks the input and converts tokens to integer codes; the recursion is in
`gramlet.engine.sequences.subsequences`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import accumulate
from numbers import Real
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.sequences.subsequences import Strings, subsequence_value, subsequence_values
from gramlet.paths.inputs import whole_number


def subsequence(s: Any, t: Any, n: int, decay: float = 0.5) -> float:
    r"""Gap-weighted subsequence kernel of two strings.

    .. math:: k(s, t) = \sum_{u} \Phi_u(s) \Phi_u(t), \qquad
        \Phi_u(s) = \sum_{I : s[I] = u} \lambda^{i_n - i_1 + 1},

    over all u of n tokens: common subsequences need not be contiguous, but have a lower weight the
    wider they are spread. Cost: O(n·len(s)·len(t)).

    Parameters
    ----------
    s, t : str or sequence of hashable tokens
        See `subsequence_gram`.
    n : int
        Number of tokens of the subsequences, at least 1. If a string has fewer than n tokens, the
        value is 0.
    decay : float, default 0.5
        The λ of the formula, in (0, 1].

    Returns
    -------
    float

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, *Text classification
    using string kernels*, JMLR 2, 2002.

    Examples
    --------
    "Nasdaq" contains "asd" once, at 3 consecutive places: Φ = λ³. The same is true of "asd".

    >>> from gramlet.paths import subsequence
    >>> subsequence("asd", "Nasdaq", 3, decay=0.5) == 0.5**3 * 0.5**3
    True

    "lassodimension" contains it twice, spread over 5 places: Φ = 2λ⁵.

    >>> subsequence("asd", "lassodimension", 3, decay=0.5) == 0.5**3 * 2 * 0.5**5
    True

    Tokens may be words, or anything hashable.

    >>> subsequence(["the", "old", "cat"], ["the", "cat"], 2, decay=0.5)
    0.03125
    """
    n, decay = _check_parameters(n, decay, "subsequence")
    rows, columns = _encode([[s], [t]], ["s", "t"], "subsequence")
    value = subsequence_value(rows.codes, columns.codes, n, decay)
    if math.isinf(value):
        raise ValueError(
            "subsequence of s and t exceeds the largest float64; use a smaller decay or n, or "
            "subsequence_gram([s], [t], ..., normalize=True)."
        )
    return value


def subsequence_gram(
    S: Iterable[Any],
    T: Iterable[Any] | None = None,
    *,
    n: int,
    decay: float,
    normalize: bool = False,
    n_jobs: int | None = None,
) -> Floats:
    r"""Gap-weighted subsequence kernel of every string of S with every string of T.

    .. math:: k(s, t) = \sum_{u} \Phi_u(s) \Phi_u(t), \qquad
        \Phi_u(s) = \sum_{I : s[I] = u} \lambda^{i_n - i_1 + 1}

    over all u of n tokens. Cost: O(n·len(s)·len(t)) per pair. Normalised values are accurate for
    any λ^n and any number of subsequences, as the recursion neither underflows nor overflows.

    Parameters
    ----------
    S : collection of str or of sequences of hashable tokens
        Two tokens are the same if they are equal in Python, in any kind of sequence: "ab" equals
        ["a", "b"]; 1, 1.0 and True are one token; 1 and "1" are two. The tokens of bytes are ints.
    T : collection, default S
    n : int
        Number of tokens of the subsequences, at least 1. The value of a string with fewer than n
        tokens (such as the empty string) is 0 with every string, including itself.
    decay : float
        The λ of the formula, in (0, 1].
    normalize : bool, default False
        Divide by sqrt(k(s, s) k(t, t)); if that is 0, the value is 0.
    n_jobs : int or None, default None
        Number of threads, as in joblib; the result does not depend on it.

    Returns
    -------
    ndarray of shape (len(S), len(T))

    References
    ----------
    H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, *Text classification
    using string kernels*, JMLR 2, 2002.

    Examples
    --------
    "cat" and "car" share only "ca", λ⁴; with themselves they have λ⁴ + λ⁴ + λ⁶.

    >>> from gramlet.paths import subsequence_gram
    >>> subsequence_gram(["cat", "car", "dog"], n=2, decay=1.0)
    array([[3., 1., 0.],
           [1., 3., 0.],
           [0., 0., 3.]])
    >>> subsequence_gram(["cat", "car"], n=2, decay=0.5, normalize=True).round(4)
    array([[1.    , 0.4444],
           [0.4444, 1.    ]])

    In scikit-learn:

    >>> from sklearn.svm import SVC
    >>> words, y = ["banana", "bandana", "cactus", "cactoid"], [0, 0, 1, 1]
    >>> model = SVC(kernel="precomputed").fit(subsequence_gram(words, n=3, decay=0.8), y)
    >>> model.predict(subsequence_gram(["ananas", "tactus"], words, n=3, decay=0.8))
    array([0, 1])
    """
    n, decay = _check_parameters(n, decay, "subsequence_gram")
    same = T is None or T is S
    collections = [S] if same else [S, T]
    rows, *rest = _encode(collections, ["S[{}]", "T[{}]"], "subsequence_gram")
    columns = rest[0] if rest else None
    values = subsequence_values(rows, columns, n, decay, bool(normalize), n_jobs)
    if values.size and math.isinf(values.max()):
        i, j = np.unravel_index(values.argmax(), values.shape)
        raise ValueError(
            f"subsequence_gram of S[{i}] and {'S' if same else 'T'}[{j}] exceeds the largest "
            "float64; use normalize=True, or a smaller decay or n."
        )
    return values


def _check_parameters(n: Any, decay: Any, function: str) -> tuple[int, float]:
    if not isinstance(decay, Real):
        raise TypeError(f"decay of {function} must be a number in (0, 1]; got {decay!r}.")
    factor = float(decay)
    if not 0.0 < factor <= 1.0:
        raise ValueError(f"decay of {function} must be in (0, 1]; got {decay!r}.")
    return whole_number(n, f"n of {function}", 1), factor


def _encode(collections: Sequence[Any], names: Sequence[str], function: str) -> list[Strings]:
    """Every collection as integer codes of a common alphabet."""
    listed = [
        _as_lists(collection, name, function)
        for collection, name in zip(collections, names, strict=False)
    ]
    if all(isinstance(string, str) for strings in listed for string in strings):
        return [_code_points(strings) for strings in listed]
    index: dict[Hashable, int] = {}
    return [
        _codes(strings, index, name, function) for strings, name in zip(listed, names, strict=False)
    ]


def _as_lists(collection: Any, name: str, function: str) -> list[Any]:
    if isinstance(collection, str | bytes | Mapping | Set) or not isinstance(collection, Iterable):
        raise TypeError(
            f"{name[0]} of {function} must be an ordered collection of strings; got "
            f"{type(collection).__name__}. Give a single string as a list: [string]."
        )
    strings = list(collection)
    for position, string in enumerate(strings):
        if isinstance(string, Mapping | Set) or not isinstance(string, Iterable):
            raise TypeError(
                f"{name.format(position)} of {function} must be a string or a sequence of "
                f"tokens; got {type(string).__name__}."
            )
    return [string if isinstance(string, str) else _tokens(string) for string in strings]


def _tokens(sequence: Any) -> list[Any]:
    return sequence.tolist() if isinstance(sequence, np.ndarray) else list(sequence)


def _starts(strings: Sequence[Any]) -> Ints:
    return np.array([0, *accumulate(len(string) for string in strings)], dtype=np.int64)


def _code_points(strings: Sequence[str]) -> Strings:
    joined = "".join(strings).encode("utf-32-le", "surrogatepass")
    return Strings(np.frombuffer(joined, dtype="<u4").astype(np.int64), _starts(strings))


def _codes(strings: Sequence[Any], index: dict[Hashable, int], name: str, function: str) -> Strings:
    codes: list[int] = []
    for position, tokens in enumerate(strings):
        for token in tokens:
            try:
                codes.append(index.setdefault(token, len(index)))
            except TypeError:
                raise TypeError(
                    f"{name.format(position)} of {function} has a token of type "
                    f"{type(token).__name__}; tokens must be hashable (strings, ints, tuples)."
                ) from None
            if token != token:
                raise ValueError(
                    f"{name.format(position)} of {function} has a NaN among its tokens; NaN is "
                    "not equal to itself, so it cannot be a token."
                )
    return Strings(np.array(codes, dtype=np.int64), _starts(strings))
