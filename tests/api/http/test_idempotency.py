"""What is sent twice under one key is done once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex

import pytest
import sqlalchemy as sa

from lakehold.access import Add, Grant
from lakehold.api.http.dependencies import CreateContext
from lakehold.api.http.idempotency import REPLAYED_HEADER, idempotency_table
from lakehold.api.http.models import NameText, RequestModel, ResponseModel
from lakehold.api.http.routing import make_router
from lakehold.directory.platform import Platform
from lakehold.kit.clock import DAY
from tests.access.company import TENANT
from tests.api.client import Api, json_body, problem, serve_api
from tests.platform import ADA

routes = make_router("/test/layers", "Test")


class NewLayer(RequestModel):
    name: NameText


class Layer(ResponseModel):
    id: str
    secret: str


@routes.post("", status_code=201)
def create_layer(ctx: CreateContext, body: NewLayer) -> Layer:
    """Make another layer each time."""
    name = f"{body.name} {token_hex(8)}"
    return Layer(id=ctx.create("lakehouse.layer", name, edges={"lakehouse": "lh"}), secret="shown-once")


@routes.post("/{lake}", status_code=201)
def create_layer_in(ctx: CreateContext, lake: str, body: NewLayer) -> Layer:
    """Make a layer there."""
    return Layer(id=ctx.create("lakehouse.layer", body.name, edges={"lakehouse": lake}), secret="")


@pytest.fixture
def api(platform: Platform) -> Iterator[Api]:
    with serve_api(platform, TENANT, [routes]) as found:
        yield found


def layers(api: Api) -> int:
    with api.platform.read(ADA) as ctx:
        return len(ctx.session.ids("ada", "see", "lakehouse.layer"))


def test_the_same_request_is_done_once_and_answered_alike(api: Api) -> None:
    before = layers(api)
    first, second = (
        api.post("/test/layers", "ada", {"name": "Silver"}, headers={"Idempotency-Key": "k1"}) for _ in range(2)
    )
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert second.headers[REPLAYED_HEADER] == "true"
    assert second.headers["content-type"] == "application/json"
    assert REPLAYED_HEADER not in first.headers
    assert layers(api) == before + 1


def test_without_a_key_it_is_done_twice(api: Api) -> None:
    before = layers(api)
    for _ in range(2):
        json_body(api.post("/test/layers", "ada", {"name": "Silver"}), 201)
    assert layers(api) == before + 2


@pytest.mark.parametrize(
    ("path", "body"), [("/test/layers", {"name": "Gold"}), ("/test/layers/lh", {"name": "Silver"})]
)
def test_a_key_stands_for_one_request(api: Api, path: str, body: object) -> None:
    json_body(api.post("/test/layers", "ada", {"name": "Silver"}, headers={"Idempotency-Key": "k1"}), 201)
    answer = api.post(path, "ada", body, headers={"Idempotency-Key": "k1"})
    problem(answer, 422, "idempotency_key_reused")


def test_everybody_has_keys_of_their_own(api: Api) -> None:
    before = layers(api)
    for member in ("ada", "ann"):
        json_body(api.post("/test/layers", member, {"name": "Silver"}, headers={"Idempotency-Key": "k1"}), 201)
    assert layers(api) == before + 2


def test_a_narrowed_token_is_not_told_what_its_member_was_told(api: Api) -> None:
    headers = {"Idempotency-Key": "k1"}
    json_body(api.post("/test/layers", "ada", {"name": "Silver"}, headers=headers), 201)
    narrowed = api.token("ada", actions=frozenset({"see"}))
    answer = api.post("/test/layers", json={"name": "Silver"}, headers=headers, token=narrowed)
    problem(answer, 403, "forbidden")


def test_what_was_refused_may_be_tried_again_under_the_same_key(api: Api) -> None:
    headers = {"Idempotency-Key": "k1"}
    problem(api.post("/test/layers", "bob", {"name": "Silver"}, headers=headers), 404, "not_found")
    with api.platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "admin", TENANT)))
    json_body(api.post("/test/layers", "bob", {"name": "Silver"}, headers=headers), 201)


@pytest.mark.parametrize("key", ["", "x" * 201, "with space"])
def test_a_key_that_cannot_be_one(api: Api, key: str) -> None:
    answer = api.post("/test/layers", "ada", {"name": "Silver"}, headers={"Idempotency-Key": key})
    assert problem(answer, 422, "invalid_input")["errors"][0]["source"] == "header"


def test_at_the_same_moment_one_does_it_and_all_are_answered_alike(api: Api) -> None:
    before, _ = layers(api), api.token("ada")

    def ask(_: int) -> tuple[int, bytes]:
        answer = api.post("/test/layers", "ada", {"name": "Silver"}, headers={"Idempotency-Key": "k1"})
        return answer.status_code, answer.content

    with ThreadPoolExecutor(6) as pool:
        answers = set(pool.map(ask, range(6)))
    assert len(answers) == 1
    assert next(iter(answers))[0] == 201
    assert layers(api) == before + 1


def test_a_key_is_forgotten_after_a_day(api: Api) -> None:
    before, headers = layers(api), {"Idempotency-Key": "k1"}
    json_body(api.post("/test/layers", "ada", {"name": "Silver"}, headers=headers), 201)
    with api.platform.database.write() as transaction:
        table = idempotency_table
        transaction.connection.execute(table.update().values(made_at=table.c.made_at - DAY))
    json_body(api.post("/test/layers", "ada", {"name": "Silver"}, headers=headers), 201)
    assert layers(api) == before + 2


def test_nothing_of_it_can_be_read_in_the_database(api: Api) -> None:
    json_body(api.post("/test/layers", "ada", {"name": "Silver"}, headers={"Idempotency-Key": "k1"}), 201)
    with api.platform.database.read() as transaction:
        (row,) = transaction.connection.execute(sa.select(idempotency_table)).all()
    assert "shown-once" not in str(row)
    assert "Silver" not in str(row)
