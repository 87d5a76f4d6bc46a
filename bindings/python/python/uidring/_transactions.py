"""Numbers that are counted in the program's own transaction, by its own driver.

The library says which statements to run, and the driver runs them. What the driver raises goes on
to the caller as it is.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import date
from typing import Any, Callable, Dict, Iterable, Optional, Sequence, Tuple, Union

from ._errors import RefusedError, UidringError, UnavailableError
from ._uidring import Series, _is_transient
from ._values import SeriesNumber

#: The name of a driver's package, and the database that it is for.
_DATABASES = {
    "sqlite3": "sqlite",
    "aiosqlite": "sqlite",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "asyncpg": "postgres",
    "MySQLdb": "mysql",
    "pymysql": "mysql",
}
#: How Django and SQLAlchemy call the databases.
_VENDORS = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}
_PLACES = {"qmark": "question", "format": "format", "pyformat": "format", "numeric_dollar": "own"}

#: A transaction that has not begun, and one of which only the database knows.
_Begun = Optional[bool]
_Rows = Iterable[Sequence[Any]]

_IDLE = 0  # PQTRANS_IDLE of libpq
_IN_TRANSACTION = 1  # SERVER_STATUS_IN_TRANS of MySQL


class _Connection:
    """What the library has to know of a connection, and how a statement is run on it."""

    __slots__ = ("begun", "_raw")
    #: The kind of database, and how its driver writes the places of values.
    database: str
    places: str = "format"

    def __init__(self, begun: _Begun, raw: Any) -> None:
        if begun is False:
            raise RefusedError(
                "the connection is in autocommit mode and in no transaction, so the number would "
                "be kept where the document is not: begin a transaction, count in it, and store "
                "the document in it"
            )
        self.begun, self._raw = begun, raw

    def rows(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        raise NotImplementedError

    async def rows_async(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        raise NotImplementedError


class _ByCursor(_Connection):
    """A connection of a driver, which has a cursor of its own for this: the caller's may be in the
    middle of other rows, or return them in another form."""

    __slots__ = ()

    def cursor(self) -> Any:
        raise NotImplementedError

    def rows(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        cursor = self.cursor()
        try:
            # Without values, a `%` is none that a driver replaces.
            if values:
                cursor.execute(sql, values)
            else:
                cursor.execute(sql)
            rows: _Rows = () if cursor.description is None else cursor.fetchall()
            return rows
        finally:
            cursor.close()


def _begins_sqlite(connection: Any) -> bool:
    """Whether a connection of `sqlite3` is in a transaction, or begins one before it writes."""
    if connection.in_transaction:
        return True
    # -1 is `sqlite3.LEGACY_TRANSACTION_CONTROL`, and what there was before Python 3.12.
    autocommit = getattr(connection, "autocommit", -1)
    return connection.isolation_level is not None if autocommit == -1 else not autocommit


class _Sqlite(_Connection):
    __slots__ = ()
    database, places = "sqlite", "own"

    def __init__(self, connection: Any) -> None:
        super().__init__(_begins_sqlite(connection), connection)

    def rows(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        # A cursor that has read all its rows holds no statement.
        cursor = self._raw.cursor()
        cursor.row_factory = None
        rows: _Rows = cursor.execute(sql, values).fetchall()
        return rows


class _Psycopg(_Connection):
    """A cursor of its own is kept with the connection: a new one has to learn anew how values are
    written, which takes as long as the statement. Whoever uses it takes it out meanwhile."""

    __slots__ = ()
    database = "postgres"
    _CURSOR = "_uidring_cursor"

    def __init__(self, connection: Any) -> None:
        # What a connection in another state has to say, the driver says.
        idle = connection.pgconn.transaction_status == _IDLE
        super().__init__(not (idle and connection.autocommit), connection)

    def cursor(self, kind: str) -> Any:
        kept = vars(self._raw).pop(self._CURSOR, None)
        if kept is not None:
            return kept
        psycopg = sys.modules["psycopg"]
        return getattr(psycopg, kind)(self._raw, row_factory=psycopg.rows.tuple_row)

    def rows(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        cursor = self.cursor("Cursor")
        cursor.execute(sql, values or None)
        # Its `description` would be made of objects of Python's.
        rows: _Rows = cursor.fetchall() if cursor.pgresult.nfields else ()
        vars(self._raw)[self._CURSOR] = cursor
        return rows

    async def rows_async(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        cursor = self.cursor("AsyncCursor")
        await cursor.execute(sql, values or None)
        rows: _Rows = await cursor.fetchall() if cursor.pgresult.nfields else ()
        vars(self._raw)[self._CURSOR] = cursor
        return rows


class _Psycopg2(_ByCursor):
    __slots__ = ()
    database = "postgres"

    def __init__(self, connection: Any) -> None:
        idle = connection.get_transaction_status() == _IDLE
        super().__init__(not (idle and connection.autocommit), connection)

    def cursor(self) -> Any:
        return self._raw.cursor(cursor_factory=sys.modules["psycopg2.extensions"].cursor)


class _MySql(_ByCursor):
    """Of mysqlclient and PyMySQL."""

    __slots__ = ("_cursors",)
    database = "mysql"

    def __init__(self, connection: Any, package: str) -> None:
        begun: _Begun = not connection.get_autocommit()
        if not begun:
            status = getattr(connection, "server_status", None)
            begun = None if status is None else bool(status & _IN_TRANSACTION)
        super().__init__(begun, connection)
        self._cursors = package + ".cursors"

    def cursor(self) -> Any:
        return self._raw.cursor(sys.modules[self._cursors].Cursor)


class _Django(_ByCursor):
    """Of `django.db.connection`. Its cursor has Django's places, errors and log."""

    __slots__ = ("database",)

    def __init__(self, connection: Any) -> None:
        begun = connection.in_atomic_block or not connection.get_autocommit()
        super().__init__(begun, connection)
        self.database = _database(connection.vendor)

    def cursor(self) -> Any:
        return self._raw.cursor()


class _SqlAlchemy(_Connection):
    """Of a `Connection` of SQLAlchemy, which begins a transaction by itself."""

    __slots__ = ("database", "places")

    def __init__(self, connection: Any) -> None:
        dialect = connection.dialect
        places = _PLACES.get(dialect.paramstyle)
        if places is None:
            raise TypeError(f"the driver {dialect.driver} has places that uidring does not know")
        super().__init__(_begun_below(connection.connection), connection)
        self.database, self.places = _database(dialect.name), places

    def rows(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        run = self._raw.exec_driver_sql
        result = run(sql, values) if values else run(sql)
        rows: _Rows = result.fetchall() if result.returns_rows else ()
        return rows


class _Asyncpg(_Connection):
    __slots__ = ()
    database, places = "postgres", "own"

    def __init__(self, connection: Any) -> None:
        super().__init__(connection.is_in_transaction(), connection)

    async def rows_async(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        return [tuple(row) for row in await self._raw.fetch(sql, *values)]


class _Aiosqlite(_Connection):
    __slots__ = ()
    database, places = "sqlite", "own"

    def __init__(self, connection: Any) -> None:
        super().__init__(_begins_sqlite(connection), connection)

    async def rows_async(self, sql: str, values: Tuple[object, ...]) -> _Rows:
        async with self._raw.execute(sql, values) as cursor:
            return [tuple(row) for row in await cursor.fetchall()]


def _begun_below(pooled: Any) -> _Begun:
    """Whether the connection of a driver that SQLAlchemy has is in a transaction, or begins one."""
    below = pooled.dbapi_connection
    package = _package(type(below))
    if package in _DATABASES:
        return _connection(below).begun
    # A face of SQLAlchemy's for a driver of asyncio.
    if _package(type(pooled.driver_connection)) == "aiosqlite":
        return _begins_sqlite(pooled.driver_connection)
    # The database is asked.
    return None


def _database(vendor: str) -> str:
    database = _VENDORS.get(vendor)
    if database is None:
        raise TypeError(f"gapless numbers are in SQLite, PostgreSQL and MySQL, and not in {vendor}")
    return database


def _package(kind: type) -> str:
    """The package that a class is of, or that of the first class of a driver that it is one of."""
    for each in kind.__mro__:
        package = each.__module__.partition(".")[0]
        if package in _DATABASES or package in ("django", "sqlalchemy"):
            return package
    return ""


#: What each class of a transaction is made a connection by.
_makers: Dict[type, Callable[[Any], _Connection]] = {}


def _connection(transaction: object) -> _Connection:
    """The connection of what a program has: a cursor, a connection, a session."""
    kind = type(transaction)
    make = _makers.get(kind)
    if make is None:
        make = _makers[kind] = _maker(transaction, kind)
    return make(transaction)


def _of_cursor(cursor: Any) -> Any:
    connection = cursor.connection
    if connection is None or getattr(cursor, "closed", False):
        raise RefusedError("the cursor is closed: count by an open one, in its transaction")
    return connection


def _maker(transaction: object, kind: type) -> Callable[[Any], _Connection]:
    package = _package(kind)
    if package == "django":
        if hasattr(kind, "db") or "db" in getattr(transaction, "__dict__", ()):
            return lambda cursor: _Django(cursor.db)
        if hasattr(transaction, "in_atomic_block"):
            return _Django
    elif package == "sqlalchemy":
        if hasattr(kind, "exec_driver_sql") and hasattr(kind, "get_isolation_level"):
            return _SqlAlchemy
        if hasattr(kind, "connection") and hasattr(kind, "flush"):
            return lambda session: _SqlAlchemy(session.connection())
        if hasattr(kind, "driver_connection"):
            return lambda pooled: _connection(pooled.driver_connection)
    elif package:
        make: Callable[[Any], _Connection] = {
            "sqlite3": _Sqlite,
            "psycopg": _Psycopg,
            "psycopg2": _Psycopg2,
            "asyncpg": _Asyncpg,
            "aiosqlite": _Aiosqlite,
        }.get(package) or (lambda connection: _MySql(connection, package))
        if hasattr(kind, "cursor") or package == "asyncpg":
            return make
        if package == "aiosqlite":
            return lambda cursor: make(cursor._conn)
        return lambda cursor: make(_of_cursor(cursor))
    shown = f"{kind.__module__}.{kind.__qualname__}"
    raise TypeError(
        "a number is counted by a cursor or a connection of sqlite3, psycopg, psycopg2, "
        "mysqlclient, PyMySQL or Django, or by a Connection or a Session of SQLAlchemy; in "
        f"asyncio, also of asyncpg or aiosqlite; and not by {shown}"
    )


#: Whether each class of a transaction is one of asyncio.
_asyncs: Dict[type, bool] = {}


def _is_async(transaction: object) -> bool:
    """Whether it is one of asyncio."""
    kind = type(transaction)
    known = _asyncs.get(kind)
    if known is None:
        known = _asyncs[kind] = _is_async_kind(kind)
    return known


def _is_async_kind(kind: type) -> bool:
    return (
        _package(kind) in ("asyncpg", "aiosqlite")
        or hasattr(kind, "run_sync")
        or any(each.__name__ in ("AsyncConnection", "AsyncCursor") for each in kind.__mro__)
    )


def _work(work: Any, connection: _Connection) -> Any:
    """Runs what `work` asks for, and returns its result."""
    step = work.step(None)
    # A number is one of a class of its own.
    while type(step) is tuple:
        try:
            rows = connection.rows(*step)
        except Exception as error:
            step = None if connection.begun else work.fail(str(error))
            if step is None:
                raise
        else:
            step = work.step(rows)
    return step


async def _work_async(work: Any, connection: _Connection) -> Any:
    step = work.step(None)
    while type(step) is tuple:
        try:
            rows = await connection.rows_async(*step)
        except Exception as error:
            step = None if connection.begun else work.fail(str(error))
            if step is None:
                raise
        else:
            step = work.step(rows)
    return step


def next_in(
    self: Series,
    transaction: object,
    name: str,
    scope: Optional[str] = None,
    date: Union[date, str, None] = None,
) -> SeriesNumber:
    """Counts the next number of a gapless series in your own transaction, that of the document
    which has the number: both are stored, or neither is.

    `transaction` is a cursor or a connection of sqlite3, psycopg, psycopg2, mysqlclient, PyMySQL or
    Django, or a Connection or a Session of SQLAlchemy. What the driver raises is raised as it is:
    roll the transaction back then, and try again if `uidring.is_transient` says so.
    """
    if _is_async(transaction):
        raise TypeError("it is one of asyncio: await next_in_async")
    to = _connection(transaction)
    work = self._count_in(name, scope, date, to.database, to.places, to.begun or False)
    number: SeriesNumber = _work(work, to)
    return number


async def next_in_async(
    self: Series,
    transaction: object,
    name: str,
    scope: Optional[str] = None,
    date: Union[date, str, None] = None,
) -> SeriesNumber:
    """Does what `next_in` does in a task of asyncio: with a connection of asyncpg or aiosqlite, an
    AsyncConnection of psycopg, or an AsyncConnection or AsyncSession of SQLAlchemy.
    """
    if not _is_async(transaction):
        raise TypeError("it is none of asyncio: call next_in")
    run_sync = getattr(transaction, "run_sync", None)
    if run_sync is not None:
        ours: SeriesNumber = await run_sync(lambda sync: next_in(self, sync, name, scope, date))
        return ours
    to = _connection(transaction)
    wanted = (name, scope, date, to.database, to.places, to.begun or False)
    if self._asks_store(name):
        work = await asyncio.to_thread(self._count_in, *wanted)
    else:
        work = self._count_in(*wanted)
    number: SeriesNumber = await _work_async(work, to)
    return number


def read_in(self: Series, transaction: object, name: str) -> None:
    """Reads a series by your own connection, for `parse` and `format`, which know it from then on.
    Only series that were opened by `in_transactions` need it, before they have counted a number.
    """
    to = _connection(transaction) if _is_async(transaction) is False else None
    if to is None:
        raise TypeError("a series is read by a connection that is none of asyncio")
    work = self._read_in(name, to.database, to.places)
    if work is not None:
        _work(work, to)


def is_transient(error: BaseException) -> bool:
    """Whether another transaction may succeed where this one has raised `error`: after a deadlock,
    a conflict, a wait that took too long, or a connection that broke.

    It knows the errors of uidring and of the drivers, also where Django and SQLAlchemy raise their
    own for those.
    """
    if isinstance(error, UidringError):
        return isinstance(error, UnavailableError)
    below = getattr(error, "orig", None) or error.__cause__
    package = _package(type(error))
    database = _DATABASES.get(package)
    if database is None:
        return below is not None and is_transient(below)
    if database == "postgres":
        code = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
        if code is None:
            # The connection broke; or it is a mistake of the program's, of another class.
            kinds = {each.__name__ for each in type(error).__mro__}
            return not kinds.isdisjoint({"OperationalError", "PostgresConnectionError"})
        return _is_transient(database, str(code))
    if database == "mysql":
        number = error.args[0] if error.args else None
        # CR_SERVER_GONE_ERROR and CR_SERVER_LOST: the connection broke.
        return number in (2006, 2013) or _is_transient(database, str(number))
    known = getattr(error, "sqlite_errorcode", None)
    # Python before 3.11 has the text alone.
    return _is_transient(database, str(known)) if known else "is locked" in str(error)


# Methods of the native class, which run Python's drivers: no frame of Rust is below them, so a
# thread that ends with the program may end there.
for _method in (next_in, next_in_async, read_in):
    _method.__qualname__ = f"Series.{_method.__name__}"
    setattr(Series, _method.__name__, _method)
