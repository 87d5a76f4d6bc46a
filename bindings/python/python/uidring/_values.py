"""What calls return."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import NamedTuple, Optional

from ._errors import InvalidArgumentError

__all__ = ["Loss", "Parts", "SeriesNumber"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Parts(NamedTuple):
    """What a UID holds."""

    #: The time of its tick, in UTC.
    time: datetime
    #: The worker id.
    worker: int
    #: The number within the tick.
    sequence: int


class Loss(NamedTuple):
    """A worker id that is about to be lost. As `str` it is a line for people."""

    #: The worker id.
    worker_id: int
    #: How long it may still be used; zero if not any more.
    time_left: timedelta
    #: A line for people, with the reason.
    text: str

    def __str__(self) -> str:
        return self.text


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


Loss.__module__ = Parts.__module__ = SeriesNumber.__module__ = "uidring"


def parts(unix_ms: int, worker: int, sequence: int) -> Parts:
    try:
        time = _EPOCH + timedelta(milliseconds=unix_ms)
    except OverflowError:
        problem = "the UID's time is after the year 9999, the last that a datetime can hold"
        raise OverflowError(problem) from None
    return Parts(time, worker, sequence)


def unix_ms(time: object) -> int:
    """The milliseconds since 1970, rounded down as ticks are.

    >>> unix_ms(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc))
    -1
    """
    if not isinstance(time, datetime):
        raise TypeError(f"a time is a datetime, and not {type(time).__name__}")
    if time.utcoffset() is None:
        raise InvalidArgumentError(
            f"a time cannot be a datetime without a time zone: {time.isoformat()}; "
            "add one, such as tzinfo=timezone.utc"
        )
    return (time - _EPOCH) // timedelta(milliseconds=1)
