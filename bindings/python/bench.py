"""How long takes last, beside those of UUIDs.

    python bench.py [ROUNDS]

Each round measures all of them in turn, so that what else the machine does hits all alike. Rounds
are short, so that many are not disturbed. The medians of all rounds are printed, with the fastest
round. Build the package in release mode first:
`maturin develop --release`.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import threading
import time
import timeit
import uuid
from array import array
from pathlib import Path
from typing import Any, Callable

import uidring

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 200

# A wide layout, so that a round never comes to the limit of a UID a second and its fields.
uids = uidring.UidGenerator.fixed(1, layout="30,11,22")
folder = tempfile.TemporaryDirectory()
store = str(Path(folder.name) / "uidring.db")
segments = uidring.Segments.open(store)
orders = segments.create("orders", step=1_000_000)
series = uidring.Series.open(store)
series.create("tickets", "T-{n:12}", step=10_000_000)
buffer = array("Q", bytes(8 * 1000))
small = array("Q", bytes(8 * 10))
series.next("tickets")
# A segment that is large enough for what follows.
orders.take_many(1_000_000)


def per_call(statement: str, **names: Any) -> Callable[[int], float]:
    timer = timeit.Timer(statement, globals=names)
    return lambda calls: timer.timeit(calls)


def in_tasks(calls: int) -> float:
    async def main() -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            await uids.take_async()
        return time.perf_counter() - begin

    return asyncio.run(main())


def in_threads(calls: int) -> float:
    """Two threads that take at a time: the time of a take in each, with the lock."""

    def take() -> None:
        for _ in range(calls // 2):
            uids.take()

    threads = [threading.Thread(target=take) for _ in range(2)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin


CASES: dict[str, tuple[Callable[[int], float], int]] = {
    "an empty call (worker_id)": (per_call("uids.worker_id", uids=uids), 4000),
    "take()": (per_call("uids.take()", uids=uids), 4000),
    "take() in two threads": (in_threads, 40_000),
    "Tag.take()": (per_call("orders.take()", orders=orders), 1000),
    "take_many(1000)": (per_call("uids.take_many(1000)", uids=uids), 20),
    "fill(array of 1000)": (per_call("uids.fill(buffer)", uids=uids, buffer=buffer), 200),
    "take_many(10)": (per_call("uids.take_many(10)", uids=uids), 500),
    "fill(array of 10)": (per_call("uids.fill(small)", uids=uids, small=small), 500),
    "await take_async()": (in_tasks, 500),
    "Series.next(name)": (per_call("series.next('tickets')", series=series), 500),
    "Series.next_many(name, 1000)": (
        per_call("series.next_many('tickets', 1000)", series=series),
        20,
    ),
    "uuid.uuid4()": (per_call("uuid4()", uuid4=uuid.uuid4), 1000),
}
if hasattr(uuid, "uuid7"):
    CASES["uuid.uuid7()"] = (per_call("uuid7()", uuid7=uuid.uuid7), 1000)
try:
    import uuid6

    CASES["uuid6.uuid7()"] = (per_call("uuid7()", uuid7=uuid6.uuid7), 1000)
except ImportError:
    print("without the package uuid6")
try:
    import uuid_utils

    CASES["uuid_utils.uuid7() (Rust)"] = (per_call("uuid7()", uuid7=uuid_utils.uuid7), 1000)
except ImportError:
    print("without the package uuid-utils")

times: dict[str, list[float]] = {name: [] for name in CASES}
for _ in range(ROUNDS):
    for name, (measure, calls) in CASES.items():
        times[name].append(measure(calls) / calls * 1e9)

print(f"Python {sys.version.split()[0]}, {ROUNDS} rounds, nanoseconds a call")
print(f"{'':28}{'median':>10}{'fastest':>10}")
for name, rounds in times.items():
    print(f"{name:28}{statistics.median(rounds):>10.0f}{min(rounds):>10.0f}")
uids.close()
segments.close()
series.close()
folder.cleanup()
