"""Values of options as the texts that the library reads."""

from __future__ import annotations

import os
from datetime import date, datetime, timedelta
from typing import Dict, List, Tuple

from ._errors import InvalidArgumentError


def texts(options: Dict[str, object]) -> List[Tuple[str, str]]:
    """The options that are given. One that is `None` is not.

    >>> texts({"lease": timedelta(minutes=10), "state": None, "exact_time": True})
    [('lease', '600000ms'), ('exact_time', 'true')]
    """
    given = options.items()
    return [(name, text(name, value)) for name, value in given if value is not None]


def text(name: str, value: object) -> str:
    """
    >>> text("max_lead", timedelta(days=1, microseconds=1500))
    '86400001500us'
    >>> text("epoch", date(2026, 1, 1))
    '2026-01-01'
    """
    if isinstance(value, str):
        return value
    # A bool is an int.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, timedelta):
        us = value // timedelta(microseconds=1)
        # The library refuses what is not whole milliseconds.
        return f"{us}us" if us % 1000 else f"{us // 1000}ms"
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise InvalidArgumentError(
                f"the option {name} cannot be a datetime without a time zone: {value.isoformat()}; "
                "add one, such as tzinfo=timezone.utc"
            )
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    raise TypeError(
        f"the option {name} is a str, int, bool, timedelta, datetime, date or path, and not "
        f"{type(value).__name__}"
    )


def date_text(value: object) -> str:
    """
    >>> date_text(date(2026, 11, 24))
    '2026-11-24'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        # The zone that says which day it is belongs to the caller.
        raise TypeError("a date is a datetime.date, and not a datetime: call its method date()")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a date is a datetime.date or a str, and not {type(value).__name__}")
