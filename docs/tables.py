"""Tables of the documentation that come from the code: the registry, the public names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gramlet
from gramlet.kernels import registry


def kernel_table() -> str:
    """Every row of the registry, under its family."""
    lines = ["| name | class | computes | paper |", "|---|---|---|---|"]
    family = ""
    for entry in registry.entries():
        if entry.family != family:
            family = entry.family
            lines.append(f"| **{family}** | | | |")
        params = ", ".join(f"{k}={v!r}" for k, v in entry.params.items())
        shown = f"`{entry.class_name}({params})`"
        lines.append(f"| `{entry.name}` | {shown} | {entry.summary} | {entry.paper} |")
    return "\n".join(lines) + "\n"


def api_page() -> str:
    """The reference: an autosummary of all public names."""
    names = [name for name in gramlet.__all__ if not name.startswith("__")]
    entries = "\n".join(f"   gramlet.{name}" for name in sorted(names, key=str.lower))
    return (
        "Reference\n=========\n\n"
        ".. autosummary::\n   :toctree: reference\n   :nosignatures:\n\n"
        f"{entries}\n"
    )


def command_reference() -> str:
    """Every command with its arguments and options, as the program itself shows them."""
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
    """A row of the table: how it is written, what it means, what it is without being given."""
    if parameter.param_type_name == "argument":
        written = parameter.metavar or parameter.name.upper()
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
        value = "" if parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
        written = ", ".join(names) + value
    default = parameter.default
    shown = isinstance(default, (int, float, str)) and not isinstance(default, bool)
    told = f" Default: `{default}`." if shown else ""
    if isinstance(default, bool) and parameter.secondary_opts:
        name = parameter.opts[0] if default else parameter.secondary_opts[0]
        told = f" Default: `{name}`."
    meaning = (parameter.help or "").replace("|", "\\|").replace("[default: ", "[Default: ")
    return f"| `{written}` | {meaning}{told} |"


def write_tables(folder: Path) -> None:
    """Write the tables where the pages include them from, and the page of the reference."""
    (folder / "generated").mkdir(exist_ok=True)
    (folder / "generated" / "kernels.md").write_text(kernel_table(), encoding="utf-8")
    (folder / "generated" / "command_line.md").write_text(command_reference(), encoding="utf-8")
    (folder / "api.rst").write_text(api_page(), encoding="utf-8")
