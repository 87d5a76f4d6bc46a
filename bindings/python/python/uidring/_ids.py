"""Ids that come from elsewhere, such as from JSON."""

from __future__ import annotations

_MOST = 2**63 - 1


def read_id(value: object) -> int:
    """An id from a text or a whole number.

    >>> read_id("240510429044957184")
    240510429044957184
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 19:
        value = int(value)
    # A bool is an int.
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"an id is a whole number or a text of one, and not {_shown(value)}")
    if not 1 <= value <= _MOST:
        raise ValueError(f"an id is a number from 1 to {_MOST}, and not {_shown(value)}")
    return int(value)


def _shown(value: object) -> str:
    """A value that may be long."""
    text = repr(value)
    return text if len(text) <= 50 else f"{text[:50]}..."
