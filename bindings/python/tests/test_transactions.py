"""Gapless numbers in the program's own transaction, with each driver."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
import uuid
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, Callable, Iterator, List, Tuple

import pytest

import uidring
from desks import DESKS, Desk, address_of, mysql_arguments
from uidring import Series


class Shop:
    """A database with a table of documents, and series of them: one for each test that shares it.
    The library opens a SQLite file before the driver does, and never again."""

    def __init__(self, database: str, folder: Path, count: int = 1) -> None:
        self.database, self.address = database, address_of(database, folder)
        self.unused = [f"i{uuid.uuid4().hex}" for _ in range(count)]
        self.table = f"d{uuid.uuid4().hex}"
        with Series.open(self.address) as series:
            for name in self.unused:
                series.create(name, "{yyyy}-{n:5}{check:damm}", gapless=True)
        self.series = Series.in_transactions()
        self.next_series()

    def next_series(self) -> None:
        self.name = self.unused.pop()

    def create_table(self, desk: Desk) -> None:
        with desk.transaction():
            desk.run(f"CREATE TABLE {self.table} (number VARCHAR(40) PRIMARY KEY)")

    def insert(self, desk: Desk, number: object) -> None:
        desk.run(f"INSERT INTO {self.table} VALUES ('{number}')")

    def numbers(self, desk: Desk) -> List[int]:
        with desk.transaction():
            rows = desk.run(f"SELECT number FROM {self.table}")
            desk.run(f"DELETE FROM {self.table}")
        return sorted(self.series.parse(self.name, row[0]).value for row in rows)

    def drop(self, desk: Desk) -> None:
        with desk.transaction():
            desk.run(f"DROP TABLE {self.table}")


#: How many tests share a shop.
SHARED = 6


@pytest.fixture(scope="module", params=DESKS)
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tuple[Shop, Any]]:
    database, open_desk = DESKS[request.param]
    shop = Shop(database, tmp_path_factory.mktemp("shop"), SHARED + 1)
    desk = open_desk(shop.address)
    shop.create_table(desk)
    yield shop, open_desk
    shop.drop(desk)
    desk.close()


@pytest.fixture
def opened(shared: Tuple[Shop, Any]) -> Tuple[Shop, Any]:
    shared[0].next_series()
    return shared


class GivenUp(Exception):
    pass


def storm(shop: Shop, desk: Desk, seed: int, rounds: int) -> None:
    """Stores `rounds` documents. About a third of all transactions is rolled back, and some count
    once more than they keep, before a savepoint that they go back to."""
    choice = random.Random(seed)
    stored = 0
    while stored < rounds:
        try:
            with desk.transaction():
                if choice.random() < 0.2:
                    try:
                        with desk.savepoint():
                            shop.series.next_in(desk.handle, shop.name)
                            raise GivenUp
                    except GivenUp:
                        pass
                shop.insert(desk, shop.series.next_in(desk.handle, shop.name))
                if choice.random() < 0.3:
                    raise GivenUp
            stored += 1
        except GivenUp:
            pass
        except Exception as error:
            if not uidring.is_transient(error):
                raise


def test_numbers_have_no_gap_whatever_is_rolled_back(opened: Tuple[Shop, Any]) -> None:
    shop, open_desk = opened
    troubles: List[BaseException] = []

    def work(seed: int) -> None:
        desk = open_desk(shop.address)
        try:
            storm(shop, desk, seed, 40)
        except BaseException as error:
            troubles.append(error)
        finally:
            desk.close()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles, troubles
    desk = open_desk(shop.address)
    assert shop.numbers(desk) == list(range(1, 81))
    desk.close()


def test_a_number_is_of_its_scope_and_date(opened: Tuple[Shop, Any]) -> None:
    shop, open_desk = opened
    desk = open_desk(shop.address)
    day = date(2025, 11, 24)
    with desk.transaction():
        numbers = [shop.series.next_in(desk.handle, shop.name, date=day) for _ in range(2)]
        numbers.append(shop.series.next_in(desk.handle, shop.name, scope="b", date="2025-11-24"))
    found = [tuple(number) for number in numbers]
    assert found == [
        ("2025-000010", 1, "2025", "2025", None),
        ("2025-000029", 2, "2025", "2025", None),
        ("2025-000010", 1, "2025", "2025", "b"),
    ]
    assert shop.series.format(shop.name, 2, date=day) == "2025-000029"
    assert shop.series.parse(shop.name, "2025-000029")[1:3] == (2, "2025")
    desk.close()


def test_a_store_that_is_open_counts_in_its_own_database_alone(
    opened: Tuple[Shop, Any], tmp_path: Path
) -> None:
    shop, open_desk = opened
    desk = open_desk(shop.address)
    other = tmp_path / "other.db"
    with Series.open(other) as elsewhere:
        elsewhere.create(shop.name, "{yyyy}-{n:5}", gapless=True)
        with pytest.raises(uidring.RefusedError):
            with desk.transaction():
                elsewhere.next_in(desk.handle, shop.name)
    if shop.database != "sqlite":
        with Series.open(shop.address) as here:
            with desk.transaction():
                assert here.next_in(desk.handle, shop.name).value == 1
    desk.close()


def test_what_is_wrong_is_told_before_anything_is_counted(opened: Tuple[Shop, Any]) -> None:
    shop, open_desk = opened
    desk = open_desk(shop.address)
    cases: List[Tuple[type, str, Callable[[], object]]] = [
        (uidring.RefusedError, "has no series", lambda: count("nothing")),
        (uidring.InvalidArgumentError, "scope", lambda: count(shop.name, "a b")),
        (uidring.InvalidArgumentError, "a scope is not empty", lambda: count(shop.name, "")),
        (uidring.InvalidArgumentError, "date", lambda: count(shop.name, date="")),
        (TypeError, "name", lambda: count(None)),
        (TypeError, "await next_in_async", lambda: shop.series.next_in(Async(), shop.name)),
        (TypeError, "and not by builtins.int", lambda: shop.series.next_in(7, shop.name)),
    ]

    def count(*arguments: Any, **named: Any) -> object:
        return shop.series.next_in(desk.handle, *arguments, **named)

    for kind, said, call in cases:
        with pytest.raises(kind, match=said):
            with desk.transaction():
                call()
    with desk.transaction():
        assert shop.series.next_in(desk.handle, shop.name).value == 1
    desk.close()


class Async:
    def run_sync(self) -> None:
        pass


def test_what_a_driver_raises_goes_on_as_it_is(opened: Tuple[Shop, Any]) -> None:
    """A row that somebody else has locked: the wait ends with an error that may pass."""
    shop, open_desk = opened
    raw = {"sqlite": "sqlite3", "postgres": "psycopg", "mysql": "pymysql"}[shop.database]
    one, other = DESKS[raw][1](shop.address), open_desk(shop.address)
    if shop.database == "postgres":
        with other.transaction():
            other.run("SET SESSION lock_timeout = '100ms'")
    elif shop.database == "mysql":
        with other.transaction():
            other.run("SET SESSION innodb_lock_wait_timeout = 1")
    else:
        with other.transaction():
            other.run("PRAGMA busy_timeout = 100")
    with one.transaction():
        shop.series.next_in(one.handle, shop.name)
        with pytest.raises(Exception) as raised:
            with other.transaction():
                shop.series.next_in(other.handle, shop.name)
    assert not isinstance(raised.value, uidring.UidringError), raised.value
    assert uidring.is_transient(raised.value), raised.value
    with pytest.raises(Exception) as raised:
        with one.transaction():
            shop.insert(one, "twice")
            shop.insert(one, "twice")
    assert not uidring.is_transient(raised.value), raised.value
    one.close()
    other.close()


def test_the_rows_of_the_callers_cursor_stay(tmp_path: Path) -> None:
    shop = Shop("sqlite", tmp_path)
    connection = sqlite3.connect(shop.address)
    connection.row_factory = sqlite3.Row
    connection.text_factory = bytes
    cursor = connection.execute("SELECT 1 UNION SELECT 2 UNION SELECT 3")
    counted = [(row[0], shop.series.next_in(cursor, shop.name).value) for row in cursor]
    assert counted == [(1, 1), (2, 2), (3, 3)]
    connection.close()


def autocommit(name: str, address: str) -> Tuple[Any, Callable[[], object]]:
    """A connection in autocommit mode, and what begins a transaction on it even so."""
    connection: Any
    if name == "sqlite3":
        connection = sqlite3.connect(address, isolation_level=None)
        return connection, lambda: connection.execute("BEGIN")
    if name == "psycopg":
        connection = import_module("psycopg").connect(address, autocommit=True)
        return connection, lambda: connection.execute("BEGIN")
    if name == "psycopg2":
        connection = import_module("psycopg2").connect(address)
        connection.autocommit = True
        return connection, lambda: connection.cursor().execute("BEGIN")
    if name == "pymysql":
        connection = import_module("pymysql").connect(**mysql_arguments(address), autocommit=True)
        return connection, connection.begin
    if name == "mysqlclient":
        connection = import_module("MySQLdb").connect(**mysql_arguments(address), autocommit=True)
        return connection, connection.begin
    raise AssertionError(name)


@pytest.mark.parametrize("name", ["sqlite3", "psycopg", "psycopg2", "pymysql", "mysqlclient"])
def test_a_connection_in_autocommit_mode_is_refused_outside_of_a_transaction(
    name: str, tmp_path: Path
) -> None:
    shop = Shop(DESKS[name][0], tmp_path)
    connection, begin = autocommit(name, shop.address)
    with pytest.raises(uidring.RefusedError, match="begin a transaction"):
        shop.series.next_in(connection.cursor(), shop.name)
    begin()
    assert shop.series.next_in(connection.cursor(), shop.name).value == 1
    connection.cursor().execute("COMMIT")
    with pytest.raises(uidring.RefusedError, match="begin a transaction"):
        shop.series.next_in(connection, shop.name)
    connection.close()


def test_autocommit_is_refused_through_frameworks_too(tmp_path: Path) -> None:
    from sqlalchemy import create_engine

    shop = Shop("sqlite", tmp_path)
    engine = create_engine(f"sqlite:///{shop.address}", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        with pytest.raises(uidring.RefusedError, match="begin a transaction"):
            shop.series.next_in(connection, shop.name)
    engine.dispose()
    with pytest.raises(TypeError, match="sqlalchemy.engine.base.Engine"):
        shop.series.next_in(engine, shop.name)
    desk = DESKS["django-sqlite"][1](shop.address)
    with pytest.raises(uidring.RefusedError, match="begin a transaction"):
        shop.series.next_in(desk.handle, shop.name)
    desk.close()


def test_a_cursor_or_a_connection_that_is_closed_counts_nothing(tmp_path: Path) -> None:
    shop = Shop("sqlite", tmp_path)
    connection = sqlite3.connect(shop.address)
    cursor = connection.cursor()
    connection.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        shop.series.next_in(cursor, shop.name)
    with sqlite3.connect(":memory:") as memory:
        # It has no tables of series.
        with pytest.raises(uidring.RefusedError, match=f"uidring series create {shop.name} "):
            shop.series.next_in(memory, shop.name)
    memory.close()


def test_two_copies_of_sqlite_do_not_open_one_file(tmp_path: Path) -> None:
    shop = Shop("sqlite", tmp_path)
    connection = sqlite3.connect(shop.address)
    for opened in (Series.open(shop.address), uidring.Segments.open(shop.address)):
        with opened:
            with pytest.raises(uidring.RefusedError, match="two copies of SQLite"):
                shop.series.next_in(connection, shop.name)
            if isinstance(opened, Series):
                with pytest.raises(uidring.RefusedError, match="two copies of SQLite"):
                    opened.next_in(connection, shop.name)
        connection.rollback()
    assert shop.series.next_in(connection, shop.name).value == 1
    with pytest.raises(uidring.RefusedError, match="its own copy of SQLite"):
        Series.open(shop.address)
    # Where a series is known already, the file is looked at again if the library has one open.
    with Series.open(tmp_path / "another.db"):
        assert shop.series.next_in(connection, shop.name).value == 2
    connection.commit()
    connection.close()


def test_series_without_a_store_say_what_needs_one() -> None:
    series = Series.in_transactions()
    for call in (
        lambda: series.create("a", "{n}"),
        lambda: series.next("a"),
        lambda: series.next_many("a", 2),
        lambda: series.widen("a", "{n:9}"),
        lambda: series.status("a"),
    ):
        with pytest.raises(uidring.RefusedError, match="needs a store"):
            call()
    with pytest.raises(uidring.InvalidArgumentError, match="has not read the series"):
        series.parse("a", "1")
    with pytest.raises(uidring.InvalidArgumentError, match="has not read the series"):
        series.format("a", 1)
    series.close()


def test_a_series_is_read_without_a_number(opened: Tuple[Shop, Any]) -> None:
    shop, open_desk = opened
    desk = open_desk(shop.address)
    with desk.transaction():
        shop.series.read_in(desk.handle, shop.name)
    assert shop.series.parse(shop.name, "2025-000029").value == 2
    desk.close()


def test_a_change_is_noticed_and_a_full_series_goes_on_at_once(tmp_path: Path) -> None:
    shop = Shop("postgres", tmp_path)
    desk = DESKS["psycopg"][1](shop.address)
    tiny = f"t{uuid.uuid4().hex}"
    with Series.open(shop.address) as store:
        store.create(tiny, "T{n:1}", gapless=True)
        with desk.transaction():
            for value in range(1, 10):
                assert shop.series.next_in(desk.handle, tiny).value == value
        with pytest.raises(uidring.RefusedError, match=f"uidring series change {tiny} PATTERN"):
            with desk.transaction():
                shop.series.next_in(desk.handle, tiny)
        store.widen(tiny, "T{n:2}")
        with pytest.raises(uidring.RefusedError, match="only a wider number"):
            store.widen(tiny, "U{n:4}")
        with desk.transaction():
            assert str(shop.series.next_in(desk.handle, tiny)) == "T10"
            assert shop.series.parse(tiny, "T9").value == 9
    desk.close()


async def asyncpg_storm(shop: Shop, seed: int, rounds: int) -> None:
    connection: Any = await import_module("asyncpg").connect(shop.address)
    with pytest.raises(uidring.RefusedError, match="begin a transaction"):
        await shop.series.next_in_async(connection, shop.name)
    choice, stored = random.Random(seed), 0
    while stored < rounds:
        try:
            async with connection.transaction():
                number = await shop.series.next_in_async(connection, shop.name)
                await connection.execute(f"INSERT INTO {shop.table} VALUES ($1)", str(number))
                if choice.random() < 0.3:
                    raise GivenUp
            stored += 1
        except GivenUp:
            pass
    await connection.close()


async def aiosqlite_storm(shop: Shop, seed: int, rounds: int) -> None:
    import aiosqlite

    choice, stored = random.Random(seed), 0
    async with aiosqlite.connect(shop.address, timeout=60) as connection:
        while stored < rounds:
            number = await shop.series.next_in_async(connection, shop.name)
            await connection.execute(f"INSERT INTO {shop.table} VALUES (?)", [str(number)])
            if choice.random() < 0.3:
                await connection.rollback()
            else:
                await connection.commit()
                stored += 1


async def psycopg_storm(shop: Shop, seed: int, rounds: int) -> None:
    import psycopg

    choice, stored = random.Random(seed), 0
    async with await psycopg.AsyncConnection.connect(shop.address) as connection:
        while stored < rounds:
            number = await shop.series.next_in_async(connection, shop.name)
            await connection.execute(f"INSERT INTO {shop.table} VALUES ('{number}')")
            if choice.random() < 0.3:
                await connection.rollback()
            else:
                await connection.commit()
                stored += 1


async def sqlalchemy_storm(shop: Shop, seed: int, rounds: int) -> None:
    from sqlalchemy import text
    from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

    if shop.database == "sqlite":
        address = f"sqlite+aiosqlite:///{shop.address}"
        engine = create_async_engine(address, connect_args={"timeout": 60})
    else:
        engine = create_async_engine("postgresql+asyncpg" + shop.address[len("postgres") :])
    choice, stored = random.Random(seed), 0
    async with AsyncSession(engine) as session:
        while stored < rounds:
            number = await shop.series.next_in_async(session, shop.name)
            await session.execute(text(f"INSERT INTO {shop.table} VALUES ('{number}')"))
            if choice.random() < 0.3:
                await session.rollback()
            else:
                await session.commit()
                stored += 1
    await engine.dispose()


@pytest.mark.parametrize(
    ("database", "work"),
    [
        ("postgres", asyncpg_storm),
        ("sqlite", aiosqlite_storm),
        ("postgres", psycopg_storm),
        ("postgres", sqlalchemy_storm),
        ("sqlite", sqlalchemy_storm),
    ],
)
def test_tasks_of_asyncio_leave_no_gap(database: str, work: Any, tmp_path: Path) -> None:
    shop = Shop(database, tmp_path)
    open_desk = DESKS[{"sqlite": "sqlite3", "postgres": "psycopg"}[database]][1]
    desk = open_desk(shop.address)
    shop.create_table(desk)

    async def main() -> None:
        await asyncio.gather(work(shop, 1, 20), work(shop, 2, 20))

    asyncio.run(main())
    assert shop.numbers(desk) == list(range(1, 41))
    shop.drop(desk)
    desk.close()


def test_a_call_of_the_wrong_kind_is_told(tmp_path: Path) -> None:
    shop = Shop("sqlite", tmp_path)
    connection = sqlite3.connect(shop.address)
    with pytest.raises(TypeError, match="call next_in"):
        asyncio.run(shop.series.next_in_async(connection, shop.name))
    connection.close()
