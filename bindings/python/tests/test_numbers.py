"""Dense numbers and series, from outside."""

from __future__ import annotations

import sys
from array import array
from datetime import date, datetime
from pathlib import Path
from types import FrameType

import pytest

import uidring
from uidring import Segments, Series


def test_numbers_are_dense_in_each_way_to_take_them(db: Path) -> None:
    with Segments.open(db) as segments:
        orders = segments.create("orders", first=1001, step="5k", description="of the shop")
        assert orders.name == "orders"
        assert repr(orders) == '<uidring.Tag "orders">'
        numbers = [orders.take(), segments.take("orders"), segments.tag("orders").take()]
        numbers += orders.take_many(50)
        numbers += orders.take_many(20_000)
        filled = array("Q", bytes(8 * 100))
        orders.fill(filled)
        numbers += filled
        assert numbers == list(range(1001, 1001 + len(numbers)))
        status = orders.status()
        assert (status["tag"], status["taken"]) == ("orders", len(numbers))
        assert segments.create("invoices").take() == 1


def test_a_close_gives_back_what_is_left(db: Path) -> None:
    for expected in [1, 2, 3]:
        with Segments.open(db) as segments:
            assert segments.create("orders", step=1000).take() == expected


def test_a_tag_that_is_there_in_another_form_is_told(db: Path) -> None:
    with Segments.open(db) as segments:
        segments.create("orders", step=100)
        segments.create("orders", step=100)
        with pytest.raises(uidring.UidringError, match="orders"):
            segments.create("orders", step=200)
        with pytest.raises(uidring.InvalidArgumentError, match="its step would be 0"):
            segments.create("parcels", step=0)


def test_numbers_of_a_series_are_texts_of_their_period(db: Path) -> None:
    with Series.open(db) as series:
        series.create("orders", "SO{yyyy}{MM}{dd}-{n:6}", step=10)
        # Numbers of today are in memory, and are not for another day.
        assert series.next("orders").value == 1
        day = date(2025, 11, 24)
        number = series.next("orders", date=day)
        assert tuple(number) == ("SO20251124-000001", 1, "2025-11-24", "2025-11-24", None)
        assert str(number) == f"{number}" == number.text == "SO20251124-000001"
        assert number._asdict()["period"] == "2025-11-24"
        assert series.next("orders", date="2025-11-24").value == 2
        many = series.next_many("orders", 3, date=day)
        assert [number.value for number in many] == [3, 4, 5]
        assert series.parse("orders", "SO20261124-000042").value == 42
        with pytest.raises(uidring.InvalidArgumentError):
            series.parse("orders", "SO2026-000042")


def test_a_number_has_the_period_it_counts_in_and_the_one_it_shows(db: Path) -> None:
    with Series.open(db) as series:
        series.create("bills", "{yy}{MM}-{n:4}", restart="year")
        november, february = (date(2026, month, 24) for month in (11, 2))
        number = series.next("bills", date=november)
        assert (number.text, number.period, number.shown) == ("2611-0001", "2026", "2026-11")
        assert number == series.parse("bills", "2611-0001")
        numbers = series.next_many("bills", 2, date=february)
        assert {(each.period, each.shown) for each in numbers} == {("2026", "2026-02")}
        today = series.next("bills")
        assert today == series.parse("bills", today.text)
        assert today.shown[:4] == today.period


def test_a_scope_counts_for_itself(db: Path) -> None:
    with Series.open(db) as series:
        series.create("tickets", "{scope}-{n:4}")
        texts = [series.next("tickets", scope=scope).text for scope in ["A", "B", "A", "A"]]
        assert texts == ["A-0001", "B-0001", "A-0002", "A-0003"]
        assert series.next("tickets", "B").scope == "B"
        assert series.parse("tickets", "B-0002").scope == "B"
        assert series.status("tickets", "A")["numbers"]["taken"] == 3
        assert series.status("tickets")["series"] == "tickets"


def test_numbers_of_today_come_from_memory(db: Path) -> None:
    with Series.open(db) as series:
        series.create("tickets", "T-{n}", step=100)
        assert series._next_at_once("tickets", None) is None
        numbers = [series.next("tickets").value for _ in range(250)]
        assert numbers == list(range(1, 251))
        at_once = series._next_at_once("tickets", None)
        assert at_once is not None and at_once.value == 251
        # 100 at a time, and some ahead.
        assert series.status("tickets")["numbers"]["loads"] < 20


class Name(str):
    """A text that is no other's equal."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("a name is not compared by code in Python")

    def __hash__(self) -> int:
        raise AssertionError("a name is not compared by code in Python")


def test_a_name_and_a_scope_may_be_of_another_class(db: Path) -> None:
    with Series.open(db) as series:
        series.create("tickets", "{scope}-{n}", step=100)
        name, scope = Name("tickets"), Name("A")
        numbers = [series.next(name, scope), series.next("tickets", scope)]
        numbers += [series.next(name, "A"), *series.next_many(name, 2, scope)]
        assert [tuple(number) for number in numbers] == [
            (f"A-{value}", value, "ever", "ever", "A") for value in range(1, 6)
        ]
        assert {type(number.scope) for number in numbers} == {str}
        for odd in ["tick\ud800ets", Name("\ud800")]:
            with pytest.raises(UnicodeEncodeError):
                series.next(odd, "A")
            with pytest.raises(UnicodeEncodeError):
                series.next("tickets", odd)
        assert series.next("tickets", "A").value == 6


def test_no_signal_comes_between_a_number_and_its_return(db: Path) -> None:
    """Python looks for signals where a function of its own begins."""

    def interrupt(frame: FrameType, event: str, value: object) -> None:
        raise InterruptedError

    with Series.open(db) as series:
        series.create("tickets", "T-{n}")
        numbers = [series.next("tickets")]
        before = sys.gettrace()
        sys.settrace(interrupt)
        try:
            numbers += [series.next("tickets"), *series.next_many("tickets", 3)]
        finally:
            sys.settrace(before)
        numbers += [series.next("tickets")]
        assert [number.value for number in numbers] == [1, 2, 3, 4, 5, 6]
        assert {type(number) for number in numbers} == {uidring.SeriesNumber}


@pytest.mark.parametrize("count", [0, -1, 1_000_001, 2**64])
def test_a_wrong_count_of_a_series_is_told(db: Path, count: int) -> None:
    with Series.open(db) as series:
        series.create("tickets", "T-{n}")
        with pytest.raises(uidring.InvalidArgumentError, match="1 to 1000000 numbers"):
            series.next_many("tickets", count)


def test_wrong_dates_are_told(db: Path) -> None:
    with Series.open(db) as series:
        series.create("tickets", "T{yyyy}-{n}")
        with pytest.raises(uidring.InvalidArgumentError, match='the date "2026-13-01"'):
            series.next("tickets", date="2026-13-01")
        with pytest.raises(TypeError, match="call its method date()"):
            series.next("tickets", date=datetime(2026, 11, 24))
        with pytest.raises(TypeError, match="a datetime.date or a str, and not int"):
            series.next("tickets", date=20261124)  # type: ignore[arg-type]


def test_a_gapless_series_needs_the_callers_transaction(db: Path) -> None:
    with Series.open(db) as series:
        series.create("invoices", "{yyyy}-{n:5}", gapless=True)
        with pytest.raises(uidring.UidringError, match="transaction"):
            series.next("invoices")
