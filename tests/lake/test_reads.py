"""Queries are in the audit log with the tables that they read, and what was refused is in it too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from lakehold.directory.caller import Caller
from lakehold.kit.errors import LakeholdError
from lakehold.lake.spark.queries import QueryService
from lakehold.lake.spark.session_pool import UserSessions
from lakehold.ledger.audit import AuditFilter, AuditLogEntry
from lakehold.runs import queries, worker_client
from lakehold.runs.step_context import StepContext
from lakehold.workspaces.lakehouse.pipelines.connections import sampled_resource
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts.mart_probe import PreparedProbe, ProbeTarget
from lakehold.workspaces.marts.settings import StorageType
from lakehold.workspaces.marts.storages import LakeTables
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.shop import ADA, RITA, TENANT, Shop

if TYPE_CHECKING:
    from lakehold.runs.run_table import RunRow
    from lakehold.worker.spark_session import SparkRuntime


def read_entries(shop: Shop, **criteria: str) -> list[AuditLogEntry]:
    """Return the entries of reads, oldest first."""
    shop.platform.reads.flush()
    with shop.platform.read(Caller(TENANT, "ada")) as ctx:
        return [line.entry for line in ctx.reads.page(AuditFilter(**criteria), limit=1000)][::-1]  # type: ignore[arg-type]


def denied_entries(shop: Shop) -> list[AuditLogEntry]:
    with shop.platform.read(Caller(TENANT, "ada")) as ctx:
        return [line.entry for line in ctx.audit.page(AuditFilter(outcome="denied"), limit=1000)][::-1]


def ask(shop: Shop, caller: Caller, text: str) -> list[tuple[object, ...]]:
    with shop.platform.read(caller) as ctx:
        scope = queries.open_scope(ctx, "shop")
    with queries.run_query(shop.platform, scope, text, rows=10) as found:
        return found.rows()


def test_a_query_is_one_entry_with_the_tables_that_it_read(shop: Shop) -> None:
    before = len(read_entries(shop))
    caller = Caller(TENANT, "rita", token_id="t1", request="r1", address="10.1.2.3")
    ask(shop, caller, "SELECT name FROM raw.orders JOIN raw.customers c ON customer = c.id LIMIT 3")
    (entry,) = read_entries(shop)[before:]
    assert (entry.member, entry.action, entry.resource, entry.resource_name) == ("rita", "query", "shop", "Shop")
    assert entry.after == {"tables": ["customers", "orders"], "rows": 3}
    assert (entry.token, entry.request, entry.address) == ("t1", "r1", "10.1.2.3")
    # It is found by each table, too.
    assert read_entries(shop, resource="customers")[-1] == entry
    assert entry not in read_entries(shop, resource="order")


def test_a_query_that_fails_tells_what_it_read(shop: Shop) -> None:
    before = len(read_entries(shop))
    with pytest.raises(LakeholdError):
        ask(shop, RITA, "SELECT raise_error(name) FROM raw.customers")
    (entry,) = read_entries(shop)[before:]
    assert entry.after == {"tables": ["customers"], "rows": 0}
    assert entry.reason


def test_reading_the_audit_log_by_sql_is_a_read(shop: Shop) -> None:
    ask(shop, ADA, "SELECT count(*) FROM system.audit")
    assert read_entries(shop)[-1].after == {"tables": ["system.audit"], "rows": 1}


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("SELECT * FROM secret.hidden", "secret"),
        ("SELECT * FROM secret.nothing", "secret"),
        ("SELECT * FROM lake.other.raw.elsewhere", "other"),
    ],
)
def test_an_attempt_on_a_hidden_layer_is_audited(shop: Shop, text: str, hidden: str) -> None:
    before = len(denied_entries(shop))
    with pytest.raises(LakeholdError):
        ask(shop, RITA, text)
    new = denied_entries(shop)[before:]
    assert {(entry.member, entry.action, entry.resource) for entry in new} == {("rita", "see", hidden)}


def test_what_does_not_exist_is_no_attempt(shop: Shop) -> None:
    before = len(denied_entries(shop))
    with pytest.raises(LakeholdError):
        ask(shop, RITA, "SELECT * FROM nowhere.hidden")
    assert len(denied_entries(shop)) == before


def run_query(shop: Shop, caller: Caller, text: str) -> object:
    return ask(shop, caller, text)


def describe(shop: Shop, caller: Caller, text: str) -> object:
    with shop.platform.read(caller) as ctx:
        scope = queries.open_scope(ctx, "shop")
    return queries.describe_query(shop.platform, scope, text)


def sample(shop: Shop, caller: Caller, text: str) -> object:
    """Sample a query in a storage, as before a data mart is saved."""
    prepared = PreparedProbe(caller, ProbeTarget("shop", by="sql", text=text), StorageType.LAKE, LakeTables("Shop", []))
    return mart_probe.probe_storage(shop.platform, prepared)


def execute_step(shop: Shop, caller: Caller, text: str) -> object:
    """Run the query of a step, as pipelines, data marts and their checks do."""
    with shop.platform.read(caller) as ctx:
        stored = {"tenant": TENANT, "caller": json.dumps(caller.to_stored()), "resource_id": ctx.view.resource("shop")}
    persons = UserSessions(shop.tables._spark, shop.platform.keys, shop.platform.clock, "")
    runtime = SimpleNamespace(queries=QueryService(shop.tables._spark, persons, shop.platform.settings))
    step_ctx = StepContext(
        shop.platform, cast("SparkRuntime", runtime), cast("RunRow", SimpleNamespace(**stored)), 0, Path()
    )
    return step_ctx.run_query("", text)


@pytest.mark.parametrize(
    ("attempt", "action"), [(run_query, "query"), (describe, "query"), (sample, "preview"), (execute_step, "run")]
)
def test_a_refused_function_is_audited(shop: Shop, attempt: Callable[[Shop, Caller, str], object], action: str) -> None:
    before, reads = len(denied_entries(shop)), len(read_entries(shop))
    with pytest.raises(LakeholdError):
        attempt(shop, RITA, "SELECT reflect('java.lang.System', 'getenv', 'HOME')")
    (entry,) = denied_entries(shop)[before:]
    assert (entry.member, entry.action, entry.resource) == ("rita", action, "shop")
    assert "reflect" in entry.reason
    assert len(read_entries(shop)) == reads


def test_what_is_refused_at_each_pause_of_typing_is_audited_once(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(denied_entries(shop))
    for text in ("SELECT java_method('a')", "SELECT java_method('a', 'b')", "SELECT input_file_name()"):
        with pytest.raises(LakeholdError):
            describe(shop, RITA, text)
    assert len(denied_entries(shop)) == before + 2
    monkeypatch.setattr(worker_client, "_REPEAT_SECONDS", 0)
    with pytest.raises(LakeholdError):
        describe(shop, RITA, "SELECT java_method('a')")
    assert len(denied_entries(shop)) == before + 3


@pytest.fixture
def api(shop: Shop) -> Iterator[Api]:
    with serve_api(shop.platform, TENANT) as found:
        yield found


def new_reads(shop: Shop, before: int) -> list[tuple[str, str, str, object]]:
    return [(entry.member, entry.action, entry.resource, dict(entry.after)) for entry in read_entries(shop)[before:]]


def test_a_preview_is_a_read(shop: Shop, api: Api) -> None:
    before = len(read_entries(shop))
    assert api.get("/api/v1/tables/customers/rows", "rita").status_code == 200
    assert api.get("/api/v1/tables/hidden/rows", "rita").status_code == 404
    assert new_reads(shop, before) == [("rita", "preview", "customers", {})]
    assert denied_entries(shop)[-1].resource == "hidden"


def test_a_query_over_rest_is_one_read_with_its_request(shop: Shop, api: Api) -> None:
    before = len(read_entries(shop))
    sent = {"workspace": "shop", "sql": "SELECT * FROM raw.customers", "limit": 2}
    answer = api.post("/api/v1/queries", "rita", sent)
    assert len(json_body(answer)["rows"]) == 2
    assert new_reads(shop, before) == [("rita", "query", "shop", {"tables": ["customers"], "rows": 2})]
    entry = read_entries(shop)[-1]
    assert entry.request == answer.headers["x-request-id"]
    assert entry.token


def test_a_table_that_another_tool_loads_is_a_read(shop: Shop, api: Api) -> None:
    before = len(read_entries(shop))
    assert api.get("/iceberg/v1/Shop/namespaces/raw/tables/customers", "rita").status_code == 200
    assert api.call("HEAD", "/iceberg/v1/Shop/namespaces/raw/tables/customers", "rita").status_code == 200
    assert api.get("/iceberg/v1/Shop/namespaces/secret/tables/hidden", "rita").status_code == 404
    assert new_reads(shop, before) == [("rita", "load table", "customers", {})]
    assert (denied_entries(shop)[-1].member, denied_entries(shop)[-1].resource) == ("rita", "secret")


def test_those_who_see_the_audit_log_read_it_over_rest(shop: Shop, api: Api) -> None:
    api.get("/api/v1/tables/customers/rows", "rita")
    shop.platform.reads.flush()
    found = json_body(api.get("/api/v1/access/audit", "ada", params={"log": "reads", "resource": "customers"}))
    assert (found["items"][0]["member"], found["items"][0]["action"]) == ("rita", "preview")
    lines = api.get("/api/v1/access/audit/export", "ada", params={"log": "reads"}).text.splitlines()
    assert json.loads(lines[-1])["n"] == len(lines)
    verified = json_body(api.get("/api/v1/access/audit/verify", "ada", params={"log": "reads"}))
    assert (verified["whole"], verified["entries"]) == (True, len(lines))
    heads = {each["log"]: each for each in json_body(api.get("/api/v1/access/audit/head", "ada"))["items"]}
    assert heads["reads"] == {"log": "reads", "entries": len(lines), "head": verified["head"]}
    kept = {"log": "reads", "entries": len(lines), "head": "0" * 64}
    wrong = json_body(api.get("/api/v1/access/audit/verify", "ada", params=kept))
    assert (wrong["whole"], "is not the one that the head" in wrong["fault"]) == (False, True)
    for path in ("", "/export", "/verify", "/head"):
        problem(api.get(f"/api/v1/access/audit{path}", "rita", params={"log": "reads"}), 403, "forbidden")


def test_a_sample_of_a_source_is_a_read() -> None:
    sample = {"source": "s", "stream": "public.orders"}
    assert sampled_resource(sample) == "s"
    assert sampled_resource({"lakehouse": "shop", "layer": "raw", "stream": "a.csv"}) == "raw"
    assert sampled_resource({"source": "s"}) == ""
