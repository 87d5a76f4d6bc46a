"""Takes in tasks of asyncio.

A number that is in memory is taken at once. Where a take has to wait, a thread waits, so that the
other tasks go on. If the task is cancelled meanwhile, that thread stops waiting, too. A number that
it gets before it has stopped is lost, as nobody awaits it any more.
"""

from __future__ import annotations

import asyncio
import threading
from datetime import date, datetime
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from ._uidring import PastGenerator, Segments, Series, Tag, UidGenerator, WorkerId
from ._values import SeriesNumber


async def take(source: Union[UidGenerator, Tag]) -> int:
    number = source._take_at_once()
    if number is not None:
        return number
    stop = threading.Event()
    try:
        return await asyncio.to_thread(source._take_until, stop)
    finally:
        stop.set()


async def take_of(segments: Segments, tag: str) -> int:
    known = segments._tag_at_once(tag)
    return await take(await asyncio.to_thread(segments.tag, tag) if known is None else known)


async def next_of(
    series: Series, name: str, scope: Optional[str], day: Union[date, str, None]
) -> SeriesNumber:
    if day is None:
        number = series._next_at_once(name, scope)
        if number is not None:
            return number
    return await asyncio.to_thread(series.next, name, scope, day)


async def take_times(past: PastGenerator, times: Iterable[datetime]) -> List[int]:
    return await asyncio.to_thread(past.take_times, list(times))


async def lend(arguments: Tuple[Any, ...], options: Optional[Dict[str, Any]]) -> WorkerId:
    return await asyncio.to_thread(WorkerId.lend, *arguments, **(options or {}))
