"""Elements read from SMILES strings, all strings of a set at once.

The atoms of a molecule have the order in which the string spells them. RDKit is called once per
distinct spelling ("c", "Cl", "[nH]") to get its element. The caller must check that a molecule has
the atoms that its string spells, since RDKit removes hydrogens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from gramlet.common.arrays import Bools, Ints
from gramlet.graphs.columns import Categorical
from gramlet.graphs.molecules.parsing import rdkit

__all__ = ["Spellings"]

_IN_BRACKETS = re.compile(r"\[[^\]\n]*\]")
_NO_ATOM = re.compile("[^A-Za-z*\n\U00010000-\U0010ffff]+")
_FIRST_TOKEN = 0x10000  # above all letters: one character per distinct spelling in brackets


class Spellings:
    """The atoms that SMILES strings spell, in order.

    Parameters
    ----------
    texts : sequence of str
        Strings that contain more than a structure (a name or coordinates after a space) and empty
        strings count as having no atoms.

    Attributes
    ----------
    counts : array of int
        Atoms per string.

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet.graphs.molecules.spellings import Spellings
    >>> spellings = Spellings(["Clc1cc[nH]c1", "not read", "CBr"])
    >>> spellings.counts.tolist()
    [6, 0, 2]
    >>> list(spellings.symbols(np.array([True, False, True])))
    ['Cl', 'C', 'C', 'C', 'N', 'C', 'C', 'Br']
    """

    def __init__(self, texts: Sequence[str]) -> None:
        bare = [text if text.isprintable() and " " not in text else "" for text in texts]
        tokens: dict[str, str] = {}

        def character(found: re.Match[str]) -> str:
            return tokens.setdefault(found[0], chr(_FIRST_TOKEN + len(tokens)))

        joined = _IN_BRACKETS.sub(character, "\n".join([*bare, ""]))
        joined = _NO_ATOM.sub("", joined.replace("Cl", "L").replace("Br", "R"))
        characters = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
        is_end = characters == ord("\n")
        self.counts: Ints = np.diff(np.flatnonzero(np.concatenate([[True], is_end]))) - 1
        self._atoms = characters[~is_end].astype(np.int64)
        self._tokens = list(tokens)

    def symbols(self, chosen: Bools) -> Categorical:
        """The symbols of the atoms of the selected strings, one after the other."""
        atoms = self._atoms[np.repeat(chosen, self.counts)]
        occurs = np.flatnonzero(np.bincount(atoms))
        found = [_symbol(self._spelling(int(character))) for character in occurs]
        index = {symbol: code for code, symbol in enumerate(dict.fromkeys(found))}
        table = np.zeros(int(occurs[-1]) + 1 if len(occurs) else 1, dtype=np.int64)
        table[occurs] = [index[symbol] for symbol in found]
        return Categorical(table[atoms], index)

    def _spelling(self, character: int) -> str:
        if character >= _FIRST_TOKEN:
            return self._tokens[character - _FIRST_TOKEN]
        return {"L": "Cl", "R": "Br"}.get(chr(character), chr(character))


@lru_cache(maxsize=4096)
def _symbol(spelling: str) -> str:
    """The symbol of the element that the spelling of one atom stands for."""
    chem = rdkit()
    number = chem.AtomFromSmiles(spelling).GetAtomicNum()
    return str(chem.GetPeriodicTable().GetElementSymbol(number))
