"""Prepare the embedded data set B3DB from the wheel of the package qc-B3DB.

    pip download --no-deps qc-B3DB==1.1.1
    python tools/prepare_b3db.py qc_b3db-1.1.1-py3-none-any.whl

Writes ``B3DB.csv.gz`` (id, SMILES, class, logBB) and ``B3DB.npz`` (the graphs, so that RDKit is
not needed to load them) into the package's data folder, and prints what was kept and left out. The
same wheel and the same RDKit give the same files.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem, rdBase

from gramlet.graphs.molecules.molecules import molecules

DATA = Path(__file__).resolve().parents[1] / "src" / "gramlet" / "files" / "data"
WHEEL_DIGEST = "c929f601951e4b0ed56326c94d2cdc2f6b0c24711fbc1e0d7f67e88e330fc959"
CLASSES = {"BBB+": 1, "BBB-": 0}
# Values of one flat molecule (stereoisomers, repeated measurements) may differ by this much.
TOLERANCE = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--output", type=Path, default=DATA)
    options = parser.parse_args()
    digest = hashlib.sha256(options.wheel.read_bytes()).hexdigest()
    if digest != WHEEL_DIGEST:
        raise SystemExit(f"{options.wheel} has the SHA-256 digest {digest}, not {WHEEL_DIGEST}.")
    rows = prepare(
        read_table(options.wheel, "classification"), read_table(options.wheel, "regression")
    )
    table = write_table(rows, options.output / "B3DB.csv.gz")
    graphs = write_graphs([row[1] for row in rows], options.output / "B3DB.npz")
    print(f"{len(rows)} molecules, {sum(row[2] for row in rows)} of them BBB+, "
          f"{sum(row[3] is not None for row in rows)} with logBB")  # fmt: skip
    print(f"content digests: table {table}, graphs {graphs}")


def read_table(wheel: Path, name: str) -> list[dict[str, str]]:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"B3DB/B3DB_{name}.tsv").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def prepare(
    classification: list[dict[str, str]], regression: list[dict[str, str]]
) -> list[tuple[int, str, int, float | None]]:
    """(id, flat SMILES, class, logBB or None) of every molecule without conflicts, by id."""
    ids: dict[str, int] = {}
    classes = defaultdict(set)
    values = defaultdict(list)
    unreadable = 0
    for row in classification:
        smiles = flat(row["SMILES"])
        if smiles is None:
            unreadable += 1
            continue
        ids.setdefault(smiles, int(row["NO."]))
        classes[smiles].add(CLASSES[row["BBB+/BBB-"]])
    for row in [*classification, *regression]:
        smiles = flat(row["SMILES"])
        if smiles in ids and row["logBB"]:
            values[smiles].append(float(row["logBB"]))
    mixed = {smiles for smiles in ids if len(classes[smiles]) > 1}
    spread = {
        smiles
        for smiles, found in values.items()
        if round(max(found) - min(found), 6) > TOLERANCE and smiles not in mixed
    }
    print(f"{len(classification)} rows, {unreadable} unreadable, {len(ids)} flat molecules; left "
          f"out: {len(mixed)} of both classes, {len(spread)} whose logBB differ")  # fmt: skip
    kept = sorted(
        (number, smiles) for smiles, number in ids.items() if smiles not in mixed | spread
    )
    return [
        (number, smiles, next(iter(classes[smiles])), mean(values.get(smiles)))
        for number, smiles in kept
    ]


def flat(smiles: str) -> str | None:
    """Canonical SMILES without stereo centres, double bond geometry and isotopes."""
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            return None
        # Read again: what is canonical must not depend on the centres that were there.
        return str(Chem.CanonSmiles(Chem.MolToSmiles(molecule, isomericSmiles=False)))


def mean(values: list[float] | None) -> float | None:
    # Distinct values: most rows of the two tables repeat each other.
    return None if not values else round(float(np.mean(sorted(set(values)))), 3)


def write_table(rows: list[tuple[int, str, int, float | None]], path: Path) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "smiles", "class", "logBB"])
    for number, smiles, target, value in rows:
        writer.writerow([number, smiles, target, "" if value is None else f"{value:g}"])
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content, 9, mtime=0))
    return hashlib.sha256(content).hexdigest()


def write_graphs(smiles: list[str], path: Path) -> str:
    """Per atom the number of earlier neighbours; per bond how far back, and its type.

    Atoms have the order of the SMILES string, so most of these numbers are 1 and compress well.
    """
    batch = molecules(smiles)
    assert batch.node_labels is not None
    assert batch.edge_labels is not None
    atoms, neighbours = batch.arcs()
    back = atoms > neighbours
    arrays: dict[str, Any] = {
        "sizes": batch.sizes.astype(np.uint16),
        "atoms": batch.node_labels.codes.astype(np.uint8),
        "atom_labels": np.array(batch.node_labels.categories, dtype="U"),
        "earlier": np.bincount(atoms[back], minlength=batch.n_nodes_total).astype(np.uint8),
        "steps": (atoms - neighbours)[back].astype(np.uint8),
        "bonds": batch.edge_labels.codes[back].astype(np.uint8),
        "bond_labels": np.array(batch.edge_labels.categories, dtype="U"),
    }
    assert batch.sizes.max() < 256
    np.savez_compressed(path, **arrays)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays.values())).hexdigest()


if __name__ == "__main__":
    main()
