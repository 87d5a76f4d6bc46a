"""The app, which Django finds by "uidring.django" in `INSTALLED_APPS`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, List

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from .._process import configure


class UidringConfig(AppConfig):
    """Configures the generator of the process. It is opened at the first take."""

    name = "uidring.django"
    label = "uidring"
    verbose_name = "uidring"

    def ready(self) -> None:
        checks.register(has_settings)
        options = getattr(settings, "UIDRING", None)
        if options is not None:
            configure(**{name.lower(): value for name, value in options.items()})
        if find_spec("rest_framework") is not None:
            from . import rest_framework

            rest_framework.register()


def has_settings(**_: Any) -> List[checks.CheckMessage]:
    """Whether the project says where its worker ids come from."""
    if getattr(settings, "UIDRING", None) is not None:
        return []
    return [
        checks.Error(
            "The setting UIDRING is missing, so no object can have an id.",
            hint='Set it to the address of your store: UIDRING = {"address": "/srv/uidring.db"}',
            id="uidring.E001",
        )
    ]
