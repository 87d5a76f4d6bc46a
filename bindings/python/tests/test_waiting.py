"""Takes that wait: other threads run, signals are handled, tasks of asyncio go on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

import uidring
from uidring import Segments, Series, UidGenerator

#: A generator of 2 UIDs in a second, which borrows none of the next ones but the first.
SLOW: dict[str, Any] = {"layout": "30,32,1", "max_lead": "1s"}


def stuck() -> UidGenerator:
    """A generator whose next take waits."""
    uids = UidGenerator.fixed(1, **SLOW)
    while uids._take_at_once() is not None:
        pass
    return uids


def test_other_threads_run_while_a_take_waits() -> None:
    with stuck() as uids:
        # It would be stuck here if the take kept the interpreter.
        thread = threading.Thread(target=uids.take_many, args=(4,))
        thread.start()
        while uids.status()["waits"] == 0:
            pass
        thread.join()


def interrupt_wait(uids: UidGenerator, call: Callable[[], Any]) -> None:
    """Ctrl-C comes when `call` waits, and ends it."""
    # A shell has programs in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        while uids.status()["waits"] == 0:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    thread.join()


@pytest.mark.parametrize("call", ["take", "take_many", "fill"])
def test_control_c_ends_a_wait(call: str) -> None:
    numbers = memoryview(bytearray(8 * 500)).cast("Q")
    with stuck() as uids:
        calls: dict[str, Callable[[], Any]] = {
            "take": lambda: [uids.take() for _ in range(500)],
            "take_many": lambda: uids.take_many(60),
            "fill": lambda: uids.fill(numbers),
        }
        interrupt_wait(uids, calls[call])
        assert uids.status()["taken"] < 500


@pytest.mark.parametrize("call", ["take_many", "fill"])
def test_control_c_ends_a_wait_after_the_first_numbers(call: str) -> None:
    numbers = memoryview(bytearray(8 * 70)).cast("Q")
    # The first ones are in the ring.
    with UidGenerator.fixed(1, **SLOW) as uids:
        calls: dict[str, Callable[[], Any]] = {
            "take_many": lambda: uids.take_many(70),
            "fill": lambda: uids.fill(numbers),
        }
        interrupt_wait(uids, calls[call])
        assert 0 < uids.status()["taken"] < 70


def test_tasks_take_numbers(db: Path) -> None:
    async def main() -> None:
        with UidGenerator.open(db) as uids, Segments.open(db) as segments:
            taken = await asyncio.gather(*(uids.take_async() for _ in range(100)))
            assert len(set(taken)) == 100
            orders = segments.create("orders")
            numbers = await asyncio.gather(
                *(orders.take_async() for _ in range(10)),
                *(segments.take_async("orders") for _ in range(10)),
            )
            assert sorted(numbers) == list(range(1, 21))
        with Series.open(db) as series:
            series.create("tickets", "T-{n}")
            issued = [await series.next_async("tickets") for _ in range(3)]
            assert [number.text for number in issued] == ["T-1", "T-2", "T-3"]
            series.create("orders", "{yyyy}-{n}")
            assert (await series.next_async("orders", date="2026-11-24")).text == "2026-1"

    asyncio.run(main())


def test_tasks_go_on_while_one_waits() -> None:
    async def main() -> None:
        with stuck() as uids:
            waiting = asyncio.create_task(uids.take_async())
            turns = 0
            while uids.status()["waits"] == 0:
                await asyncio.sleep(0)
                turns += 1
            assert turns > 0 and not waiting.done()
            assert await waiting > 0

    asyncio.run(main())


def test_the_threads_of_cancelled_tasks_stop_waiting() -> None:
    async def main() -> None:
        with stuck() as uids:
            taken = uids.status()["taken"]
            tasks = [asyncio.create_task(uids.take_async()) for _ in range(20)]
            while uids.status()["waits"] == 0:
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            # Some may have got a number before, and perhaps have lost it.
            got = [end for end in ends if isinstance(end, int)]
            # No thread is left that waits: this one ends at once.
            await asyncio.get_running_loop().shutdown_default_executor()
            assert len(got) <= uids.status()["taken"] - taken < 20

    asyncio.run(main())


def test_a_number_that_came_before_the_cancellation_is_lost() -> None:
    async def main() -> None:
        with stuck() as uids:
            taken = uids.status()["taken"]
            task = asyncio.create_task(uids.take_async())
            while uids.status()["waits"] == 0:
                await asyncio.sleep(0)
            # The loop stands still meanwhile, and does not deliver the number.
            while uids.status()["taken"] == taken:
                pass
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert uids.status()["taken"] == taken + 1

    asyncio.run(main())


def test_errors_reach_tasks(db: Path) -> None:
    async def main() -> None:
        uids, segments, series = UidGenerator.open(db), Segments.open(db), Series.open(db)
        tag = segments.create("orders")
        with pytest.raises(uidring.RefusedError, match="ordres"):
            await segments.take_async("ordres")
        with pytest.raises(uidring.RefusedError, match="ordres"):
            await series.next_async("ordres")
        uids.close()
        segments.close()
        series.close()
        for call in [uids.take_async(), tag.take_async(), segments.take_async("orders")]:
            with pytest.raises(uidring.ClosedError):
                await call

    asyncio.run(main())


@contextmanager
def locked(db: Path) -> Iterator[None]:
    """Another process, as locks of files do not count within one, holds the file."""
    program = (
        "import sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.execute('BEGIN IMMEDIATE')\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(db)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
        yield
        holder.communicate()


def test_a_tag_whose_store_does_not_answer_is_unavailable(db: Path) -> None:
    with Segments.open(db, max_wait="1s", timeout="500ms") as segments:
        orders = segments.create("orders", step=10)
        assert orders.take() == 1
        with locked(db), pytest.raises(uidring.UnavailableError) as raised:
            orders.take_many(100_000)
        numbers = raised.value.numbers
        assert numbers == list(range(2, 2 + len(numbers)))
        # None was lost.
        assert orders.take() == 2 + len(numbers)
