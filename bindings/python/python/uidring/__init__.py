"""Unique, positive 64-bit ids that sort by time, made inside your process.

>>> import uidring
>>> with uidring.UidGenerator.open("uidring.db") as uids:
...     uid = uids.take()
>>> 0 < uid < 2**63
True
"""

from ._errors import (
    ClosedError,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    RefusedError,
    UidringError,
    UnavailableError,
)
from ._uidring import Segments, Series, Tag, UidGenerator, __version__
from ._values import Parts, SeriesNumber

__all__ = [
    "ClosedError",
    "ForkedError",
    "InternalError",
    "InvalidArgumentError",
    "Parts",
    "RefusedError",
    "Segments",
    "Series",
    "SeriesNumber",
    "Tag",
    "UidGenerator",
    "UidringError",
    "UnavailableError",
    "__version__",
]
