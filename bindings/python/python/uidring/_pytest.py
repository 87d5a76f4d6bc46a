"""The plugin of pytest, which pytest finds by the entry point of the package."""

from __future__ import annotations

from typing import Iterator

import pytest

from . import testing
from ._uidring import UidGenerator


@pytest.fixture(scope="session")
def uidring_generator() -> Iterator[UidGenerator]:
    """A generator in memory, which `uidring.take` takes from until the session ends."""
    with testing.in_memory() as uids:
        yield uids
