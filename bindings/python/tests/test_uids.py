"""A generator of UIDs, from outside."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from array import array
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest

import uidring
from uidring import UidGenerator


def test_uids_are_unique_and_ascend_in_each_way_to_take_them(db: Path) -> None:
    with UidGenerator.open(db) as uids:
        taken = [uids.take() for _ in range(1000)]
        # Below and above what is taken one by one, and more than a chunk.
        for count in [0, 1, 64, 65, 1000, 8192, 8193, 20_000]:
            many = uids.take_many(count)
            assert len(many) == count
            taken += many
            filled = array("Q", bytes(8 * count))
            uids.fill(filled)
            taken += filled
        assert taken == sorted(set(taken))
        assert taken[0] > 0 and taken[-1] < 2**63
        assert uids.status()["taken"] >= len(taken)


def test_a_second_open_has_another_worker_id(db: Path) -> None:
    with UidGenerator.open(str(db)) as one, UidGenerator.open(db) as other:
        assert one.worker_id != other.worker_id
        assert one.take() != other.take()


def test_parts_say_when_and_where_a_uid_was_taken(db: Path) -> None:
    begin = datetime.now(timezone.utc).replace(microsecond=0)
    with UidGenerator.open(db) as uids:
        parts = uids.parts(uids.take())
        assert parts.worker == uids.worker_id
        assert timedelta(seconds=-2) <= parts.time - begin <= timedelta(seconds=60)
        assert parts.time.tzinfo is timezone.utc
        time, worker, sequence = parts
        assert (time, worker, sequence) == (parts.time, parts.worker, parts.sequence)


def test_a_time_that_no_datetime_holds_is_told() -> None:
    with UidGenerator.fixed(1, layout="40,10,13") as uids:
        with pytest.raises(OverflowError, match="after the year 9999"):
            uids.parts(2**63 - 1)


@pytest.mark.parametrize("uid", [0, -1, 2**63, 2**64, -(2**64)])
def test_what_is_no_uid_is_refused(uid: int) -> None:
    with UidGenerator.fixed(1) as uids:
        with pytest.raises(uidring.InvalidArgumentError, match=rf"from 1 to \d+, .*not {uid}$"):
            uids.parts(uid)


def test_the_layout_is_written_as_options() -> None:
    epoch = datetime(2026, 11, 1, tzinfo=timezone.utc)
    with UidGenerator.fixed(5, layout="41,10,12", tick="1ms", epoch=epoch) as uids:
        assert uids.layout == "layout=41,10,12 tick=1ms epoch=2026-11-01T00:00:00Z"
        assert repr(uids) == f"<uidring.UidGenerator worker_id=5 {uids.layout}>"
        options = dict(option.split("=") for option in uids.layout.split())
        with UidGenerator.fixed(6, **options) as other:
            assert other.layout == uids.layout


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("epoch", date(2026, 11, 1), "epoch=2026-11-01T00:00:00Z"),
        ("epoch", "2026-11-01", "epoch=2026-11-01T00:00:00Z"),
        (
            "epoch",
            datetime(2026, 11, 1, 8, tzinfo=timezone(timedelta(hours=8))),
            "epoch=2026-11-01T00:00:00Z",
        ),
        ("tick", timedelta(milliseconds=10), "tick=10ms"),
        ("order", "worker-first", "order=worker-first"),
    ],
)
def test_options_have_pythons_types(name: str, value: object, text: str) -> None:
    options = {"layout": "35,19,9", name: value}
    with UidGenerator.fixed(1, **options) as uids:  # type: ignore[arg-type]
        assert text in uids.layout.split()


def test_a_flag_is_a_bool_and_none_is_not_given() -> None:
    with UidGenerator.fixed(1, exact_time=True, state=None) as uids:
        assert uids.status()["exact_time"] is True
    with UidGenerator.fixed(1, exact_time=False) as uids:
        assert uids.status()["exact_time"] is False


def test_a_state_file_keeps_uids_of_two_runs_apart(tmp_path: Path) -> None:
    state = tmp_path / "uidring.state"
    with UidGenerator.fixed(1, state=state) as uids:
        first = uids.take_many(100)
    with UidGenerator.fixed(1, state=state) as uids:
        assert uids.take() > first[-1]


def test_threads_share_a_generator(db: Path) -> None:
    taken: list[list[int]] = [[] for _ in range(4)]

    def take(into: list[int]) -> None:
        for _ in range(200):
            into += [uids.take(), *uids.take_many(100)]

    with UidGenerator.open(db) as uids:
        threads = [threading.Thread(target=take, args=(into,)) for into in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for into in taken:
        assert into == sorted(into)
    every = [uid for into in taken for uid in into]
    assert len(set(every)) == len(every) == 4 * 200 * 101


def test_two_processes_share_a_store(db: Path) -> None:
    program = (
        "import sys, uidring\n"
        "with uidring.UidGenerator.open(sys.argv[1]) as uids:\n"
        "    for uid in uids.take_many(20_000): print(uid)\n"
    )
    command = [sys.executable, "-c", program, str(db)]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(command, stdout=pipe, text=True) for _ in range(2)]
    texts = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert [len(text) for text in texts] == [20_000, 20_000]
    assert len(set(texts[0] + texts[1])) == 40_000


# What can be filled.


class Unaligned(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("byte", ctypes.c_uint8), ("numbers", ctypes.c_uint64 * 4)]


def buffers() -> dict[str, object]:
    return {
        "array Q": array("Q", bytes(800)),
        "array q": array("q", bytes(800)),
        "memoryview": memoryview(bytearray(800)).cast("Q"),
        "part of a memoryview": memoryview(array("Q", bytes(1600)))[100:],
        "ctypes": (ctypes.c_uint64 * 100)(),
        "two dimensions": memoryview(bytearray(800)).cast("Q", shape=[10, 10]),
    }


@pytest.mark.parametrize("name", buffers())
def test_what_has_64_bit_items_can_be_filled(name: str) -> None:
    buffer = buffers()[name]
    with UidGenerator.fixed(1) as uids:
        before = uids.take()
        uids.fill(buffer)  # type: ignore[arg-type]
        after = uids.take()
    numbers = list(memoryview(buffer).cast("B").cast("Q"))  # type: ignore[arg-type]
    assert len(numbers) == 100
    assert [before, *numbers, after] == sorted({before, *numbers, after})


@pytest.mark.parametrize("length", [0, 1, 2, 16, 17, 64, 65])
def test_an_array_of_any_length_is_filled(length: int) -> None:
    with UidGenerator.fixed(1) as uids:
        filled = array("Q", bytes(8 * length))
        uids.fill(filled)
        numbers = [*filled, *uids.take_many(length), uids.take()]
    assert len(numbers) == 2 * length + 1
    assert numbers == sorted(set(numbers))


def test_only_the_part_of_a_memoryview_is_filled() -> None:
    numbers = array("Q", bytes(80))
    with UidGenerator.fixed(1) as uids:
        uids.fill(memoryview(numbers)[3:5])
    assert [number > 0 for number in numbers] == [False] * 3 + [True] * 2 + [False] * 5


@pytest.mark.parametrize("kind", ["uint64", "int64"])
def test_numpy_arrays_can_be_filled(kind: str) -> None:
    numpy = pytest.importorskip("numpy")
    numbers = numpy.zeros((20, 50), kind)
    with UidGenerator.fixed(1) as uids:
        uids.fill(numbers)
        assert (numpy.diff(numbers.ravel()) > 0).all() and numbers[0, 0] > 0
        for wrong in [numbers[::2], numbers.T]:
            with pytest.raises(ValueError, match="lie apart"):
                uids.fill(wrong)
        with pytest.raises(TypeError, match="'d', of 8 bytes"):
            uids.fill(numbers.astype("float64"))
        with pytest.raises(TypeError, match="of 8 bytes"):
            uids.fill(numbers.astype(">u8" if sys.byteorder == "little" else "<u8"))


@pytest.mark.parametrize(
    ("buffer", "error", "said"),
    [
        ([0, 0], TypeError, "<class 'list'> has no buffer: fill takes a writable buffer"),
        (None, TypeError, "NoneType'> has no buffer"),
        (bytes(8), TypeError, "the buffer is read-only"),
        (memoryview(bytes(8)).cast("Q"), TypeError, "the buffer is read-only"),
        (bytearray(8), TypeError, "the items of the buffer are 'B', of 1 bytes each"),
        (array("I", bytes(8)), TypeError, "'I', of 4 bytes each"),
        (array("d", bytes(8)), TypeError, "'d', of 8 bytes each"),
        (memoryview(array("Q", bytes(80)))[::2], ValueError, "the items of the buffer lie apart"),
        (Unaligned().numbers, ValueError, "do not begin at a multiple of 8 bytes"),
    ],
)
def test_wrong_buffers_are_told(buffer: object, error: type[Exception], said: str) -> None:
    with UidGenerator.fixed(1) as uids:
        taken = uids.status()["taken"]
        with pytest.raises(error, match=said):
            uids.fill(buffer)  # type: ignore[arg-type]
        assert uids.status()["taken"] == taken


def test_the_memory_stays_where_it_is_only_during_the_call() -> None:
    numbers = bytearray(80)
    with UidGenerator.fixed(1) as uids:
        uids.fill(memoryview(numbers).cast("Q"))
    # A bytearray whose memory is in use cannot change its size.
    numbers.extend(bytes(8))


@pytest.mark.parametrize("count", [-1, -(2**64)])
def test_a_negative_count_is_refused(count: int) -> None:
    with UidGenerator.fixed(1) as uids:
        with pytest.raises(uidring.InvalidArgumentError, match="0 numbers or more"):
            uids.take_many(count)


def test_a_count_that_is_no_whole_number_is_refused() -> None:
    with UidGenerator.fixed(1) as uids:
        for wrong in ["3", 3.0, None]:
            with pytest.raises(TypeError):
                uids.take_many(wrong)  # type: ignore[arg-type]


def test_a_list_that_no_memory_holds_is_refused() -> None:
    with UidGenerator.fixed(1) as uids:
        for count in [2**62, 2**64]:
            with pytest.raises((MemoryError, uidring.InvalidArgumentError)):
                uids.take_many(count)
        assert uids.status()["taken"] == 0
