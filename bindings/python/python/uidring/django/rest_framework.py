"""Ids as texts in the JSON of Django REST framework.

The app `uidring.django` has model serializers use these for each `UidField` and for each key that
leads to one.
"""

from __future__ import annotations

from typing import Any, Optional

from rest_framework import serializers
from rest_framework.utils.model_meta import get_field_info

from .._ids import read_id
from . import _fields

class UidField(serializers.Field):  # type: ignore[type-arg]
    """An id, written as a text, and read from a text or a whole number."""

    default_error_messages = {
        "invalid": "An id is required: a whole number from 1 to 9223372036854775807, or its text.",
    }

    def __init__(self, **kwargs: Any) -> None:
        # What is so for each id anyway.
        kwargs.pop("min_value", None)
        kwargs.pop("max_value", None)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        try:
            return read_id(data)
        except ValueError:
            self.fail("invalid")

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
