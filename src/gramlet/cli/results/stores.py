"""Feature stores as `embed` writes them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gramlet.cli.arguments.inputs import read_input, refuse_foreign, told_values
from gramlet.cli.arguments.on_disk import OnDisk, check_folder, cluster_client
from gramlet.cli.arguments.option_groups import Reading
from gramlet.cli.errors import WrongUse
from gramlet.cli.wording import with_options
from gramlet.common.notices import counted

__all__ = ["write_store"]

_KINDS = ("wl", "wl-edge", "sp")


def write_store(
    source: str,
    output: Path,
    reading: Reading,
    on_disk: OnDisk,
    kernel: str,
    params: dict[str, Any],
    n_bits: int,
    batch_size: int,
) -> None:
    """Write hashed features of INPUT to a folder; files are read in blocks."""
    if kernel not in _KINDS:
        raise WrongUse(f"--hashed is for the kernels {', '.join(_KINDS)}; got {kernel!r}.")
    unknown = sorted(set(params) - {"n_iter", "use_edge_labels"})
    if unknown:
        raise WrongUse(
            f"hashed features have no parameter {unknown[0]!r}; they have n_iter and "
            "use_edge_labels."
        )
    check_folder(output, {"INPUT": source})
    from gramlet.scale.features.feature_store import FeatureStore
    from gramlet.scale.features.hashed_features import HashedFeatures

    features = HashedFeatures(kernel, n_bits=n_bits, **params)
    features.fit()
    path = Path(source).expanduser()
    streamed = path.is_file()
    if streamed:
        refuse_foreign(path, reading)
    data: Any = path if streamed else read_input(source, reading, needs_target=False)
    options = reading.options() if streamed else {}
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    with _told(source), cluster_client(on_disk.workers, on_disk.scheduler) as client:
        store = FeatureStore.write(
            output,
            data,
            features,
            batch_size,
            resume=not on_disk.fresh,
            verify=on_disk.verify,
            client=client,
            **options,
        )
    seconds = time.perf_counter() - started
    rows, columns = store.shape
    print(
        f"{rows} × {columns} features of {features!r} in {counted(store.n_parts, 'part')}, "
        f"{seconds:.2f} s, in {output}"
    )


@contextlib.contextmanager
def _told(source: str) -> Iterator[None]:
    """Distinguish errors about the folder, which is another one's, from those of INPUT."""
    from gramlet.scale.features.feature_store import OtherContentError
    from gramlet.scale.lock import StoreInUseError

    with told_values(source):
        try:
            yield
        except (OtherContentError, StoreInUseError) as why:
            raise WrongUse(with_options(why)) from why
