"""Kernels written as text: ``wl(n_iter=3) * sp + 0.5 * vertex``.

A small grammar with its own parser; nothing is evaluated as Python:

    expression := term {"+" term}
    term       := factor {"*" factor}
    factor     := NUMBER | NAME ["(" argument {"," argument} ")"] | "(" expression ")"
    argument   := PARAMETER "=" value | expression        (the latter is the base of a kernel)
    value      := NUMBER | TEXT | True | False | None | word | "[" value {"," value} "]"
                  | expression with parentheses

Names are those of the registry, which passes texts that are not plain names to this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gramlet.kernels import registry
from gramlet.kernels.contract.tags import GraphTags, graph_tags, is_embedding

__all__ = ["ExpressionEntry", "ExpressionError", "entry_of", "estimator_of", "parse_kernel"]

_TOKENS = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*(?:-\w+)*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign>[-+*(),=\[\]]))"
)
_WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None, "none": None}
# The largest length and depth of an expression; more is a mistake.
_LONGEST, _DEEPEST = 10_000, 50


class ExpressionError(ValueError):
    """Error for a kernel expression that cannot be parsed; a caret shows the place."""

    # The command line prints messages on one line, unless they have this attribute.
    keeps_lines = True


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


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
    >>> parse_kernel("wl(n_iter=3) + 0.5 * vertex")
    KernelSum(kernels=[WeisfeilerLehman(n_iter=3), VertexHistogram()],
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
    """Parses one text, token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.tokens = self._tokens()
        self.at = 0

    def _tokens(self) -> list[_Token]:
        if len(self.text) > _LONGEST:
            raise ExpressionError(
                f"A kernel expression has at most {_LONGEST} characters; got {len(self.text)}."
            )
        found: list[_Token] = []
        place = 0
        end = len(self.text.rstrip())
        while place < end:
            match = _TOKENS.match(self.text, place)
            if match is None:
                place += len(self.text[place:]) - len(self.text[place:].lstrip())
                raise self._error(f"{self.text[place]!r} cannot be read", place)
            kind = str(match.lastgroup)
            # "a+1" is a sum; a sign belongs to a number only if no value precedes it.
            if kind == "number" and match[kind][0] in "-+" and _ends_a_value(found):
                found.append(_Token("sign", match[kind][0], match.start(kind)))
                place = match.start(kind) + 1
                continue
            found.append(_Token(kind, match[kind], match.start(kind)))
            place = match.end()
        return [*found, _Token("end", "", len(self.text))]

    # Tokens

    @property
    def now(self) -> _Token:
        return self.tokens[self.at]

    def _next(self) -> _Token:
        token = self.now
        self.at += token.kind != "end"
        return token

    def _takes(self, sign: str) -> bool:
        if self.now.kind == "sign" and self.now.text == sign:
            self.at += 1
            return True
        return False

    def _expect(self, sign: str, opened: _Token) -> None:
        if not self._takes(sign):
            found = repr(self.now.text) if self.now.text else "the end"
            raise self._error(
                f"Expected {sign!r} or ',' or an operator, found {found}", self.now.place,
                f" {opened.text!r} at position {opened.place} is still open."
            )  # fmt: skip

    def _error(self, message: str, place: int, hint: str = "") -> ExpressionError:
        line = self.text.replace("\n", " ").replace("\t", " ")
        return ExpressionError(
            f"{message} (at position {place}).{hint}\n  {line}\n  {' ' * place}^"
        )

    def _meant(self) -> str:
        """A hint that the whole text may be meant as one name, if it has no operators."""
        combines = not set(self.text).isdisjoint("+*()")
        return "" if combines else registry.unknown_name(self.text.strip())[1]

    # The grammar

    def kernel(self) -> Any:
        if self.now.kind == "end":
            raise self._error("The kernel expression is empty", 0)
        first = self.now
        value = self._expression()
        if self.now.kind != "end":
            raise self._error(
                f"Expected '+', '*' or the end, found {self.now.text!r}", self.now.place,
                self._meant()
            )  # fmt: skip
        return self._as_kernel(value, first.place)

    def _as_kernel(self, value: Any, place: int) -> Any:
        if isinstance(value, float):
            raise self._error(
                "A number is not a kernel; it can be a factor, as in '0.5 * wl'", place
            )
        return value

    def _expression(self) -> Any:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error("Parentheses are nested too deeply", self.now.place)
        place = self.now.place
        value = self._term()
        while self._takes("+"):
            left, at = self._as_kernel(value, place), self.now.place
            right = self._as_kernel(self._term(), at)
            value = self._combined(lambda a, b: a + b, left, right, place, at)
        self.depth -= 1
        return value

    def _term(self) -> Any:
        place = self.now.place
        value = self._factor()
        while self._takes("*"):
            at = self.now.place
            value = self._combined(lambda a, b: a * b, value, self._factor(), place, at)
        return value

    def _combined(self, operation: Any, left: Any, right: Any, place: int, at: int) -> Any:
        for value, where in ((left, place), (right, at)):
            if not isinstance(value, float) and is_embedding(value):
                raise self._error("An embedding cannot be added or multiplied; kernels can", where)
        return operation(left, right)

    def _factor(self) -> Any:
        token = self._next()
        if token.kind == "number":
            number = float(token.text)
            if not 0 <= number < float("inf"):
                raise self._error("A factor must be finite and at least 0", token.place)
            return number
        if token.kind == "name":
            return self._named(token)
        if token.kind == "sign" and token.text == "(":
            value = self._expression()
            self._expect(")", token)
            return value
        found = repr(token.text) if token.text else "the end"
        raise self._error(f"Expected a kernel's name, a number or '(', found {found}", token.place)

    def _named(self, name: _Token) -> Any:
        if registry.find(name.text) is None:
            fact, hint = registry.unknown_name(name.text)
            hint = hint or self._meant()
            known = ", ".join(row.name for row in registry.entries())
            raise self._error(fact, name.place, hint or f" There are: {known}.")
        params: dict[str, tuple[Any, int]] = {}
        opened = self.now
        if self._takes("(") and not self._takes(")"):
            self._argument(params)
            while self._takes(","):
                self._argument(params)
            self._expect(")", opened)
        return self._made(name, params)

    def _argument(self, params: dict[str, tuple[Any, int]]) -> None:
        token, after = self.now, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if token.kind == "name" and (after.kind, after.text) == ("sign", "="):
            self.at += 2
            name, value = token.text, self._value()
        else:
            name, value = "base", self._as_kernel(self._expression(), token.place)
        if name in params:
            raise self._error(f"The parameter {name!r} is given twice", token.place)
        params[name] = (value, token.place)

    def _made(self, name: _Token, params: dict[str, tuple[Any, int]]) -> Any:
        row = registry.get(name.text)
        allowed = row.make().get_params()
        for key, (_, place) in params.items():
            if key not in allowed:
                what = "takes no base" if key == "base" else f"has no parameter {key!r}"
                hint = f" It has: {', '.join(sorted(allowed))}."
                raise self._error(f"Kernel {name.text!r} ({row.class_name}) {what}", place, hint)
        return row.make(**{key: value for key, (value, _) in params.items()})

    def _value(self) -> Any:
        """The value of a parameter."""
        token, after = self.now, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if token.kind == "name" and (after.kind, after.text) == ("sign", "("):
            return self._as_kernel(self._expression(), token.place)
        self._next()
        if token.kind == "number":
            return float(token.text) if re.search(r"[.eE]", token.text) else int(token.text)
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "name":
            return _WORDS.get(token.text, token.text)
        if token.text in ("[", "("):
            return self._values(token)
        found = repr(token.text) if token.text else "the end"
        raise self._error(f"Expected a value, found {found}", token.place)

    def _values(self, opened: _Token) -> Any:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error("Brackets are nested too deeply", opened.place)
        closing, values = {"[": "]", "(": ")"}[opened.text], []
        while not self._takes(closing):
            values.append(self._value())
            if not self._takes(","):
                self._expect(closing, opened)
                break
        self.depth -= 1
        return values if opened.text == "[" else tuple(values)


def _ends_a_value(found: list[_Token]) -> bool:
    return bool(found) and (found[-1].kind != "sign" or found[-1].text in ")]")
