"""Saving fitted models to files that can be loaded safely: loading runs no code from the file.

A file is a zip archive that contains ``manifest.json``, which describes the model as a tree of
plain values, and one ``.npy`` member per array. The format can only express numbers, text, arrays
and the names of classes.

`container` reads and writes the archive, `tree` encodes and decodes the values; `classes` decides
which classes a file may name and builds their instances. What each class stores is declared once:
gramlet's classes have an attribute ``stored`` (see `gramlet.common.fields`), scikit-learn's stand
in the table of `sklearn_models`. Declarations are checked when a model is saved and when it is
loaded. They do not judge a model: numbers that are possible are accepted.
"""

from gramlet.persistence.container import ModelFileError
from gramlet.persistence.files import load, save

__all__ = ["ModelFileError", "load", "save"]
