"""Landing tasks whose connection leads through a gateway, from a real PostgreSQL into Iceberg."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg
import pytest

from lakehold.catalog import credentials, resources
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import LakeholdError
from lakehold.lake import readable_tables
from lakehold.runs import worker_client
from lakehold.workspaces.spaces.gateways import status
from lakehold.workspaces.spaces.gateways.agent.identity_folder import IdentityFolder
from lakehold.workspaces.spaces.gateways.endpoint import serve_gateways
from lakehold.workspaces.spaces.gateways.local_gateway import register_here
from lakehold.workspaces.spaces.gateways.tables import order_table
from tests import postgres
from tests.lake.sources.fake_api import ApiRequest, ApiResponse, serve_fake_api
from tests.workspaces.spaces.gateways.proxy import Proxy, proxy_to
from tests.workspaces.spaces.gateways.site import run_gateway
from tests.workspaces.spaces.space import ADA, PREPARE, ZOE, InlineSpace
from tests.workspaces.spaces.test_tasks import fill, landing, names

PASSWORD = "correct-horse"


@pytest.fixture(scope="module")
def proxy(space: InlineSpace) -> Iterator[Proxy]:
    """What gateways dial, on a loopback address of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    before = space.platform.settings
    with proxy_to(port) as found:
        where = {"gateway_port": port, "gateway_address": found.address}
        space.platform.settings = before.model_copy(update=where)
        try:
            with serve_gateways(space.platform):
                yield found
        finally:
            space.platform.settings = before


@pytest.fixture(scope="module")
def gateway(space: InlineSpace, proxy: Proxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway of Zoe's that is online."""
    del proxy
    uid, folder = registered(space, "branch", tmp_path_factory.mktemp("gateway"))
    with run_gateway(folder):
        yield uid


def registered(space: InlineSpace, name: str, folder: Path) -> tuple[str, IdentityFolder]:
    with space.platform.write(ZOE) as ctx:
        uid = ctx.create("spaces.gateway", name, edges={"space": "sources"})
    return uid, register_here(space.platform, ZOE, uid, folder)


@pytest.fixture(scope="module")
def address(server: postgres.Server, database: str) -> str:
    return f"jdbc:postgresql://127.0.0.1:{server.port}/{database}"


def connect(space: InlineSpace, name: str, gateway: str, address: str) -> str:
    """A connection through a gateway."""
    settings = {"connector": "database", "address": address, "user": postgres.USER}
    with space.platform.write(ZOE) as ctx:
        edges = {"space": "sources", "gateway": gateway}
        uid = resources.create(ctx, "spaces.connection", name, edges=edges, settings=settings)
        credentials.save(ctx, uid, {"password": PASSWORD})
    return uid


@pytest.fixture(scope="module")
def remote(space: InlineSpace, gateway: str, address: str) -> str:
    return connect(space, "remote", gateway, address)


def orders(space: InlineSpace) -> list[Any]:
    with space.platform.read(ZOE) as ctx:
        return list(ctx.rows(order_table).select())


def test_a_table_is_landed_through_a_gateway(space: InlineSpace, source: psycopg.Connection, remote: str) -> None:
    fill(source, "far", 5)
    task = space.make("far", landing(remote, "far", mode="compare", keys=["id"]))
    space.run(task)
    source.execute("DELETE FROM far WHERE id = 1")
    source.execute("UPDATE far SET name = 'two' WHERE id = 2")
    space.run(task)
    assert names(space.rows(task, "far")) == [(2, "two"), (3, "n3"), (4, "n4"), (5, "n5")]
    assert not list(Path(space.platform.settings.data, "gateways", "parts").iterdir())


def test_only_what_lies_beyond_the_cursor_is_sent(space: InlineSpace, source: psycopg.Connection, remote: str) -> None:
    fill(source, "beyond", 5)
    task = space.make("beyond", landing(remote, "beyond", mode="incremental", keys=["id"], cursor="at"))
    space.run(task)
    source.execute("INSERT INTO beyond VALUES (6, 'n6', timestamp '2026-02-01')")
    before = {row.id for row in orders(space)}
    space.run(task)
    (order,) = [row for row in orders(space) if row.id not in before]
    assert order.rows == 2
    assert len(space.rows(task, "beyond")) == 6


def test_the_rows_have_the_types_of_a_direct_connection(
    space: InlineSpace, source: psycopg.Connection, remote: str, shop: str
) -> None:
    source.execute(
        "CREATE TABLE both_ways (id int PRIMARY KEY, a smallint, b bigint, c real, d double precision, e boolean,"
        " f numeric(10, 2), g numeric, h date, i timestamp, j timestamptz, k bytea, l text, m varchar(5), n uuid)"
    )
    source.execute(
        r"""INSERT INTO both_ways VALUES (1, 1, 2, 1.5, 2.5, true, 1.25, 1.5, '2026-01-01', '2026-01-01 01:02:03',
        '2026-01-01 01:02:03+02', '\x00ff', 'text', 'short', '00000000-0000-0000-0000-000000000001'),
        (2, null, null, null, null, null, null, null, null, null, null, null, '', null, null)"""
    )
    direct = space.make("direct", landing(shop, "both_ways"))
    remote_task = space.make("through", landing(remote, "both_ways"))
    for task in (direct, remote_task):
        space.run(task)
    assert space.rows(direct, "both_ways") == space.rows(remote_task, "both_ways")


def test_it_is_tested_and_sampled_through_the_gateway(
    space: InlineSpace, source: psycopg.Connection, remote: str, gateway: str
) -> None:
    fill(source, "sampled", 2)
    with space.platform.read(ZOE) as ctx:
        settings = dict(resources.get(ctx, remote).settings or {})
    request = {"connection": remote, "settings": settings}
    found = worker_client.probe(space.platform, ZOE, "spaces.connection", request)
    assert "public.sampled" in {each["name"] for each in found["streams"]}
    found = worker_client.probe(space.platform, ZOE, "spaces.connection", {**request, "stream": "public.sampled"})
    assert [row[:2] for row in found["rows"]] == [[1, "n1"], [2, "n2"]]
    # What it was answered with is kept nowhere.
    assert not [each for each in orders(space) if each.result or each.sealed]
    other = {"connector": "database", "address": "jdbc:mysql://127.0.0.1:1/shop"}
    with pytest.raises(LakeholdError, match="Only databases of PostgreSQL and APIs") as refused:
        worker_client.probe(
            space.platform, ZOE, "spaces.connection", {"space": "sources", "gateway": gateway, "settings": other}
        )
    assert (refused.value.status, refused.value.field) == (422, "gateway")


def orders_api(asked: ApiRequest) -> ApiResponse:
    """Two pages, of which only those with the token get anything."""
    if asked.headers.get("Authorization") != "Bearer of-the-api":
        return ApiResponse({}, status=401)
    page, since = int(asked.params["page"]), int(asked.params.get("since", "0"))
    rows = [{"id": n, "name": f"n{n}", "more": {"a": [n]}} for n in range(1, 6) if n > since]
    return ApiResponse(rows[2 * page - 2 : 2 * page])


def test_an_api_is_landed_through_a_gateway(space: InlineSpace, gateway: str) -> None:
    with serve_fake_api() as api:
        api.routes["/v1/orders"] = orders_api
        endpoint = {"name": "orders", "path": "orders", "paging": {"by": "page"}, "since": "since"}
        settings = {"connector": "api", "address": api.base, "endpoints": [endpoint], "auth": {"kind": "bearer"}}
        with space.platform.write(ZOE) as ctx:
            edges = {"space": "sources", "gateway": gateway}
            remote = resources.create(ctx, "spaces.connection", "remote api", edges=edges, settings=settings)
            credentials.save(ctx, remote, {"token": "of-the-api"})
            direct = resources.create(ctx, "spaces.connection", "api", edges={"space": "sources"}, settings=settings)
            credentials.save(ctx, direct, {"token": "of-the-api"})
        request = {"connection": remote, "settings": settings}
        assert [
            each["name"] for each in worker_client.probe(space.platform, ZOE, "spaces.connection", request)["streams"]
        ] == ["orders"]
        found = worker_client.probe(space.platform, ZOE, "spaces.connection", {**request, "stream": "orders"})
        assert found["rows"][0] == [1, "n1", '{"a": [1]}']
        dataset = {"name": "orders", "stream": "orders", "mode": "incremental", "keys": ["id"], "cursor": "id"}
        tasks = [
            space.make(name, {"type": "landing", "connection": each, "datasets": [dataset]})
            for name, each in (("api_by_gateway", remote), ("api_direct", direct))
        ]
        for task in tasks * 2:
            space.run(task)
        by_gateway, directly = (space.rows(task, "orders") for task in tasks)
        assert by_gateway == directly
        assert len(by_gateway) == 5
        # What the API refuses is said as of a direct connection.
        with space.platform.write(ZOE) as ctx:
            credentials.save(ctx, remote, {"token": "wrong"})
        run = space.start(tasks[0])
        assert (run.state, "denied access" in run.error) == ("failed", True)
        assert "wrong" not in run.error


def test_secrets_are_nowhere_in_the_clear(space: InlineSpace, remote: str) -> None:
    del remote
    found = [str(tuple(row)) for row in orders(space)]
    assert found
    assert not [each for each in found if PASSWORD in each]


def test_a_changed_gateway_does_not_get_the_old_password(
    space: InlineSpace, source: psycopg.Connection, remote: str
) -> None:
    fill(source, "moved_away", 2)
    with space.platform.write(ZOE) as ctx:
        settings = dict(resources.get(ctx, remote).settings or {})
        other = ctx.create("spaces.gateway", "other branch", edges={"space": "sources"})
        edges = {"space": "sources"}
        uid = resources.create(ctx, "spaces.connection", "kept_secret", edges=edges, settings=settings)
        credentials.save(ctx, uid, {"password": PASSWORD})
    with space.platform.write(ZOE) as ctx:
        apply_edit(ctx, uid, ResourceEdit(edges={"gateway": [other]}))
    with pytest.raises(LakeholdError, match="password"):
        worker_client.probe(space.platform, ZOE, "spaces.connection", {"connection": uid, "settings": settings})


def test_a_run_does_not_give_the_old_password_to_a_changed_gateway(
    space: InlineSpace, source: psycopg.Connection, remote: str, gateway: str
) -> None:
    fill(source, "moved_later", 2)
    with space.platform.write(ZOE) as ctx:
        settings = dict(resources.get(ctx, remote).settings or {})
        other = ctx.create("spaces.gateway", "third branch", edges={"space": "sources"})
        edges = {"space": "sources", "gateway": gateway}
        uid = resources.create(ctx, "spaces.connection", "moved_secret", edges=edges, settings=settings)
        credentials.save(ctx, uid, {"password": PASSWORD})
    task = space.make("moved_later", landing(uid, "moved_later"))
    with space.platform.write(ZOE) as ctx:
        apply_edit(ctx, uid, ResourceEdit(edges={"gateway": [other]}))
    run = space.start(task)
    assert run.state == "failed"
    assert "changed after its password had been entered" in run.error


def test_a_gateway_of_others_is_not_probed(space: InlineSpace, gateway: str, shop: str) -> None:
    """Zoe's connection, but a gateway of a space in which she has no role."""
    del gateway
    with space.platform.access.write("acme") as session:
        hidden = session.store.create("spaces.gateway", "hidden", edges={"space": "sales"}, creator="olga")
    with space.platform.read(ZOE) as ctx:
        settings = dict(resources.get(ctx, shop).settings or {})
    request = {"connection": shop, "gateway": hidden, "settings": settings}
    with pytest.raises(LakeholdError) as refused:
        worker_client.probe(space.platform, ZOE, "spaces.connection", request)
    assert refused.value.status in {403, 404}
    assert not isinstance(refused.value, DeniedError) or refused.value.status == 403


def test_rows_are_not_sent_back_through_a_gateway(space: InlineSpace, source: psycopg.Connection, remote: str) -> None:
    fill(source, "one_way", 1)
    space.grant("petra", "can_manage", "sources")
    land = space.make("one_way", landing(remote, "one_way"))
    table = {"source": {"task": land, "dataset": "one_way"}, "table": "never"}
    task = space.task("back", {"type": "replication", "connection": remote, "tables": [table]})
    try:
        run = space.start(task, PREPARE)
    finally:
        space.revoke("petra", "can_manage", "sources")
    assert run.state == "failed"
    assert "A gateway only reads" in run.error


def test_changes_are_not_captured_through_a_gateway(
    space: InlineSpace, source: psycopg.Connection, remote: str
) -> None:
    fill(source, "no_slot", 1)
    run = space.start(space.task("no_slot", landing(remote, "no_slot", mode="changes", keys=["id"])), PREPARE)
    assert (run.state, "A gateway only reads" in run.error) == ("failed", True)


@pytest.mark.rare
def test_a_million_rows_are_landed_once_through_cuts_and_a_kill(
    space: InlineSpace, source: psycopg.Connection, proxy: Proxy, address: str, tmp_path: Path
) -> None:
    """The gateway is a process that dials an address of its own; it is killed before the third part has arrived."""
    fill(source, "million", 1_000_000)
    uid, folder = registered(space, "far away", tmp_path / "gateway")
    remote, cuts, killed = connect(space, "far", uid, address), [2_000_000, 4_000_000, 6_000_000], Event()

    def cut_or_hold(moved: int) -> None:
        if cuts and moved > cuts[0]:
            cuts.pop(0)
            proxy.cut()
        elif not cuts and moved > 20_000_000:
            proxy.open_.clear()
            killed.set()

    with run_gateway(folder):
        task = space.make("million", landing(remote, "million"))
        proxy.moved, proxy.on_bytes = 0, cut_or_hold
        states: list[str] = []
        landed = Thread(target=lambda: states.append(space.start(task).state))
        landed.start()
        assert killed.wait(120)
    proxy.on_bytes = lambda _: None
    proxy.cut()
    proxy.open_.set()
    with run_gateway(folder):
        landed.join()
    assert (states, cuts) == (["succeeded"], [])
    with space.platform.read(ZOE) as ctx:
        status_, (order,) = status.load_status(ctx, uid), [row for row in orders(space) if row.rows == 1_000_000]
    assert (status_.rows, order.epoch) == (1_000_000, 0)
    with space.platform.read(ADA) as ctx:
        place = readable_tables.identifier_of(ctx, space.dataset(task, "million"))
    found = space.tables.read(place).selectExpr("count(*)", "count(DISTINCT id)", "sum(id)").first()
    assert tuple(found or ()) == (1_000_000, 1_000_000, 500_000_500_000)
