"""Kernels written as text: ``wl(n_iter=3) * sp + 0.5 * vertex``.

A small part of Python's syntax, read by `ast.parse`; nothing is evaluated:

    expression := term {"+" term}
    term       := factor {"*" factor}
    factor     := NUMBER | NAME ["(" argument {"," argument} ")"] | "(" expression ")"
    argument   := PARAMETER "=" value | expression        (the latter is the base of a kernel, or
                  the embedding of ``rbf(netlsd)``)
    value      := NUMBER | TEXT | True | False | None | word | "[" value {"," value} "]"
                  | expression with parentheses

Kernels that are added or multiplied are members; one that does not say ``normalize=`` is
Tanimoto-normalised first, because sums of plain values are those of the member with the largest
values. Names are those of the registry, which passes texts that are not plain names to this module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from gramlet.kernels import registry
from gramlet.kernels.contract.tags import GraphTags, graph_tags, is_embedding

_HYPHEN = "\N{LATIN LETTER DENTAL CLICK}"  # a letter of one place, for hyphens inside names
_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|(?<![\w.])[A-Za-z_]\w*(?:-\w+)+")
_BRACKETS = re.compile(r"'[^']*'|\"[^\"]*\"|[()\[\]]")
_WORD = re.compile(r"\s*([\w.-]+|\S)")
_TWO_VALUES = re.compile(r"[\w.-]+\s+")
_WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None, "none": None}
# The largest length and depth of an expression and the largest factor; more is a mistake.
_LONGEST, _DEEPEST, _LARGEST = 10_000, 50, 1e100


class ExpressionError(ValueError):
    """Error for a kernel expression that cannot be parsed; a caret shows the place."""

    # The command line prints messages on one line, unless they have this attribute.
    keeps_lines = True


def parse_kernel(text: str) -> Any:
    """The kernel that a text describes: names, ``+``, ``*``, numbers, parentheses, parameters.

    Parameters
    ----------
    text : str
        For instance ``"wl"``, ``"wl(n_iter=3) * sp"``, ``"2 * (vertex + edge)"``, or ``"core(wl)"``
        for a kernel over another one, its ``base``.

    Returns
    -------
    estimator
        A new, unfitted kernel (or embedding, if the text is the name of one).

    Raises
    ------
    ExpressionError
        A `ValueError` that shows the place of the mistake.

    Examples
    --------
    >>> from gramlet.kernels.expression import parse_kernel
    >>> parse_kernel("wl(n_iter=3, normalize=False) + 0.5 * vertex")
    KernelSum(kernels=[WeisfeilerLehman(n_iter=3),
                       VertexHistogram(normalize='tanimoto')],
              weights=[1.0, 0.5])
    >>> parse_kernel("wl + vertexx")
    Traceback (most recent call last):
    ...
    gramlet.kernels.expression.ExpressionError: No kernel is called 'vertexx' (at position 5). \
Did you mean 'vertex'?
      wl + vertexx
           ^
    """
    return _Parser(text).kernel()


def estimator_of(kernel: Any, **params: Any) -> Any:
    """A new estimator from a name, an expression or an estimator (cloned), with parameters.

    >>> estimator_of("wl", n_iter=2)
    WeisfeilerLehman(n_iter=2)
    """
    if isinstance(kernel, str):
        return registry.make(kernel, **params)
    graph_tags(kernel)  # raises an error for anything that is no estimator of gramlet
    from sklearn.base import clone

    return clone(kernel).set_params(**params)


def normalized_by_name(kernel: Any, **params: Any) -> Any:
    """A new estimator as `estimator_of` makes it; a kernel given by name is Tanimoto-normalised.

    That is not done where ``normalize`` is given, for sums and products (their members are
    normalised), for kernels with k(G, G) = 1 and for embeddings.

    >>> normalized_by_name("wl")
    WeisfeilerLehman(normalize='tanimoto')
    >>> normalized_by_name("wl(normalize=False)"), normalized_by_name("wwl")
    (WeisfeilerLehman(), WassersteinWL())
    """
    estimator = estimator_of(kernel, **params)
    if not isinstance(kernel, str) or "normalize" in params:
        return estimator
    plain = registry.find(kernel) is not None or _says_nothing_of_normalize(kernel)
    return with_tanimoto(estimator) if plain else estimator


def with_tanimoto(estimator: Any) -> Any:
    """The estimator with Tanimoto normalisation, if it is a kernel that is not normalised yet."""
    tags = graph_tags(estimator)
    if tags.kind == "kernel" and not tags.unit and not estimator.normalize:
        estimator.set_params(normalize="tanimoto")
    return estimator


def _says_nothing_of_normalize(text: str) -> bool:
    """Whether a text is one kernel, neither a sum nor a product, without ``normalize=``."""
    tree = _Parser(text)._tree()
    return isinstance(tree, ast.Call) and all(word.arg != "normalize" for word in tree.keywords)


@dataclass(frozen=True)
class ExpressionEntry(registry.Entry):
    """An expression that is used like a row of the registry."""

    @property
    def kind(self) -> Literal["kernel", "embedding"]:
        """Whether the text describes a kernel or an embedding."""
        return graph_tags(self.make()).kind

    @property
    def tags(self) -> GraphTags:
        """The tags of the estimator."""
        return graph_tags(self.make())

    def cls(self) -> type:
        """The class of the estimator."""
        return type(self.make())

    def make(self, **params: Any) -> Any:
        """A new estimator with the given parameters."""
        estimator = parse_kernel(self.name)
        allowed = estimator.get_params()
        for name in params:
            if name not in allowed:
                raise ValueError(
                    f"Kernel {self.name!r} ({type(estimator).__name__}) has no parameter {name!r}. "
                    f"It has: {', '.join(sorted(allowed))}."
                )
        return estimator.set_params(**params)


def entry_of(text: str) -> ExpressionEntry:
    """A registry row for an expression; raises ExpressionError if it cannot be parsed."""
    estimator = parse_kernel(text)
    return ExpressionEntry(
        text, __name__, type(estimator).__name__, "combined", f"the kernel {text}", ""
    )


class _Parser:
    """Turns one text into an estimator, through Python's syntax tree and a white list."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = len(text) - len(text.lstrip())

    def kernel(self) -> Any:
        if len(self.text) > _LONGEST:
            raise ExpressionError(
                f"A kernel expression has at most {_LONGEST} characters; got {len(self.text)}."
            )
        if not self.text.strip():
            raise self._error("The kernel expression is empty", 0)
        tree = self._tree()
        return self._as_kernel(self._expression(tree), tree)

    def _tree(self) -> ast.expr:
        self._check_depth()
        # One line, in which every character keeps its place.
        plain = re.sub(r"\s", " ", _NAMES.sub(_without_hyphens, self.text)).strip()
        self.plain = plain
        try:
            return ast.parse(plain, mode="eval").body
        except SyntaxError as why:
            raise self._unreadable(why) from None
        except (ValueError, RecursionError, MemoryError):
            raise ExpressionError("The kernel expression is too long or cannot be read.") from None

    def _check_depth(self) -> None:
        depth = 0
        for match in _BRACKETS.finditer(self.text):
            depth += (match[0] in "([") - (match[0] in ")]")
            if depth > _DEEPEST:
                raise self._error("Parentheses are nested too deeply", match.start())

    def _unreadable(self, why: SyntaxError) -> ExpressionError:
        # Python may blame "wl sp" as a whole; what follows the first name is the mistake.
        offset = why.offset or len(self.plain) + 1  # 0: at the end
        place = self.start + offset - 1
        two = _TWO_VALUES.match(self.text, place) if "forgot a comma" in why.msg else None
        place = two.end() if two else place
        word = _WORD.match(self.text, place)
        if "never closed" in why.msg:
            return self._error(f"{self.text[place]!r} is still open at the end", place)
        if place >= len(self.text.rstrip()) or word is None:
            return self._error("Expected a kernel or a value, found the end", len(self.text))
        return self._error(
            f"Expected '+', '*', a value or the end, found {word[1]!r}", place, self._meant()
        )

    def _error(self, message: str, at: ast.AST | int, hint: str = "") -> ExpressionError:
        place = at if isinstance(at, int) else self._place(at)
        line = re.sub(r"\s", " ", self.text)
        return ExpressionError(
            f"{message} (at position {place}).{hint}\n  {line}\n  {' ' * place}^"
        )

    def _place(self, node: Any) -> int:
        # Python counts bytes.
        return self.start + len(self.plain.encode()[: node.col_offset].decode())

    def _meant(self) -> str:
        """A hint that the whole text may be meant as one name, if it has no operators."""
        combines = not set(self.text).isdisjoint("+*()")
        return "" if combines else registry.unknown_name(self.text.strip())[1]

    # Kernels

    def _as_kernel(self, value: Any, node: ast.expr) -> Any:
        if isinstance(value, float):
            raise self._error(
                "A number is not a kernel; it can be a factor, as in '0.5 * wl'", node
            )
        return value

    def _expression(self, node: ast.expr) -> Any:
        """A kernel, or a number that is a factor."""
        if isinstance(node, ast.BinOp):
            return self._combined(node)
        if isinstance(node, ast.Name):
            return self._named(node, node, [], [])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._named(node, node.func, node.args, node.keywords)
        number = _number(node)
        if number is None:
            raise self._error("Expected a kernel's name, a number or '('", node)
        if not 0 <= number <= _LARGEST:
            raise self._error(f"A factor must be finite, at least 0 and at most {_LARGEST:g}", node)
        return float(number)

    def _combined(self, node: ast.BinOp) -> Any:
        chain: list[ast.BinOp] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp):  # long sums are deep trees
            chain.append(first)
            first = first.left
        value = self._member(first)
        for step in reversed(chain):
            if not isinstance(step.op, ast.Add | ast.Mult):
                raise self._no_operator(step)
            other = self._member(step.right)
            for part, at in ((value, first), (other, step.right)):
                if isinstance(step.op, ast.Add):
                    self._as_kernel(part, at)
            value = value + other if isinstance(step.op, ast.Add) else value * other
            weights = [value] if isinstance(value, float) else getattr(value, "weights", None) or []
            if any(not weight <= _LARGEST for weight in weights):
                raise self._error(f"The product of the factors exceeds {_LARGEST:g}", step.right)
        return value

    def _member(self, node: ast.expr) -> Any:
        """A part of a sum or product: a factor, or a kernel, normalised if it is a single one."""
        value = self._expression(node)
        if isinstance(value, float) or isinstance(node, ast.BinOp):
            return value
        if is_embedding(value):
            raise self._error(
                "An embedding cannot be added or multiplied; kernels can, such as rbf(netlsd)", node
            )
        words = node.keywords if isinstance(node, ast.Call) else []
        said = any(word.arg == "normalize" for word in words)
        return value if said else with_tanimoto(value)

    def _no_operator(self, node: ast.BinOp) -> ExpressionError:
        after = len(self.plain.encode()[: node.left.end_col_offset].decode())
        place = re.compile(r"[\s)]*").match(self.plain, after).end()  # type: ignore[union-attr]
        found = self.plain[place]
        return self._error(f"Expected '+' or '*', found {found!r}", self.start + place)

    def _named(
        self, node: ast.expr, func: ast.Name, args: list[ast.expr], keywords: list[ast.keyword]
    ) -> Any:
        name = func.id.replace(_HYPHEN, "-")
        if name == "rbf":
            return self._rbf(func, args, keywords)
        if registry.find(name) is None:
            fact, hint = registry.unknown_name(name)
            known = ", ".join(row.name for row in registry.entries())
            raise self._error(fact, func, hint or self._meant() or f" There are: {known}.")
        row = registry.get(name)
        what, allowed = f"Kernel {name!r} ({row.class_name})", row.make().get_params()
        return row.make(**self._parameters(what, allowed, "base", args, keywords))

    def _rbf(self, func: ast.Name, args: list[ast.expr], keywords: list[ast.keyword]) -> Any:
        """``rbf(netlsd)``: the kernel of an embedding's features."""
        from gramlet.kernels.composite.embedding_kernel import EmbeddingKernel

        allowed = set(EmbeddingKernel._get_param_names()) - {"metric"}
        params = self._parameters("Kernel 'rbf'", allowed, "embedding", args, keywords)
        embedding = params.get("embedding")
        if embedding is None or isinstance(embedding, str) or not is_embedding(embedding):
            raise self._error("'rbf' takes an embedding, as in 'rbf(netlsd)'", func)
        return EmbeddingKernel(**params)

    def _parameters(
        self,
        owner: str,
        allowed: Collection[str],
        first: str,
        args: list[ast.expr],
        keywords: list[ast.keyword],
    ) -> dict[str, Any]:
        """The parameters of a call; an argument without a name is the parameter ``first``."""
        params: dict[str, Any] = {}
        given = [(first, arg, arg) for arg in args]
        for key, value, at in [*given, *((word.arg, word.value, word) for word in keywords)]:
            if key is None or isinstance(value, ast.Starred):
                raise self._error("'*' is not followed by a kernel", at)
            if key in params:
                raise self._error(f"The parameter {key!r} is given twice", at)
            if key not in allowed:
                what = f"takes no {first}" if key == first else f"has no parameter {key!r}"
                hint = f" It has: {', '.join(sorted(allowed))}."
                raise self._error(f"{owner} {what}", at, hint)
            base = isinstance(at, ast.expr)
            params[key] = (
                self._as_kernel(self._expression(value), value) if base else (self._value(value))
            )
        return params

    def _value(self, node: ast.expr) -> Any:
        """The value of a parameter: a number, a text, a word, a list, or a kernel."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bool | None):
            return node.value
        number = _number(node)
        if number is not None:
            return number
        if isinstance(node, ast.Name):
            return _WORDS.get(node.id, node.id.replace(_HYPHEN, "-"))
        if isinstance(node, ast.List):
            return [self._value(item) for item in node.elts]
        if isinstance(node, ast.Tuple):
            return tuple(self._value(item) for item in node.elts)
        return self._as_kernel(self._expression(node), node)


def _number(node: ast.expr) -> int | float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        sign = -1 if isinstance(node.op, ast.USub) else 1
        node = node.operand
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return sign * value


def _without_hyphens(match: re.Match[str]) -> str:
    return match[0] if match[0][0] in "'\"" else match[0].replace("-", _HYPHEN)
