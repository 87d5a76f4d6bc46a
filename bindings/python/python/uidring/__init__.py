"""Unique, positive 64-bit ids that sort by time, made inside your process.

>>> import uidring
>>> with uidring.UidGenerator.open("/srv/uidring.db") as uids:
...     uid = uids.take()
>>> 0 < uid < 2**63
True

Options are keywords, such as lease="10m" or lease=timedelta(minutes=10). Those of a generator are
lease, partition, worker_ids, uid_generator, exact_time, max_lead, max_lag, on_lead_limit,
max_new_workers, slots, preset, layout, order, epoch, tick, state, test_time, test_sequence,
max_forward_jump, start_deadline, shutdown_deadline, timeout. Those of segments and of series:
max_wait, ahead, refresh, max_in_memory, loads, shutdown_deadline, timeout; of segments also table.
Those of a new tag: first, step, max_step, description. Those of a new series: time_zone, gapless,
restart, fiscal_year_from, step, first. Those of a loan: lease, rest, host, timeout. Those of each
store also user, password and only_for_tests. What each does:
https://github.com/uidring/uidring/blob/main/bindings/README.md#options
"""

from ._errors import (
    ClosedError,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    RefusedError,
    UidringError,
    UnavailableError,
)
from ._process import close, configure, generator, take, take_async
from ._transactions import is_transient
from ._uidring import (
    Masked,
    Opaque,
    PastGenerator,
    Segments,
    Series,
    Tag,
    UidGenerator,
    WorkerId,
    __version__,
)
from ._values import Loss, Parts, SeriesNumber

__all__ = [
    "ClosedError",
    "ForkedError",
    "InternalError",
    "InvalidArgumentError",
    "Loss",
    "Masked",
    "Opaque",
    "Parts",
    "PastGenerator",
    "RefusedError",
    "Segments",
    "Series",
    "SeriesNumber",
    "Tag",
    "UidGenerator",
    "UidringError",
    "UnavailableError",
    "WorkerId",
    "__version__",
    "close",
    "configure",
    "generator",
    "is_transient",
    "take",
    "take_async",
]
