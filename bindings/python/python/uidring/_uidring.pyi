import threading
from collections.abc import Coroutine
from datetime import date as Date
from datetime import datetime, timedelta
from os import PathLike
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, TypedDict, Union
from typing import final, type_check_only

from typing_extensions import Buffer, Self, Unpack

from ._values import Loss, Parts, SeriesNumber

__all__ = [
    "__version__",
    "UidGenerator",
    "PastGenerator",
    "WorkerId",
    "Segments",
    "Tag",
    "Series",
    "Work",
    "Masked",
    "Opaque",
    "_end",
    "_forked",
    "_listen",
    "_take_event",
    "_wait_for_event",
    "_wake",
    "_options",
    "_is_transient",
    "_kinds",
]

_Address = Union[str, PathLike[str]]
_Length = Union[timedelta, str, None]
_Number = Union[int, str, None]
_Flag = Union[bool, str, None]
_Text = Optional[str]

class _Login(TypedDict, total=False):
    user: _Text
    password: _Text
    only_for_tests: _Flag

class _UidOptions(_Login, total=False):
    lease: _Length
    partition: _Text
    worker_ids: _Text
    uid_generator: _Flag
    exact_time: _Flag
    max_lead: _Length
    max_lag: _Length
    on_lead_limit: _Text
    max_new_workers: _Number
    slots: _Number
    preset: _Text
    layout: _Text
    order: _Text
    epoch: Union[datetime, Date, str, None]
    tick: _Length
    state: Union[PathLike[str], str, None]
    test_time: Union[datetime, Date, str, None]
    test_sequence: _Number
    max_forward_jump: _Length
    start_deadline: _Length
    shutdown_deadline: _Length
    timeout: _Length

class _LoadOptions(_Login, total=False):
    max_wait: _Length
    ahead: _Length
    refresh: _Length
    max_in_memory: _Number
    loads: _Number
    shutdown_deadline: _Length
    timeout: _Length

class _SegmentsOptions(_LoadOptions, total=False):
    table: _Text

class _TagOptions(TypedDict, total=False):
    first: _Number
    step: _Number
    max_step: _Number
    description: _Text

class _NewSeriesOptions(TypedDict, total=False):
    time_zone: _Text
    gapless: _Flag
    restart: _Text
    fiscal_year_from: _Text
    step: _Number
    first: _Number

class _LoanOptions(_Login, total=False):
    lease: _Length
    rest: _Length
    host: _Text
    timeout: _Length

__version__: str

@type_check_only
class _Closes:
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exception_type: Optional[Type[BaseException]] = None,
        exception: Optional[BaseException] = None,
        traceback: Optional[TracebackType] = None,
        /,
    ) -> None: ...

@final
class UidGenerator(_Closes):
    @staticmethod
    def open(address: _Address, **options: Unpack[_UidOptions]) -> UidGenerator: ...
    @staticmethod
    def fixed(worker: int, **options: Unpack[_UidOptions]) -> UidGenerator: ...
    def take(self) -> int: ...
    def take_async(self) -> Coroutine[Any, Any, int]: ...
    def take_many(self, count: int, /) -> List[int]: ...
    def fill(self, buffer: Buffer, /) -> None: ...
    def parts(self, uid: int, /) -> Parts: ...
    @property
    def layout(self) -> str: ...
    @property
    def worker_id(self) -> int: ...
    def status(self) -> Dict[str, Any]: ...
    def _take_at_once(self) -> Optional[int]: ...
    def _take_until(self, stop: threading.Event) -> int: ...

@final
class PastGenerator(_Closes):
    @staticmethod
    def open(address: _Address, **options: Unpack[_UidOptions]) -> PastGenerator: ...
    def take_at(self, time: datetime, /) -> int: ...
    def take_times(self, times: Iterable[datetime], /) -> List[int]: ...
    def take_times_async(
        self, times: Iterable[datetime], /
    ) -> Coroutine[Any, Any, List[int]]: ...
    def parts(self, uid: int, /) -> Parts: ...
    @property
    def layout(self) -> str: ...
    @property
    def worker_id(self) -> int: ...
    def status(self) -> Dict[str, Any]: ...

@final
class WorkerId(_Closes):
    @staticmethod
    def lend(
        address: _Address,
        pool: str,
        bits: int,
        *,
        on_loss: Optional[Callable[[Loss], object]] = None,
        **options: Unpack[_LoanOptions],
    ) -> WorkerId: ...
    @staticmethod
    def lend_async(*arguments: Any, **options: Any) -> Coroutine[Any, Any, WorkerId]: ...
    @property
    def id(self) -> int: ...
    @property
    def is_held(self) -> bool: ...
    def status(self) -> Dict[str, Any]: ...
    def _wait_for_loss(self) -> Optional[Tuple[int, int, str]]: ...

@final
class Segments(_Closes):
    @staticmethod
    def open(address: _Address, **options: Unpack[_SegmentsOptions]) -> Segments: ...
    def create(self, tag: str, **options: Unpack[_TagOptions]) -> Tag: ...
    def tag(self, name: str, /) -> Tag: ...
    def take(self, tag: str, /) -> int: ...
    def take_async(self, tag: str, /) -> Coroutine[Any, Any, int]: ...
    def _tag_at_once(self, name: str) -> Optional[Tag]: ...

@final
class Tag:
    @property
    def name(self) -> str: ...
    def take(self) -> int: ...
    def take_async(self) -> Coroutine[Any, Any, int]: ...
    def take_many(self, count: int, /) -> List[int]: ...
    def fill(self, buffer: Buffer, /) -> None: ...
    def status(self) -> Dict[str, Any]: ...
    def _take_at_once(self) -> Optional[int]: ...
    def _take_until(self, stop: threading.Event) -> int: ...

@final
class Series(_Closes):
    @staticmethod
    def open(address: _Address, **options: Unpack[_LoadOptions]) -> Series: ...
    @staticmethod
    def in_transactions() -> Series: ...
    def create(self, name: str, pattern: str, **options: Unpack[_NewSeriesOptions]) -> None: ...
    def next(
        self, name: str, scope: Optional[str] = None, date: Union[Date, str, None] = None
    ) -> SeriesNumber: ...
    def next_async(
        self, name: str, scope: Optional[str] = None, date: Union[Date, str, None] = None
    ) -> Coroutine[Any, Any, SeriesNumber]: ...
    def next_many(
        self,
        name: str,
        count: int,
        scope: Optional[str] = None,
        date: Union[Date, str, None] = None,
    ) -> List[SeriesNumber]: ...
    def parse(self, name: str, text: str) -> SeriesNumber: ...
    def status(self, name: str, scope: Optional[str] = None) -> Dict[str, Any]: ...
    def next_in(
        self,
        transaction: object,
        name: str,
        scope: Optional[str] = None,
        date: Union[Date, str, None] = None,
    ) -> SeriesNumber: ...
    async def next_in_async(
        self,
        transaction: object,
        name: str,
        scope: Optional[str] = None,
        date: Union[Date, str, None] = None,
    ) -> SeriesNumber: ...
    def read_in(self, transaction: object, name: str) -> None: ...
    def format(
        self,
        name: str,
        number: int,
        scope: Optional[str] = None,
        date: Union[Date, str, None] = None,
    ) -> str: ...
    def widen(self, name: str, pattern: str) -> None: ...
    def _next_at_once(self, name: str, scope: Optional[str]) -> Optional[SeriesNumber]: ...
    def _count_in(
        self,
        name: str,
        scope: Optional[str],
        date: Union[Date, str, None],
        database: str,
        places: str,
        has_begun: bool,
    ) -> Work: ...
    def _asks_store(self, name: str) -> bool: ...
    def _read_in(self, name: str, database: str, places: str) -> Optional[Work]: ...

@final
class Work:
    def step(self, rows: Optional[Iterable[Iterable[Any]]], /) -> Any: ...
    def fail(self, text: str, /) -> Any: ...

@final
class Masked(_Closes):
    def __new__(cls, keys: str, /) -> Self: ...
    def mask(self, id: int, /) -> int: ...
    def mask_many(self, ids: Iterable[int], /) -> List[int]: ...
    def unmask(self, masked: int, /) -> int: ...

@final
class Opaque(_Closes):
    def __new__(cls, keys: str, prefix: str, /) -> Self: ...
    def encode(self, id: int, /) -> str: ...
    def decode(self, text: str, /) -> int: ...

def _end() -> None: ...
def _forked() -> None: ...
def _listen() -> None: ...
def _take_event() -> Optional[Tuple[int, str, str, Dict[str, Any]]]: ...
def _wait_for_event() -> None: ...
def _wake() -> None: ...
def _options(call: str) -> List[str]: ...
def _is_transient(database: str, code: str) -> bool: ...
def _kinds() -> List[str]: ...
