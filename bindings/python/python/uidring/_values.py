"""What calls return."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import NamedTuple, Optional

__all__ = ["Parts", "SeriesNumber"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Parts(NamedTuple):
    """What a UID holds."""

    #: The time of its tick, in UTC.
    time: datetime
    #: The worker id.
    worker: int
    #: The number within the tick.
    sequence: int


class SeriesNumber(NamedTuple):
    """A number of a series. As `str` it is the text that people see."""

    #: The text that people see.
    text: str
    #: The number itself, counted from the first of its period.
    value: int
    #: The period in which it was counted, such as `2026-11-24`, `2026-W48` or `ever`.
    period: str
    #: The period that the text shows: that one, or a part of it.
    shown: str
    #: The scope, where it is known.
    scope: Optional[str]

    def __str__(self) -> str:
        return self.text


Parts.__module__ = SeriesNumber.__module__ = "uidring"


def parts(unix_ms: int, worker: int, sequence: int) -> Parts:
    try:
        time = _EPOCH + timedelta(milliseconds=unix_ms)
    except OverflowError:
        problem = "the UID's time is after the year 9999, the last that a datetime can hold"
        raise OverflowError(problem) from None
    return Parts(time, worker, sequence)
