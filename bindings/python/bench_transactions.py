"""What a gapless number costs beside the same statements by hand: python bench_transactions.py

Both are run in turn on one connection, and medians are printed: of transactions with one number and
their commit, and of single numbers, of which each has five in a transaction. Servers are measured
where UIDRING_TEST_POSTGRES and UIDRING_TEST_MYSQL have addresses. Build the package in release mode
first: `maturin develop --release`.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import sys
import tempfile
import time
import uuid
from importlib import import_module
from pathlib import Path
from typing import Any, Callable, Iterator, Tuple
from urllib.parse import urlsplit

from uidring import Series

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 200


def connections(folder: str) -> Iterator[Tuple[str, str, str, Callable[[], Any]]]:
    """Of each driver: its name, its database, the address, and what connects."""
    file = str(Path(folder) / "shop.db")
    yield "sqlite3", "sqlite", file, lambda: sqlite3.connect(file)
    postgres, mysql = (os.environ.get(f"UIDRING_TEST_{name}") for name in ("POSTGRES", "MYSQL"))
    if postgres:
        for name in ("psycopg", "psycopg2"):
            driver: Any = import_module(name)
            yield name, "postgres", postgres, lambda: driver.connect(postgres)
    if mysql:
        of = urlsplit(mysql)
        at = {"host": of.hostname, "port": of.port, "user": of.username, "database": of.path[1:]}
        for name in ("pymysql", "MySQLdb"):
            driver = import_module(name)
            yield name, "mysql", mysql, lambda: driver.connect(**at)


def compare(name: str, database: str, address: str, connect: Callable[[], Any]) -> None:
    of = f"b{uuid.uuid4().hex}"
    with Series.open(address) as store:
        store.create(of, "{yyyy}-{n:9}", gapless=True)
    series = Series.in_transactions()
    connection = connect()
    cursor = connection.cursor()
    series.next_in(cursor, of)
    connection.commit()
    places = "own" if database == "sqlite" else "format"
    work = series._count_in(of, None, None, database, places, True)
    statements = [work.step(None)]
    if database == "mysql":
        statements.append(work.step([]))

    def by_hand() -> int:
        for sql, values in statements:
            cursor.execute(sql, values)
        return int(cursor.fetchone()[0])

    def ours() -> object:
        return series.next_in(cursor, of)

    def timed(call: Callable[[], object], commits: bool) -> float:
        begin = time.perf_counter()
        call()
        if commits:
            connection.commit()
        return time.perf_counter() - begin

    print(f"{name:10}", end="")
    for commits in (True, False):
        hand: list[float] = []
        own: list[float] = []
        for turn in range(ROUNDS):
            pair = [(hand, by_hand), (own, ours)]
            for times, number in (pair if turn % 2 else pair[::-1]) * (1 if commits else 5):
                times.append(timed(number, commits))
            connection.commit()
        a, b = (statistics.median(times) * 1e6 for times in (hand, own))
        print(f"{a:>10.1f}{b:>10.1f}{b / a:>8.2f}", end="")
    print()
    connection.close()


print(f"Python {sys.version.split()[0]}, {ROUNDS} rounds, microseconds a number")
print(f"{'':10}{'transaction':>28}{'number':>28}")
with tempfile.TemporaryDirectory() as folder:
    for driver_of in connections(folder):
        compare(*driver_of)
