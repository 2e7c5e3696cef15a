"""Constraints of parameters, declared once per class: checked as in scikit-learn, but faster."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

import pytest
from sklearn.base import BaseEstimator, clone

from gramlet.common.parameters import CheckedEstimator, Interval, InvalidParameterError
from gramlet.kernels import registry

CONSTRAINTS = {"depth": [Interval(Integral, 1, None, closed="left"), None], "free": "no_validation"}


class Checked(CheckedEstimator):
    _parameter_constraints = CONSTRAINTS

    def __init__(self, depth=1, free=None, unstated=0):
        self.depth = depth
        self.free = free
        self.unstated = unstated


class Deeper(Checked):
    _parameter_constraints: ClassVar = {**CONSTRAINTS, "width": [str]}

    def __init__(self, width="w", depth=1):
        super().__init__(depth)
        self.width = width


class Plain(BaseEstimator):
    _parameter_constraints = CONSTRAINTS
    __init__ = Checked.__init__


def test_names_and_checks_are_those_of_the_class():
    assert Checked._get_param_names() == ["depth", "free", "unstated"]
    assert Deeper._get_param_names() == ["depth", "width"]
    Checked._get_param_names().clear()
    assert clone(Checked(depth=3)).get_params() == {"depth": 3, "free": None, "unstated": 0}
    for good in (1, 7, None):
        Checked(depth=good, free=object(), unstated="x")._validate_params()
    Deeper()._validate_params()
    with pytest.raises(InvalidParameterError, match="'width' parameter of Deeper must be"):
        Deeper(width=3)._validate_params()


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "many"])
def test_errors_are_scikit_learns(wrong):
    with pytest.raises(InvalidParameterError) as found:
        Checked(depth=wrong)._validate_params()
    with pytest.raises(InvalidParameterError) as expected:
        Plain(depth=wrong)._validate_params()
    assert str(found.value) == str(expected.value).replace("Plain", "Checked")


@pytest.mark.parametrize("entry", registry.entries(), ids=lambda entry: entry.name)
def test_every_estimator_of_the_registry_reports_its_own_parameters(entry):
    cls = entry.cls()
    assert cls._get_param_names() == BaseEstimator._get_param_names.__func__(cls)
    assert set(cls._parameter_constraints) <= set(cls._get_param_names())
