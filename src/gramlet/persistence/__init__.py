"""Saving fitted models to files that run no code and do no harm when loaded.

The file is a zip archive of this package's own: ``manifest.json``, which describes the model as a
tree of plain values, and one ``.npy`` member per array. The format can express nothing but numbers,
text, arrays and the names of classes. `container` is the file, `encoding` and `decoding` the tree,
`values` and `parts` the types with a form of their own, `limits` how much there may be of it all.

`classes` decides which classes a file may name; `validation` checks every object before it is
handed out, gramlet's by their own method ``validate``, scikit-learn's by the descriptions in
`sklearn_models`. A model is still only as good as its author: numbers that are possible are
believed.
"""

from gramlet.persistence.container import ModelFileError
from gramlet.persistence.files import load, save

__all__ = ["ModelFileError", "load", "save"]
