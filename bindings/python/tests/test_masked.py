"""Ids that tell nothing."""

from __future__ import annotations

import copy
from typing import Any, Callable

import pytest

from uidring import ClosedError, InvalidArgumentError, Masked, Opaque

KEY = "5a" * 32
MOST = 2**63 - 1


def test_ids_come_back() -> None:
    masked, orders = Masked(KEY), Opaque(KEY, "ord")
    for uid in (1, 2, MOST):
        assert masked.unmask(masked.mask(uid)) == uid
        assert orders.decode(orders.encode(uid)) == uid
    many = masked.mask_many(range(1, 41))
    assert many == [masked.mask(uid) for uid in range(1, 41)]
    assert masked.mask_many([]) == []


def test_another_key_reads_what_the_first_has_made() -> None:
    text = Opaque(KEY, "ord").encode(7)
    after = Opaque(f"# of 2026\n1 {'9f' * 32}\n0 {KEY}\n", "ord")
    assert after.decode(text) == 7
    assert after.encode(7) != text


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: Masked(KEY[1:]), "a key has 64 hexadecimal digits, not 63"),
        (lambda: Opaque(KEY, "o d"), "a prefix is such as ord"),
        (lambda: Masked(KEY).mask(0), "an id is a whole number from 1 to 922.* not 0"),
        (lambda: Masked(KEY).mask(-1), "an id is a whole number from 1 to 922.* not -1"),
        (lambda: Masked(KEY).mask_many([1, 2**63]), "an id is a whole number .* not 9223372"),
        (lambda: Masked(KEY).unmask(2**64), "a masked id is a whole number .* not 184467"),
        (lambda: Opaque(KEY, "ord").encode(0), "an id is a whole number"),
        (lambda: Opaque(KEY, "ord").decode("cus_1"), 'the id does not begin with "ord_"'),
        (lambda: Opaque(KEY, "ord").decode("ord_" + 26 * "0"), "the id was made up"),
    ],
)
def test_what_is_wrong_is_told(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said) as raised:
        call()
    assert "5a5a" not in str(raised.value)


def test_values_of_other_types_are_refused() -> None:
    value: Any
    for value in (1.5, "1", None):
        with pytest.raises(TypeError):
            Masked(KEY).mask(value)
        with pytest.raises(TypeError):
            Masked(KEY).mask_many([value])
    value = 7
    with pytest.raises(TypeError):
        Masked(value)


def test_closed_keys_are_forgotten() -> None:
    with Masked(KEY) as masked, Opaque(KEY, "ord") as orders:
        assert orders.decode(orders.encode(masked.unmask(1))) == masked.unmask(1)
    for keyed in (masked, orders):
        keyed.close()
        keyed.close()
        assert "5a5a" not in repr(keyed)
        with pytest.raises(TypeError):
            copy.copy(keyed)
    with pytest.raises(ClosedError, match="the keys were closed"):
        masked.mask(1)
    with pytest.raises(ClosedError, match="the keys were closed"):
        orders.encode(1)
