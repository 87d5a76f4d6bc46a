"""Numbers that are counted in a transaction of Django's."""

from __future__ import annotations

from datetime import date as Date
from typing import Dict, Optional, Union

from django.db import DEFAULT_DB_ALIAS, connections

from .._uidring import Series
from .._values import SeriesNumber

#: Of each database, by its alias.
_series: Dict[str, Series] = {}


def next_number(
    name: str,
    scope: Optional[str] = None,
    date: Union[Date, str, None] = None,
    *,
    using: Optional[str] = None,
) -> SeriesNumber:
    """Counts the next number of the gapless series `name` in the transaction that is under way on
    the database `using`: with the document it is stored, or with it rolled back.

    Call it within `transaction.atomic()`, or it is refused. `Series.next_in` says more.
    """
    alias = using or DEFAULT_DB_ALIAS
    series = _series.get(alias)
    if series is None:
        # It opens nothing, so one too many does no harm.
        series = _series.setdefault(alias, Series.in_transactions())
    return series.next_in(connections[alias], name, scope, date)
