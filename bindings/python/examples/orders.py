"""A table of SQLAlchemy whose primary keys are UIDs, and whose rows have numbers for people.

    pip install sqlalchemy
    python examples/orders.py [FOLDER]

A key is there before the row is inserted, so a statement can insert many rows at once. The column
is a `BigInteger`, because a UID has up to 63 bits.
"""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path

from sqlalchemy import BigInteger, String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import uidring

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
# A program that forks workers opens these in each worker, after the fork.
uids = uidring.UidGenerator.open(folder / "uidring.db")
series = uidring.Series.open(folder / "uidring.db")
series.create("orders", "SO{yyyy}-{n}")


def next_number() -> str:
    return series.next("orders").text


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    # `autoincrement=False`: the database makes no keys of its own.
    id: Mapped[int] = mapped_column(
        BigInteger, primary_key=True, autoincrement=False, default=uids.take
    )
    number: Mapped[str] = mapped_column(String(30), unique=True, default=next_number)
    customer: Mapped[str] = mapped_column(String(100))


def main() -> None:
    engine = create_engine(f"sqlite:///{folder / 'orders.db'}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Order(customer=name) for name in ["Ada", "Grace", "Edsger"]])
        session.commit()
        # The order of keys is the order of time, to the tick.
        for order in session.scalars(select(Order).order_by(Order.id)):
            made = uids.parts(order.id).time
            assert made <= datetime.now(timezone.utc)
            print(order.id, order.number, order.customer, made.isoformat())
    engine.dispose()


if __name__ == "__main__":
    main()
