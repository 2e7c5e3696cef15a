"""How to repeat a report: command, versions, seed, and checksums of graphs, target and folds."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gramlet._version import __version__
from gramlet.evaluation.machines.machines import CLASSIFIERS
from gramlet.evaluation.results.result import Result
from gramlet.graphs.fingerprint import digest_of
from gramlet.report.material import CONSTANTS, Material, is_registered
from gramlet.report.words import Cell, Table

__all__ = ["provenance_section"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "jinja2", "rdkit", "networkx")


def provenance_section(material: Material, command: str | None) -> dict[str, Any]:
    """The section about the origin of the numbers."""
    return {
        "command": command,
        "python": _snippet(material),
        "versions": _versions(),
        "sums": _sums(material),
        "protocol": _protocol(material),
    }


def _versions() -> Table:
    rows = [
        ("gramlet", __version__),
        ("Python", platform.python_version()),
        ("platform", platform.platform(terse=True)),
    ]
    for name in _PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return Table("Versions", ("software", "version"), [(Cell(a), Cell(b)) for a, b in rows])


def _sums(material: Material) -> Table:
    rows = [("targets and folds", material.first.data.splits or "not stored in the results")]
    if material.target is not None:
        rows.append(("target", digest_of(material.target.tolist())))
    else:
        rows.append(("target", "not stored in the results"))
    if material.data is not None:
        rows.append(("graphs with their labels", digest_of(material.data.graphs)))
    else:
        rows.append(("graphs with their labels", "the graphs were not given"))
    for result in material.results:
        text = result.to_json().encode("utf-8", "surrogatepass")
        rows.append((f"result {result.name}", hashlib.sha256(text).hexdigest()))
    return Table("Checksums (SHA-256)", ("what", "sum"), [(Cell(a), Cell(b)) for a, b in rows])


def _protocol(material: Material) -> Table:
    fields = material.first.protocol.to_dict()
    groups = fields.get("groups")
    if isinstance(groups, list):
        fields["groups"] = f"{len(set(map(str, groups)))} groups, one value per graph"
    first = material.first
    rows = [("seed", str(fields.pop("random_state")))]
    rows += [(name, str(value)) for name, value in fields.items()]
    machines = dict.fromkeys(result.classifier for result in material.results if result.classifier)
    rows += [
        ("task", first.task),
        ("scoring", first.scoring),
        ("machine", ", ".join(machines) or "none"),
    ]
    weights = dict.fromkeys(
        str(result.class_weight) for result in material.results if result.class_weight is not None
    )
    if weights:
        rows.append(("class weights", ", ".join(weights)))
    return Table("Protocol", ("setting", "value"), [(Cell(a), Cell(b)) for a, b in rows])


def _snippet(material: Material) -> str:
    """The evaluation as Python."""
    first = material.first
    fields = first.protocol.to_dict()
    default = type(first.protocol)().to_dict()
    unlisted = () if isinstance(fields["groups"], str) else ("groups",)
    changed = {k: v for k, v in fields.items() if v != default[k] and k not in unlisted}
    given = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    lines = ["from gramlet import Protocol, evaluate", f"protocol = Protocol({given})"]
    for result in material.results:
        name, common = result.name, f"y, protocol, {_settings(material, result)}"
        if is_registered(name) or name in CONSTANTS:
            lines.append(f"evaluate({name!r}, graphs, {common})")
        elif name in material.kernels:
            lines.append(f"evaluate(estimator, graphs, {common}, name={name!r})")
        else:
            lines.append(f"evaluate({{{name!r}: matrix}}, None, {common})")
    return "\n".join(lines)


def _settings(material: Material, result: Result) -> str:
    """Arguments of `gramlet.evaluate` that the result and its kernel tell."""
    found: dict[str, Any] = {"scoring": result.scoring}
    if result.classifier and result.classifier != CLASSIFIERS[result.task][0]:
        found["classifier"] = result.classifier
    if result.class_weight is not None:
        found["class_weight"] = result.class_weight
    if len(result.by_draw) > 1 and result.protocol.retrainings == 1:
        found["draws"] = len(result.by_draw)
    options = {key: list(values) for key, values in result.tried.items() if key != "C"}
    if options or is_registered(result.name):  # by default evaluate tries those of the registry
        found["options"] = options
    kernel = material.kernels.get(result.name) if is_registered(result.name) else None
    params = {} if kernel is None else kernel.get_params()
    if params.get("normalize") is False and "normalize" not in options:
        found["normalize"] = False
    given = [f"{key}={value!r}" for key, value in found.items()]
    if isinstance(result.protocol.groups, tuple):
        given.append("groups=groups")
    return ", ".join(given)
