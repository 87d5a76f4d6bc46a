"""A program of FastAPI's."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List

import pytest

import uidring

pytest.importorskip("fastapi")

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, StreamingResponse
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field

from uidring.asgi import UnavailableMiddleware, lifespan
from uidring.pydantic import Uid

#: Beyond what JavaScript's numbers hold.
BIG = 2**60 + 1


class Order(BaseModel):
    id: Uid = Field(default_factory=uidring.take)
    customer: Uid


def program() -> FastAPI:
    app = FastAPI(lifespan=lifespan)
    app.add_middleware(UnavailableMiddleware)
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    id_column = sa.Column("id", sa.BigInteger, primary_key=True, default=uidring.take)
    rows = sa.Table("rows", sa.MetaData(), id_column, sa.Column("name", sa.Text))

    @app.post("/orders")
    def new_order(order: Order) -> Order:
        return order

    @app.get("/orders/{id}")
    async def order(id: Uid, customer: Uid = 1) -> Order:
        return Order(id=id, customer=customer)

    @app.get("/many")
    async def many() -> int:
        return len([uidring.take() for _ in range(1000)])

    @app.get("/table")
    def table() -> None:
        # SQLAlchemy wraps what the default of a column raises.
        with engine.connect() as connection:
            connection.execute(rows.insert(), [{"name": "Ada"}] * 1000)

    @app.get("/begun")
    async def begun() -> StreamingResponse:
        async def parts() -> Any:
            yield "begun"
            for _ in range(1000):
                uidring.take()

        return StreamingResponse(parts())

    return app


def test_requests_and_answers_have_texts(put_back: None) -> None:
    uidring.configure(worker_id=7)
    with TestClient(program()) as client:
        for customer in (BIG, str(BIG)):
            answer = client.post("/orders", json={"customer": customer}).json()
            assert answer == {"id": answer["id"], "customer": str(BIG)}
            assert uidring.generator().parts(int(answer["id"])).worker == 7
        answer = client.get(f"/orders/{BIG}?customer={BIG}").json()
        assert answer == {"id": str(BIG), "customer": str(BIG)}
        for wrong in ("0", "1.5", "abc", str(2**63)):
            assert client.get(f"/orders/{wrong}").status_code == 422
            told = client.get(f"/orders/1?customer={wrong}")
            assert told.status_code == 422 and "an id is a" in told.json()["detail"][0]["msg"]
        described = client.get("/openapi.json").json()
    schemas = described["components"]["schemas"]
    # There may be one for what is read, and one for what is written.
    orders = [schema for name, schema in schemas.items() if name.startswith("Order")]
    assert {schema["properties"]["id"]["type"] for schema in orders} == {"string"}
    path = described["paths"]["/orders/{id}"]["get"]["parameters"][0]
    assert (path["in"], path["schema"]["type"]) == ("path", "string")


def test_a_program_opens_at_its_start_and_closes_at_its_end(db: Path, put_back: None) -> None:
    uidring.configure(db)
    workers: List[uidring.UidGenerator] = []
    # The same process starts it again and again, as tests do.
    for _ in range(3):
        assert not workers or workers[-1].status()["state"] == "closed"
        with TestClient(program()) as client:
            workers.append(uidring.generator())
            assert workers[-1].status()["taken"] == 0
            assert client.post("/orders", json={"customer": 1}).status_code == 200
            assert workers[-1].status()["taken"] == 1
    assert workers[-1].status()["state"] == "closed"


def test_a_store_that_is_away_ends_the_start(put_back: None) -> None:
    options: Any = {"start_deadline": "200ms", "timeout": "200ms", "shutdown_deadline": "200ms"}
    # At the port of `discard` nobody listens.
    uidring.configure("postgres://ids@127.0.0.1:9/ids", **options)
    with pytest.raises(uidring.UnavailableError):
        with TestClient(program()):
            pass


def used_up() -> None:
    """A generator of 2 ids in a second, or 3, which then fails rather than wait."""
    uidring.configure(worker_id=1, layout="30,32,1", max_lead="1s", on_lead_limit="fail")


@pytest.mark.parametrize("path", ["/many", "/table"])
def test_no_id_for_now_is_503(path: str, put_back: None) -> None:
    used_up()
    with TestClient(program()) as client:
        answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json() == {"detail": "there is no id for now; try again"}


def test_an_answer_that_has_begun_is_cut_off(put_back: None) -> None:
    used_up()
    with TestClient(program()) as client:
        with pytest.raises(uidring.UnavailableError):
            client.get("/begun")


def test_a_handler_of_the_programs_own_goes_first(put_back: None) -> None:
    used_up()
    app = program()

    @app.exception_handler(uidring.UnavailableError)
    async def own(request: Request, error: uidring.UnavailableError) -> PlainTextResponse:
        return PlainTextResponse("later", 429)

    with TestClient(app) as client:
        assert client.get("/many").status_code == 429


def test_other_errors_stay_what_they_are(put_back: None) -> None:
    uidring.configure(worker_id=1)
    with TestClient(program()) as client:
        uidring.generator().close()
        with pytest.raises(uidring.ClosedError):
            client.get("/many")
