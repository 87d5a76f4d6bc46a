"""The one generator of a process."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

import uidring
from uidring import UidGenerator
from uidring import _process
from test_processes import forked, forks


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """What one test configures is no other's."""
    yield
    _process._replace(None)


def test_the_generator_is_opened_at_the_first_take(db: Path) -> None:
    uidring.configure(db)
    assert not db.exists()
    first = uidring.take()
    assert db.exists() and first < uidring.take()
    assert uidring.generator() is uidring.generator()
    assert uidring.generator().status()["taken"] == 2


def test_worker_ids_are_leased_unless_told_otherwise(db: Path) -> None:
    def worker(**options: Any) -> int:
        uidring.configure(db, **options)
        return uidring.generator().worker_id

    # What was open before gives its worker id back.
    assert len({worker() for _ in range(5)}) < 5
    assert len({worker(lease="1h") for _ in range(5)}) < 5
    assert len({worker(lease="0") for _ in range(3)} | {worker(lease=0)}) == 4


def test_a_worker_id_of_the_programs_own_needs_no_store() -> None:
    uidring.configure(worker_id=7, preset="twitter")
    assert uidring.generator().parts(uidring.take()).worker == 7
    # As an environment has it.
    uidring.configure(worker_id="8")
    assert uidring.generator().worker_id == 8


def test_what_is_replaced_is_closed(db: Path) -> None:
    uidring.configure(db)
    old = uidring.generator()
    uidring.configure(worker_id=1)
    with pytest.raises(uidring.ClosedError):
        old.take()
    assert uidring.generator().worker_id == 1


@pytest.mark.parametrize(
    ("arguments", "named", "said"),
    [
        ((), {}, "either the address of a store or a worker_id .* address=None, worker_id=None"),
        (("postgres://ids:secret@db/ids",), {"worker_id": 1}, "address=..., worker_id=1$"),
    ],
)
def test_one_place_of_worker_ids_is_asked_for(
    arguments: tuple[str, ...], named: dict[str, Any], said: str
) -> None:
    with pytest.raises(uidring.InvalidArgumentError, match=said):
        uidring.configure(*arguments, **named)


def test_what_is_wrong_is_told_at_the_first_take(db: Path) -> None:
    with pytest.raises(uidring.InvalidArgumentError, match="call uidring.configure"):
        uidring.take()
    options: dict[str, Any] = {"leese": "10m"}
    uidring.configure(db, **options)
    for _ in range(2):
        with pytest.raises(uidring.InvalidArgumentError, match="did you mean lease"):
            uidring.take()


def test_threads_that_take_first_share_one_generator(db: Path) -> None:
    uidring.configure(db)
    begin = threading.Barrier(16)
    taken: list[int] = []

    def take() -> None:
        begin.wait()
        taken.append(uidring.take())

    threads = [threading.Thread(target=take) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == 16
    assert {uidring.generator().parts(uid).worker for uid in taken} == {
        uidring.generator().worker_id
    }


def test_tasks_take_as_well(db: Path) -> None:
    uidring.configure(db)

    async def main() -> list[int]:
        return list(await asyncio.gather(*[uidring.take_async() for _ in range(20)]))

    assert len(set(asyncio.run(main()))) == 20


@forks
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize(
    "call", [uidring.take, uidring.generator, lambda: asyncio.run(uidring.take_async())]
)
def test_a_forked_process_opens_its_own(db: Path, call: Callable[[], Any]) -> None:
    uidring.configure(db)
    before, mine = uidring.take(), uidring.generator().worker_id

    def child() -> None:
        assert call() not in (before, 0)
        assert uidring.generator().worker_id != mine
        _process._replace(None)

    forked(child)
    assert uidring.take() > before and uidring.generator().worker_id == mine


@forks
def test_so_does_one_whose_fork_python_does_not_see(db: Path) -> None:
    """As a server in C forks its workers."""
    uidring.configure(db)
    mine = uidring.generator().parts(uidring.take()).worker
    child = ctypes.PyDLL(None).fork()
    if child == 0:
        try:
            taken = [uidring.take() for _ in range(3)]
            others = {uidring.generator().parts(uid).worker for uid in taken}
            os._exit(0 if mine not in others and len(others) == 1 else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@forks
def test_a_fork_amid_an_open_leaves_no_lock(db: Path) -> None:
    """Another thread of the parent opens the generator, and takes its time."""
    program = """
        import os, signal, sys, threading, uidring
        from uidring import _process
        opening, forked, real = threading.Event(), threading.Event(), _process.UidGenerator
        class Slow:
            @staticmethod
            def open(*arguments, **options):
                opening.set()
                forked.wait()
                return real.open(*arguments, **options)
        _process.UidGenerator = Slow
        uidring.configure(sys.argv[1])
        thread = threading.Thread(target=uidring.take)
        thread.start()
        opening.wait()
        child = os.fork()
        if child == 0:
            # Rather a failure than a wait without end.
            signal.alarm(20)
            _process.UidGenerator = real
            os._exit(0 if uidring.take() else 1)
        print(os.waitpid(child, 0)[1])
        forked.set()
        thread.join()
        """
    command = [sys.executable, "-c", textwrap.dedent(program), str(db)]
    end = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (end.returncode, end.stdout) == (0, "0\n"), end.stderr


def test_the_end_of_a_program_gives_the_worker_id_back(db: Path) -> None:
    program = "import sys, uidring; uidring.configure(sys.argv[1]); uidring.take(); "
    program += "print(uidring.generator().worker_id)"
    command = [sys.executable, "-c", program, str(db)]
    ends = [subprocess.run(command, capture_output=True, text=True, timeout=60) for _ in range(3)]
    assert [(end.returncode, end.stderr) for end in ends] == [(0, "")] * 3
    assert len({end.stdout for end in ends}) < 3


NAMES = ["configure", "generator", "take", "take_async", "close"]


def test_a_default_that_is_taken_by_name_is_found_there() -> None:
    for call in [getattr(uidring, name) for name in NAMES]:
        assert getattr(uidring, call.__name__) is call
        assert (call.__module__, call.__qualname__) == ("uidring", call.__name__)


def test_a_generator_that_was_closed_stays_closed() -> None:
    uidring.configure(worker_id=1)
    uidring.generator().close()
    with pytest.raises(uidring.ClosedError):
        uidring.take()
    assert isinstance(uidring.generator(), UidGenerator)


def test_a_take_after_a_close_opens_another(db: Path) -> None:
    uidring.configure(db)
    # None is open.
    uidring.close()
    assert not db.exists()
    first = uidring.generator()
    uidring.close()
    assert first.status()["state"] == "closed"
    assert uidring.take() > 0 and uidring.generator() is not first
