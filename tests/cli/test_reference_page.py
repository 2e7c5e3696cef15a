"""The page on the command line lists every command and every option of the program."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from gramlet.cli import main
from gramlet.cli.program import COMMANDS

DOCS = Path(__file__).resolve().parents[2] / "docs"

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not here")


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    """The generated part of the page, by command."""
    spec = importlib.util.spec_from_file_location("documentation_tables", DOCS / "tables.py")
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    parts = re.split(r"^## gramlet (\w[\w-]*)$", tables.command_reference(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_the_help_is_on_the_page(reference, command, capsys):
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", shown.split("Options:")[1]))
    options -= {"-h", "--help", "-1"}
    written = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", reference[command]))
    assert options <= written
    for argument in re.findall(r"^  ([A-Z]+) <", shown, flags=re.M):
        assert argument in reference[command]


def test_the_page_includes_it_and_has_an_example_of_each_command():
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    assert "{include} generated/command_line.md" in page
    assert "command_line" in (DOCS / "index.md").read_text(encoding="utf-8").split()
    examples = re.search(r"```bash\n(.*?)```", page, flags=re.S)[1].splitlines()
    assert {line.split()[1] for line in examples} == set(COMMANDS)


def test_one_name_means_one_thing():
    """An option has the same help text in every command."""
    import typer

    from gramlet.cli.program import app

    texts: dict[str, set[str]] = {}
    for name, command in typer.main.get_command(app).commands.items():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                for option in parameter.opts:
                    texts.setdefault(option, set()).add(f"{parameter.help}")
        assert "source" not in texts, name
    # Outputs differ between commands, and evaluation takes lists.
    different = {option for option, found in texts.items() if len(found) > 1}
    assert different <= {"--output", "-o", "--kernel", "-k", "--param", "-p", "-n"}
    assert {"--C", "--folds", "--inner-folds", "--seed", "--jobs"} <= set(texts)
