"""What ``gramlet evaluate`` prints and writes: head, table, remarks and the JSON file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gramlet._version import __version__
from gramlet.cli.results.output import console
from gramlet.cli.wording import with_options
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.evaluation import Protocol, Result
    from gramlet.evaluation.protocols.task import Target
    from gramlet.files.dataset import Dataset

__all__ = ["Report"]

# Scorers that depend on which of two classes counts as positive.
_OF_ONE_CLASS = ("f1", "precision", "recall", "jaccard", "average_precision")


@dataclass(frozen=True)
class Report:
    """The output of an evaluation, as text, table and JSON.

    Parameters
    ----------
    data : Dataset
    target : Target
    protocol : Protocol
    """

    data: Dataset
    target: Target
    protocol: Protocol

    def head(self) -> list[str]:
        """The data and the protocol, on one line each."""
        graphs, target = self.data.graphs, self.target
        lines = [
            f"{self.data.name}: {len(graphs)} graphs, {graphs.sizes.mean():.1f} nodes and "
            f"{graphs.n_edges.mean():.1f} edges on average, {self._target()}"
        ]
        left_out = len(target.plain) - len(target.kept)
        if left_out:
            lines.append(f"{left_out} graphs of smaller classes are left out")
        lines.append(f"{self.protocol.describe()}; seed {self.protocol.random_state}")
        return lines

    def _target(self) -> str:
        target = self.target
        if target.task == "classification":
            return f"classes of {' / '.join(map(str, target.members().tolist()))}"
        name = self.data.target_name or "target"
        values = target.values
        return f"{name} from {values.min():.4g} to {values.max():.4g}, mean {values.mean():.4g}"

    def so_far(self, results: Sequence[Result], n_rows: int) -> str:
        """What to print if the run is stopped now, as plain text; "" before the first row."""
        from gramlet.evaluation.results.tables import table

        if not results:
            return ""
        told = f"Stopped after {len(results)} of {n_rows} rows; the same command continues."
        return "\n".join([*self.head(), "", table(results, hints=False), "", told, ""])

    def show(self, results: Sequence[Result], compiled: bool, found: Sequence[str] = ()) -> None:
        """The whole table; ``found``: the rows that were kept from an earlier run."""
        from rich.markup import escape

        from gramlet.evaluation.results.tables import as_good_as_the_best, remarks, table

        screen = console()
        style = "rich" if screen.is_terminal else "text"
        first, *others = self.head()
        name = self.data.name
        screen.print(f"[bold]{escape(name)}[/]{escape(first[len(name) :])}")
        for line in others:
            screen.print(line, markup=False)
        screen.print()
        screen.print(table(results, style, hints=False), markup=False)
        screen.print()
        best, near = as_good_as_the_best(results)
        if best.scores.size < 2:
            beside = " (one test part: no test of significance)"
        elif best.pooled.all():
            beside = " (all test parts are pooled: no test of significance)"
        else:
            equal = f"; not significantly worse: {', '.join(near)}" if near else ""
            beside = f"{equal} (corrected resampled t-test, 5 %)"
        screen.print(f"Best: [bold]{escape(best.name)}[/]{escape(beside)}")
        for text in remarks(results):
            screen.print(with_options(text), markup=False)
        for text in [*self._footnotes(compiled, found), *self._positive(best.scoring)]:
            screen.print(f"[dim]{escape(text)}[/]")

    def _footnotes(self, compiled: bool, found: Sequence[str]) -> list[str]:
        spread = "repeats' means" if self.protocol.repeats > 1 else "folds"
        remark = f"±: standard deviation of the {spread}."
        if compiled:
            remark += " Seconds exclude compilation, which happens once per machine."
        lines = [remark]
        if found:
            lines.append(
                f"Kept from an earlier run: {', '.join(found)}. --fresh computes everything again."
            )
        return lines

    def _positive(self, scoring: str) -> list[str]:
        """The class that a scorer of one class is about."""
        if scoring not in _OF_ONE_CLASS or self.target.n_classes != 2:
            return []
        return [f"{scoring} is that of the class {str(self.target.shown_classes[-1])!r}."]

    def write(self, path: Path, results: Sequence[Result]) -> None:
        """All results as JSON."""
        document = {
            "format": "gramlet evaluation 1",
            "gramlet": __version__,
            "dataset": self.data.name,
            "results": [result.to_dict() for result in results],
        }
        with writing(path) as place:
            place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
