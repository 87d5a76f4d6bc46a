"""What operators read in Python's log."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Iterator, List

import pytest

from uidring import Segments, UidGenerator, UnavailableError


class Told(logging.Handler):
    """Keeps what is told, and lets others wait for it."""

    def __init__(self) -> None:
        super().__init__(level=logging.DEBUG)
        self.records: List[logging.LogRecord] = []
        self.changed = threading.Condition()

    def emit(self, record: logging.LogRecord) -> None:
        with self.changed:
            self.records.append(record)
            self.changed.notify_all()

    def wait_for(self, event: str, **fields: object) -> logging.LogRecord:
        def found() -> List[logging.LogRecord]:
            named = [record for record in self.records if vars(record)["event"] == event]
            return [record for record in named if fields.items() <= vars(record)["fields"].items()]

        with self.changed:
            assert self.changed.wait_for(found, timeout=60), self.records
            return found()[-1]


@pytest.fixture
def told() -> Iterator[Told]:
    log, handler = logging.getLogger("uidring"), Told()
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)
    log.setLevel(logging.NOTSET)


def test_what_happens_is_told(db: Path, told: Told) -> None:
    with UidGenerator.open(db, lease="10m") as uids:
        worker = uids.worker_id
        started = told.wait_for("started")
    stopped = told.wait_for("stopped", worker=worker, taken=0)
    assert started.levelno == logging.INFO
    text = f"started: the generator has started worker={worker} kind=leased"
    assert started.getMessage().startswith(text)
    assert vars(stopped)["fields"] == {"worker": worker, "taken": 0}
    with Segments.open(db) as segments:
        segments.create("orders").take()
    # Another test's may come late.
    assert "taken=1" in told.wait_for("segments_stopped", taken=1).getMessage()


def test_a_warning_has_its_cause(db: Path, told: Told) -> None:
    """A folder comes where the file was of a generator that runs."""
    uids = UidGenerator.open(db, lease="1s")
    db.unlink()
    db.mkdir()
    warning = told.wait_for("registry_unreachable")
    assert warning.levelno == logging.WARNING
    assert "it is a directory; give the path of a file" in vars(warning)["fields"]["error"]
    assert vars(warning)["fields"]["error"] in warning.getMessage()
    with pytest.raises(UnavailableError):
        uids.close()
    told.wait_for("not_released")


def test_a_filter_that_fails_ends_nothing(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    is_printed = threading.Event()
    monkeypatch.setattr(sys, "excepthook", lambda *_: is_printed.set())

    def fail(record: logging.LogRecord) -> bool:
        raise ValueError("the filter fails")

    def tellers() -> List[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "uidring-events"]

    log = logging.getLogger("uidring")
    with UidGenerator.fixed(1):
        told.wait_for("started", worker=1)
        before = tellers()
        log.addFilter(fail)
        try:
            UidGenerator.fixed(2).close()
            assert is_printed.wait(60)
        finally:
            log.removeFilter(fail)
    told.wait_for("stopped", worker=1)
    # Nobody has started another one since.
    assert len(before) == 1 and tellers() == before


def test_a_handler_that_stands_still_holds_up_no_take(told: Told) -> None:
    goes_on = threading.Event()

    class Stuck(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            goes_on.wait()

    stuck = Stuck()
    logging.getLogger("uidring").addHandler(stuck)
    try:
        for worker in range(100):
            with UidGenerator.fixed(worker) as uids:
                uids.take()
    finally:
        goes_on.set()
        logging.getLogger("uidring").removeHandler(stuck)
    told.wait_for("stopped")


def test_a_handler_may_take_ids(told: Told) -> None:
    class Takes(logging.Handler):
        has_taken = threading.Event()

        def emit(self, record: logging.LogRecord) -> None:
            uids.take()
            self.has_taken.set()

    takes = Takes()
    with UidGenerator.fixed(1) as uids:
        logging.getLogger("uidring").addHandler(takes)
        try:
            UidGenerator.fixed(2).close()
            assert takes.has_taken.wait(60)
        finally:
            logging.getLogger("uidring").removeHandler(takes)


def run(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_nothing_is_printed_where_no_log_is_set_up(db: Path) -> None:
    end = run(
        """
        import sys, uidring
        uids = uidring.UidGenerator.open(sys.argv[1])
        uids.take()
        """,
        str(db),
    )
    assert (end.returncode, end.stdout, end.stderr) == (0, "", "")


def test_the_end_of_a_program_is_told(db: Path) -> None:
    """Though nobody closes the generator, and the log is slow."""
    end = run(
        """
        import logging, sys, time, uidring
        class Slow(logging.StreamHandler):
            def emit(self, record):
                time.sleep(0.2)
                super().emit(record)
        slow = Slow(sys.stdout)
        text = "%(name)s %(levelname)s %(event)s"
        logging.basicConfig(level="INFO", format=text, handlers=[slow])
        uids = uidring.UidGenerator.open(sys.argv[1], lease="10m")
        uids.take()
        """,
        str(db),
    )
    assert (end.returncode, end.stderr) == (0, "")
    told = ["WARNING new_store", "INFO started", "INFO stopped"]
    assert end.stdout.splitlines() == [f"uidring {event}" for event in told]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_tells_its_own(db: Path) -> None:
    """Though the process forks while its own event is being told."""
    end = run(
        """
        import logging, os, sys, threading, uidring
        telling, forked = threading.Event(), threading.Event()
        class Told(logging.StreamHandler):
            def emit(self, record):
                super().emit(record)
                if os.getpid() == parent:
                    telling.set()
                    forked.wait()
        parent = os.getpid()
        told = Told(sys.stdout)
        logging.basicConfig(level="INFO", format="%(process)d %(event)s", handlers=[told])
        uids = uidring.UidGenerator.open(sys.argv[1], lease="10m")
        telling.wait()
        child = os.fork()
        if child == 0:
            own = uidring.UidGenerator.open(sys.argv[1], lease="10m")
            sys.exit()
        assert os.waitpid(child, 0)[1] == 0
        forked.set()
        print(parent, child, file=sys.stderr)
        """,
        str(db),
    )
    assert end.returncode == 0, end.stderr
    parent, child = end.stderr.splitlines()[-1].split()
    told = end.stdout.splitlines()
    for process in (parent, child):
        # That the store is new is told to the first that takes a worker id.
        own = [event for event in told if event.startswith(process) and "new_store" not in event]
        assert own == [f"{process} started", f"{process} stopped"], told


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_of_a_fork_that_python_does_not_see_tells_its_own(db: Path) -> None:
    """As the workers of uWSGI, which forks by itself."""
    end = run(
        """
        import ctypes, logging, os, sys, threading, time, uidring
        class Told(logging.StreamHandler):
            telling = threading.Event()
            def emit(self, record):
                super().emit(record)
                self.telling.set()
        told = Told(sys.stdout)
        logging.basicConfig(level="INFO", format="%(process)d %(event)s", handlers=[told])
        uids = uidring.UidGenerator.open(sys.argv[1], lease="10m")
        told.telling.wait()
        with told.lock:
            child = ctypes.PyDLL(None).fork()
        if child == 0:
            own = uidring.UidGenerator.open(sys.argv[1], lease="10m")
            sys.exit()
        begun = time.monotonic()
        assert os.waitpid(child, 0)[1] == 0
        print(child, time.monotonic() - begun, file=sys.stderr)
        """,
        str(db),
    )
    assert end.returncode == 0, end.stderr
    child, seconds = end.stderr.splitlines()[-1].split()
    own = [event for event in end.stdout.splitlines() if event.startswith(child)]
    assert own == [f"{child} started", f"{child} stopped"], end.stdout
    assert float(seconds) < 4


def test_tasks_of_gevent_go_on(db: Path) -> None:
    """They stand in for threads, so one that waits in the library would stop all of them."""
    end = run(
        """
        from gevent import monkey
        monkey.patch_all()
        import gevent, logging, sys, uidring
        told = []
        class Told(logging.Handler):
            def emit(self, record):
                told.append(record.event)
        logging.basicConfig(level="INFO", handlers=[Told()])
        uids = uidring.UidGenerator.open(sys.argv[1])
        turns = 0
        while told != ["new_store", "started"]:
            gevent.sleep(0.01)
            turns += 1
        assert turns > 1
        # All tasks but that of the log are over.
        gevent.wait()
        import atexit
        atexit.register(lambda: print(*told))
        """,
        str(db),
    )
    assert (end.returncode, end.stdout, end.stderr) == (0, "new_store started\n", "")


def test_tasks_of_gevent_open_at_once_after_a_fork(db: Path) -> None:
    """The parent has opened with real threads, as a server that loads the program before forks."""
    end = run(
        """
        import os, sys, uidring
        uidring.UidGenerator.open(sys.argv[1]).close()
        child = os.fork()
        if child == 0:
            from gevent import monkey
            monkey.patch_all()
            import gevent
            opens = [gevent.spawn(uidring.UidGenerator.open, sys.argv[1]) for _ in range(10)]
            gevent.joinall(opens, raise_error=True)
            sys.exit()
        print(os.waitpid(child, 0)[1])
        """,
        str(db),
    )
    assert (end.returncode, end.stdout) == (0, "0\n"), end.stderr


