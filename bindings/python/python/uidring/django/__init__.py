"""Ids and numbers for models of Django 4.2 and later.

`INSTALLED_APPS` has "uidring.django", and `UIDRING` what `uidring.configure` gets:

    UIDRING = {"address": "/srv/uidring.db"}

Models have a `UidField`. `next_number` counts numbers without a gap.
"""

from ._fields import UidField
from ._numbers import next_number

__all__ = ["UidField", "next_number"]
