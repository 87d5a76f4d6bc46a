"""Ids as texts in the JSON of Django REST framework.

The app `uidring.django` has model serializers use these for each `UidField` and for each key that
leads to one.
"""

from __future__ import annotations

from typing import Any, Optional

from rest_framework import serializers
from rest_framework.utils.model_meta import get_field_info

from . import _fields

_MOST = 2**63 - 1


class UidField(serializers.Field):  # type: ignore[type-arg]
    """An id, written as a text, and read from a text or a whole number."""

    default_error_messages = {
        "invalid": "A valid id is required, as a text or a whole number.",
        "range": "An id is a whole number from 1 to 9223372036854775807.",
    }

    def __init__(self, **kwargs: Any) -> None:
        # What is so for each id anyway.
        kwargs.pop("min_value", None)
        kwargs.pop("max_value", None)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str) and data.isascii() and data.isdigit() and len(data) <= 19:
            data = int(data)
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        if not 1 <= data <= _MOST:
            self.fail("range")
        return data

    def to_representation(self, value: Any) -> str:
        return str(value)


class UidRelatedField(serializers.PrimaryKeyRelatedField):  # type: ignore[type-arg]
    """A key of another object, which is a text where that object has a `UidField`."""

    def to_internal_value(self, data: Any) -> Any:
        self._look_up()
        return super().to_internal_value(data)

    def to_representation(self, value: Any) -> Any:
        self._look_up()
        return super().to_representation(value)

    def _look_up(self) -> None:
        """Finds out what the key of the other object is, at the first use: a field for many gets
        its place late."""
        if self.pk_field is None and not self._is_looked_up:
            self._is_looked_up = True
            model = self._model()
            if model is not None and isinstance(model._meta.pk, _fields.UidField):
                self.pk_field = UidField()

    _is_looked_up = False

    def _model(self) -> Optional[Any]:
        """The other model, as far as that is known."""
        at: Any = self
        if at.queryset is not None:
            return at.queryset.model
        # One that is only read has no queryset, but a place in a serializer of a model.
        if isinstance(at.parent, serializers.ManyRelatedField):
            at = at.parent
        model = getattr(getattr(at.parent, "Meta", None), "model", None)
        for name in (at.source or "").split("."):
            relations = get_field_info(model).relations if model else {}
            model = relations[name].related_model if name in relations else None
        return model


def register() -> None:
    """Has all model serializers write ids as texts, but for those with fields of their own."""
    base = serializers.ModelSerializer
    base.serializer_field_mapping[_fields.UidField] = UidField
    if base.serializer_related_field is serializers.PrimaryKeyRelatedField:
        base.serializer_related_field = UidRelatedField
