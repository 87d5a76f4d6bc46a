"""UIDs of times that were."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import uidring
from uidring import PastGenerator, UidGenerator

#: After the epoch, with 8 UIDs for a second and worker id.
TIME = datetime(2026, 5, 28, 20, 26, 40, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)


def opened(db: Path) -> PastGenerator:
    return PastGenerator.open(db, layout="30,20,3", epoch="2026-01-01", max_new_workers=1)


def test_a_uid_has_the_tick_of_the_time_asked_for(db: Path) -> None:
    with opened(db) as past, opened(db) as other:
        first = past.take_at(TIME + timedelta(microseconds=999_999))
        assert past.parts(first) == (TIME, 1, 0)
        assert other.parts(other.take_at(TIME)) == (TIME, 2, 0)
        # Any zone, and whatever gives them.
        east = TIME.astimezone(timezone(timedelta(hours=8)))
        uids = past.take_times(time for time in [east, TIME - SECOND, TIME + SECOND / 2])
        assert uids[1] < first < uids[0] < uids[2]
        assert past.parts(uids[1]).time == TIME - SECOND
        status = past.status()
        assert (status["taken"], status["workers"], status["ticks"]) == (4, 1, 2)
        assert past.layout == "layout=30,20,3 tick=1000ms epoch=2026-01-01T00:00:00Z"
        assert repr(past) == f"<uidring.PastGenerator {past.layout}>"


def test_a_full_tick_takes_as_many_further_worker_ids_as_are_allowed(db: Path) -> None:
    with opened(db) as past:
        uids = past.take_times([TIME] * 16)
        assert uids == sorted(set(uids))
        assert [past.parts(uid).worker for uid in uids] == [1] * 8 + [2] * 8
        with pytest.raises(uidring.UnavailableError, match="as many as max_new_workers allows"):
            past.take_at(TIME)
        assert past.worker_id == 2
        # Other seconds have some.
        past.take_at(TIME + SECOND)


def test_times_without_a_uid_are_told_and_take_nothing(db: Path) -> None:
    with opened(db) as past:
        early = datetime(2025, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)
        said = (
            "^no UID of 2025-12-31T23:59:59.999Z: the layout begins at 2026-01-01T00:00:00Z; "
            "choose a layout with an earlier epoch"
        )
        with pytest.raises(uidring.InvalidArgumentError, match=said):
            past.take_at(early)
        late = datetime.now(timezone.utc) + timedelta(minutes=1)
        with pytest.raises(uidring.InvalidArgumentError, match="^time 2: .* times that were$"):
            past.take_times([TIME, late])
        naive = (
            "^a time cannot be a datetime without a time zone: 2026-05-28T20:26:40; add one, such "
            "as tzinfo=timezone.utc$"
        )
        with pytest.raises(uidring.InvalidArgumentError, match=naive):
            past.take_at(TIME.replace(tzinfo=None))
        assert past.status()["taken"] == 0


def test_leased_worker_ids_and_numbers_of_ones_own_are_refused_with_the_way(db: Path) -> None:
    with pytest.raises(uidring.InvalidArgumentError, match="leave out the option lease"):
        PastGenerator.open(db, lease=timedelta(minutes=10))
    with pytest.raises(uidring.InvalidArgumentError, match="leave it out"):
        PastGenerator.open(db, state="uidring.state")
    assert not db.exists()


def test_no_uid_comes_twice_in_many_threads(db: Path) -> None:
    now = datetime.now(timezone.utc)
    times = [now - SECOND * (index % 10) for index in range(500)]
    taken: list[list[int]] = [[] for _ in range(4)]
    with UidGenerator.open(db) as uids, PastGenerator.open(db) as past:
        with PastGenerator.open(db) as other:

            def take(into: list[int]) -> None:
                into += past.take_times(times)
                into += [other.take_at(time) for time in times]
                into += uids.take_many(500)

            threads = [threading.Thread(target=take, args=(into,)) for into in taken]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert len(set(sum(taken, []))) == 4 * 1500


def test_tasks_of_asyncio_take_many(db: Path) -> None:
    async def main() -> list[int]:
        with opened(db) as past:
            return await past.take_times_async([TIME] * 8)

    uids = asyncio.run(main())
    assert len(set(uids)) == 8 and uids == sorted(uids)
