"""The options of all commands, each declared once, and groups of them.

A group is a dataclass whose fields are declared as options. `spread` replaces the one parameter by
these fields, so that all commands that read graphs have the same options.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from gramlet.cli.output import Inputs, refuse_inputs
from gramlet.cli.terminal import WrongUse, note

if TYPE_CHECKING:
    from gramlet.common.arrays import Array
    from gramlet.graphs.batch import GraphBatch
    from gramlet.kernels.registry import Entry

INPUT_HELP = (
    "A data set's name, a TU folder or zip, a file of molecules (.smi, .csv, .tsv, .sdf) or of "
    "graphs (.graphml, .gexf, .gml, .g6, .s6, .json, .jsonl), or a folder of such files."
)


def _checked_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of threads from 1, or -1 for all cores.")
    return jobs


DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="FOLDER", help="Folder with data sets (folders or zips)."),
]
Input = Annotated[str, typer.Argument(metavar="INPUT", help=INPUT_HELP)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="As 'gramlet train' wrote it.")]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel",
        "-k",
        metavar="NAME",
        help="A name from 'gramlet kernels', or an expression: 'wl(n_iter=3) + 0.5 * sp'.",
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="KEY=VALUE", help="A parameter of the kernel; repeatable."
    ),
]
Costs = Annotated[
    list[float] | None,
    typer.Option(
        "--C",
        metavar="NUMBER",
        help="Penalty of the support vector machine; if given several times, cross-validation "
        "chooses the best. [default: the best of 0.001, 0.01, ..., 1000]",
    ),
]
Folds = Annotated[
    int, typer.Option("--folds", metavar="N", help="Folds that test the machines.", min=2)
]
InnerFolds = Annotated[
    int,
    typer.Option(
        "--inner-folds", metavar="N", help="Folds that choose C and the kernel's options.", min=2
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        metavar="N",
        help="Repetitions, each with new folds.",
        min=1,
        show_default="3; 1 from 2,000 graphs on",
    ),
]
NORMALIZE_HELP = "How kernels are normalised: names by default tanimoto, in 'gram' none."
Normalize = Annotated[
    Literal["tanimoto", "cosine", "none"] | None, typer.Option("--normalize", help=NORMALIZE_HELP)
]


def normalisation(
    given: Literal["tanimoto", "cosine", "none"] | None,
) -> Literal["tanimoto", "cosine"] | bool | None:
    """The value of --normalize for kernels; None for the rule for kernels given by name."""
    return False if given == "none" else given


Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Start again: use nothing that an earlier run kept."),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Seed of all random choices.", min=0)
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Threads; -1: all cores. Results stay the same.",
        callback=_checked_jobs,
    ),
]


def output_option(help: str, metavar: str = "FILE") -> Any:
    """The option ``--output``; only its help text differs between commands."""
    return typer.Option("--output", "-o", metavar=metavar, help=help)


@dataclass(frozen=True)
class KernelChoice:
    """One kernel and its parameters: the options of every command that computes with one."""

    kernel: Kernel = "wl"
    param: Params = None
    seed: Seed = 0
    jobs: Jobs = -1

    @property
    def entry(self) -> Entry:
        """The registry's entry; raise if there is none of this name."""
        from gramlet.kernels import registry

        return registry.get(self.kernel)

    def params(
        self, normalize: Literal["tanimoto", "cosine"] | bool | None = False
    ) -> dict[str, Any]:
        """The given parameters, checked, beside the seed if the kernel has one.

        ``normalize=None`` normalises a kernel given by name, False leaves it as it is.
        """
        from gramlet.kernels.expression import normalized_by_name

        entry, given = self.entry, parse_params(self.param)
        has = entry.make().get_params()
        params: dict[str, Any] = {"random_state": self.seed} if "random_state" in has else {}
        if normalize and (given.get("normalize", normalize) != normalize or "normalize" not in has):
            raise WrongUse(
                f"--normalize does not apply: kernel {self.kernel!r} has no parameter normalize, "
                "or --param contradicts it."
            )
        params |= {"normalize": normalize, **given} if normalize else given
        if normalize is None and entry.kind == "kernel" and "normalize" not in params:
            params["normalize"] = normalized_by_name(self.kernel, **params).normalize
        entry.make(**params)._validate_params()
        return params

    def estimator(self, params: dict[str, Any], entry: Entry | None = None) -> Any:
        """The kernel with these parameters, on threads, showing progress and compilation."""
        from gramlet.engine.core.compiling import announce_compilation

        announce_compilation()
        estimator = (entry or self.entry).make(**params)
        has = estimator.get_params(deep=False)
        # Some kernels report progress as printed lines, which do not belong in a pipe.
        work = {"n_jobs": self.jobs, "verbose": sys.stderr.isatty()}
        settings = {key: value for key, value in work.items() if key in has and key not in params}
        return estimator.set_params(**settings)

    def warn_of_unused(self, estimator: Any, graphs: GraphBatch) -> None:
        """Name, on standard error, the columns of the graphs that the kernel does not use."""
        warn_of_unused(self.kernel, estimator, graphs)


def warn_of_unused(name: str, estimator: Any, graphs: GraphBatch) -> None:
    """Name, on standard error, the columns of graphs that a kernel does not use."""
    from gramlet.evaluation.hints import column_hints

    for hint in column_hints(name, [estimator], graphs):
        if hint.kind == "unused-column":
            note(f"gramlet: warning: {hint.text}")


_WORDS = {"true": True, "false": False, "none": None}
_LONGEST = 10_000  # characters: literals are read by a recursive parser


def parse_params(given: Sequence[str] | None) -> dict[str, Any]:
    """``["n_iter=3", "base=edge"]`` as a dictionary; values are numbers, words, true or false.

    >>> parse_params(["n_iter=3", "gamma=1e-2", "base=edge", "normalize=true", "radius=0.5,1"])
    {'n_iter': 3, 'gamma': 0.01, 'base': 'edge', 'normalize': True, 'radius': [0.5, 1]}
    """
    params: dict[str, Any] = {}
    for text in given or ():
        shown = repr(text if len(text) <= 60 else f"{text[:60]}…")
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise WrongUse(f"--param {shown}: write it as key=value, e.g. --param n_iter=3.")
        if len(value) > _LONGEST:
            raise WrongUse(
                f"--param {shown}: the value has {len(value)} characters; at most {_LONGEST} are "
                "read."
            )
        if key in params:
            raise WrongUse(f"--param {key!r} is given twice.")
        params[key] = _value(value)
    return params


def _value(text: str) -> Any:
    """A word, a Python literal, a list of values with commas between them, or the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in what may be a plain word
            value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        if "," in text and not text.startswith(("[", "(", "{")):
            return [_value(part.strip()) for part in text.split(",") if part.strip()]
        return text
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Reading:
    """How INPUT is read: the options of every command that reads graphs."""

    data_dir: DataDir = None
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COLUMN",
            help="What to learn: heading, or number from 0, of a column; a property of molecules "
            "or graphs.",
        ),
    ] = None
    molecules: Annotated[
        str | None,
        typer.Option(
            "--molecules", metavar="COLUMN", help="Column of a table with the SMILES strings."
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column of a table with the identifiers."),
    ] = None
    on_error: Annotated[
        Literal["stop", "skip"],
        typer.Option(
            "--on-error", help="What to do with rows that cannot be read: stop, or leave them out."
        ),
    ] = "stop"
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="NAME",
            help="For .graphml, .gexf, .gml and .json: the node data to use as labels.",
        ),
    ] = None
    node_labels: Annotated[
        Literal["degree", "none"] | None,
        typer.Option(
            "--node-labels",
            help="Label nodes by their degrees, or with none, instead of the file's labels.",
        ),
    ] = None
    directed: Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected",
            help="Read edges as directed or as undirected. [default: as in the file]",
        ),
    ] = None

    def given(self) -> dict[str, bool]:
        """The options by their names on the command line, with whether each was given."""
        return {
            f"--{field.name.replace('_', '-')}": getattr(self, field.name) != field.default
            for field in fields(self)
        }

    def options(self) -> dict[str, Any]:
        """The options of `gramlet.files.read.read` that were given, by their names there."""
        columns = {name: _column(getattr(self, name)) for name in ("target", "molecules", "id")}
        others = {
            "label": self.label,
            "on_error": None if self.on_error == "stop" else self.on_error,
            "node_labels": self.node_labels,
            "directed": self.directed,
        }
        return {name: value for name, value in {**columns, **others}.items() if value is not None}


@dataclass(frozen=True)
class Learning:
    """What is learned and by which machine: the options of every command that fits one."""

    task: Annotated[
        Literal["auto", "classification", "regression"],
        typer.Option("--task", help="Whether the target contains classes or real numbers."),
    ] = "auto"
    scoring: Annotated[
        str | None,
        typer.Option(
            "--scoring",
            metavar="NAME",
            help="Score to report and to choose by, as named in scikit-learn, e.g. "
            "balanced_accuracy, roc_auc, neg_root_mean_squared_error. [default: accuracy, roc_auc "
            "if a class has 80 % of the graphs, r2 for numbers]",
        ),
    ] = None
    classifier: Annotated[
        Literal["svc", "ridge", "svr", "gp"] | None,
        typer.Option(
            "--classifier",
            help="The machine: support vectors (svc for classes, svr for numbers), ridge, or gp, a "
            "Gaussian process for numbers. [default: svc; for numbers ridge, in 'train' gp]",
        ),
    ] = None
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--class-weight",
            metavar="balanced | CLASS=NUMBER",
            help="Weigh the errors on each class: in inverse proportion to its size, or by numbers "
            "(repeatable).",
        ),
    ] = None
    min_class_size: Annotated[
        int | None,
        typer.Option(
            "--min-class-size", metavar="N", help="Leave out classes with fewer graphs.", min=1
        ),
    ] = None

    def weights(self, classes: Array, shown: Array | None = None) -> Any:
        """The class weights as scikit-learn takes them; classes by value or by ``shown`` name."""
        if not self.class_weight:
            return None
        if self.class_weight == ["balanced"]:
            return "balanced"
        known = {str(name): name for name in classes.tolist()}
        if shown is not None:
            known |= dict(zip(map(str, shown.tolist()), classes.tolist(), strict=True))
        weights: dict[Any, float] = {}
        for text in self.class_weight:
            name, _, number = text.rpartition("=")
            try:
                weight = float(number)
            except ValueError:
                weight = 0.0
            if not name or not 0 < weight < math.inf:
                raise WrongUse(
                    f"--class-weight {text!r}: write 'balanced', or a class and a number above 0, "
                    "e.g. yes=10."
                )
            if name not in known:
                raise WrongUse(
                    f"--class-weight {text!r}: there is no class {name!r}; the classes are "
                    f"{', '.join(known)}."
                )
            weights[known[name]] = weight
        return weights


def _column(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdecimal() else text


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the fields of its groups as separate parameters.

    >>> from inspect import signature
    >>> def show(source: str, reading: Reading) -> str:
    ...     return f"{source}: {reading.target}"
    >>> list(signature(spread(show)).parameters)  # doctest: +NORMALIZE_WHITESPACE
    ['source', 'data_dir', 'target', 'molecules', 'id', 'on_error', 'label',
     'node_labels', 'directed']
    >>> spread(show)(source="x.csv", target="y")
    'x.csv: y'
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and is_dataclass(kind):
            declared = get_type_hints(kind, include_extras=True)
            groups[name] = (kind, [field.name for field in fields(kind)])
            parameters += [
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=declared[field.name],
                )
                for field in fields(kind)
            ]
        else:
            parameters.append(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)
            )

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        for name, (kind, members) in groups.items():
            values = {member: given.pop(member) for member in members if member in given}
            given[name] = kind(**values)
        return command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


_MANY_GRAPHS = 2000


@dataclass(frozen=True)
class Comparing:
    """The kernels, their options and the protocol."""

    kernel: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            "-k",
            metavar="NAME",
            help="Kernel to evaluate, or 'auto'; repeatable. [default: those that suit the columns "
            "of the data, and auto]",
        ),
    ] = None
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="KEY=VALUE[,VALUE]",
            help="Values to choose from, for the kernels that have this parameter; repeatable.",
        ),
    ] = None
    costs: Costs = None
    folds: Folds = 10
    repeats: Repeats = None
    inner_folds: InnerFolds = 5
    groups: Annotated[
        Literal["scaffold"] | None,
        typer.Option(
            "--groups", help="Keep molecules with the same Murcko scaffold in one test part."
        ),
    ] = None
    normalize: Normalize = None
    fresh: Fresh = False
    seed: Seed = 0
    jobs: Jobs = -1

    def protocol(self, n_graphs: int, **others: Any) -> Any:
        """The protocol with these options and ``others``, fields that only some commands have.

        By default many graphs are divided into folds only once: another division would hardly
        change the mean.
        """
        from gramlet.evaluation import Protocol
        from gramlet.evaluation.protocol import DEFAULT_C

        return Protocol(
            folds=self.folds,
            repeats=self.repeats or (3 if n_graphs < _MANY_GRAPHS else 1),
            inner_folds=self.inner_folds,
            random_state=self.seed,
            C=tuple(self.costs) if self.costs else DEFAULT_C,
            groups=self.groups,
            **others,
        )


Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, help="For folders: compute in N processes on this machine."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="For folders: compute on the workers of this Dask scheduler.",
    ),
]


@dataclass(frozen=True)
class OnDisk:
    """How a result is written to a folder."""

    workers: Workers = None
    scheduler: Scheduler = None
    verify: Annotated[
        bool,
        typer.Option("--verify", help="For folders: check finished parts, repair damaged ones."),
    ] = False
    fresh: Fresh = False

    def refuse_for(self, output: Path) -> None:
        """Refuse options that apply only to folders if the output is a file."""
        for field in fields(self):
            if getattr(self, field.name) not in (None, False):
                raise WrongUse(
                    f"--{field.name} is for results in folders; {str(output)!r} is a file."
                )


def check_folder(output: Path, inputs: Inputs) -> None:
    """Refuse a folder that cannot be created, or that is read, before any work is done."""
    from gramlet.scale.store_folder import place_of

    refuse_inputs(output, inputs)
    try:
        place_of(output, "K.zarr")
    except (FileNotFoundError, ValueError) as why:
        raise WrongUse(str(why)) from why


@contextlib.contextmanager
def cluster_client(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """The requested Dask client, closed at the end; None if none was requested."""
    if workers is not None and scheduler is not None:
        raise WrongUse("--workers and --scheduler exclude each other: give one of them.")
    if workers is None and scheduler is None:
        yield None
        return
    from gramlet.scale.cluster import connected, started, stopped

    client = started(workers) if workers is not None else connected(str(scheduler))
    try:
        yield client
    finally:
        stopped(client)
