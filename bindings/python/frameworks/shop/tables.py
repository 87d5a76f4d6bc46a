"""Tables of SQLAlchemy, in the words of 1.4 and 2."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import declarative_base, relationship

import uidring
from uidring.sqlalchemy import Uid

Base = declarative_base()
#: A server may have tables of others.
OWN = uuid.uuid4().hex


class Order(Base):
    __tablename__ = f"orders_{OWN}"

    id = sa.Column(Uid, primary_key=True, default=uidring.take)
    foreign_id = sa.Column(Uid)
    lines = relationship("Line", back_populates="order")


class Line(Base):
    __tablename__ = f"lines_{OWN}"

    id = sa.Column(Uid, primary_key=True, default=uidring.take)
    order_id = sa.Column(Uid, sa.ForeignKey(Order.id), nullable=False)
    order = relationship(Order, back_populates="lines")
