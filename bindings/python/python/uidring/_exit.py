"""Closes at the end of the program what is still open.

A leased worker id and the numbers that are left are given back then, where others can have them.
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from collections import deque
from typing import Callable, Optional, Protocol

from . import _events
from ._uidring import _end, _forked


class _Closes(Protocol):
    def close(self) -> None: ...


# Not a `WeakSet`, whose references have a callback: that would be code in Python that runs inside
# of a destructor of the library, where a daemon thread must not meet the end of the program.
_open: "deque[weakref.ref[_Closes]]" = deque()
_process = 0


def remember(holder: _Closes) -> None:
    global _process
    if _process != os.getpid():
        if _process:
            # Forked in a way that Python does not see, as uWSGI does it.
            _forked()
        _process = os.getpid()
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            _finalize(close_all)
            # A process of multiprocessing begins by forgetting what it is to call at its end, so
            # what a hook of `os.fork` opens before that has to be registered after it.
            util.register_after_fork(close_all, _finalize)
    _open.append(weakref.ref(holder))
    # Looks at the two that were looked at longest ago, and forgets those that are gone. There is
    # one to look at even if other threads do the same, because each has added its own before.
    for _ in range(2):
        known = _open.popleft()
        if known() is not None:
            _open.append(known)


def _finalize(call: Callable[[], None]) -> None:
    """A process of multiprocessing ends without calling what is registered with `atexit`."""
    sys.modules["multiprocessing.util"].Finalize(None, call, exitpriority=0)


def _after_fork() -> None:
    global _process
    _forked()
    _process = 0
    # What the parent has opened is the parent's to close.
    _open.clear()


def close_all() -> None:
    if _process != os.getpid():
        return
    _end()
    first: Optional[Exception] = None
    while _open:
        holder = _open.popleft()()
        try:
            if holder is not None:
                holder.close()
        except Exception as problem:
            first = first or problem
    _events.end()
    if first is not None:
        # Python prints it, and the exit status stays as it is.
        raise first


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
