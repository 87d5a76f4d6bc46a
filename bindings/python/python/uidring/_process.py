"""The one generator of a process, from which frameworks take their ids.

It is opened at the first take. A forked process opens its own, so nothing has to be done where a
server forks its workers.
"""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple

from ._errors import ForkedError, InvalidArgumentError
from ._uidring import UidGenerator

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._uidring import _Address, _Number, _UidOptions

#: How long a worker id is leased, unless told otherwise: servers start many processes.
_LEASE = "10m"

_Opens = Callable[[], UidGenerator]


class _Here:
    """What one process has."""

    __slots__ = ("generator", "changing")

    def __init__(self) -> None:
        self.generator: Optional[UidGenerator] = None
        #: Held while the generator is opened or replaced.
        self.changing = threading.RLock()


#: By the id of the process, because a fork copies it: what a parent has is not its child's, nor is
#: a lock that another of the parent's threads held.
_processes: Dict[int, _Here] = {}
#: Opens the generator that `configure` has described, also in forked processes.
_open: Optional[_Opens] = None
#: The generator that was asked for last. In a forked process it may be the parent's.
_latest: Optional[UidGenerator] = None


def _here() -> _Here:
    here = _processes.get(os.getpid())
    if here is None:
        here = _processes.setdefault(os.getpid(), _Here())
        for process in list(_processes):
            if process != os.getpid():
                _processes.pop(process, None)
    return here


def configure(
    address: Optional[_Address] = None,
    *,
    worker_id: Optional[_Number] = None,
    **options: Unpack[_UidOptions],
) -> None:
    """Says from which generator `uidring.take` takes, in this process and in those that it forks.

    Each process opens its own at its first take: of the store at `address`, or, with a `worker_id`
    of your own, without a store. The options are those of `UidGenerator.open` and
    `UidGenerator.fixed`. Where there is a store, a worker id is leased for ten minutes and renewed;
    `lease="0"` uses a permanent one up at each start. What was open before is closed.

    >>> import uidring
    >>> uidring.configure("/srv/uidring.db")
    >>> first = uidring.take()
    >>> first < uidring.take()
    True
    """
    if (address is None) == (worker_id is None):
        raise InvalidArgumentError(
            "a generator has either the address of a store or a worker_id of your own: "
            f"address={_shown(address)}, worker_id={worker_id}"
        )
    given: Dict[str, Any] = dict(options)
    if address is not None:
        store: Any = address
        configure_by(lambda: store, given)
    else:
        worker: Any = worker_id
        _replace(lambda: UidGenerator.fixed(int(worker), **given))


def configure_by(address: Callable[[], Any], options: Dict[str, Any]) -> None:
    """As `configure`, by what gives the address of the store when a process opens its generator."""
    given = dict(options)
    # The table of Baidu's has no leases.
    if given.get("lease") is None and not given.get("uid_generator"):
        given["lease"] = _LEASE
    if given.get("lease") in ("0", 0):
        del given["lease"]
    _replace(lambda: UidGenerator.open(address(), **given))


def _shown(address: object) -> str:
    """Whether there is one. It may have a password."""
    return "None" if address is None else "..."


def generator() -> UidGenerator:
    """The generator of this process, which is opened if none is open.

    >>> import uidring
    >>> uidring.configure(worker_id=7)
    >>> uidring.generator().parts(uidring.take()).worker
    7
    """
    global _latest
    here = _here()
    with here.changing:
        if here.generator is None:
            if _open is None:
                raise InvalidArgumentError(
                    "this process does not know where its worker ids come from: call "
                    'uidring.configure("/srv/uidring.db") at its start, with your address; '
                    'Django has the setting UIDRING for it, and "uidring.django" in INSTALLED_APPS'
                )
            here.generator = _open()
        _latest = here.generator
        return here.generator


def take() -> int:
    """Takes an id from the generator of this process: a default for models of frameworks."""
    known = _latest
    if known is not None:
        try:
            return known.take()
        except ForkedError:
            pass
    return generator().take()


async def take_async() -> int:
    """Takes an id in a task of asyncio. Others go on if the store has to be asked first."""
    known = _here().generator
    if known is None:
        known = await asyncio.to_thread(generator)
    return await known.take_async()


def swap(
    opens: Optional[_Opens], opened: Optional[UidGenerator] = None
) -> Tuple[Optional[_Opens], Optional[UidGenerator]]:
    """Puts another generator in the place of this process's, and returns what was there."""
    global _open, _latest
    here = _here()
    with here.changing:
        before = _open, here.generator
        _open, here.generator = opens, opened
        _latest = opened
    return before


def _replace(opens: Optional[_Opens]) -> None:
    _, old = swap(opens)
    if old is not None:
        old.close()


def close() -> None:
    """Closes the generator of this process, if one is open. The next take opens another.

    It is for what ends a process without calling what Python calls at the end.
    """
    _replace(_open)


for _public in (configure, generator, take, take_async, close):
    # Where programs find them, and migrations of Django as well.
    _public.__module__ = "uidring"
