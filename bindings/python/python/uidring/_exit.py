"""Closes at the end of the program what is still open.

A leased worker id and the numbers that are left are given back then, where others can have them.
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Optional, Protocol


class _Closes(Protocol):
    def close(self) -> None: ...


_open: "weakref.WeakSet[_Closes]" = weakref.WeakSet()
_process = 0


def remember(holder: _Closes) -> None:
    global _process
    if _process != os.getpid():
        _process = os.getpid()
        # What the parent has opened is the parent's to close.
        _open.clear()
        # A process of multiprocessing ends without calling what is registered with `atexit`.
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.Finalize(None, close_all, exitpriority=0)
    _open.add(holder)


def close_all() -> None:
    if _process != os.getpid():
        return
    first: Optional[Exception] = None
    for holder in list(_open):
        try:
            holder.close()
        except Exception as problem:
            first = first or problem
    _open.clear()
    if first is not None:
        # Python prints it, and the exit status stays as it is.
        raise first


atexit.register(close_all)
