"""The app, which Django finds by "uidring.django" in `INSTALLED_APPS`."""

from __future__ import annotations

from importlib.util import find_spec

from django.apps import AppConfig
from django.core import checks

from . import _settings


class UidringConfig(AppConfig):
    """Configures the generator of the process. It is opened at the first take."""

    name = "uidring.django"
    label = "uidring"
    verbose_name = "uidring"

    def ready(self) -> None:
        checks.register(_settings.checked)
        _settings.configure()
        if find_spec("rest_framework") is not None:
            from . import rest_framework

            rest_framework.register()
