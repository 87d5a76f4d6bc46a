"""On servers, whose addresses are in the environment: UIDRING_TEST_POSTGRES, UIDRING_TEST_MYSQL."""

from __future__ import annotations

import asyncio
import os
import uuid
from typing import Any

import pytest

import uidring
from test_processes import forked, forks
from uidring import Segments, Series, UidGenerator


@pytest.fixture(params=["UIDRING_TEST_POSTGRES", "UIDRING_TEST_MYSQL"])
def server(request: pytest.FixtureRequest) -> str:
    address = os.environ.get(request.param)
    if address is None:
        pytest.skip(f"{request.param} is not set")
    return address


def test_all_numbers_come_from_a_server(server: str) -> None:
    tag, name = f"tag-{uuid.uuid4()}", f"s{uuid.uuid4().hex}"
    with UidGenerator.open(server, lease="1m") as uids, Segments.open(server) as segments:
        assert len(set(uids.take_many(20_000))) == 20_000
        numbers = segments.create(tag)
        assert numbers.take_many(3) == [1, 2, 3]
        with Series.open(server) as series:
            series.create(name, "T{yyyy}-{n:5}")
            assert series.next(name, date="2026-11-24").text == "T2026-00001"

            async def main() -> list[Any]:
                takes = [uids.take_async(), segments.take_async(tag)]
                return await asyncio.gather(*takes, series.next_async(name, date="2026-11-24"))

            uid, number, issued = asyncio.run(main())
            assert (uid > 0, number, issued.value) == (True, 4, 2)


@forks
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_opens_its_own_connection(server: str) -> None:
    tag = f"tag-{uuid.uuid4()}"
    with UidGenerator.open(server, lease="1m") as uids, Segments.open(server) as segments:
        assert segments.create(tag).take() == 1

        def child() -> None:
            with pytest.raises(uidring.ForkedError):
                uids.take()
            with UidGenerator.open(server, lease="1m") as mine:
                assert mine.worker_id != uids.worker_id
            with Segments.open(server) as mine_too:
                assert mine_too.tag(tag).take() > 1

        forked(child)
        assert uids.take() > 0
        assert segments.take(tag) == 2
