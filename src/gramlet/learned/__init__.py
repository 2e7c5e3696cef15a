"""Graph neural networks to compare kernels with, as scikit-learn classifiers.

They need PyTorch and PyTorch Geometric (``pip install gramlet[learned]``), which are imported when
a classifier is fitted.
"""

from gramlet.learned.classifiers import DeepSetsClassifier, GINClassifier

__all__ = ["DeepSetsClassifier", "GINClassifier"]
