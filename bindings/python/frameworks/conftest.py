from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest

from uidring import _process


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A registry that is not there yet."""
    return tmp_path / "uidring.db"


@pytest.fixture
def put_back() -> Iterator[None]:
    """What one test configures is no other's."""
    before = _process.swap(None)
    yield
    _, used = _process.swap(*before)
    if used is not None:
        used.close()
