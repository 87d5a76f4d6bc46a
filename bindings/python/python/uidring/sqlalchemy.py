"""Ids for tables of SQLAlchemy 1.4 and 2.

`Uid` is the type of a column, and `uidring.take` its default. With SQLAlchemy 2, `UidKey` is a
primary key that has both:

    class Order(Base):
        __tablename__ = "orders"
        id: Mapped[UidKey]

Without it, `Column(Uid, primary_key=True, default=uidring.take)` says the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

import sqlalchemy
from sqlalchemy import BigInteger
from sqlalchemy.types import TypeDecorator

from ._ids import read_id
from ._process import take

if TYPE_CHECKING:
    from typing_extensions import Annotated

    from sqlalchemy.orm import mapped_column

    _Base = TypeDecorator[int]
else:
    from typing import Annotated

    _Base = TypeDecorator

__all__ = ["Uid", "UidKey", "render_item"]


class Uid(_Base):
    """A column of ids, which is a `BIGINT`. It takes whole numbers and texts of them, and refuses
    what is no id: a number with a point has lost digits already."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> Optional[int]:
        return None if value is None else read_id(value)

    @property
    def python_type(self) -> type[int]:
        return int


if TYPE_CHECKING or not sqlalchemy.__version__.startswith("1."):
    if not TYPE_CHECKING:
        from sqlalchemy.orm import mapped_column

    #: A primary key for `Mapped`.
    UidKey = Annotated[int, mapped_column(Uid, primary_key=True, default=take)]


def render_item(kind: str, item: Any, context: Any) -> Union[str, bool]:
    """Has migrations of Alembic write `sa.BigInteger()` for a `Uid`, so that they need no uidring.

    It is for `context.configure(..., render_item=render_item)` in `env.py`.
    """
    if kind == "type" and isinstance(item, Uid):
        return f"{context.opts['sqlalchemy_module_prefix'] or ''}BigInteger()"
    return False
