from pathlib import Path

import pytest


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A registry that is not there yet."""
    return tmp_path / "uidring.db"
