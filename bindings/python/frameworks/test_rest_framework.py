"""Ids in the JSON of Django REST framework."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from test_django import BIG, project, rolled_back, shop

assert project and rolled_back


def post(path: str, sent: dict[str, Any], status: int = 201) -> Any:
    answer = Client().post(path, json.dumps(sent), content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_ids_are_texts_where_a_model_has_them() -> None:
    ada = post("/api/customers/", {"name": "Ada", "foreign_id": str(BIG)})
    assert ada == {"id": ada["id"], "name": "Ada", "foreign_id": str(BIG), "orders": []}
    assert int(ada["id"]) == shop().Customer.objects.get().id
    # A key is accepted as a text and as a number.
    orders = [post("/api/orders/", {"customer": key}) for key in (ada["id"], int(ada["id"]))]
    for order in orders:
        assert order == {"id": order["id"], "customer": ada["id"], "lines": [], "of": ada["id"]}
        assert type(order["id"]) is str
    listed = Client().get(f"/api/customers/{ada['id']}/").json()
    assert sorted(listed["orders"]) == sorted(order["id"] for order in orders)
    line = shop().Line.objects.create(order_id=orders[0]["id"], text="tea")
    assert Client().get(f"/api/orders/{orders[0]['id']}/").json()["lines"] == [str(line.id)]
    nested = Client().get(f"/api/lines/{line.id}/").json()
    assert nested["id"] == str(line.id)
    order = nested["order"]
    assert (order["id"], order["customer"]) == (orders[0]["id"], ada["id"])


def test_a_number_is_read_without_loss() -> None:
    assert post("/api/customers/", {"name": "Ada", "foreign_id": BIG})["foreign_id"] == str(BIG)
    none = post("/api/customers/", {"name": "Ada", "foreign_id": None})
    assert none["foreign_id"] is None


@pytest.mark.parametrize("value", [0, -1, 2**63, 1.5, 1e18, True, "1.5", "abc", "٣", [], "0"])
def test_what_is_no_id_is_refused(value: Any) -> None:
    told = post("/api/customers/", {"name": "Ada", "foreign_id": value}, 400)
    assert list(told) == ["foreign_id"]
    assert "a whole number from 1 to 9223372036854775807" in told["foreign_id"][0]
    told = post("/api/orders/", {"customer": value}, 400)
    assert list(told) == ["customer"]


def test_one_that_is_not_there_is_told() -> None:
    told = post("/api/orders/", {"customer": str(BIG)}, 400)
    assert told == {"customer": [f'Invalid pk "{BIG}" - object does not exist.']}


def test_a_field_of_the_programs_own_names_the_type() -> None:
    from uidring.django.rest_framework import UidField

    from rest_framework import serializers

    class Plain(serializers.Serializer):  # type: ignore[type-arg]
        id = UidField()

    assert Plain({"id": BIG}).data == {"id": str(BIG)}
    read = Plain(data={"id": str(BIG)})
    assert read.is_valid() and read.validated_data == {"id": BIG}
