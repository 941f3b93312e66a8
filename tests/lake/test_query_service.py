"""The same query over HTTP and from the terminal, in each form; stopped, limited, remembered."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehold.kit.errors import ConflictError, LimitExceededError
from lakehold.kit.settings import Settings
from lakehold.lake.errors import MemoryShortageError, QueryMemoryError, SparkLostError, StoppedError
from lakehold.lake.spark import queries as query_service
from lakehold.lake.spark.guard.query_guard import QueryGuard
from lakehold.lake.spark.queries import Query, QueryLoad, QueryService
from lakehold.lake.spark.session_pool import UserSessions
from tests.cli.command_runner import CommandRunner, serve_platform
from tests.lake.shop import ED, RITA, Shop

ORDERS = "SELECT id, amount, day, tags, told FROM raw.orders WHERE id < 2 ORDER BY id"
LONG = "SELECT sum(hash(id)) FROM range(100000000000000)"
"""Listens when it is told to stop, as a join of ranges does not."""
LIMIT = 60


@pytest.fixture(scope="module")
def address(shop: Shop) -> Iterator[str]:
    with serve_platform(shop.platform) as found:
        yield found


@pytest.fixture(scope="module")
def way(shop: Shop, address: str) -> CommandRunner:
    return CommandRunner(shop.platform, address)


@pytest.fixture
def client(way: CommandRunner, address: str) -> Iterator[httpx.Client]:
    """Rita's."""
    headers = {"authorization": f"Bearer {way.token('rita')}"}
    with httpx.Client(base_url=address, headers=headers, timeout=120) as opened:
        yield opened


def asked(client: httpx.Client, sql: str, accept: str = "application/json", **more: object) -> httpx.Response:
    return client.post("/api/v1/queries", json={"workspace": "shop", "sql": sql, **more}, headers={"accept": accept})


def test_rows_are_told_as_json_without_losing_a_digit(client: httpx.Client) -> None:
    response = asked(client, ORDERS).json()
    assert [field["name"] for field in response["fields"]] == ["id", "amount", "day", "tags", "told"]
    assert response["rows"][1] == [1, "1.50", "2026-01-02", ["a", "b"], '{"city": "Ulm", "n": 7}']
    assert response["complete"]


def test_rows_are_told_as_csv_and_as_arrow(client: httpx.Client) -> None:
    lines = list(csv.reader(io.StringIO(asked(client, ORDERS, "text/csv").text)))
    assert lines[0] == ["id", "amount", "day", "tags", "told"]
    assert lines[2] == ["1", "1.50", "2026-01-02", '["a", "b"]', '{"city": "Ulm", "n": 7}']
    arrow = asked(client, ORDERS, "application/vnd.apache.arrow.stream")
    assert pa.ipc.open_stream(arrow.content).read_all().column("id").to_pylist() == [0, 1]


def test_more_rows_than_the_limit_are_told_of(client: httpx.Client) -> None:
    response = asked(client, "SELECT id FROM raw.orders ORDER BY id", limit=3)
    assert response.json()["rows"] == [[0], [1], [2]]
    assert response.headers["x-lakehold-complete"] == "false"
    assert asked(client, "SELECT id FROM raw.orders WHERE id < 0").json() == {
        "fields": [{"name": "id", "type": "int64"}],
        "complete": True,
        "rows": [],
    }


@pytest.mark.parametrize(
    ("sql", "code", "said"),
    [
        ("SELEC 1", "query_failed", "line 1, at character 1"),
        ("SELECT nothing FROM raw.orders", "query_failed", "nothing"),
        ("SELECT 1 / 0", "query_failed", "Division by zero"),
        ("SELECT * FROM secret.hidden", "query_failed", "cannot be found"),
        ("DROP TABLE raw.orders", "query_refused", "A query may not contain"),
        ("SELECT reflect('java.lang.System', 'exit', 1)", "query_refused", "the function"),
        ("  ", "invalid_input", "empty"),
    ],
)
def test_what_is_wrong_with_a_query_is_told(client: httpx.Client, sql: str, code: str, said: str) -> None:
    response = asked(client, sql)
    assert (response.status_code, response.json()["code"]) == (422, code)
    assert said in response.json()["detail"]
    assert response.json().get("field") == ("sql.1.1" if sql == "SELEC 1" else None)
    assert "spark." not in response.text


def test_where_one_may_not_ask_there_is_nothing(client: httpx.Client) -> None:
    for workspace in ("other", "nowhere", "raw"):
        response = client.post("/api/v1/queries", json={"workspace": workspace, "sql": "SELECT 1"})
        assert response.status_code == (422 if workspace == "raw" else 404), response.text


def test_a_query_is_stopped_by_its_asker_alone(client: httpx.Client, way: CommandRunner, address: str) -> None:
    found: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: found.append(asked(client, LONG, id="long_query_1")))
    asking.start()
    other = {"authorization": f"Bearer {way.token('ed')}"}
    with httpx.Client(base_url=address, headers=other, timeout=60) as ed:
        assert ed.delete("/api/v1/queries/long_query_1").status_code == 404
    while (status := client.delete("/api/v1/queries/long_query_1").status_code) == 404 and asking.is_alive():
        pass
    asking.join()
    assert status == 204
    assert (found[0].status_code, found[0].json()["code"]) == (409, "stopped")
    # Its time was not up: it was told before its first stage had begun.
    assert found[0].elapsed.total_seconds() < LIMIT


def test_a_description_is_stopped_by_its_id(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_service, "_LEAVE_SECONDS", 0)
    analysing, go_on = threading.Event(), threading.Event()
    original = QueryGuard.analyse

    def analyse(guard: QueryGuard, session: SparkSession, text: str) -> DataFrame:
        if text == "SELECT 'describe me'":
            analysing.set()
            go_on.wait(120)
        return original(guard, session, text)

    monkeypatch.setattr(QueryGuard, "analyse", analyse)
    body = {"workspace": "shop", "sql": "SELECT 'describe me'", "id": "description_1"}
    found: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: found.append(client.post("/api/v1/queries/describe", json=body)))
    asking.start()
    assert analysing.wait(120)
    assert client.delete("/api/v1/queries/description_1").status_code == 204
    asking.join()
    go_on.set()
    assert (found[0].status_code, found[0].json()["code"]) == (409, "stopped")


def test_one_person_has_so_many_at_once(spark: SparkSession, shop: Shop, tmp_path: Path) -> None:
    persons = UserSessions(spark, shop.platform.keys, shop.platform.clock, "")
    limits = Settings(
        data=tmp_path, queries_at_once=2, query_seconds=60, query_rows=10, query_megabytes=1, query_patience=60
    )
    queries = QueryService(spark, persons, limits)
    first, second, third = (Query(uid, RITA, "Shop", "SELECT 1", 10) for uid in ("first", "second", "third"))
    with queries._register(first), queries._register(second):
        with pytest.raises(LimitExceededError, match="2 queries running"), queries._register(third):
            pass
        with queries._register(Query("fourth", ED, "Shop", "SELECT 1", 10)):
            pass
        with pytest.raises(ConflictError), queries._register(Query("first", ED, "Shop", "SELECT 1", 10)):
            pass
    with queries._register(third):
        pass


@pytest.fixture
def expendable(spark: SparkSession, shop: Shop, tmp_path: Path) -> QueryService:
    """The queries of a process that does nothing else."""
    persons = UserSessions(spark, shop.platform.keys, shop.platform.clock, "")
    return QueryService(spark, persons, Settings(data=tmp_path), is_expendable=True)


def test_if_spark_is_lost_the_longest_query_is_the_suspect(expendable: QueryService) -> None:
    rita, ed = (Query(caller.member, caller, "Shop", "SELECT 1", 10) for caller in (RITA, ED))
    with expendable._register(rita) as first, expendable._register(ed) as second:
        suspect, other = (expendable._lost_error(each) for each in (first, second))
    assert (suspect.code, suspect.field, other.code, other.field) == ("spark_lost", "sql", "spark_lost", "")


def test_if_memory_is_short_the_longest_query_is_the_suspect(expendable: QueryService) -> None:
    rita, ed = (Query(caller.member, caller, "Shop", "SELECT 1", 10) for caller in (RITA, ED))
    refusal = QueryMemoryError("The query needs more memory.", "Query less data.")
    with expendable._register(rita) as first:
        assert expendable._memory_error(first, refusal) is refusal
        with expendable._register(ed) as second:
            suspect, other = (expendable._memory_error(each, refusal) for each in (first, second))
    assert (suspect.code, suspect.field, other.code, other.field) == ("memory_shortage", "sql", "memory_shortage", "")


def test_what_a_stopped_query_leaves_behind_is_held_against_nobody_else(
    expendable: QueryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    rita, ed = (Query(caller.member, caller, "Shop", "SELECT 1", 10) for caller in (RITA, ED))
    refusal = QueryMemoryError("The query needs more memory.", "Query less data.")
    with pytest.raises(StoppedError), expendable._register(rita):
        raise StoppedError("It was stopped.", "Query less data.")
    assert expendable.load((ED.tenant, ED.member)) == QueryLoad(crowding=1)
    assert expendable.load((RITA.tenant, RITA.member)) == QueryLoad()
    with expendable._register(ed) as running:
        for short in (expendable._memory_error(running, refusal), expendable._lost_error(running)):
            assert (type(short), short.field) in {(MemoryShortageError, ""), (SparkLostError, "")}
    with expendable._register(rita) as again:
        assert expendable._memory_error(again, refusal) is refusal
    monkeypatch.setattr(query_service, "_AFTERMATH_SECONDS", 0)
    with expendable._register(ed) as running:
        assert expendable._memory_error(running, refusal) is refusal


def test_if_spark_is_lost_and_nobody_else_used_it_the_query_is_the_reason(expendable: QueryService) -> None:
    with expendable._register(Query("one", RITA, "Shop", "SELECT 1", 10)) as running:
        assert isinstance(expendable._lost_error(running), QueryMemoryError)


def test_if_spark_is_lost_to_a_query_that_does_not_stop_nobody_else_is_suspected(expendable: QueryService) -> None:
    rita, ed = (Query(caller.member, caller, "Shop", "SELECT 1", 10) for caller in (RITA, ED))
    with expendable._register(ed) as first, expendable._register(rita) as second:
        second.stop_reason = "It blocked others."
        assert expendable._lost_error(first).field == ""


def test_what_a_query_meets_in_a_process(expendable: QueryService, monkeypatch: pytest.MonkeyPatch) -> None:
    rita = Query("rita", RITA, "Shop", "SELECT 1", 10)
    with expendable._register(rita):
        assert expendable.load((RITA.tenant, RITA.member)) == QueryLoad(own=1)
        assert expendable.load((ED.tenant, ED.member)) == QueryLoad(others=1)
        monkeypatch.setattr(query_service, "_SETTLED_SECONDS", 0)
        assert expendable.load((ED.tenant, ED.member)) == QueryLoad(others=1, crowding=1)
        with expendable._register(Query("ed", ED, "Shop", "SELECT 1", 10)):
            # Who was there first is not crowded by who came later.
            assert expendable.load((RITA.tenant, RITA.member)) == QueryLoad(own=1, others=1)
            assert expendable.load((ED.tenant, ED.member)) == QueryLoad(own=1, others=1, crowding=1)
    with expendable._register(replace(rita, is_suspect=True)):
        assert expendable.load((ED.tenant, ED.member)).crowding == 2


def test_what_one_asked_is_remembered_for_oneself(client: httpx.Client, way: CommandRunner, address: str) -> None:
    asked(client, "SELECT 'remember me'")
    asked(client, "SELECT 'remember' me FROM nowhere.nothing")
    newest = client.get("/api/v1/queries", params={"workspace": "shop", "limit": 2}).json()["items"]
    assert [each["sql"] for each in newest] == ["SELECT 'remember' me FROM nowhere.nothing", "SELECT 'remember me'"]
    assert (newest[1]["rows"], newest[1]["error"]) == (1, "")
    assert "cannot be found" in newest[0]["error"]
    with httpx.Client(base_url=address, headers={"authorization": f"Bearer {way.token('ed')}"}) as ed:
        assert all("remember" not in each["sql"] for each in ed.get("/api/v1/queries").json()["items"])


@pytest.mark.parametrize("local", [False, True])
def test_the_terminal_tells_the_same(shop: Shop, way: CommandRunner, local: bool) -> None:
    run = CommandRunner(shop.platform, "") if local else way
    output = run("sql", "shop", "SELECT id, amount FROM raw.orders ORDER BY id", "--limit", "2", by="rita")
    assert (output.code, "1.50" in output.out, "more rows" in output.err) == (0, True, True)
    response = run("sql", "shop", ORDERS, "--format", "json", by="rita")
    assert json.loads(response.out)["rows"][0][:2] == [0, "0.00"]
    assert run("sql", "shop", "-", "--format", "csv", by="rita", typed="SELECT 1 AS one").out == "one\n1\n"
    assert run("sql", "shop", "SELECT id FROM raw.orders WHERE id < 0", by="rita").out == "No rows.\n"
    refused = run("sql", "shop", "SELECT * FROM secret.hidden", by="rita")
    assert (refused.code, "cannot be found" in refused.err) == (2, True)


def test_a_ticket_is_good_for_the_worker_alone(address: str, shop: Shop) -> None:
    from lakehold.lake import catalog_tokens  # noqa: PLC0415 - only here

    ticket = catalog_tokens.issue_token(shop.platform.keys, RITA, shop.platform.clock(), 60)
    response = httpx.get(f"{address}/api/v1/me", headers={"authorization": f"Bearer {ticket}"})
    assert response.status_code == 401
