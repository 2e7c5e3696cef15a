"""Saving fitted models to files that run no code when loaded.

The file is a zip archive of this package's own: ``manifest.json``, which tells the model as a tree
of plain values, and one ``.npy`` member an array. A pickle would run whatever its author wrote;
skops, the known remedy, would be one more dependency and a list of trusted types for each user to
keep. Here the format itself can say nothing but numbers, text, arrays and the names of classes, and
loading calls nothing but what builds instances of a fixed list of classes in gramlet and
scikit-learn (see `classes`) and gives them their attributes back.

`container` is the file, `encoding` and `decoding` the tree, `values` and `parts` the types with a
form of their own. A model is still only as good as its author: the numbers in it are believed.
"""

from gramlet.persistence.container import ModelFileError
from gramlet.persistence.files import load, save

__all__ = ["ModelFileError", "load", "save"]
