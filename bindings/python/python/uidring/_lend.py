"""Tells a program that a worker id is about to be lost."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Callable

from ._uidring import WorkerId
from ._values import Loss


def start(worker: WorkerId, on_loss: Callable[[Loss], object]) -> None:
    """Has `on_loss` called in a thread, which ends with a close."""

    def wait() -> None:
        told = worker._wait_for_loss()
        if told is not None:
            worker_id, left_ms, text = told
            on_loss(Loss(worker_id, timedelta(milliseconds=left_ms), text))

    threading.Thread(target=wait, name="uidring-loss", daemon=True).start()
