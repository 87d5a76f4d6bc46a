"""Each call after a close, with a negative number, with an empty text and with None."""

from __future__ import annotations

from array import array
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, Callable, List, Tuple

import pytest

import uidring
from uidring import Masked, Opaque, PastGenerator, Segments, Series, UidGenerator, WorkerId

KEY = "5a" * 32
INVALID = uidring.InvalidArgumentError
CLOSED = uidring.ClosedError
REFUSED = uidring.RefusedError

#: Whether it fails, with what, what is said, which call it is, and the call.
Case = Tuple[Any, str, str, Callable[[], Any]]


def opens(db: Path) -> List[Case]:
    cases: List[Case] = []
    types: List[Tuple[str, Any]] = [
        ("UidGenerator.open", UidGenerator.open),
        ("PastGenerator.open", PastGenerator.open),
        ("Segments.open", Segments.open),
        ("Series.open", Series.open),
        ("WorkerId.lend", lambda address, **options: WorkerId.lend(address, "shop", 4, **options)),
    ]
    for name, call in types:
        cases += [
            (INVALID, "the address of the store is empty", name, partial(call, "")),
            (TypeError, "an address is a text or a path", name, partial(call, None)),
            (INVALID, 'cannot be "-1s"', name, partial(call, db, timeout="-1s")),
            (INVALID, 'cannot be ""', name, partial(call, db, timeout="")),
            (INVALID, 'no option ""', name, partial(call, db, **{"": "1"})),
            (INVALID, "sslfactory", name, partial(call, "jdbc:postgresql://db/ids?sslfactory=x")),
        ]
    fixed: Any = UidGenerator.fixed
    cases += [
        (INVALID, "not -1", "UidGenerator.fixed", lambda: fixed(-1)),
        (TypeError, "", "UidGenerator.fixed", lambda: fixed(None)),
        (TypeError, "", "UidGenerator.fixed", lambda: fixed("")),
    ]
    for lead in ["max_lead", "max-lead", "max.lead", "maxLead", "MAX_LEAD"]:
        cases.append((None, "", "UidGenerator.fixed", partial(fixed, 1, **{lead: "1m"})))
    return cases


def generators() -> List[Case]:
    uids: Any = UidGenerator.fixed(7)
    closed: Any = UidGenerator.fixed(7)
    closed.close()
    closed.close()
    said = "the generator was closed"
    return [
        (INVALID, "not -1", "UidGenerator.take_many", lambda: uids.take_many(-1)),
        (TypeError, "", "UidGenerator.take_many", lambda: uids.take_many(None)),
        (TypeError, "", "UidGenerator.take_many", lambda: uids.take_many("")),
        (TypeError, "has no buffer", "UidGenerator.fill", lambda: uids.fill(None)),
        (TypeError, "has no buffer", "UidGenerator.fill", lambda: uids.fill("")),
        (INVALID, "not -42", "UidGenerator.parts", lambda: uids.parts(-42)),
        (INVALID, "not 0", "UidGenerator.parts", lambda: uids.parts(0)),
        (TypeError, "", "UidGenerator.parts", lambda: uids.parts(None)),
        (None, "worker_id=7 ", "UidGenerator.__repr__", lambda: repr(uids)),
        (None, "'state': 'running'", "UidGenerator.status", lambda: str(uids.status())),
        (CLOSED, said, "UidGenerator.take", closed.take),
        (CLOSED, said, "UidGenerator.take_many", lambda: closed.take_many(1)),
        (CLOSED, said, "UidGenerator.take_many", lambda: closed.take_many(100)),
        (CLOSED, said, "UidGenerator.fill", lambda: closed.fill(array("Q", [0]))),
        (CLOSED, said, "UidGenerator.worker_id", lambda: closed.worker_id),
        (None, "", "UidGenerator.layout", lambda: closed.layout),
        (None, "", "UidGenerator.parts", lambda: closed.parts(1)),
        (None, "<uidring.UidGenerator closed ", "UidGenerator.__repr__", lambda: repr(closed)),
        (None, "'state': 'closed'", "UidGenerator.status", lambda: str(closed.status())),
        (None, "'available': 0,", "UidGenerator.status", lambda: str(closed.status())),
        (None, said, "UidGenerator.status", lambda: closed.status()["obstacle"]),
        (None, "", "UidGenerator.close", closed.close),
    ]


def past(db: Path) -> List[Case]:
    ours: Any = PastGenerator.open(db)
    closed: Any = PastGenerator.open(db)
    closed.close()
    closed.close()
    said = "the generator was closed"
    time = datetime(2026, 5, 2, tzinfo=timezone.utc)
    naive = datetime(2026, 5, 2)
    old = datetime(1, 1, 1, tzinfo=timezone.utc)
    late = datetime(9999, 12, 31, tzinfo=timezone.utc)
    return [
        (TypeError, "not NoneType", "PastGenerator.take_at", lambda: ours.take_at(None)),
        (TypeError, "not str", "PastGenerator.take_at", lambda: ours.take_at("2026-05-02")),
        (INVALID, "tzinfo=timezone.utc", "PastGenerator.take_at", lambda: ours.take_at(naive)),
        (INVALID, "layout begins at", "PastGenerator.take_at", lambda: ours.take_at(old)),
        (INVALID, "times that were", "PastGenerator.take_at", lambda: ours.take_at(late)),
        (TypeError, "", "PastGenerator.take_times", lambda: ours.take_times(None)),
        (TypeError, "not int", "PastGenerator.take_times", lambda: ours.take_times([time, 1])),
        (INVALID, "zone", "PastGenerator.take_times", lambda: ours.take_times([time, naive])),
        (INVALID, "time 2: ", "PastGenerator.take_times", lambda: ours.take_times([time, late])),
        (None, "[]", "PastGenerator.take_times", lambda: ours.take_times([])),
        (INVALID, "not -42", "PastGenerator.parts", lambda: ours.parts(-42)),
        (INVALID, "not 0", "PastGenerator.parts", lambda: ours.parts(0)),
        (TypeError, "", "PastGenerator.parts", lambda: ours.parts(None)),
        (None, "1", "PastGenerator.worker_id", lambda: ours.worker_id),
        (None, "'state': 'running'", "PastGenerator.status", lambda: str(ours.status())),
        (CLOSED, said, "PastGenerator.take_at", lambda: closed.take_at(time)),
        (CLOSED, said, "PastGenerator.take_times", lambda: closed.take_times([time])),
        (CLOSED, said, "PastGenerator.worker_id", lambda: closed.worker_id),
        (None, "", "PastGenerator.layout", lambda: closed.layout),
        (None, "", "PastGenerator.parts", lambda: closed.parts(1)),
        (None, "'state': 'closed'", "PastGenerator.status", lambda: str(closed.status())),
        (None, said, "PastGenerator.status", lambda: closed.status()["obstacle"]),
        (None, "", "PastGenerator.close", closed.close),
    ]


def lent(db: Path) -> List[Case]:
    lend: Any = WorkerId.lend
    ours: Any = lend(db, "shop", 4)
    closed: Any = lend(db, "shop", 4)
    closed.close()
    closed.close()
    said = "the worker id was closed"
    cases: List[Case] = [
        (INVALID, "no pool is called", "WorkerId.lend", lambda: lend(db, "", 4)),
        (TypeError, "", "WorkerId.lend", lambda: lend(db, None, 4)),
        (TypeError, "", "WorkerId.lend", lambda: lend(db, "shop", None)),
        (TypeError, "", "WorkerId.lend", lambda: lend(db, "shop", 4, on_loss=1)),
        (INVALID, "a second at least", "WorkerId.lend", lambda: lend(db, "shop", 4, lease="1ms")),
        (INVALID, "mean lease", "WorkerId.lend", lambda: lend(db, "shop", 4, leas="1m")),
        (None, "1", "WorkerId.id", lambda: ours.id),
        (None, "True", "WorkerId.is_held", lambda: ours.is_held),
        (None, "'state': 'held'", "WorkerId.status", lambda: str(ours.status())),
        (CLOSED, said, "WorkerId.id", lambda: closed.id),
        (CLOSED, said, "WorkerId.status", closed.status),
        (None, "False", "WorkerId.is_held", lambda: closed.is_held),
        (None, "closed", "WorkerId.__repr__", lambda: repr(closed)),
        (None, "", "WorkerId.close", closed.close),
    ]
    for bits, said in [(0, "0 bits"), (23, "23 bits"), (-1, "not -1"), (2**32, "not 4294967296")]:
        cases.append((INVALID, said, "WorkerId.lend", partial(lend, db, "shop", bits)))
    return cases


def segments(db: Path) -> List[Case]:
    ours: Any = Segments.open(db)
    tag: Any = ours.create("rows", step=10)
    closed: Any = Segments.open(db)
    shut: Any = closed.tag("rows")
    shut.take()
    closed.close()
    closed.close()
    said = "the segments were closed"
    return [
        (INVALID, '""', "Segments.create", lambda: ours.create("")),
        (TypeError, "", "Segments.create", lambda: ours.create(None)),
        (INVALID, "step", "Segments.create", lambda: ours.create("a", step=-1)),
        (INVALID, "first", "Segments.create", lambda: ours.create("a", first=-1)),
        (REFUSED, '""', "Segments.tag", lambda: ours.tag("")),
        (TypeError, "", "Segments.tag", lambda: ours.tag(None)),
        (REFUSED, '""', "Segments.take", lambda: ours.take("")),
        (TypeError, "", "Segments.take", lambda: ours.take(None)),
        (INVALID, "not -1", "Tag.take_many", lambda: tag.take_many(-1)),
        (TypeError, "has no buffer", "Tag.fill", lambda: tag.fill(None)),
        (None, "'state': 'running'", "Tag.status", lambda: str(tag.status())),
        (CLOSED, said, "Segments.create", lambda: closed.create("late")),
        (CLOSED, said, "Segments.create", lambda: closed.create("rows")),
        (CLOSED, said, "Segments.tag", lambda: closed.tag("late")),
        (CLOSED, said, "Segments.take", lambda: closed.take("rows")),
        (CLOSED, said, "Segments.take", lambda: closed.take("late")),
        (CLOSED, said, "Tag.take", shut.take),
        (CLOSED, said, "Tag.take_many", lambda: shut.take_many(1)),
        (CLOSED, said, "Tag.take_many", lambda: shut.take_many(100)),
        (CLOSED, said, "Tag.fill", lambda: shut.fill(array("Q", [0]))),
        (CLOSED, said, "Tag._take_at_once", shut._take_at_once),
        (None, "rows", "Tag.name", lambda: shut.name),
        (None, "rows", "Tag.__repr__", lambda: repr(shut)),
        (None, "'state': 'closed'", "Tag.status", lambda: str(shut.status())),
        (None, "'in_memory': 0,", "Tag.status", lambda: str(shut.status())),
        (None, said, "Tag.status", lambda: shut.status()["obstacle"]),
        (None, "", "Segments.close", closed.close),
        (REFUSED, "late", "Segments.tag", lambda: ours.tag("late")),
    ]


def series(db: Path) -> List[Case]:
    ours: Any = Series.open(db)
    ours.create("orders", "SO{yyyy}-{n:4}")
    ours.next("orders")
    closed: Any = Series.open(db)
    closed.next("orders")
    closed.close()
    closed.close()
    said = "the series were closed"
    day = "2026-11-24"
    return [
        (INVALID, '""', "Series.create", lambda: ours.create("", "T-{n}")),
        (TypeError, "", "Series.create", lambda: ours.create(None, "T-{n}")),
        (INVALID, "pattern", "Series.create", lambda: ours.create("t", "")),
        (TypeError, "", "Series.create", lambda: ours.create("t", None)),
        (INVALID, "step", "Series.create", lambda: ours.create("t", "T-{n}", step=-1)),
        (REFUSED, '""', "Series.next", lambda: ours.next("")),
        (TypeError, "", "Series.next", lambda: ours.next(None)),
        (INVALID, "a scope is not empty", "Series.next", lambda: ours.next("orders", "")),
        (INVALID, "date", "Series.next", lambda: ours.next("orders", date="")),
        (INVALID, "not -1", "Series.next_many", lambda: ours.next_many("orders", -1)),
        (INVALID, "not 0", "Series.next_many", lambda: ours.next_many("orders", 0)),
        (TypeError, "", "Series.next_many", lambda: ours.next_many("orders", None)),
        (INVALID, "", "Series.parse", lambda: ours.parse("orders", "")),
        (TypeError, "", "Series.parse", lambda: ours.parse("orders", None)),
        (INVALID, "not -1", "Series.format", lambda: ours.format("orders", -1)),
        (INVALID, "9999", "Series.format", lambda: ours.format("orders", 10_000)),
        (TypeError, "", "Series.format", lambda: ours.format("orders", None)),
        (INVALID, "pattern", "Series.widen", lambda: ours.widen("orders", "")),
        (REFUSED, "is not SO", "Series.widen", lambda: ours.widen("orders", "SO{yyyy}-{n:3}")),
        (TypeError, "", "Series.widen", lambda: ours.widen("orders", None)),
        (TypeError, "NoneType", "Series.next_in", lambda: ours.next_in(None, "orders")),
        (TypeError, "NoneType", "Series.read_in", lambda: ours.read_in(None, "orders")),
        (None, "", "Series.in_transactions", Series.in_transactions),
        (TypeError, "", "Series.status", lambda: ours.status(None)),
        (None, "'state': 'running'", "Series.status", lambda: str(ours.status("orders"))),
        (CLOSED, said, "Series.create", lambda: closed.create("late", "T-{n}")),
        (CLOSED, said, "Series.create", lambda: closed.create("orders", "SO{yyyy}-{n:4}")),
        (CLOSED, said, "Series.next", lambda: closed.next("orders")),
        (CLOSED, said, "Series.next", lambda: closed.next("orders", date=day)),
        (CLOSED, said, "Series.next", lambda: closed.next("late")),
        (CLOSED, said, "Series.next_many", lambda: closed.next_many("orders", 1)),
        (CLOSED, said, "Series.next_many", lambda: closed.next_many("orders", 1, date=day)),
        (CLOSED, said, "Series.format", lambda: closed.format("orders", 1)),
        (CLOSED, said, "Series.widen", lambda: closed.widen("orders", "SO{yyyy}-{n:5}")),
        (CLOSED, said, "Series.parse", lambda: closed.parse("orders", "SO2026-0001")),
        (None, "'state': 'closed'", "Series.status", lambda: str(closed.status("orders"))),
        (None, said, "Series.status", lambda: closed.status("orders")["obstacle"]),
        (None, "", "Series.close", closed.close),
        (REFUSED, "late", "Series.next", lambda: ours.next("late")),
    ]


def keys() -> List[Case]:
    masked: Any = Masked(KEY)
    orders: Any = Opaque(KEY, "ord")
    closed: Any = Masked(KEY)
    shut: Any = Opaque(KEY, "ord")
    closed.close()
    shut.close()
    said = "the keys were closed"
    anything: Any = None
    cases: List[Case] = [
        (INVALID, "there is no key", "Masked", lambda: Masked("")),
        (TypeError, "", "Masked", lambda: Masked(anything)),
        (INVALID, "there is no key", "Opaque", lambda: Opaque("", "ord")),
        (INVALID, "prefix", "Opaque", lambda: Opaque(KEY, "")),
        (TypeError, "", "Opaque", lambda: Opaque(KEY, anything)),
        (TypeError, "", "Masked.mask", lambda: masked.mask(None)),
        (TypeError, "", "Masked.mask_many", lambda: masked.mask_many(None)),
        (TypeError, "", "Masked.unmask", lambda: masked.unmask(None)),
        (TypeError, "", "Opaque.encode", lambda: orders.encode(None)),
        (TypeError, "", "Opaque.decode", lambda: orders.decode(None)),
        (INVALID, "", "Opaque.decode", lambda: orders.decode("")),
        (CLOSED, said, "Masked.mask", lambda: closed.mask(1)),
        (CLOSED, said, "Masked.mask_many", lambda: closed.mask_many([1])),
        (CLOSED, said, "Masked.unmask", lambda: closed.unmask(1)),
        (CLOSED, said, "Opaque.encode", lambda: shut.encode(1)),
        (CLOSED, said, "Opaque.decode", lambda: shut.decode("ord_5H7WY7KKXFH1JCEMMC78CF0N9T")),
        (None, "", "Masked.close", closed.close),
        (None, "", "Opaque.close", shut.close),
    ]
    for number in [-42, -1, -(2**63), 0]:
        said = f"not {number}"
        cases += [
            (INVALID, said, "Masked.mask", partial(masked.mask, number)),
            (INVALID, said, "Masked.mask_many", partial(masked.mask_many, [1, number])),
            (INVALID, said, "Masked.unmask", partial(masked.unmask, number)),
            (INVALID, said, "Opaque.encode", partial(orders.encode, number)),
        ]
    return cases


def test_each_call_tells_what_is_wrong(db: Path) -> None:
    cases = opens(db)
    assert not db.exists()
    cases += generators() + past(db) + lent(db) + segments(db) + series(db) + keys()
    for kind, said, name, call in cases:
        if kind is None:
            assert said in str(call()), name
            continue
        with pytest.raises(uidring.UidringError if kind is not TypeError else TypeError) as raised:
            call()
        assert type(raised.value) is kind, (name, raised.value)
        assert said in str(raised.value), (name, raised.value)
        assert "1844674407370955" not in str(raised.value), name
    called = {name for _, _, name, _ in cases}
    #: Those of asyncio are the others in a thread, and contexts are `close`.
    left_out = {"take_async", "take_times_async", "lend_async", "next_async", "next_in_async"}
    types = [UidGenerator, PastGenerator, WorkerId, Segments, uidring.Tag, Series, Masked, Opaque]
    for kept in types:
        for name in vars(kept):
            if not name.startswith("_") and name not in left_out:
                assert f"{kept.__name__}.{name}" in called, "a call is missing here"
    assert len(cases) == 202
