"""Worker ids that are lent to generators of others."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

import uidring
from uidring import Loss, WorkerId


def test_an_id_is_lent_until_it_is_closed(db: Path) -> None:
    with WorkerId.lend(db, "shop", 1, lease="1m", rest="1s", host="orders-3") as worker:
        assert (worker.id, worker.is_held, repr(worker)) == (1, True, "<uidring.WorkerId 1>")
        status = worker.status()
        assert (status["state"], status["id"], status["renewals"]) == ("held", 1, 0)
        with pytest.raises(uidring.UnavailableError, match="1 are held, and 0 rest"):
            WorkerId.lend(db, "shop", 1)
    worker.close()
    assert not worker.is_held
    with pytest.raises(uidring.ClosedError, match="the worker id was closed"):
        print(worker.id)
    with pytest.raises(uidring.ClosedError, match="the worker id was closed"):
        worker.status()


def test_what_is_wrong_is_told(db: Path) -> None:
    WorkerId.lend(db, "shop", 10).close()
    for pool, bits, said in [
        ("shop", 2, "was first used with ids of 10 bits"),
        ("shop", 23, "1 to 22"),
        ("", 1, "no pool is called"),
    ]:
        with pytest.raises(uidring.InvalidArgumentError, match=said):
            WorkerId.lend(db, pool, bits)
    with pytest.raises(uidring.InvalidArgumentError, match="a lease lasts a second at least"):
        WorkerId.lend(db, "shop", 10, lease=timedelta(milliseconds=1))
    with pytest.raises(uidring.InvalidArgumentError, match="did you mean lease"):
        WorkerId.lend(db, "shop", 10, leas="1m")  # type: ignore[call-arg]


def test_a_loss_is_told_ahead_of_the_end(db: Path) -> None:
    told: list[Loss] = []
    is_told = threading.Event()

    def tell(loss: Loss) -> None:
        told.append(loss)
        is_told.set()

    worker = WorkerId.lend(db, "shop", 10, lease="3s", on_loss=tell)
    away = db.rename(db.with_suffix(".away"))
    assert is_told.wait(30)
    [loss] = told
    assert loss.worker_id == 1 and timedelta() < loss.time_left < timedelta(seconds=3)
    assert str(loss).startswith("worker id 1 must not be used any more in ")
    end = time.monotonic() + 30
    while worker.is_held and time.monotonic() < end:
        time.sleep(0.01)
    assert not worker.is_held
    with pytest.raises(uidring.RefusedError, match="is not lent to this holder any more"):
        worker.close()
    worker.close()
    away.rename(db)


def test_the_thread_for_a_loss_ends_with_a_close(db: Path) -> None:
    def waiting() -> bool:
        return any(thread.name == "uidring-loss" for thread in threading.enumerate())

    with WorkerId.lend(db, "shop", 10, on_loss=print):
        assert waiting()
    end = time.monotonic() + 30
    while waiting() and time.monotonic() < end:
        time.sleep(0.01)
    assert not waiting()


def test_a_task_of_asyncio_lends(db: Path) -> None:
    async def main() -> int:
        with await WorkerId.lend_async(db, "shop", 10, lease="1m") as worker:
            return worker.id

    assert asyncio.run(main()) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_no_loan(db: Path) -> None:
    with WorkerId.lend(db, "shop", 10) as worker:
        child = os.fork()
        if child == 0:
            is_held = worker.is_held
            worker.close()
            os._exit(int(is_held))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert worker.is_held
