"""Constraints of parameters are declared for parameters that exist, and checked by scikit-learn."""

from __future__ import annotations

import pytest

from gramlet.common.parameters import InvalidParameterError, require_parameters
from gramlet.kernels import registry


@pytest.mark.parametrize("entry", registry.entries(), ids=lambda entry: entry.name)
def test_constraints_are_of_parameters_of_the_class(entry):
    cls = entry.cls()
    assert set(cls._parameter_constraints) <= set(cls._get_param_names())


def test_wrong_values_and_missing_parameters_are_errors():
    kernel = registry.make("wl", n_iter=-1)
    with pytest.raises(InvalidParameterError, match="'n_iter' parameter of WeisfeilerLehman must"):
        require_parameters(kernel)
    del kernel.n_iter
    with pytest.raises(ValueError, match="WeisfeilerLehman lacks the parameters"):
        require_parameters(kernel)
