"""Forks, and the ends of processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
import time
import traceback
from array import array
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable

import pytest

import uidring
from uidring import PastGenerator, Segments, Series, UidGenerator

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def forked(call: Callable[[], None]) -> None:
    """Runs `call` in a child made by `os.fork`."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            call()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = time.monotonic() + 60
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            os.kill(child, 9)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(status) == 0


@forks
# Python warns of forks beside other threads, such as those of the library.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_copy_in_a_forked_process_gives_no_numbers(db: Path) -> None:
    uids, segments, series = UidGenerator.open(db), Segments.open(db), Series.open(db)
    tag = segments.create("orders")
    series.create("tickets", "T-{n}")
    tag.take()
    series.next("tickets")
    calls: list[Callable[[], Any]] = [
        uids.take,
        lambda: uids.take_many(1000),
        lambda: uids.fill(array("Q", [0])),
        tag.take,
        lambda: segments.take("orders"),
        lambda: segments.create("parcels"),
        lambda: series.next("tickets"),
        lambda: series.next("tickets", date="2026-11-24"),
        lambda: series.next_many("tickets", 3),
        lambda: series.parse("tickets", "T-1"),
    ]
    before = uids.take()

    def child() -> None:
        for number, call in enumerate(calls):
            with pytest.raises(uidring.ForkedError, match="forked") as raised:
                print(number, call())
            assert "another" in str(raised.value) or "again" in str(raised.value)
        # One that is opened here works, and is another worker.
        with UidGenerator.open(db) as mine:
            assert mine.worker_id != uids.worker_id
            assert mine.take() > 0
        # To close and to drop the copy does nothing to the parent's.
        close_all()

    def close_all() -> None:
        uids.close()
        segments.close()
        series.close()

    forked(child)
    # The parent's goes on.
    assert uids.take() > before
    assert (tag.take(), series.next("tickets").value) == (2, 2)
    close_all()


@forks
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_no_past(db: Path) -> None:
    past = PastGenerator.open(db)
    time = datetime(2026, 5, 2, tzinfo=timezone.utc)
    first = past.take_at(time)

    def child() -> None:
        with pytest.raises(uidring.ForkedError, match="forked"):
            past.take_at(time)
        with pytest.raises(uidring.ForkedError, match="forked"):
            past.take_times([time])
        assert past.status()["state"] == "forked"
        with pytest.raises(uidring.ForkedError, match="forked"):
            print(past.worker_id)
        with PastGenerator.open(db) as mine:
            assert mine.worker_id != 1
            assert mine.take_at(time) != first
        past.close()

    forked(child)
    assert past.take_at(time) == first + 1
    past.close()


_inherited: UidGenerator | None = None


def _use_inherited() -> str:
    assert _inherited is not None
    try:
        return f"took {_inherited.take()}"
    except uidring.ForkedError as error:
        return str(error)


_left_open: Segments | None = None


def _take_and_leave(db: str) -> tuple[int, int]:
    """Takes a number and leaves the segments open."""
    global _left_open
    _left_open = Segments.open(db)
    return os.getpid(), _left_open.tag("orders").take()


@forks
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_pool_of_forked_processes_is_told_to_open_its_own(db: Path) -> None:
    global _inherited
    _inherited = UidGenerator.open(db)
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
            said = pool.submit(_use_inherited).result(60)
        assert "this process was forked" in said and "open another here" in said
    finally:
        _inherited.close()
        _inherited = None


@forks
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_process_of_multiprocessing_gives_back_what_is_left(db: Path, method: str) -> None:
    with Segments.open(db) as segments:
        segments.create("orders", step=1000)
    for expected in [1, 2, 3]:
        with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
            pid, number = pool.submit(_take_and_leave, str(db)).result(60)
        assert pid != os.getpid()
        assert number == expected


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_program_that_ends_gives_back_what_is_left(db: Path) -> None:
    program = """
        import sys, threading, uidring
        segments = uidring.Segments.open(sys.argv[1])
        uids = uidring.UidGenerator.open(sys.argv[1], lease="1h")
        print(segments.create("orders", step=1000).take(), uids.worker_id)
        # Until the very end, this thread holds them.
        hold = lambda *held: threading.Event().wait()
        threading.Thread(target=hold, args=(segments, uids), daemon=True).start()
        """
    said = [run(program, db) for _ in range(3)]
    assert [(end.returncode, end.stderr) for end in said] == [(0, "")] * 3
    numbers = [end.stdout.split() for end in said]
    assert [int(number) for number, _ in numbers] == [1, 2, 3]
    # The lease of the first was given back, though it has an hour left.
    assert len({worker for _, worker in numbers}) < 3


def test_two_threads_that_open_at_the_same_time_are_closed_at_the_end() -> None:
    program = """
        import os
        from uidring import _exit
        class Holder:
            def __init__(self, name): self.name = name
            def close(self): print(self.name)
        one, other = Holder("one"), Holder("other")
        calls, real = [], os.getpid
        def getpid():
            calls.append(1)
            if len(calls) == 2:
                # A second thread comes in the midst of the first one's call.
                _exit.remember(other)
            return real()
        os.getpid = getpid
        _exit.remember(one)
        """
    end = run(program)
    assert (end.returncode, end.stderr) == (0, "")
    assert sorted(end.stdout.split()) == ["one", "other"]


@forks
def test_a_process_of_multiprocessing_gives_back_what_a_hook_has_opened(db: Path) -> None:
    program = """
        import multiprocessing, os, sys, uidring
        def open_segments():
            global segments
            segments = uidring.Segments.open(sys.argv[1])
        def work():
            print(segments.tag("orders").take(), flush=True)
        with uidring.Segments.open(sys.argv[1]) as first:
            first.create("orders", step=1000)
        os.register_at_fork(after_in_child=open_segments)
        for _ in range(3):
            process = multiprocessing.get_context("fork").Process(target=work)
            process.start()
            process.join()
        """
    end = run(program, db)
    assert (end.returncode, end.stdout.split()) == (0, ["1", "2", "3"]), end.stderr


@forks
def test_a_child_does_not_wait_for_an_import_of_the_parent() -> None:
    """Another thread is at it when the process forks: the first status imports a module."""
    program = """
        import builtins, os, signal, threading, uidring
        importing, forked, real = threading.Event(), threading.Event(), builtins.__import__
        def slow_import(name, *rest):
            if name == "json":
                importing.set()
                forked.wait()
            return real(name, *rest)
        uids = uidring.UidGenerator.fixed(1)
        builtins.__import__ = slow_import
        thread = threading.Thread(target=uids.status)
        thread.start()
        importing.wait()
        child = os.fork()
        if child == 0:
            # Rather a failure than a wait without end.
            signal.alarm(20)
            builtins.__import__ = real
            with uidring.UidGenerator.fixed(2) as own:
                print(own.status()["worker_id"], flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        forked.set()
        thread.join()
        """
    end = run(program)
    assert (end.returncode, end.stdout.split()) == (0, ["2", "0"]), end.stderr


def test_an_exception_at_the_top_ends_as_ever(db: Path) -> None:
    program = """
        import sys, uidring
        uids = uidring.UidGenerator.open(sys.argv[1])
        uids.take()
        raise SystemExit(7)
        """
    end = run(program, db)
    assert (end.returncode, end.stdout, end.stderr) == (7, "", "")


def test_the_end_with_daemon_threads_that_take_is_clean(db: Path) -> None:
    program = """
        import sys, threading, uidring
        uids = uidring.UidGenerator.open(sys.argv[1])
        slow = uidring.UidGenerator.fixed(1, layout="30,32,1", max_lead="1s")
        ended = (uidring.ClosedError,)
        def take(source, many):
            try:
                while True:
                    source.take_many(many)
            except ended:
                pass
        for arguments in [(uids, 1), (uids, 1000), (slow, 1), (slow, 1000)]:
            threading.Thread(target=take, args=arguments, daemon=True).start()
        while slow.status()["waits"] == 0:
            pass
        """
    for _ in range(5):
        end = run(program, db)
        assert (end.returncode, end.stdout, end.stderr) == (0, "", "")


def test_the_end_with_daemon_threads_in_code_in_python_is_clean(db: Path) -> None:
    # What the library calls: it makes tuples, exceptions, times, texts of options. Threads come to
    # the end of the program in the midst of it, as they are changed as often as can be.
    program = """
        import sys, threading, uidring
        sys.setswitchinterval(1e-6)
        uids = uidring.UidGenerator.open(sys.argv[1])
        series = uidring.Series.open(sys.argv[1])
        series.create("tickets", "T-{n}")
        uid = uids.take()
        def call_again_and_again(call):
            while True:
                try:
                    call()
                except uidring.ClosedError:
                    pass
        for call in [
            uids.take,
            uids.status,
            lambda: uids.take_many(1000),
            lambda: uids.parts(uid),
            lambda: series.next("tickets", date="2026-11-24"),
            lambda: series.parse("tickets", "T-1"),
            lambda: uidring.UidGenerator.fixed(1),
        ]:
            threading.Thread(target=call_again_and_again, args=(call,), daemon=True).start()
        """
    for _ in range(5):
        end = run(program, db)
        assert (end.returncode, end.stdout, end.stderr) == (0, "", "")


def test_a_generator_that_nobody_holds_gives_its_lease_back(db: Path) -> None:
    workers = set()
    for _ in range(3):
        uids = UidGenerator.open(db, lease="1h")
        workers.add(uids.worker_id)
        # Not closed.
        del uids
    assert len(workers) < 3
