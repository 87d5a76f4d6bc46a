"""What each call fails with."""

from __future__ import annotations

from typing import Sequence

__all__ = [
    "ClosedError",
    "ForkedError",
    "InternalError",
    "InvalidArgumentError",
    "RefusedError",
    "UidringError",
    "UnavailableError",
]


class UidringError(Exception):
    """Any error of uidring. Its text says what happened and what to do."""

    # No `__init__`: it would be code in Python that runs inside of a call of the library, where a
    # daemon thread must not meet the end of the program.

    #: After a `fill` that failed half-way: how many items at the start of the buffer are new.
    filled: int = 0
    #: After a `take_many` that failed half-way: the numbers that were taken. They are yours.
    numbers: Sequence[int] = ()


class InvalidArgumentError(UidringError, ValueError):
    """An argument or an option is wrong. Nothing was done."""


class UnavailableError(UidringError):
    """There is no number for now: a store cannot be reached, or a limit is reached that time
    lifts. The same call may succeed later."""


class RefusedError(UidringError):
    """The store refuses, or something is used up. Somebody has to change something."""


class ClosedError(UidringError):
    """The generator was closed."""


class ForkedError(UidringError):
    """This process was forked from the one that opened the generator. Open another here."""


class InternalError(UidringError):
    """uidring has made a mistake. Please report it."""


for _error in list(globals().values()):
    if isinstance(_error, type) and issubclass(_error, UidringError):
        # Tracebacks show the name by which programs know it.
        _error.__module__ = "uidring"
