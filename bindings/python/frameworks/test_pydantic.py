"""Ids in models of pydantic."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Optional

import pytest

import uidring

pytest.importorskip("pydantic")

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from uidring.pydantic import Uid

#: Beyond what JavaScript's numbers hold.
BIG = 2**60 + 1


class Order(BaseModel):
    id: Uid = Field(default_factory=uidring.take)
    customer: Optional[Uid] = None
    lines: List[Uid] = []
    by_id: Dict[Uid, str] = {}


def test_a_model_has_a_number_and_its_json_a_text(put_back: None) -> None:
    uidring.configure(worker_id=7)
    order = Order()
    assert uidring.generator().parts(order.id).worker == 7
    order = Order(customer=BIG, lines=[BIG, 7], by_id={BIG: "x"})
    assert type(order.customer) is int
    assert order.model_dump() == {
        "id": order.id,
        "customer": BIG,
        "lines": [BIG, 7],
        "by_id": {BIG: "x"},
    }
    expected = {
        "id": str(order.id),
        "customer": str(BIG),
        "lines": [str(BIG), "7"],
        "by_id": {str(BIG): "x"},
    }
    assert json.loads(order.model_dump_json()) == expected == order.model_dump(mode="json")
    assert json.loads(Order(id=1).model_dump_json())["customer"] is None
    assert Order.model_validate_json(order.model_dump_json()) == order


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("value", [1, BIG, str(BIG), 2**63 - 1])
def test_an_id_is_read_from_a_text_or_a_number(value: Any, strict: bool) -> None:
    reads: TypeAdapter[int] = TypeAdapter(Uid)
    assert reads.validate_python(value, strict=strict) == int(value)
    assert reads.validate_json(json.dumps(value), strict=strict) == int(value)


@pytest.mark.parametrize(
    "value", [0, -1, 2**63, 1.5, 1e18, True, "1.5", "abc", "", "٣", None, [], " 1", "9" * 5000]
)
def test_what_is_no_id_is_refused(value: Any) -> None:
    reads: TypeAdapter[int] = TypeAdapter(Uid)
    calls: List[Callable[[Any], int]] = [
        reads.validate_python,
        lambda value: reads.validate_json(json.dumps(value)),
    ]
    for read in calls:
        with pytest.raises(ValidationError, match="an id is a") as raised:
            read(value)
        assert len(str(raised.value)) < 400


def test_a_schema_says_that_it_is_a_text() -> None:
    modes: List[Any] = ["validation", "serialization"]
    for mode in modes:
        schema = Order.model_json_schema(mode=mode)
        assert schema["properties"]["id"]["type"] == "string"
        assert schema["properties"]["lines"]["items"]["type"] == "string"


def test_an_error_of_a_default_stays_what_it_is(put_back: None) -> None:
    with pytest.raises(uidring.InvalidArgumentError, match="call uidring.configure"):
        Order()
