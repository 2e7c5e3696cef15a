"""The table of all codecs, used by `encoding` and `decoding`."""

from __future__ import annotations

from typing import Any

from gramlet.persistence.codec import Codec
from gramlet.persistence.parts import PART_CODECS
from gramlet.persistence.values import VALUE_CODECS

__all__ = ["CODECS", "codec_for"]

_ALL = (*VALUE_CODECS, *PART_CODECS)

CODECS = {codec.tag: codec for codec in _ALL}


def codec_for(value: Any) -> Codec | None:
    """The codec that encodes a value, if there is one."""
    return next((codec for codec in _ALL if codec.matches(value)), None)
