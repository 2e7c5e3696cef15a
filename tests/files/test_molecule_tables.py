"""Tables of molecules: separators, headings and columns; bad rows are named or skipped."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest

import gramlet
from gramlet.files.dataset import DatasetNotFoundError
from gramlet.files.tables import ColumnNotFoundError

pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")


def put(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


# Recognition


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "T.CSV.gz"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separator_line_ends_packing_and_byte_order_mark(
    tmp_path: Path, separator: str, line_end: str, name: str, mark: str
) -> None:
    rows = [["name", "SMILES", "logS"], ["ethanol", "CCO", "1.1"], ["benzene", "c1ccccc1", "-1"]]
    text = mark + line_end.join(separator.join(row) for row in rows)
    data = gramlet.read(put(tmp_path, name, text))
    assert data.molecules == ["CCO", "c1ccccc1"]
    assert data.ids == ["ethanol", "benzene"]
    assert data.target.tolist() == [1.1, -1.0]
    assert (data.target_name, data.task, data.name) == ("logS", "regression", name[:1])
    assert data.graphs == gramlet.as_batch(["CCO", "c1ccccc1"])
    assert data.skipped == []


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("heading", ["", "name{s}smiles{s}IC50, nM\n"])
def test_a_decimal_comma_in_every_row_does_not_separate(
    tmp_path: Path, separator: str, heading: str
) -> None:
    rows = ["X0{s}CO{s}0,37", "X1{s}CN{s}1,5", "X2{s}CCN{s}2,5"]
    text = heading + "\n".join(rows) + "\n"
    data = gramlet.read(put(tmp_path, "t.csv", text.format(s=separator)), target=2)
    assert data.molecules == ["CO", "CN", "CCN"]
    assert data.target.tolist() == [0.37, 1.5, 2.5]


def test_a_table_without_headings(tmp_path: Path) -> None:
    data = gramlet.read(put(tmp_path, "t.csv", "CCO,1\nCC,0\n"))
    assert data.molecules == ["CCO", "CC"]
    assert data.target.tolist() == [1, 0]
    assert data.target_name == "1"
    words = gramlet.read(put(tmp_path, "w.csv", "active,CCO\ninactive,CC\n"))
    assert words.target.tolist() == ["active", "inactive"]


def test_headings_may_be_forced(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "C,N\nCC,1\nCO,0\n")
    assert gramlet.read(path, header=True, molecules="C").target.tolist() == [1, 0]
    with pytest.warns(UserWarning, match="'N', while most others are whole numbers"):
        assert gramlet.read(path, header=False, molecules=0).molecules == ["C", "CC", "CO"]


@pytest.mark.parametrize("cell", ["-nan", "+NaN", "Nan", "-1.#IND", "1.#QNAN", "nan(ind)", "#NUM!"])
def test_what_is_not_a_number_is_missing(tmp_path: Path, cell: str) -> None:
    path = put(tmp_path, "t.csv", f"smiles,y\nCCO,1.5\nCC,{cell}\nCO,2.5\n")
    with pytest.raises(ValueError, match=r"line 3: the target 'y' is "):
        gramlet.read(path)
    with pytest.warns(UserWarning, match="1 of 3 molecules were left out"):
        assert gramlet.read(path, on_error="skip").target.tolist() == [1.5, 2.5]
    classes = put(tmp_path, "c.csv", "smiles,y\nCCO,Na\nCC,none\nCO,K\n")
    assert gramlet.read(classes).target.tolist() == ["Na", "none", "K"]


def test_a_word_among_whole_numbers_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "smiles,IC50\nCCO,10\nCC,250\nCO,>10000\nCN,31\n")
    with pytest.warns(UserWarning, match=r"line 4: the target 'IC50' is '>10000', while most"):
        assert gramlet.read(path).target.tolist() == ["10", "250", ">10000", "31"]
    with pytest.warns(UserWarning, match="a target is '>10000', while most"):
        list(gramlet.stream(path))


def test_headings_that_may_be_data_are_told(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "C(C,act\nCC,inact\nCCC,act\nCCO,inact\n")
    for read in (gramlet.read, lambda path: list(gramlet.stream(path))):
        with pytest.warns(UserWarning, match="read as headings, but 'act' is also a value"):
            read(path)
    with pytest.raises(ValueError, match="line 1: "):
        gramlet.read(path, header=False)


def test_names_that_begin_late_in_a_stream(tmp_path: Path) -> None:
    path = put(tmp_path, "late.smi", "CC\n" * 5 + "CO methanol\n")
    whole = gramlet.read(path)
    blocks = list(gramlet.stream(path, 2))
    assert [name for block in blocks for name in block.ids] == whole.ids == [""] * 5 + ["methanol"]
    path.write_text("smiles name\n" + "CC\n" * 4 + "CO x\n")
    names = [name for block in gramlet.stream(path, 2) for name in block.ids]
    assert names == gramlet.read(path).ids


def test_the_molecules_are_found_by_what_they_are(tmp_path: Path) -> None:
    text = "code,drug,outcome\nx1,CCO,yes\nx2,CCN,no\n"
    data = gramlet.read(put(tmp_path, "t.csv", text), target="outcome")
    assert data.molecules == ["CCO", "CCN"]
    both = put(tmp_path, "u.csv", "a,b,c\nCCO,CC,1\nCCN,C,0\n")
    with pytest.raises(ColumnNotFoundError, match=r"several columns .* Name .* with molecules="):
        gramlet.read(both)
    assert gramlet.read(both, "c", molecules="b").molecules == ["CC", "C"]
    assert gramlet.read(both, 2, molecules=1).molecules == ["CC", "C"]


def test_quoted_fields_with_newlines_keep_line_numbers(tmp_path: Path) -> None:
    text = 'note,smiles,y\n"a,\nb ""c""",CCO,1\nx,C(C,0\n'
    with pytest.raises(ValueError, match=r"t.csv, line 4: 'C\(C' is not a valid SMILES string"):
        gramlet.read(put(tmp_path, "t.csv", text))
    with pytest.warns(UserWarning, match="1 of 2 molecules"):
        data = gramlet.read(tmp_path / "t.csv", on_error="skip", id="note")
    assert data.ids == ['a,\nb "c"']


def test_smi_files_have_names(tmp_path: Path) -> None:
    data = gramlet.read(put(tmp_path, "few.smi", "# a comment\nCCO ethyl alcohol\n\nCC\tethane\n"))
    assert (data.molecules, data.ids, data.target) == (
        ["CCO", "CC"],
        ["ethyl alcohol", "ethane"],
        None,
    )
    plain = gramlet.read(put(tmp_path, "plain.smi.gz", "CCO\nCC\n"))
    assert (plain.molecules, plain.ids) == (["CCO", "CC"], None)
    classes = gramlet.read(put(tmp_path, "c.smi", "CCO a 1\nCC b 0\n"), target=2)
    assert (classes.ids, classes.target.tolist()) == (["a", "b"], [1, 0])
    headed = gramlet.read(put(tmp_path, "h.smi", "smiles y\nCC 1\nC 2\n"), target="y")
    assert headed.target.tolist() == [1, 2]


def test_how_molecules_become_graphs(tmp_path: Path) -> None:
    path = put(tmp_path, "few.smi", "C[NH3+]\n")
    assert list(gramlet.read(path).graphs.node_labels) == ["C", "N+"]
    assert list(gramlet.read(path, atoms=("element",)).graphs.node_labels) == ["C", "N"]
    assert gramlet.read(path, hydrogens=True).graphs.sizes.tolist() == [8]
    assert gramlet.read(path, directed=True).graphs.n_edges.tolist() == [2]


# Skipped rows


def test_skipped_rows_shift_nothing(tmp_path: Path) -> None:
    text = "id,smiles,y\na,CCO,1.5\nb,C(C,2\nc,,3\nd,CC,\ne,CN,nan\nf,CO,x\ng,CF,inf\nh,CCl,8\n"
    path = put(tmp_path, "t.csv", text)
    with pytest.warns(UserWarning, match=r"t.csv: 6 of 8 molecules were left out") as caught:
        data = gramlet.read(path, on_error="skip")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert data.ids == ["a", "h"]
    assert data.target.tolist() == [1.5, 8.0]
    assert data.molecules == ["CCO", "CCl"]
    assert [str(each).partition("line ")[2] for each in data.skipped] == [
        "3: 'C(C' is not a valid SMILES string (extra open parentheses at character 2)",
        "4: column 'smiles' has no molecule",
        "5: the target 'y' is missing",
        "6: the target 'y' is 'nan'",
        "7: the target 'y': 'x' is not a number, though others are",
        "8: the target 'y': inf is not finite",
    ]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("C(C,1", r"line 3: 'C\(C' is not a valid SMILES string"),
        (",1", "line 3: column 'smiles' has no molecule"),
        ("CC,", "line 3: the target 'y' is missing"),
        ("CC,NaN", "line 3: the target 'y' is 'NaN'"),
        ("CC,many", "line 3: the target 'y': 'many' is not a number"),
        ("CC,1,2", "line 3: the row has 3 cells where the first has 2"),
        ('"CC,1', "line 3: a quoted field does not end"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, bad: str, message: str) -> None:
    path = put(tmp_path, "t.csv", f"smiles,y\nCCO,0.5\n{bad}\n")
    with pytest.raises(ValueError, match=message):
        gramlet.read(path)


def test_all_molecules_unreadable(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "smiles,y\nC(C,1\nxyz,0\n")
    with pytest.raises(ValueError, match="line 2"):
        gramlet.read(path)
    with pytest.raises(ValueError, match=r"none of 2 molecules can be read; the first is .*line 2"):
        gramlet.read(path, on_error="skip")


def test_targets_of_each_kind(tmp_path: Path) -> None:
    def target(*cells: str) -> np.ndarray:
        rows = "".join(f"C,{cell}\n" for cell in cells)
        return gramlet.read(put(tmp_path, "t.csv", f"smiles,y\n{rows}")).target

    assert target("1", "-1").dtype == np.int64
    assert target("1.0", "2").dtype == np.float64
    assert target("a", "1").tolist() == ["a", "1"]
    assert target("+", "-").tolist() == ["+", "-"]
    assert target("True", "False").tolist() == ["True", "False"]
    assert target("99999999999999999999", "1").dtype == np.float64
    assert target("1_000", "2").tolist() == ["1_000", "2"]


def test_an_empty_column_that_was_not_asked_for_is_no_target(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "smiles,y\nCC,\nCO,\n")
    assert gramlet.read(path).target is None
    with pytest.raises(ValueError, match="line 2: the target 'y' is missing"):
        gramlet.read(path, "y")


# Refused tables


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "has no rows"),
        ("t.csv", "\n\n", "has no rows"),
        ("t.csv", "smiles,y\n", "headings and no rows"),
        ("t.smi", "# nothing\n", "has no rows"),
        ("t.csv", "smiles,smiles\nC,C\n", "2 columns are called 'smiles'"),
        ("t.csv", b"smiles,y\nC\xe9,1\n", r"t.csv, line 2: this is not text in UTF-8 \(byte 0xe9"),
        ("t.csv", "smiles,y\nCC,1\n".encode("utf-16"), "line 1: this is not text in UTF-8"),
        (
            "t.csv",
            "smiles|y\nCC|1\nCO|2\n",
            "no column contains SMILES strings; there is 'smiles|y'",
        ),
    ],
)
def test_files_that_are_no_tables(
    tmp_path: Path, name: str, text: str | bytes, message: str
) -> None:
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        gramlet.read(put(tmp_path, name, text))


def test_missing_columns_are_listed(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "smiles,y\nCC,1\n")
    for option in ("target", "molecules", "id"):
        message = rf"no column is called 'z' \({option}=\); there are 'smiles', 'y'"
        with pytest.raises(ColumnNotFoundError, match=message):
            gramlet.read(path, **{option: "z"})
    with pytest.raises(ColumnNotFoundError, match=r"there is no column 5 \(target=\)"):
        gramlet.read(path, 5)


def test_cut_off_and_oversized_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(b"smiles,y\n" + b"CCO,1\n" * 5000)
    with pytest.raises(ValueError, match="not a complete gzip file"):
        gramlet.read(_raw(tmp_path / "cut.csv.gz", whole[: len(whole) // 2]))
    with pytest.raises(ValueError, match="not a complete gzip file"):
        gramlet.read(_raw(tmp_path / "bad.csv.gz", whole[:-8] + b"\0" * 8))
    bomb = gzip.compress(b"#" * 10_000_000)
    assert len(bomb) < 20_000
    with pytest.raises(ValueError, match="has more than 1,000,000 bytes, unpacked"):
        gramlet.read(_raw(tmp_path / "bomb.smi.gz", bomb), max_bytes=1_000_000)


def _raw(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_table_packed_without_saying_so(tmp_path: Path) -> None:
    path = _raw(tmp_path / "t.csv", gzip.compress(b"smiles,y\nCC,1\n"))
    assert gramlet.read(path).molecules == ["CC"]


def test_what_is_not_there_is_not_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("urllib.request.urlopen", never)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetNotFoundError, match="There is no file or folder NCI1"):
        gramlet.read("NCI1")
    put(tmp_path, "NCI1", "CC\n")
    with pytest.raises(ValueError, match=r"of no known kind.*Known are TU folders and .zip, .smi"):
        gramlet.read("NCI1")


def test_options_that_have_no_meaning(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "smiles,y\nCC,1\n")
    with pytest.raises(ValueError, match=r"is a .csv file, to which label= does not apply"):
        gramlet.read(path, label="x")
    with pytest.raises(ValueError, match='on_error must be "raise" or "skip"'):
        gramlet.read(path, on_error="ignore")


def test_no_warning_without_reason(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gramlet.read(put(tmp_path, "t.csv", "smiles,y\nCC,1\nCO,2\n"), on_error="skip")


def test_columns_of_one_heading_are_told_apart_by_number(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "smiles,y,y\nCC,1,5\nC,0,6\n")
    with pytest.raises(ValueError, match=r"2 columns are called 'y', with the numbers 1, 2"):
        gramlet.read(path, "y")
    assert gramlet.read(path, 2).target.tolist() == [5, 6]
    put(tmp_path, "t.csv", "smiles,y,note,note\nCC,1,a,b\n")
    assert gramlet.read(path).target.tolist() == [1]


def test_columns_without_headings_that_are_not_read_are_listed(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "m1,CC,1.5\nm2,CCO,2.5\n")
    assert gramlet.read(path).unread == ["0", "2"]
    data = gramlet.read(path, "2", id="0")
    assert (data.ids, data.target.tolist()) == (["m1", "m2"], [1.5, 2.5])
    assert "unread" not in data


def test_a_table_separated_by_spaces_does_not_lose_its_columns(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "smiles id y\nCC a 1\n")
    with pytest.raises(ValueError, match=r"line 2: 'CC a 1' is more than a molecule"):
        gramlet.read(path)
    assert len(gramlet.read(put(tmp_path, "x.csv", "smiles\nCC |$a;b$|\n")).graphs) == 1


def test_the_first_molecule_of_smi_is_no_heading(tmp_path: Path) -> None:
    path = put(tmp_path, "t.smi", "CC a\nCCO b\n")
    with pytest.raises(ValueError, match=r"no column is called 'y' .* 2 columns, numbered from 0"):
        gramlet.read(path, "y")


def test_one_decimal_point_among_commas_is_the_odd_row(tmp_path: Path) -> None:
    rows = [f"C{'C' * i};{i},5" for i in range(1, 10)]
    path = put(tmp_path, "t.csv", "\n".join(["smiles;y", *rows[:4], "CO;2.5", *rows[4:]]) + "\n")
    with pytest.raises(ValueError, match=r"line 6: the target 'y': '2.5' has a decimal point"):
        gramlet.read(path)
    with pytest.warns(UserWarning, match="1 of 10 molecules were left out"):
        data = gramlet.read(path, on_error="skip")
    assert data.target.tolist() == [i + 0.5 for i in range(1, 10)]
    with pytest.warns(UserWarning, match="1 of 10 rows were left out"):
        blocks = list(gramlet.stream(path, 1, on_error="skip"))
    assert [block.target.tolist() for block in blocks][3:6] == [[4.5], [], [5.5]]


@pytest.mark.parametrize("ending", ["", 'CC,"3"\nCN,4\n'])
def test_a_quote_that_is_not_closed_loses_no_line_in_silence(tmp_path: Path, ending: str) -> None:
    rows = ["smiles,y", "CC,1", 'CO,"2', *(f"{'C' * i},{i}" for i in range(1, 20))]
    path = put(tmp_path, "t.csv", "\n".join(rows) + "\n" + ending)
    n_lost = 20 if not ending else 21
    reason = "expected after" if ending else "a quoted field does not end"
    with pytest.raises(ValueError, match=f"line 3: .*{reason}.* begins in line 3 and is read up"):
        gramlet.read(path)
    with pytest.warns(UserWarning, match=f"{n_lost} of {n_lost + 1 + bool(ending)} .* left out"):
        data = gramlet.read(path, on_error="skip")
    lines = [int(each.place.rpartition(" ")[2]) for each in data.skipped]
    assert lines == list(range(3, 3 + n_lost))
    with pytest.warns(UserWarning, match=f"{n_lost} of"):
        blocks = list(gramlet.stream(path, 4, on_error="skip"))
    assert sum(len(block.skipped) for block in blocks) == n_lost


def test_quoted_fields_may_contain_line_breaks(tmp_path: Path) -> None:
    text = 'smiles,note,y\nCC,"one\ntwo",1\nCO,"x",2\nCN,"a\n\nb",0\n'
    data = gramlet.read(put(tmp_path, "t.csv", text), target="y")
    assert (data.target.tolist(), data.skipped) == ([1, 2, 0], [])
