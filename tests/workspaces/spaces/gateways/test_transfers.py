"""Tables move through a gateway in a process of its own, whose connection is cut and which is killed."""

from __future__ import annotations

import time
from datetime import datetime
from threading import Event

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakehold.directory.errors import UnauthorizedError
from lakehold.kit.errors import ConflictError, LakeholdError, NotFoundError, UnavailableError
from lakehold.workspaces.spaces.gateways import dispatch
from lakehold.workspaces.spaces.gateways.agent.identity_folder import IdentityFolder
from lakehold.workspaces.spaces.gateways.dispatch import GatewayDispatch, GatewayIdentity
from lakehold.workspaces.spaces.gateways.key_pairs import GatewayToken
from lakehold.workspaces.spaces.gateways.spool import Spool
from lakehold.workspaces.spaces.gateways.tables import order_table
from lakehold.workspaces.spaces.gateways.work_orders import OrderFailedError, WorkOrder, clean_up
from tests.api.client import json_body
from tests.workspaces.spaces.gateways.site import GINA, TENANT, GatewaySite, Waiter, ids_of, run_gateway


def fill(source: psycopg.Connection, table: str, rows: int, *, key: bool = True) -> None:
    source.execute(f"CREATE TABLE {table} (id int, name text, at timestamp DEFAULT '2026-01-01 00:00:00.5')".encode())
    text = f"INSERT INTO {table} SELECT n, 'name ' || n FROM generate_series(1, {rows}) n"
    source.execute(text.encode())
    if key:
        source.execute(f"ALTER TABLE {table} ADD PRIMARY KEY (id)".encode())


def test_every_type_arrives_as_it_is(site: GatewaySite, source: psycopg.Connection) -> None:
    source.execute(
        "CREATE TABLE types (a smallint, b int, c bigint, d real, e double precision, f boolean, g numeric(10, 2),"
        " h numeric, i date, j timestamp, k timestamptz, l bytea, m text, n uuid, o jsonb, p int[])"
    )
    source.execute(
        r"""INSERT INTO types VALUES (1, 2, 3, 1.5, 2.5, true, 12.34, 1.25, '2026-01-02', '2026-01-02 03:04:05.678901',
        '2026-01-02 03:04:05+02', '\x00ff', E'a\n"b",', '00000000-0000-0000-0000-000000000001', '{"a": 1}', '{1,2}'),
        (null, null, null, null, null, null, null, null, null, null, null, null, '', null, null, null)"""
    )
    uid, folder = site.registered("types")
    with run_gateway(folder):
        streams = {each["name"]: each for each in site.order(uid, "streams").wait(20)["streams"]}
        types = [each["type"] for each in streams["public.types"]["fields"]]
        assert types == ["smallint", "int", "bigint", "float", "double", "boolean", "decimal(10,2)", "decimal(38,18)",
                         "date", "timestamp_ntz", "timestamp", "binary", *["string"] * 4]  # fmt: skip
        found = site.order(uid, "sample", stream="public.types", limit=5).wait(20)["rows"]
    assert found[0] == [1, 2, 3, 1.5, 2.5, True, "12.34", "1.250000000000000000", "2026-01-02",
                        "2026-01-02 03:04:05.678901", "2026-01-02 01:04:05+00:00", "00ff", 'a\n"b",',
                        "00000000-0000-0000-0000-000000000001", '{"a": 1}', "{1,2}"]  # fmt: skip
    assert found[1] == [*[None] * 12, "", None, None, None]


def test_a_table_without_rows_has_its_columns(site: GatewaySite, source: psycopg.Connection) -> None:
    fill(source, "nothing", 0)
    uid, folder = site.registered("nothing")
    with run_gateway(folder):
        order = site.order(uid, stream="public.nothing")
        assert order.wait(20) == {"parts": 1}
    assert ids_of(order) == []


def test_only_a_span_is_read(site: GatewaySite, source: psycopg.Connection) -> None:
    fill(source, "spans", 10)
    uid, folder = site.registered("spans")
    with run_gateway(folder):
        order = site.order(uid, stream="public.spans", since={"field": "ID", "value": "4", "until": "8"})
        order.wait(20)
    assert ids_of(order) == [5, 6, 7]


def test_what_the_database_refuses_is_its_error(site: GatewaySite) -> None:
    uid, folder = site.registered("refused")
    with run_gateway(folder):
        with pytest.raises(OrderFailedError) as missing:
            site.order(uid, stream="public.nowhere").wait(20)
        assert missing.value.error["code"] == "not_found"
        wrong = {**site.settings, "address": str(site.settings["address"]) + "_no"}
        with pytest.raises(OrderFailedError) as unknown:
            site.order(uid, "streams", settings=wrong).wait(20)
        assert unknown.value.error["state"] == "08001"


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        (400_000, True),
        pytest.param(1_000_000, True, marks=pytest.mark.rare),
        pytest.param(1_000_000, False, marks=pytest.mark.rare),
    ],
)
def test_a_kill_and_cuts_double_nothing(site: GatewaySite, source: psycopg.Connection, rows: int, *, key: bool) -> None:
    """A table with a key goes on behind what has arrived; one without begins anew."""
    table = f"moved_{rows}_{key}".lower()
    fill(source, table, rows, key=key)
    uid, folder = site.registered(table)
    order, held = site.order(uid, stream=f"public.{table}"), Event()
    waiting, spool, cuts = Waiter(order), order.spool, [2_000_000, 4_000_000, 6_000_000]
    site.proxy.moved = 0

    def cut_or_hold(moved: int) -> None:
        """Cut thrice within the first part, and hold back the second one, so that it cannot end before the kill."""
        if cuts and moved > cuts[0]:
            cuts.pop(0)
            site.proxy.cut()
        elif not cuts and spool.state().parts:
            site.proxy.open_.clear()
            held.set()

    site.proxy.on_bytes = cut_or_hold
    try:
        with run_gateway(folder):
            assert held.wait(60)
        arrived = spool.state().parts
        site.proxy.on_bytes = lambda _: None
        site.proxy.cut()
        site.proxy.open_.set()
        with run_gateway(folder):
            waiting.join()
    finally:
        site.proxy.on_bytes = lambda _: None
        site.proxy.open_.set()
    found = ids_of(order)
    assert sorted(found) == list(range(1, rows + 1))
    assert arrived == 1
    assert order.spool.state().parts > 1
    assert json_body(site.api.get(f"/api/v1/gateways/{uid}/status", "vito"))["rows"] == rows


def test_a_revoked_gateway_is_out_within_a_second_in_a_transfer(site: GatewaySite, source: psycopg.Connection) -> None:
    fill(source, "long_one", 600_000)
    uid, folder = site.registered("cut_off")
    order = site.order(uid, stream="public.long_one")
    waiting, half, spool = Waiter(order), Event(), order.spool
    site.proxy.moved = 0

    def hold(moved: int) -> None:
        """Hold back the first part half way: what arrives of it afterwards comes from a revoked gateway."""
        if moved > 3_000_000 and not half.is_set():
            site.proxy.open_.clear()
            half.set()

    site.proxy.on_bytes = hold
    try:
        with run_gateway(folder) as process:
            assert half.wait(60)
            json_body(site.api.post(f"/api/v1/gateways/{uid}/revoke", "gina"))
            revoked = time.monotonic()
            assert not spool.state().parts
            site.proxy.open_.set()
            process.wait_for_line("not registered")
            assert process.wait() == 4
            assert time.monotonic() - revoked < 10
        with pytest.raises(ConflictError, match="was revoked"):
            waiting.join()
        assert not spool.state().parts
    finally:
        site.proxy.on_bytes = lambda _: None
        site.proxy.open_.set()


def test_a_gateway_gets_its_own_work_only(site: GatewaySite, source: psycopg.Connection) -> None:
    fill(source, "secret_rows", 3)
    (mine, _), (_, folder) = site.registered("mine_only"), site.registered("other_one")
    order = site.order(mine, stream="public.secret_rows")
    with run_gateway(folder):
        pass
    found, calls = folder.load(), GatewayDispatch(site.platform)
    token = GatewayToken(TENANT, found.gateway, "here", site.platform.clock())
    caller = calls.authenticate(token.sign(found.keys))
    calls.hello(caller, {})
    assert calls._orders(caller, ()) == ([], [])
    for call in (calls.take, calls.need_part, calls.finish):
        with pytest.raises(NotFoundError):
            call(caller, {"order": order.id, "part": 1, "epoch": 0})
    with pytest.raises(UnauthorizedError):
        calls.authenticate(GatewayToken(TENANT, mine, "here", site.platform.clock()).sign(found.keys))
    old = GatewayToken(TENANT, found.gateway, "here", site.platform.clock() - 600_000_000)
    with pytest.raises(UnauthorizedError, match="clocks"):
        calls.authenticate(old.sign(found.keys))


def test_nobody_waits_for_a_gateway_that_is_away(site: GatewaySite) -> None:
    uid, _ = site.registered("away")
    with pytest.raises(UnavailableError, match="is offline"):
        site.order(uid, "streams").wait(0.1)
    with pytest.raises(LakeholdError, match="not been registered"):
        site.order(site.gateway("never"), "streams")


def test_an_order_that_is_placed_again_goes_on(site: GatewaySite, source: psycopg.Connection) -> None:
    fill(source, "again", 10)
    uid, folder = site.registered("again")
    with run_gateway(folder):
        first = site.order(uid, key="run/1", stream="public.again")
        first.wait(20)
        source.execute("INSERT INTO again VALUES (11)")
        second = site.order(uid, key="run/1", stream="public.again")
        assert second.wait(20) == {"parts": 1}
        assert len(ids_of(second)) == 10
        second.close()
        third = site.order(uid, key="run/1", stream="public.again")
        third.wait(20)
        assert len(ids_of(third)) == 11
    folder_of = third.spool.folder
    clean_up(site.platform)
    assert folder_of.exists()


def test_what_is_read_by_a_cursor_is_of_one_moment(site: GatewaySite, source: psycopg.Connection) -> None:
    """A row that was changed after it had been sent, and before a kill, lies behind the cursor afterwards."""
    fill(source, "moments", 10)
    uid, folder = site.registered("moments")
    order = site.order(uid, stream="public.moments", one_snapshot=True)
    # Rows 1 and 2 came after it had been sent.
    arrive(order, [3], "killed")
    with run_gateway(folder):
        order.wait(20)
    assert ids_of(order) == list(range(1, 11))


def test_a_table_that_was_altered_after_a_kill_begins_anew(site: GatewaySite, source: psycopg.Connection) -> None:
    fill(source, "altered", 10)
    uid, folder = site.registered("altered")
    order = site.order(uid, stream="public.altered")
    arrive(order, [1, 2, 3], "killed")
    source.execute("ALTER TABLE altered ADD more int DEFAULT 7")
    with run_gateway(folder):
        order.wait(20)
    found = pq.read_table(order.spool.folder).to_pylist()
    assert [(row["id"], row["more"]) for row in found] == [(n, 7) for n in range(1, 11)]


def arrive(order: WorkOrder, ids: list[int], instance: str) -> None:
    """Store the first part of a table, as a process that was killed has sent it."""
    rows = [{"id": n, "name": f"name {n}", "at": datetime(2026, 1, 1)} for n in ids]  # noqa: DTZ001 - as the table
    schema = pa.schema([("id", pa.int32()), ("name", pa.string()), ("at", pa.timestamp("us"))])
    order.spool.add(1, schema, [pa.RecordBatch.from_pylist(rows, schema)], [str(ids[-1])], instance)


def test_parts_that_are_read_are_not_cleaned_up(site: GatewaySite) -> None:
    uid, _ = site.registered("held")
    order = site.order(uid, stream="public.any")
    arrive(order, [1], "here")
    spool = Spool(order.spool.folder.rename(order.spool.folder.with_name("ended-0")))
    with spool.hold(1):
        clean_up(site.platform)
        assert spool.state().parts == 1
    clean_up(site.platform)
    assert not spool.folder.exists()
    with pytest.raises(UnavailableError), spool.hold(1):
        pass


def taken(site: GatewaySite, uid: str, folder: IdentityFolder) -> tuple[GatewayDispatch, GatewayIdentity]:
    """The calls of a process of a gateway."""
    dispatch = GatewayDispatch(site.platform)
    token = GatewayToken(TENANT, uid, "here", site.platform.clock())
    caller = dispatch.authenticate(token.sign(folder.load().keys))
    dispatch.hello(caller, {})
    return dispatch, caller


def test_an_order_ends_before_the_disk_is_full(site: GatewaySite, monkeypatch: pytest.MonkeyPatch) -> None:
    uid, folder = site.registered("full")
    calls, caller = taken(site, uid, folder)
    order = site.order(uid, stream="public.any")
    monkeypatch.setattr(dispatch, "RESERVED_BYTES", 2**62)
    with pytest.raises(UnavailableError, match="disk of the platform is full"):
        calls.need_part(caller, {"order": order.id, "epoch": 0})
    with pytest.raises(OrderFailedError) as failed:
        order.wait(1)
    assert failed.value.error["message"] == "The disk of the platform is full."


def test_what_a_gateway_says_is_not_trusted(site: GatewaySite) -> None:
    uid, folder = site.registered("liar")
    calls, caller = taken(site, uid, folder)
    order = site.order(uid, "streams")
    for wrong in ({"error": "all"}, {"result": [1]}):
        with pytest.raises(TypeError):
            calls.finish(caller, {"order": order.id, "parts": 0, **wrong})
    calls.add_log(caller, {"log": [{"at": -(10**17), "text": "long ago"}]})
    (line,) = json_body(site.api.get(f"/api/v1/gateways/{uid}/log", "gina"))["items"]
    assert line["text"] == "long ago"


def test_secrets_and_rows_are_not_kept(site: GatewaySite) -> None:
    uid, folder = site.registered("forgets")
    calls, caller = taken(site, uid, folder)
    order = site.order(uid, "sample")
    calls.finish(caller, {"order": order.id, "result": {"rows": [["private"]]}, "parts": 0})
    assert order.wait(1)["rows"] == [["private"]]
    order.close()
    with site.platform.read(GINA) as ctx:
        row = ctx.rows(order_table).select(order_table.c.id == order.id).one()
    assert (row.result, row.sealed) == ("", "")
