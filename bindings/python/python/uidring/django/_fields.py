"""A column of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from .. import _process

if TYPE_CHECKING:
    _Base = models.BigIntegerField[Union[str, int], int]
else:
    _Base = models.BigIntegerField


class UidField(_Base):
    """A column of ids, which is a `BIGINT`.

    A new object takes its id from the generator of the process, which the setting `UIDRING`
    describes: `UidField(primary_key=True)`. With a default of your own, such as `default=None` and
    `null=True`, it takes none and holds ids from elsewhere.

    In forms it is a text, because browsers round whole numbers beyond 2**53.
    """

    description = "Unique id (8 bytes)"
    default_validators = [MinValueValidator(1), MaxValueValidator(2**63 - 1)]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs.setdefault("default", _process.take) is _process.take:
            kwargs.setdefault("editable", False)
            # A column that is added to a table with rows gets one value for all of them: Django
            # refuses that for one that is unique.
            if not kwargs.get("primary_key"):
                kwargs.setdefault("unique", True)
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Tuple[str, str, Sequence[Any], Dict[str, Any]]:
        name, _, args, kwargs = super().deconstruct()
        if self.default is _process.take:
            # What is its own default says nothing in a migration.
            del kwargs["default"]
            if self.editable:
                kwargs["editable"] = True
            else:
                del kwargs["editable"]
            if not self.primary_key and kwargs.pop("unique", False) is False:
                kwargs["unique"] = False
        return name, "uidring.django.UidField", args, kwargs

    def to_python(self, value: Any) -> Optional[int]:
        """Reads a text or a whole number. A number with a point has lost digits already."""
        if isinstance(value, (bool, float)):
            raise ValidationError(
                self.error_messages["invalid"], code="invalid", params={"value": value}
            )
        number: Optional[int] = super().to_python(value)
        return number

    def formfield(self, *args: Any, **kwargs: Any) -> Any:
        widget = kwargs.get("widget", forms.NumberInput)
        kind = widget if isinstance(widget, type) else type(widget)
        # A browser steps numbers, and rounds them. The admin asks for such a widget by itself.
        if issubclass(kind, forms.NumberInput):
            kwargs["widget"] = forms.TextInput(attrs={"inputmode": "numeric"})
        kwargs.setdefault("min_value", 1)
        return super().formfield(*args, **kwargs)
