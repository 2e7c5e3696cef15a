"""Which modules of the package pytest imports for their examples: not those that need PyTorch,
where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

_NEED_TORCH = ["src/gramlet/learned/networks.py", "src/gramlet/learned/training.py"]

collect_ignore = [] if find_spec("torch_geometric") else _NEED_TORCH
