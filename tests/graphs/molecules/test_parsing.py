"""Structures of SDF records: read, or refused with RDKit's reason."""

from __future__ import annotations

import pytest

Chem = pytest.importorskip("rdkit.Chem", reason="needs RDKit: pip install gramlet[chem]")

from gramlet import molecules  # noqa: E402
from gramlet.graphs.molecules.parsing import molecule_from_block  # noqa: E402

PHENOL = Chem.MolToMolBlock(Chem.MolFromSmiles("Oc1ccccc1"))


def test_a_block_is_the_molecule():
    assert molecules([molecule_from_block(PHENOL)]) == molecules(["Oc1ccccc1"])


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (PHENOL.replace(" O ", " Xx"), "Element 'Xx' not found"),
        (PHENOL.replace("M  END", ""), "the record ends before 'M  END'"),
        (PHENOL.replace("V2000", "V9000"), "RDKit cannot read|version"),
        (PHENOL.replace("  7  7", "  9  7"), "."),
        (Chem.MolToMolBlock(Chem.Mol()), "the molecule has no atoms"),
        (
            Chem.MolToMolBlock(Chem.MolFromSmiles("C(C)(C)(C)(C)C", sanitize=False)),
            "^Explicit valence for atom # 0 C, 5, is greater than permitted$",
        ),
    ],
)
def test_a_bad_block_is_refused_with_a_reason_and_quietly(block, reason, capfd):
    with pytest.raises(ValueError, match=reason) as raised:
        molecule_from_block(block)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 200
    assert capfd.readouterr().err == ""
