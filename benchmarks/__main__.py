"""The command line: ``python -m benchmarks [NAME ...] [--quick] [--data-dir FOLDER]``.

The commands ``limits``, ``large-graphs``, ``memory``, ``parent``, ``cold``, ``two-cores`` and
``papers``, given instead of a name, have their own options.
"""

from __future__ import annotations

import os
import sys

from benchmarks.measure import ONE_THREAD, measure_case, measure_growth

os.environ.update(ONE_THREAD)  # before numpy is imported

import argparse
from dataclasses import asdict

from benchmarks.cases import Case, Growth, all_cases
from benchmarks.costs import cold, large_graphs, limits, memory, parent, two_cores
from benchmarks.data import Source, default_folder
from benchmarks.report import machine, save_result, tell_case, tell_growth


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="cases to run, or 'all'; none: list them")
    parser.add_argument("--quick", action="store_true", help="on MUTAG, in seconds")
    parser.add_argument("--data-dir", default=default_folder(), help="folder of TU data sets")
    parser.add_argument("--graphs", type=int, help="how many graphs, instead of a case's own")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each side")
    parser.add_argument("--no-memory", action="store_true", help="measure seconds only")
    return parser.parse_args()


def _list(cases: dict[str, Case | Growth]) -> None:
    width = max(map(len, cases))
    for name, case in cases.items():
        reason = case.needs() if isinstance(case, Case) else None
        print(f"{name:<{width}}  {case.title}" + (f" [cannot run: {reason}]" if reason else ""))


def _run(case: Case | Growth, source: Source, repeats: int, memory: bool) -> bool:
    """Run one case and print its result; False if the two sides do not agree."""
    instead = f" (but {source.n_graphs} graphs)" if source.n_graphs else ""
    print(f"{case.name}: {case.title}{instead}", flush=True)
    if isinstance(case, Growth):
        result = measure_growth(case.name, repeats)
        lines = tell_growth(case, result)
    else:
        reason = case.needs()
        if reason is not None:
            print(f"  cannot run: {reason}")
            return True
        result = measure_case(case.name, source, repeats, memory)
        lines = tell_case(case, result, judge=not source.quick)
    for line in lines:
        print(f"  {line}")
    print(f"  saved in {save_result(case.name, result, asdict(source))}", flush=True)
    return bool(result.get("agreement", "yes") == "yes")


def main() -> int:
    """List or run cases; returns 1 if a result differs from the peer's, 2 for an unknown name."""
    if sys.argv[1:2] == ["papers"]:
        from benchmarks.papers import command

        return command.main(sys.argv[2:])
    commands = {
        "limits": limits.main,
        "large-graphs": large_graphs.main,
        "memory": memory.main,
        "parent": parent.main,
        "cold": cold.main,
        "two-cores": two_cores.main,
    }
    if len(sys.argv) > 1 and sys.argv[1] in commands:
        return commands[sys.argv[1]](sys.argv[2:])
    arguments = _arguments()
    cases = all_cases()
    if not arguments.names:
        _list(cases)
        return 0
    names = list(cases) if arguments.names == ["all"] else arguments.names
    unknown = [name for name in names if name not in cases]
    if unknown:
        print(f"No benchmark is called {unknown[0]!r}; there are {', '.join(cases)}.")
        return 2
    here = machine()
    print(f"{here['processor']}, {here['cores']} cores, one thread\n")
    source = Source(arguments.data_dir, arguments.quick, arguments.graphs)
    good = [_run(cases[name], source, arguments.repeats, not arguments.no_memory) for name in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
