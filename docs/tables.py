"""Tables of the documentation that come from the code: the registry, the public names."""

from __future__ import annotations

from pathlib import Path

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


def write_tables(folder: Path) -> None:
    """Write the tables where the pages include them from, and the page of the reference."""
    (folder / "generated").mkdir(exist_ok=True)
    (folder / "generated" / "kernels.md").write_text(kernel_table(), encoding="utf-8")
    (folder / "api.rst").write_text(api_page(), encoding="utf-8")
