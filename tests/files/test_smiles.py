"""Files of SMILES strings: columns found, lines named."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import as_batch
from gramlet.files.smiles import ColumnNotFoundError, read_smiles

pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")


def written(folder, name: str, text: str):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_smi_file_with_classes(tmp_path):
    path = written(tmp_path, "few.smi", "# a comment\nCCO 1\n\nCC\t-1\n")
    few = read_smiles(path)
    assert few.graphs == as_batch(["CCO", "CC"])
    assert few.target.tolist() == [1, -1]
    assert few.target.dtype.kind == "i"
    assert (few.name, few.smiles) == ("few", ["CCO", "CC"])


def test_a_smi_file_without_classes(tmp_path):
    assert read_smiles(written(tmp_path, "few.smi", "CCO\nCC\n")).target is None


def test_tables_find_their_columns_by_heading(tmp_path):
    text = '\ufeffid,SMILES,Activity,note\n1,CCO,high,"a, b"\n2,CC,low,\n'
    data = read_smiles(written(tmp_path, "t.csv", text))
    assert data.smiles == ["CCO", "CC"]
    assert data.target.tolist() == ["high", "low"]
    tabs = text.replace('"a, b"', "x").replace(",", "\t")
    assert read_smiles(written(tmp_path, "t.tsv", tabs)).smiles == data.smiles


def test_the_only_other_column_is_the_class(tmp_path):
    data = read_smiles(written(tmp_path, "t.csv", "toxic,smiles\n0,C\n1,CC\n"))
    assert data.target.tolist() == [0, 1]
    several = read_smiles(written(tmp_path, "u.csv", "toxic,smiles,more\n0,C,0\n1,CC,0\n"))
    assert several.target is None


def test_columns_by_name_and_by_number(tmp_path):
    path = written(tmp_path, "t.csv", "a,b,c\nCCO,CC,0.5\nCCN,C,1\n")
    assert read_smiles(path, "b", "c").smiles == ["CC", "C"]
    by_number = read_smiles(path, 0, 2)
    assert by_number.smiles == ["CCO", "CCN"]
    np.testing.assert_array_equal(by_number.target, [0.5, 1.0])
    headed = written(tmp_path, "h.smi", "what how\nCC 1\nC 2\n")
    assert read_smiles(headed, "what", "how").target.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.smi", "CC 1\nC(C 2\n", r"t.smi, line 2: 'C\(C' is not a valid SMILES string"),
        ("t.csv", 'smiles,y\nCC,1\n\n"",2\n', "line 4: no SMILES string in column 1"),
        ("t.csv", "smiles,y\nCC\n", "line 2: no class in column 2; the line has 1 column"),
        ("t.csv", "smiles,y\n", "holds no molecules"),
        ("t.smi", "", "holds no molecules"),
        ("t.csv", 'smiles,y\n"CC,1\n', "line 2: unexpected end of data"),
        ("t.txt", "CC", "end in .smi, .smiles, .csv, .tsv; got '.txt'"),
    ],
)
def test_damaged_files_are_refused_by_name_and_line(tmp_path, name, text, message):
    with pytest.raises(ValueError, match=message):
        read_smiles(written(tmp_path, name, text))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ValueError, match="not a text file in UTF-8"):
        read_smiles(path)


def test_missing_columns_and_files(tmp_path):
    path = written(tmp_path, "t.csv", "a,b\nCC,1\n")
    with pytest.raises(ColumnNotFoundError, match="no column is called 'smiles'; there are 'a'"):
        read_smiles(path)
    with pytest.raises(ColumnNotFoundError, match=r"called 'z' \(label_column\)"):
        read_smiles(path, "a", "z")
    with pytest.raises(ValueError, match="smiles_column=-1: columns are counted from 0"):
        read_smiles(path, -1)
    with pytest.raises(FileNotFoundError, match="no file"):
        read_smiles(tmp_path / "no.csv")
