"""Tables of the documentation, made from the code: the registry and the public names."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

import gramlet
from gramlet.kernels import registry

RESULTS = Path(__file__).parents[1] / "benchmarks" / "papers" / "results"


def kernel_table() -> str:
    """Every row of the registry, under its family."""
    lines = ["| name | class | computes | paper |", "|---|---|---|---|"]
    family = ""
    families = list(dict.fromkeys(entry.family for entry in registry.entries()))
    for entry in sorted(registry.entries(), key=lambda entry: families.index(entry.family)):
        if entry.family != family:
            family = entry.family
            lines.append(f"| **{family}** | | | |")
        params = ", ".join(f"{k}={v!r}" for k, v in entry.params.items())
        shown = f"[`{entry.class_name}({params})`](reference/gramlet.{entry.class_name}.rst)"
        lines.append(f"| `{entry.name}` | {shown} | {entry.summary} | {entry.paper} |")
    return "\n".join(lines) + "\n"


# The packages of the library in the order of the reference, with their headings. Every public name
# is listed under the package that contains its module.
ROOMS = {
    "graphs": "Graphs",
    "files": "Files and data sets",
    "kernels.registry": "Kernels by name, and base classes for your own",
    "kernels.contract": "Kernels by name, and base classes for your own",
    "kernels.histograms": "Kernels: histograms of labels",
    "kernels.weisfeiler_lehman": "Kernels: Weisfeiler-Lehman",
    "kernels.wasserstein": "Kernels: Wasserstein Weisfeiler-Lehman",
    "kernels.hashing": "Kernels: hashing",
    "kernels.paths": "Kernels: shortest paths",
    "kernels.walks": "Kernels: walks and propagation",
    "kernels.marginalized": "Kernels: marginalized",
    "kernels.neighbourhoods": "Kernels: neighbourhoods and subgraphs",
    "kernels.spectral": "Kernels: spectral coordinates",
    "kernels.laplacian": "Kernels: Laplacian",
    "kernels.graphlets": "Kernels: graphlets",
    "kernels.cores": "Kernels: cores",
    "kernels.composite": "Sums and products of kernels",
    "combine": "With every kernel",
    "embeddings": "Embeddings",
    "discrepancy": "Comparing sets of graphs",
    "engine": "Optimal transport",
    "scale": "Large sets",
    "models": "Classification and regression",
    "evaluation": "Evaluation",
    "explain": "Explanations",
    "plotting": "Pictures",
    "report": "Reports",
    "persistence": "Model files",
}


def api_page() -> str:
    """The reference: an autosummary of all public names, by package."""
    by_room: dict[str, list[str]] = {heading: [] for heading in ROOMS.values()}
    by_room["Modules of functions"] = list(gramlet._MODULES)
    for name, home in gramlet._HOMES.items():
        by_room[_heading(home)].append(name)
    lines = ["Reference", "=========", ""]
    for heading, names in by_room.items():
        if not names:
            continue
        lines += [heading, "-" * len(heading), ""]
        lines += [".. autosummary::", "   :toctree: reference", "   :nosignatures:", ""]
        lines += [f"   gramlet.{name}" for name in sorted(names, key=str.lower)]
        lines.append("")
    return "\n".join(lines)


def _heading(home: str) -> str:
    """The heading of a module; a package that is not listed raises an error."""
    path = home.removeprefix("gramlet.")
    for room, heading in ROOMS.items():
        if path == room or path.startswith(f"{room}."):
            return heading
    raise LookupError(f"docs/tables.py: ROOMS has no heading for {home}")


def citations() -> str:
    """The papers to cite for each kernel and embedding, from the docstring of its class."""
    lines = ["| name | please cite |", "|---|---|"]
    for entry in registry.entries():
        shown = "<br>".join(_references(entry.cls()))
        lines.append(f"| [`{entry.name}`](reference/gramlet.{entry.class_name}.rst) | {shown} |")
    return "\n".join(lines) + "\n"


def _references(cls: type) -> list[str]:
    """The entries under "References" in a docstring, one string per entry."""
    text = inspect.getdoc(cls) or ""
    section = re.search(r"^References\n-+\n(.*?)(?=\n\S[^\n]*\n-{3,}\n|\Z)", text, re.M | re.S)
    if section is None:
        raise LookupError(f"{cls.__name__} names no paper under References")
    paragraphs = [" ".join(part.split()) for part in section[1].strip().split("\n\n")]
    return [re.sub(r"^\.\. \[\d+\] ", "", part) for part in paragraphs if part]


def command_reference() -> str:
    """Every command with its arguments and options, from the program itself."""
    from typer.main import get_command

    from gramlet.cli.program import app

    program = get_command(app)
    sections = []
    for name, command in program.commands.items():
        lines = [f"## gramlet {name}", "", _flowing(command.help or "")]
        usage = " ".join(_usage(command))
        lines += ["", "```text", f"gramlet {name} {usage}".rstrip(), "```", ""]
        lines += ["| | |", "|---|---|"]
        lines += [_option(parameter) for parameter in command.params]
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"


def _flowing(text: str) -> str:
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _usage(command: Any) -> list[str]:
    """Arguments and required options; ``[OPTIONS]`` for the others."""
    arguments = [
        parameter.metavar if parameter.required else f"[{parameter.metavar}]"
        for parameter in command.params
        if parameter.param_type_name == "argument"
    ]
    needed = [
        f"{parameter.opts[0]} {parameter.metavar or 'VALUE'}"
        for parameter in command.params
        if parameter.param_type_name == "option" and parameter.required
    ]
    return [*arguments, *needed, "[OPTIONS]"]


def _option(parameter: Any) -> str:
    """A row of the table: how an option is written, what it means, and its default."""
    if parameter.param_type_name == "argument":
        written = parameter.metavar or parameter.name.upper()
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
        value = "" if parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
        written = ", ".join(names) + value.replace("|", "\\|")
    default = parameter.default
    shown = isinstance(default, (int, float, str)) and not isinstance(default, bool)
    told = f" Default: `{default}`." if shown else ""
    if isinstance(default, bool) and parameter.secondary_opts:
        name = parameter.opts[0] if default else parameter.secondary_opts[0]
        told = f" Default: `{name}`."
    meaning = (parameter.help or "").replace("|", "\\|").replace("[default: ", "[Default: ")
    return f"| `{written}` | {meaning}{told} |"


def fingerprint_table() -> str:
    """Kernels beside fingerprints, from the stored cells of benchmarks/fingerprints.py."""
    cells = json.loads((RESULTS / "fingerprints.json").read_text())
    groups: dict[str, dict[str, Any]] = {}
    for key, cell in cells.items():
        name, way, method = key.split(" | ")
        if len(cell["scores"]) >= 5:
            groups.setdefault(f"{name}, {way}", {})[method] = cell
    methods = list(dict.fromkeys(method for group in groups.values() for method in group))
    lines = ["| | " + " | ".join(groups) + " |", "|---" * (len(groups) + 1) + "|"]
    for method in methods:
        shown = [_score_and_time(group.get(method)) for group in groups.values()]
        lines.append(f"| {method} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def _score_and_time(cell: Any) -> str:
    if cell is None:
        return ""
    scores = np.array(list(cell["scores"].values()))
    error = scores.std(ddof=1) / np.sqrt(len(scores))
    seconds = np.mean(list(cell["seconds"].values()))
    return f"{scores.mean():.3f} ± {error:.3f} ({seconds:.1f} s)"


def normalisation_table() -> str:
    """Cosine beside Tanimoto, from the stored cells of benchmarks/normalisations.py."""
    cells = json.loads((RESULTS / "normalisations.json").read_text())
    means = {
        tuple(key.split(" | ")): 100 * np.concatenate(cell["scores"]).mean()
        for key, cell in cells.items()
    }
    sets = list(dict.fromkeys(name for name, _, _ in means))
    rows = list(dict.fromkeys(key[1:] for key in means))
    lines = ["| kernel | normalised by | " + " | ".join(sets) + " |"]
    lines.append("|---" * (len(sets) + 2) + "|")
    for kernel, how in rows:
        values = [means.get((name, kernel, how)) for name in sets]
        shown = ["" if value is None else f"{value:.1f}" for value in values]
        label = "each kernel's default" if how == "None" else how
        lines.append(f"| {kernel} | {label} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def write_tables(folder: Path) -> None:
    """Write the tables to the folder from which pages include them, and the reference page."""
    (folder / "generated").mkdir(exist_ok=True)
    (folder / "generated" / "kernels.md").write_text(kernel_table(), encoding="utf-8")
    (folder / "generated" / "command_line.md").write_text(command_reference(), encoding="utf-8")
    (folder / "generated" / "citations.md").write_text(citations(), encoding="utf-8")
    (folder / "generated" / "fingerprints.md").write_text(fingerprint_table(), encoding="utf-8")
    (folder / "generated" / "normalisations.md").write_text(normalisation_table(), encoding="utf-8")
    (folder / "api.rst").write_text(api_page(), encoding="utf-8")
