"""Growing arrays."""

from __future__ import annotations

import numpy as np

from compiled_calls import from_python
from gramlet.engine.core.ragged import grown

grown = from_python(grown)


def test_growing_keeps_what_is_there():
    values = np.arange(4)
    assert grown(values, 4) is values or np.shares_memory(grown(values, 4), values)
    larger = grown(values, 5)
    assert len(larger) >= 8
    assert np.array_equal(larger[:4], values)
