"""Tables of SQLAlchemy whose ids are uidring's."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Iterator

import pytest

import uidring

pytest.importorskip("sqlalchemy")

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, StatementError
from sqlalchemy.orm import Session
from sqlalchemy.schema import CreateTable

from uidring.sqlalchemy import Uid

#: Beyond what JavaScript's numbers hold.
BIG = 2**60 + 1
NEW = not sa.__version__.startswith("1.")

tables: Any = import_module("shop.tables")
Base, Order, Line = tables.Base, tables.Order, tables.Line


def address(database: str, folder: Path) -> str:
    if database == "sqlite":
        return f"sqlite:///{folder}/shop.db"
    found = os.environ.get(f"UIDRING_TEST_{database.upper()}")
    if found is None:
        pytest.skip(f"UIDRING_TEST_{database.upper()} is not set")
    driver = {"postgres": "postgresql+psycopg2", "mysql": "mysql+pymysql"}[database]
    return driver + found[found.index(":") :]


@pytest.fixture(params=["sqlite", "postgres", "mysql"])
def session(request: pytest.FixtureRequest, tmp_path: Path, put_back: None) -> Iterator[Any]:
    uidring.configure(worker_id=7)
    engine = sa.create_engine(address(request.param, tmp_path), future=True)
    Base.metadata.create_all(engine)
    with Session(engine, future=True) as session:
        yield session
    Base.metadata.drop_all(engine)
    engine.dispose()


def test_a_row_has_an_id_and_leads_to_another(session: Any) -> None:
    order = Order(lines=[Line(), Line()])
    session.add(order)
    session.commit()
    assert uidring.generator().parts(order.id).worker == 7
    found = session.execute(sa.select(Line).order_by(Line.id)).scalars().all()
    assert [line.order_id for line in found] == [order.id] * 2
    assert found[0].id < found[1].id


def test_each_of_many_rows_has_its_own(session: Any) -> None:
    session.add_all([Order() for _ in range(500)])
    session.commit()
    session.execute(sa.insert(Order.__table__), [{"foreign_id": BIG} for _ in range(500)])
    ids = session.execute(sa.select(Order.id).order_by(Order.id)).scalars().all()
    assert len(set(ids)) == 1000 and type(ids[0]) is int


def test_an_id_is_read_from_a_text_or_a_number(session: Any) -> None:
    session.add_all([Order(foreign_id=str(BIG)), Order(foreign_id=BIG), Order()])
    session.commit()
    for value in (BIG, str(BIG)):
        query = sa.select(sa.func.count()).where(Order.foreign_id == value)
        assert session.execute(query).scalar() == 2
    shown: Any = sa.select(Order.id).where(Order.foreign_id.in_([BIG, "7"]))
    assert len(session.execute(shown).scalars().all()) == 2
    assert session.execute(sa.select(Order.id).where(Order.foreign_id.is_(None))).scalar() > BIG / 9
    written = (Order.foreign_id == str(BIG)).compile(compile_kwargs={"literal_binds": True})
    assert str(written).endswith(f"= {BIG}")


@pytest.mark.parametrize("value", [0, -1, 2**63, 1.5, 1e18, True, "1.5", "abc", "", "٣", b"1"])
def test_what_is_no_id_is_refused(value: Any) -> None:
    engine = sa.create_engine("sqlite://", future=True)
    with engine.connect() as connection:
        with pytest.raises(StatementError, match="an id is a") as raised:
            connection.execute(sa.select(Order.id).where(Order.id == value))
        assert isinstance(raised.value.orig, ValueError)
    engine.dispose()


@pytest.mark.parametrize("dialect", ["postgresql", "mysql"])
def test_the_database_makes_no_keys_of_its_own(dialect: str) -> None:
    of: Any = import_module(f"sqlalchemy.dialects.{dialect}")
    sql = str(CreateTable(Line.__table__).compile(dialect=of.dialect()))
    assert "id BIGINT NOT NULL" in sql and "order_id BIGINT NOT NULL" in sql
    assert "SERIAL" not in sql and "AUTO_INCREMENT" not in sql and "IDENTITY" not in sql


@pytest.mark.skipif(not NEW, reason="SQLAlchemy 1.4 has no Mapped")
def test_a_key_is_one_word(put_back: None) -> None:
    from sqlalchemy.orm import DeclarativeBase, Mapped

    from uidring.sqlalchemy import UidKey

    class Modern(DeclarativeBase):
        pass

    # The annotations of a class in a function are looked up in the module.
    globals().update(UidKey=UidKey, Mapped=Mapped)

    class Customer(Modern):
        __tablename__ = "customers"
        id: Mapped[UidKey]
        name: Mapped[str]

    uidring.configure(worker_id=7)
    engine = sa.create_engine("sqlite://")
    Modern.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Customer(name="Ada"), Customer(name="Grace")])
        session.commit()
        assert len(set(session.scalars(sa.select(Customer.id)))) == 2
    column: Any = Customer.__table__.c.id
    assert column.primary_key and isinstance(column.type, Uid)
    engine.dispose()


def test_a_store_that_is_away_is_told_through_sqlalchemy(session: Any) -> None:
    options: Any = {"start_deadline": "200ms", "timeout": "200ms", "shutdown_deadline": "200ms"}
    # At the port of `discard` nobody listens.
    uidring.configure("postgres://ids@127.0.0.1:9/ids", **options)
    session.add(Order())
    with pytest.raises(StatementError) as raised:
        session.flush()
    assert isinstance(raised.value.orig, uidring.UnavailableError)
    assert uidring.is_transient(raised.value)
    session.rollback()
    session.add_all([Order(id=1), Order(id="1")])
    with pytest.raises(IntegrityError) as twice:
        session.flush()
    assert not uidring.is_transient(twice.value)
    session.rollback()


def test_alembic_writes_migrations_that_need_no_uidring(tmp_path: Path) -> None:
    from alembic import command
    from alembic.config import Config

    url = f"sqlite:///{tmp_path}/shop.db"
    config = Config(str(tmp_path / "alembic.ini"))
    command.init(config, str(tmp_path / "migrations"))
    config.set_main_option("sqlalchemy.url", url)
    env = tmp_path / "migrations" / "env.py"
    text = env.read_text()
    text = text.replace("target_metadata = None", IMPORTS)
    text = text.replace("target_metadata=target_metadata", SETTINGS)
    # The log of the tests stays as it is.
    env.write_text(text.replace("fileConfig(config", "print(config"))
    script: Any = command.revision(config, "orders", autogenerate=True)
    written = Path(script.path).read_text()
    assert "sa.Column('id', sa.BigInteger(), nullable=False)" in written
    assert "uidring" not in written
    command.upgrade(config, "head")
    # There is no change left, so the type of the model is that of the column.
    command.check(config)
    engine = sa.create_engine(url, future=True)
    assert isinstance(sa.inspect(engine).get_columns(Order.__tablename__)[0]["type"], sa.BIGINT)
    engine.dispose()


IMPORTS = "from shop.tables import Base\nfrom uidring.sqlalchemy import render_item"
SETTINGS = "target_metadata=Base.metadata, render_item=render_item, compare_type=True"
