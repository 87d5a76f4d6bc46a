"""What calls fail with, and what they say."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from array import array
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Callable

import pytest

import uidring
from uidring import Segments, Series, UidGenerator
from uidring import _uidring


def test_each_kind_has_its_exception() -> None:
    kinds = _uidring._kinds()
    assert len(kinds) == 6
    for kind in kinds:
        error = getattr(uidring, f"{kind}Error")
        assert issubclass(error, uidring.UidringError) and issubclass(error, Exception)
        assert error.__module__ == "uidring"
    assert issubclass(uidring.InvalidArgumentError, ValueError)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lease": "10"}, 'the option lease cannot be "10": a length of time is such as 500ms'),
        ({"lease": 10}, 'the option lease cannot be "10": a length of time is such as 500ms'),
        ({"lease": timedelta(microseconds=1)}, 'the option lease cannot be "1us": a length'),
        ({"lease": timedelta(seconds=-5)}, "a length of time cannot be negative"),
        ({"leese": "10m"}, 'there is no option "leese"; did you mean lease?'),
        ({"exact_time": "yes"}, 'the option exact_time is true or false, and not "yes"'),
        (
            {"preset": "leav"},
            "the option preset is one of default, uid-generator, uid-generator-starter, twitter,",
        ),
        ({"partition": "0/2", "worker_ids": "1-2"}, "partition and worker_ids exclude each other"),
        ({"epoch": datetime(2026, 1, 1)}, "cannot be a datetime without a time zone"),
        ({"state": "file"}, "the option state is for a worker id of your own"),
    ],
)
def test_wrong_options_are_told(db: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(uidring.InvalidArgumentError) as raised:
        UidGenerator.open(db, **options)
    assert said in str(raised.value)
    assert not db.exists()


@pytest.mark.parametrize("value", [1.5, [1], object(), b"1m"])
def test_an_option_of_a_wrong_type_is_told(db: Path, value: Any) -> None:
    with pytest.raises(TypeError, match="the option lease is a str, int, bool, timedelta,"):
        UidGenerator.open(db, lease=value)


@pytest.mark.parametrize("opens", [UidGenerator.open, Segments.open, Series.open])
def test_a_wrong_address_is_told(opens: Callable[..., Any]) -> None:
    # As pydantic's `PostgresDsn`.
    class Dsn:
        def __repr__(self) -> str:
            return "Dsn(postgres://ids:secret@db/ids)"

    with pytest.raises(TypeError, match="a text or a path, and not of the type Dsn$"):
        opens(Dsn())
    with pytest.raises(TypeError, match="an address is a text or a path, and not of the type int"):
        opens(7)
    with pytest.raises(uidring.InvalidArgumentError, match="oracle"):
        opens("oracle://ids@db.example.com/ids")


def test_a_text_that_cannot_be_utf_8_is_told(db: Path) -> None:
    # As Python reads the name of a file that is not UTF-8.
    name = os.fsdecode(b"\xff")
    with Series.open(db) as series:
        calls: list[Callable[[], Any]] = [
            lambda: UidGenerator.open(name),
            lambda: UidGenerator.open(Path(name)),
            lambda: UidGenerator.fixed(1, state=name),
            lambda: series.next(name),
        ]
        for call in calls:
            with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
                call()


def test_a_server_that_cannot_be_reached_is_unavailable() -> None:
    # At the port of `discard` nobody listens. Segments and series ask the store when it is needed.
    address = "postgres://ids@127.0.0.1:9/ids"
    options: dict[str, Any] = {"timeout": "500ms", "shutdown_deadline": timedelta(seconds=1)}
    with pytest.raises(uidring.UnavailableError, match="127.0.0.1:9") as raised:
        UidGenerator.open(address, start_deadline="500ms", **options)
    assert "no worker id within 500 ms, in " in str(raised.value)
    with Segments.open(address, **options) as segments:
        with pytest.raises(uidring.UnavailableError, match="127.0.0.1:9"):
            segments.create("orders")
    with Series.open(address, **options) as series:
        with pytest.raises(uidring.UnavailableError, match="127.0.0.1:9"):
            series.create("orders", "{n}")


def test_a_limit_that_time_lifts_is_unavailable() -> None:
    with UidGenerator.fixed(1, **BURST, on_lead_limit="fail") as uids:
        with pytest.raises(uidring.UnavailableError, match="max_lead is used up"):
            while True:
                uids.take()


#: A generator of 2 UIDs in a second, or 3.
BURST: dict[str, Any] = {"layout": "30,32,1", "max_lead": "1s"}


def test_what_was_taken_before_a_failure_is_the_callers() -> None:
    with UidGenerator.fixed(1, **BURST, on_lead_limit="fail") as uids:
        with pytest.raises(uidring.UnavailableError) as raised:
            uids.take_many(1000)
        numbers = raised.value.numbers
        assert 0 < len(numbers) < 1000 and numbers == sorted(set(numbers))
        assert uids.status()["taken"] == len(numbers)
    with UidGenerator.fixed(1, **BURST, on_lead_limit="fail") as uids:
        for length in [50, 1000]:
            buffer = array("Q", bytes(8 * length))
            with pytest.raises(uidring.UnavailableError) as raised:
                uids.fill(buffer)
            filled = raised.value.filled
            assert all(buffer[:filled]) and not any(buffer[filled:])
            assert raised.value.numbers == ()
        assert filled == 0


def test_what_somebody_has_to_change_is_refused(db: Path) -> None:
    with Segments.open(db) as segments:
        with pytest.raises(uidring.RefusedError, match='no tag "ordres"'):
            segments.tag("ordres")
        with pytest.raises(uidring.RefusedError, match='no tag "ordres"'):
            segments.take("ordres")
    with Series.open(db) as series:
        with pytest.raises(uidring.RefusedError, match="ordres"):
            series.next("ordres")


def test_a_call_after_the_close_says_so(db: Path) -> None:
    uids, segments, series = UidGenerator.open(db), Segments.open(db), Series.open(db)
    tag = segments.create("orders")
    series.create("tickets", "T-{n}")
    assert (tag.take(), series.next("tickets").value) == (1, 1)
    # A second close does nothing.
    for _ in range(2):
        uids.close()
        segments.close()
        series.close()
    calls: list[Callable[[], Any]] = [
        uids.take,
        lambda: uids.take_many(1),
        lambda: uids.take_many(1000),
        lambda: uids.fill(array("Q", [0])),
        tag.take,
        lambda: tag.take_many(1000),
        lambda: tag.fill(array("Q", [0])),
        lambda: segments.take("orders"),
        lambda: series.next("tickets"),
        lambda: series.next("tickets", date="2026-11-24"),
        lambda: series.next_many("tickets", 2),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(uidring.ClosedError, match="(was|were) closed"):
            print(number, call())
    # What takes no numbers still answers.
    assert uids.status()["state"] == "closed"
    assert tag.name == "orders" and tag.status()["taken"] == 1
    assert uids.parts(1 << 40).worker >= 0


def test_close_while_others_take(db: Path) -> None:
    taken: list[int] = []
    ends: list[str] = []
    begun = threading.Barrier(5)

    def take() -> None:
        mine = []
        begun.wait()
        try:
            while True:
                mine += [uids.take(), *uids.take_many(100)]
        except uidring.ClosedError as error:
            ends.append(str(error))
            taken.extend(mine)

    uids = UidGenerator.open(db)
    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    while uids.status()["taken"] < 1000:
        pass
    uids.close()
    for thread in threads:
        thread.join()
    assert len(ends) == 4 and all("was closed" in end for end in ends)
    assert len(set(taken)) == len(taken) > 0


def test_close_ends_a_take_that_waits() -> None:
    uids = UidGenerator.fixed(1, **BURST)
    # As many as there can be for a minute.
    thread = threading.Thread(target=lambda: ends.append(caught(lambda: uids.take_many(120))))
    ends: list[BaseException | None] = []
    thread.start()
    while uids.status()["waits"] == 0:
        pass
    uids.close()
    thread.join()
    assert isinstance(ends[0], uidring.ClosedError)


def caught(call: Callable[[], Any]) -> BaseException | None:
    try:
        call()
    except BaseException as error:
        return error
    return None


def test_copies_are_refused(db: Path) -> None:
    with UidGenerator.open(db) as uids, Segments.open(db) as segments, Series.open(db) as series:
        for object in [uids, segments, segments.create("orders"), series]:
            for copied in [copy.copy, copy.deepcopy, pickle.dumps]:
                with pytest.raises(TypeError, match="open one in each process, and pass the addr"):
                    copied(object)  # type: ignore[operator]


def test_errors_can_be_pickled() -> None:
    error = uidring.UnavailableError("no UID for now")
    error.filled, error.numbers = 3, [1]
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (uidring.UnavailableError, "no UID for now")
    assert (again.filled, again.numbers) == (3, [1])


def test_nobody_makes_or_subclasses_them_in_another_way() -> None:
    for kind in [UidGenerator, Segments, Series, uidring.Tag]:
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            type("Mine", (kind,), {})
