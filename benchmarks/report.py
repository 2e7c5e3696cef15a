"""The output of benchmarks: lines of text, and a JSON file with all results."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Growth

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("gramlet", "numpy", "scipy", "scikit-learn", "numba", "grakel", "POT", "wwl", "igraph")


def machine() -> dict[str, Any]:
    """The processor, its cores, and the versions of all packages involved."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "versions": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def tell_case(case: Case, result: dict[str, Any], judge: bool = True) -> list[str]:
    """Lines with the results of both sides and, unless data are small, whether targets are met."""
    if not judge:
        case = replace(case, target_ratio=None, target_memory=None, target_seconds=None)
    ours = _median(result, "ours")
    lines = [f"gramlet  {_side(result, 'ours')}"]
    if "peer_seconds" in result:
        peer = _median(result, "peer")
        result["ratio"] = peer / ours
        lines.append(f"{case.peer_name}  {_side(result, 'peer')}")
        lines.append(f"{peer / ours:.1f} times as fast{_goal(case.target_ratio, peer / ours, 1)}")
        lines.append(f"same result: {result.get('agreement', 'not compared')}")
        if result.get("peer_bytes"):
            share = result["ours_bytes"] / result["peer_bytes"]
            result["memory_share"] = share
            lines.append(f"{share:.3f} of the memory{_goal(case.target_memory, share, -1)}")
    if case.target_seconds is not None:
        lines.append(f"{ours:.3f} s{_goal(case.target_seconds, ours, -1)}")
    return lines


def _median(result: dict[str, Any], side: str, clock: str = "processor_seconds") -> float:
    """The median, of processor seconds by default: each side has one thread, and the machine may be
    busy with other programs."""
    return statistics.median(result[f"{side}_{clock}"])


def tell_growth(case: Growth, result: dict[str, Any]) -> list[str]:
    """Lines with the time of each size, and the exponent."""
    lines = [
        f"{size:>12,} {case.unit}  {seconds:10.4f} s"
        for size, seconds in zip(result["sizes"], result["seconds"], strict=True)
    ]
    exponent = result["exponent"]
    goal = _goal(case.target_exponent, exponent, -1)
    return [*lines, f"grows with {case.unit} to the power of {exponent:.3f}{goal}"]


def _side(result: dict[str, Any], side: str) -> str:
    text = (
        f"{_median(result, side):.4f} s "
        f"(by the wall clock {_median(result, side, 'seconds'):.4f} s, "
        f"medians of {len(result[f'{side}_seconds'])})"
    )
    if f"{side}_bytes" in result:
        text += f", peak memory {result[f'{side}_bytes'] / 1e6:.1f} MB"
    return text


def _goal(target: float | None, reached: float, direction: int) -> str:
    if target is None:
        return ""
    wording = "at least" if direction > 0 else "at most"
    verdict = "reached" if direction * reached >= direction * target else "MISSED"
    return f" (target: {wording} {target:g}, {verdict})"


def save_result(name: str, result: dict[str, Any], settings: dict[str, Any]) -> Path:
    """Write a result, the machine and the settings to ``results/NAME.json``."""
    RESULTS.mkdir(exist_ok=True)
    suffix = "-quick" if settings.get("quick") else ""
    count = settings.get("n_graphs")
    path = RESULTS / f"{name}{suffix}{f'-{count}' if count else ''}.json"
    whole = {
        "name": name,
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "settings": settings,
        "machine": machine(),
        **result,
    }
    path.write_text(json.dumps(whole, indent=2) + "\n")
    return path
