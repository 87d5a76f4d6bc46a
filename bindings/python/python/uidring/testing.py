"""Generators in memory, for tests.

>>> import uidring.testing
>>> with uidring.testing.in_memory() as uids:
...     assert uids.take() < uidring.take()
"""

from __future__ import annotations

import itertools
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Optional

from . import _process
from ._uidring import UidGenerator

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._uidring import _UidOptions

__all__ = ["in_memory"]

# With pytest-xdist, several processes run tests at the same time, perhaps on one database. Each has
# every n-th worker id.
_workers = itertools.count(
    1 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").replace("gw", "")),
    int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")),
)


@contextmanager
def in_memory(
    worker_id: Optional[int] = None, **options: Unpack[_UidOptions]
) -> Iterator[UidGenerator]:
    """Has `uidring.take` take from a generator that needs no store, until the block ends.

    Each has another worker id, so tests that share a database get no id twice. A forked process has
    none of this: there, `uidring.take` fails.
    """
    given: Any = options
    with UidGenerator.fixed(next(_workers) if worker_id is None else worker_id, **given) as uids:
        before = _process.swap(None, uids)
        try:
            yield uids
        finally:
            _process.swap(*before)
