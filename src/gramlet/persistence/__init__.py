"""Saving fitted models to files that can be loaded safely: loading runs no code from the file.

A file is a zip archive that contains ``manifest.json``, which describes the model as a tree of
plain values, and one ``.npy`` member per array. The format can only express numbers, text, arrays
and the names of classes. `container` reads and writes the archive, `encoding` and `decoding` the
tree, `values` and `parts` types with a special encoding; `limits` sets the limits of size.

`classes` decides which classes a file may name; `validation` checks every object before it is
returned, gramlet's by their own method ``validate``, scikit-learn's by the descriptions in
`sklearn_models`. These checks do not judge a model: numbers that are possible are accepted.
"""

from gramlet.persistence.container import ModelFileError
from gramlet.persistence.files import load, save

__all__ = ["ModelFileError", "load", "save"]
