"""A table of SQLAlchemy whose primary keys are UIDs, and whose rows have numbers for people.

    pip install sqlalchemy
    python examples/orders.py [FOLDER]

A key is there before the row is inserted, so a statement can insert many rows at once.
"""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path

from sqlalchemy import String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import uidring
from uidring.sqlalchemy import UidKey

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
uidring.configure(folder / "uidring.db")
# A program that forks workers opens this in each worker, after the fork.
series = uidring.Series.open(folder / "uidring.db")
series.create("orders", "SO{yyyy}-{n}")


def next_number() -> str:
    return series.next("orders").text


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"

    id: Mapped[UidKey]
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
            made = uidring.generator().parts(order.id).time
            assert made <= datetime.now(timezone.utc)
            print(order.id, order.number, order.customer, made.isoformat())
    engine.dispose()


if __name__ == "__main__":
    main()
