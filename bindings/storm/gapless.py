"""Stores documents with gapless numbers, in transactions of sqlite3, psycopg or PyMySQL, until its
standard input ends: one of the programs of tests/gapless_storm, which says what it finds and what
it has to do."""

import os
import random
import sqlite3
import sys
import threading
import time
from urllib.parse import unquote, urlsplit

import uidring

SERIES, SCOPES = ("invoices", "receipts"), ("north", "south")


def connect(address):
    """A connection that begins a transaction when it is told to, and the mark of a value."""
    if address.startswith("postgres"):
        import psycopg

        return psycopg.connect(address, autocommit=True), "%s"
    if address.startswith("mysql"):
        import pymysql

        at = urlsplit(address)
        connection = pymysql.connect(
            host=at.hostname, port=at.port or 3306, user=unquote(at.username or ""),
            password=unquote(at.password or ""), database=at.path[1:], autocommit=True,
            read_timeout=4)
        return connection, "%s"
    return sqlite3.connect(address, timeout=2, isolation_level=None), "?"


def count(cursor, mark, invoices, rng):
    """One transaction, with numbers of up to three series and scopes, in any order, so that some
    meet in deadlocks."""
    places = [(series, scope) for series in SERIES for scope in SCOPES]
    rng.shuffle(places)
    if rng.random() < 0.05:
        # It is in no transaction, so this has to fail. If it does not, nobody has the number.
        series, scope = places[0]
        invoices.next_in(cursor, series, scope=scope)
        return
    cursor.execute("BEGIN")
    for series, scope in places[: rng.randint(1, 3)]:
        if rng.random() < 0.2:
            cursor.execute("SAVEPOINT a")
            invoices.next_in(cursor, series, scope=scope)
            cursor.execute("ROLLBACK TO SAVEPOINT a")
        for _ in range(rng.randint(1, 3)):
            number = invoices.next_in(cursor, series, scope=scope)
            row = (series, scope, number.value, str(number), "python")
            cursor.execute(f"INSERT INTO document VALUES ({', '.join([mark] * 5)})", row)
    if rng.random() < 0.2:
        time.sleep(rng.random() * 0.03)
    cursor.execute("ROLLBACK" if rng.random() < 0.25 else "COMMIT")


def write(address, seed, is_over):
    rng = random.Random(seed)
    invoices = uidring.Series.in_transactions()
    connection = None
    while not is_over.is_set():
        try:
            if connection is None:
                connection, mark = connect(address)
            count(connection.cursor(), mark, invoices, rng)
        except Exception:  # a deadlock, a full series, a server that is down
            time.sleep(0.005)
            if connection is not None:
                try:
                    connection.close()
                except Exception:
                    pass
            connection = None


if __name__ == "__main__":
    over = threading.Event()
    writer = threading.Thread(
        target=write,
        args=(os.environ["UIDRING_STORM_DATABASE"], os.environ["UIDRING_STORM_CHILD_SEED"], over))
    writer.start()
    sys.stdin.read()
    over.set()
    writer.join()
