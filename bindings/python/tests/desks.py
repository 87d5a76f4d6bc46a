"""The drivers and frameworks in whose transactions numbers are counted, each in one form."""

from __future__ import annotations

import os
import sqlite3
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List
from urllib.parse import urlsplit

import pytest


class Desk:
    """A connection on which documents are stored."""

    #: What `next_in` gets.
    handle: Any

    def run(self, sql: str) -> List[Any]:
        raise NotImplementedError

    def transaction(self) -> AbstractContextManager[Any]:
        """Commits at its end, and rolls back after an error."""
        raise NotImplementedError

    def savepoint(self) -> AbstractContextManager[Any]:
        """The same within a transaction."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class DbApi(Desk):
    """A driver with the interface of PEP 249."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.handle = connection.cursor()

    def run(self, sql: str) -> List[Any]:
        self.handle.execute(sql)
        return list(self.handle.fetchall()) if self.handle.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.connection.rollback()
            raise
        self.connection.commit()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        if isinstance(self.connection, sqlite3.Connection) and not self.connection.in_transaction:
            self.run("BEGIN")
        self.run("SAVEPOINT here")
        try:
            yield
        except BaseException:
            self.run("ROLLBACK TO SAVEPOINT here")
            raise

    def close(self) -> None:
        self.connection.close()


class SqlAlchemy(Desk):
    """A `Connection` or a `Session` of SQLAlchemy."""

    def __init__(self, address: str, is_session: bool) -> None:
        from sqlalchemy import create_engine, event, text
        from sqlalchemy.orm import Session

        self.text = text
        arguments = {"timeout": 60} if address.startswith("sqlite") else {}
        self.engine = create_engine(address, connect_args=arguments)
        if address.startswith("sqlite"):
            # As SQLAlchemy's manual says, or savepoints begin no transaction.
            @event.listens_for(self.engine, "begin")
            def begin(connection: Any) -> None:
                connection.exec_driver_sql("BEGIN IMMEDIATE")

        self.handle = Session(self.engine) if is_session else self.engine.connect()

    def run(self, sql: str) -> List[Any]:
        result = self.handle.execute(self.text(sql))
        return list(result.fetchall()) if result.returns_rows else []

    def transaction(self) -> AbstractContextManager[Any]:
        begin: AbstractContextManager[Any] = self.handle.begin()
        return begin

    def savepoint(self) -> AbstractContextManager[Any]:
        nested: AbstractContextManager[Any] = self.handle.begin_nested()
        return nested

    def close(self) -> None:
        self.handle.close()
        self.engine.dispose()


class Django(Desk):
    """A connection of Django's, of this thread."""

    def __init__(self, alias: str) -> None:
        django: Any = import_module("django.db")
        self.connection = django.connections[alias]
        self.handle = self.connection
        self.atomic: Any = lambda: django.transaction.atomic(using=alias)

    def run(self, sql: str) -> List[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []

    def transaction(self) -> AbstractContextManager[Any]:
        atomic: AbstractContextManager[Any] = self.atomic()
        return atomic

    def savepoint(self) -> AbstractContextManager[Any]:
        return self.transaction()

    def close(self) -> None:
        self.connection.close()


class DjangoCursor(Django):
    """By its cursor."""

    def __init__(self, alias: str) -> None:
        super().__init__(alias)
        self.handle = self.connection.cursor()

    def close(self) -> None:
        self.handle.close()
        super().close()


def address_of(database: str, folder: Path) -> str:
    """Where the series and the documents are."""
    if database == "sqlite":
        return str(folder / "shop.db")
    address = os.environ.get(f"UIDRING_TEST_{database.upper()}")
    if address is None:
        pytest.skip(f"UIDRING_TEST_{database.upper()} is not set")
    return address


def mysql_arguments(address: str) -> Dict[str, Any]:
    parts = urlsplit(address)
    return {
        "host": parts.hostname,
        "port": parts.port or 3306,
        "user": parts.username,
        "password": parts.password or "",
        "database": parts.path[1:],
    }


def _sqlite3(address: str) -> Desk:
    return DbApi(sqlite3.connect(address, timeout=60))


def _psycopg(address: str) -> Desk:
    return DbApi(import_module("psycopg").connect(address))


def _psycopg2(address: str) -> Desk:
    return DbApi(import_module("psycopg2").connect(address))


def _pymysql(address: str) -> Desk:
    return DbApi(import_module("pymysql").connect(**mysql_arguments(address)))


def _mysqlclient(address: str) -> Desk:
    return DbApi(import_module("MySQLdb").connect(**mysql_arguments(address)))


def _sqlalchemy(scheme: str, is_session: bool) -> Callable[[str], Desk]:
    def open_desk(address: str) -> Desk:
        if scheme == "sqlite":
            return SqlAlchemy(f"sqlite:///{address}", is_session)
        return SqlAlchemy(scheme + address[address.index(":") :], is_session)

    return open_desk


def django_alias(address: str) -> str:
    """Configures Django, and returns the name under which it has the database."""
    settings: Any = import_module("django.conf").settings
    if not settings.configured:
        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3"}})
        import_module("django").setup()
    connections: Any = import_module("django.db").connections
    if "://" not in address:
        alias, options = address, {"timeout": 60}
        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": address, "OPTIONS": options}
    else:
        parts = urlsplit(address)
        alias = {"postgres": "postgresql", "postgresql": "postgresql"}.get(parts.scheme, "mysql")
        database = {
            "ENGINE": f"django.db.backends.{alias}",
            "NAME": parts.path[1:],
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "USER": parts.username or "",
        }
    if alias not in connections.settings:
        defaults = {key: value for key, value in connections.settings["default"].items()}
        connections.settings[alias] = {**defaults, **database}
    return alias


def _django(address: str) -> Desk:
    return Django(django_alias(address))


def _django_cursor(address: str) -> Desk:
    return DjangoCursor(django_alias(address))


#: By name: the database, and what opens a desk on it.
DESKS: Dict[str, "tuple[str, Callable[[str], Desk]]"] = {
    "sqlite3": ("sqlite", _sqlite3),
    "psycopg": ("postgres", _psycopg),
    "psycopg2": ("postgres", _psycopg2),
    "pymysql": ("mysql", _pymysql),
    "mysqlclient": ("mysql", _mysqlclient),
    "sqlalchemy-sqlite": ("sqlite", _sqlalchemy("sqlite", is_session=True)),
    "sqlalchemy-psycopg": ("postgres", _sqlalchemy("postgresql+psycopg", is_session=True)),
    "sqlalchemy-psycopg2": ("postgres", _sqlalchemy("postgresql+psycopg2", is_session=False)),
    "sqlalchemy-pymysql": ("mysql", _sqlalchemy("mysql+pymysql", is_session=False)),
    "sqlalchemy-mysqldb": ("mysql", _sqlalchemy("mysql+mysqldb", is_session=True)),
    "django-sqlite": ("sqlite", _django),
    "django-postgresql": ("postgres", _django_cursor),
    "django-mysql": ("mysql", _django),
}
