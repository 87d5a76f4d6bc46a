"""Tells Python's log, as `logging.getLogger("uidring")`, what operators should know.

The library keeps events in a queue. A thread takes them out, so that neither the library nor a take
ever waits for the handlers of a log.
"""

from __future__ import annotations

import _thread
import logging
import os
import sys
import threading
import time
import types
from typing import Any, Optional

from ._uidring import _listen, _take_event, _wait_for_event, _wake

_log = logging.getLogger("uidring")
# Where a program has set no log up, nothing is printed, as is the custom for packages.
_log.addHandler(logging.NullHandler())

#: How many seconds the end of the program waits for the thread, whose handlers may be stuck.
_PATIENCE = 5

_teller: Optional[threading.Thread] = None
_is_ending = False
#: Which process these belong to.
_process = os.getpid()
#: Held while the thread is started.
_starting = threading.Lock()
#: Held while an event is told, so that they stay in order.
_telling = threading.Lock()


def _forked() -> None:
    global _starting, _telling, _teller, _process
    # Another thread of the parent may hold them.
    _starting, _telling = threading.Lock(), threading.Lock()
    # It runs in the parent alone.
    _teller = None
    _process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def start() -> None:
    """Has events told from now on. A child of a fork has to start anew."""
    global _teller
    if _process != os.getpid():
        # Forked in a way that Python does not see, as uWSGI does it.
        _forked()
    _listen()
    # Never waits: a task of gevent's that waits for a real lock would stop the one that holds it.
    if not _starting.acquire(blocking=False):
        return
    try:
        if _is_ending or (_teller is not None and _teller.is_alive()):
            return
        run = _run_as_task if _is_green() else _run
        _teller = threading.Thread(target=run, name="uidring-events", daemon=True)
        try:
            _teller.start()
        except RuntimeError:
            # There can be no more threads, or the program is ending. Ids are worth more than a log.
            _teller = None
    finally:
        _starting.release()


def end() -> None:
    """Tells what there is, and ends the thread, unless that is stuck."""
    global _is_ending
    _is_ending = True
    until = time.monotonic() + _PATIENCE
    if _teller is not None and not _is_green():
        _wake()
        _teller.join(_PATIENCE)
    if _telling.acquire(timeout=max(0.0, until - time.monotonic())):
        _telling.release()
        _tell()


def _run() -> None:
    while not _is_ending:
        _wait_for_event()
        _tell()


def _run_as_task() -> None:
    while not _is_ending:
        _nap()
        _tell()


def _is_green() -> bool:
    """Whether a package such as gevent has put tasks of its own in place of threads. One that waits
    in the library would stop all others."""
    return not isinstance(_thread.start_new_thread, types.BuiltinFunctionType)


def _nap() -> None:
    gevent: Any = sys.modules.get("gevent")
    if gevent is None:
        time.sleep(1)
    else:
        # Such a nap does not keep a program from ending that waits for all of its tasks.
        gevent.sleep(1, ref=False)


def _tell() -> None:
    with _telling:
        while True:
            event = _take_event()
            if event is None:
                return
            level, text, name, fields = event
            try:
                _log.log(level, "%s", text, extra={"event": name, "fields": fields})
            except Exception:
                # Of a filter or a handler of the program's.
                sys.excepthook(*sys.exc_info())
