"""Landing, storage, transform and replication, from a real PostgreSQL through Iceberg and back."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg
import pytest

from lakehold.catalog import resources
from lakehold.kit.errors import LakeholdError
from lakehold.lake import readable_tables
from lakehold.ledger.audit import AuditFilter
from lakehold.runs import worker_client
from lakehold.workspaces.spaces.datasets import list_datasets
from tests.workspaces.spaces.space import ADA, ERIK, OTTO, PREPARE, VERA, InlineSpace


def landing(connection: str, table: str, **more: object) -> Mapping[str, object]:
    """The settings of a landing task of one table."""
    dataset = {"name": table, "stream": f"public.{table}", **more}
    return {"type": "landing", "connection": connection, "datasets": [dataset]}


def reference(task: str, dataset: str) -> dict[str, str]:
    return {"task": task, "dataset": dataset}


def fill(source: psycopg.Connection, table: str, rows: int = 3) -> None:
    source.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, name text, at timestamp)".encode())
    source.execute(f"INSERT INTO {table} SELECT n, 'n' || n, timestamp '2026-01-01' + n * interval '1 day'"
                   f" FROM generate_series(1, {rows}) n".encode())  # fmt: skip


def names(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [row[:2] for row in rows]


def test_a_table_is_landed_and_landed_again(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "people")
    task = space.make("people", landing(shop, "people", mode="compare", keys=["id"]))
    assert space.rows(task, "people") == []
    run = space.run(task)
    assert [(step.name, step.rows) for step in run.steps] == [("people.people", 3)]
    source.execute("DELETE FROM people WHERE id = 1")
    source.execute("UPDATE people SET name = 'two' WHERE id = 2")
    space.run(task)
    assert names(space.rows(task, "people")) == [(2, "two"), (3, "n3")]


def test_new_columns_are_left_out_where_they_are_to_be_ignored(
    space: InlineSpace, source: psycopg.Connection, shop: str
) -> None:
    fill(source, "unmoved")
    kept = {**landing(shop, "unmoved", mode="compare", keys=["id"]), "schema_changes": "ignore"}
    task = space.make("unmoved", kept)
    space.run(task)
    source.execute("ALTER TABLE unmoved ADD COLUMN more text; ALTER TABLE unmoved ALTER COLUMN id TYPE bigint")
    source.execute("INSERT INTO unmoved VALUES (4, 'n4', timestamp '2026-02-01', 'new')")
    space.run(task)
    assert [row[:2] for row in space.rows(task, "unmoved")] == [(1, "n1"), (2, "n2"), (3, "n3"), (4, "n4")]
    assert {len(row) for row in space.rows(task, "unmoved")} == {3}


def test_only_what_lies_beyond_the_cursor_is_read(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "visits")
    task = space.make("visits", landing(shop, "visits", mode="incremental", keys=["id"], cursor="at"))
    space.run(task)
    source.execute("UPDATE visits SET name = 'unseen' WHERE id = 1")
    source.execute("INSERT INTO visits VALUES (4, 'n4', timestamp '2026-02-01')")
    space.run(task)
    assert names(space.rows(task, "visits")) == [(1, "n1"), (2, "n2"), (3, "n3"), (4, "n4")]
    space.run(task, reload=True)
    assert names(space.rows(task, "visits"))[0] == (1, "unseen")


def test_rows_go_through_storage_and_a_query_to_a_target(
    space: InlineSpace, source: psycopg.Connection, shop: str
) -> None:
    fill(source, "sold", 4)
    land = space.make("land_sold", landing(shop, "sold", mode="compare", keys=["id"]))
    space.run(land)
    current = {"name": "sold", "source": reference(land, "sold"), "keys": ["id"]}
    past = {"name": "sold_history", "source": reference(land, "sold"), "keys": ["id"], "history": True}
    store = space.make("store_sold", {"type": "storage", "datasets": [current, past]})
    space.run(store)
    source.execute("DELETE FROM sold WHERE id = 4")
    space.run(land)
    space.run(store)
    assert names(space.rows(store, "sold")) == [(1, "n1"), (2, "n2"), (3, "n3")]
    assert len(space.rows(store, "sold_history")) == 4
    query = "SELECT count(*) AS rows, max(name) AS last FROM store_sold.sold"
    count = space.make("count_sold", {"type": "transform", "reads": [store], "datasets": [{"name": "c", "sql": query}]})
    space.run(count)
    assert space.rows(count, "c") == [(3, "n3")]
    send = {"type": "replication", "connection": shop,
            "tables": [{"source": reference(count, "c"), "table": "counted"}]}  # fmt: skip
    target = space.make("send_sold", send)
    space.run(target)
    assert source.execute("SELECT rows, last FROM counted").fetchall() == [(3, "n3")]


def test_a_query_reads_its_inputs_and_nothing_else(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "mine")
    fill(source, "others")
    mine = space.make("mine", landing(shop, "mine"))
    others = space.make("others", landing(shop, "others"))
    space.run(mine)
    space.run(others)
    for table in ("others.others", "lake.`Sales`.ingest.others.others", "lake.`Sales`.ingest.mine.nothing"):
        text = f"SELECT * FROM {table}"
        task = space.task("peek", {"type": "transform", "reads": [mine], "datasets": [{"name": "p", "sql": text}]})
        run = space.start(task, PREPARE)
        assert run.state == "failed"
        assert "n1" not in run.error
        with space.platform.write(ERIK) as ctx:
            ctx.delete(task)


def test_a_refused_function_is_audited(space: InlineSpace) -> None:
    hostile = {"name": "h", "sql": "SELECT reflect('java.lang.System', 'getenv', 'HOME')"}
    task = space.task("hostile", {"type": "transform", "datasets": [hostile]})
    assert space.start(task, PREPARE).state == "failed"
    with pytest.raises(LakeholdError):
        worker_client.probe(space.platform, ERIK, "spaces.steps", {"task": task, "dataset": hostile})
    with space.platform.read(ADA) as ctx:
        entries = [each.entry for each in ctx.audit.page(AuditFilter(resource=task), limit=50)]
    denied = {(each.member, each.action) for each in entries if "reflect" in each.reason}
    assert denied == {("otto", "prepare"), ("erik", "prepare")}


def test_a_task_is_prepared_before_it_runs(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "early")
    task = space.task("early", landing(shop, "early"))
    with pytest.raises(LakeholdError, match="ready to prepare"):
        space.start(task)
    space.prepare(task)
    space.run(task)
    space.edit(task, landing(shop, "early", mode="compare", keys=["id"]))
    with pytest.raises(LakeholdError, match="ready to prepare"):
        space.start(task)
    space.prepare(task)
    assert len(space.rows(task, "early")) == 3


def test_preparing_loses_nothing_unasked(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "wide")
    land = space.make("wide", landing(shop, "wide"))
    space.run(land)
    first = {"type": "transform", "reads": [land], "datasets": [{"name": "w", "sql": "SELECT id, name FROM wide.wide"}]}
    task = space.make("narrow", first)
    space.run(task)
    space.edit(task, {**first, "datasets": [{"name": "w", "sql": "SELECT id FROM wide.wide"}]})
    run = space.start(task, PREPARE)
    assert run.state == "failed"
    assert "name is dropped" in run.error
    assert names(space.rows(task, "w")) == [(1, "n1"), (2, "n2"), (3, "n3")]
    space.prepare(task, recreate=True)
    assert space.rows(task, "w") == []
    space.run(task)
    assert space.rows(task, "w") == [(1,), (2,), (3,)]


def test_who_reads_a_dataset_goes_on_while_it_is_made_anew_or_dropped(space: InlineSpace) -> None:
    def settings(**queries: str) -> Mapping[str, object]:
        return {"type": "transform", "datasets": [{"name": name, "sql": text} for name, text in queries.items()]}

    task = space.make("outlived", settings(one="SELECT id FROM range(3)", two="SELECT id FROM range(2)"))
    space.run(task)
    with space.platform.read(ADA) as ctx:
        places = [readable_tables.identifier_of(ctx, list_datasets(ctx, task)[name]) for name in ("one", "two")]
    before = [space.tables.current_metadata(place).snapshots[-1].id for place in places]
    space.edit(task, settings(one="SELECT 'x' AS id"))
    space.prepare(task, recreate=True)
    assert space.rows(task, "one") == []
    then = [space.tables.read(place, snapshot=each) for place, each in zip(places, before, strict=True)]
    assert [rows.count() for rows in then] == [3, 2]
    space.run(task)
    assert space.rows(task, "one") == [("x",)]


def test_columns_have_any_name_and_type_that_a_query_returns(space: InlineSpace) -> None:
    odd = "SELECT 1 AS id, named_struct('a, b> `c`: int', 2) AS s, array(named_struct('é-1', 3)) AS l, NULL AS n"
    task = space.task("odd", {"type": "transform", "datasets": [{"name": "o", "sql": "SELECT 1 AS id"}]})
    space.prepare(task)
    for text in (odd, f"SELECT *, s AS t, id AS `drop, (` FROM ({odd})"):
        space.edit(task, {"type": "transform", "datasets": [{"name": "o", "sql": text}]})
        space.prepare(task)
        space.run(task)
    ((number, struct, _, nothing, other, again),) = space.rows(task, "o")
    assert (number, struct, nothing, other, again) == (1, (2,), None, (2,), 1)


def test_a_failed_run_leaves_the_rows_of_yesterday(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "steady")
    land = space.make("steady", landing(shop, "steady"))
    space.run(land)
    source.execute("ALTER TABLE steady RENAME TO steadier")
    assert space.start(land).state == "failed"
    assert len(space.rows(land, "steady")) == 3


def test_a_project_runs_in_the_order_of_its_graph(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    with space.platform.write(ERIK) as ctx:
        project = ctx.create("spaces.project", "chain", edges={"space": "sales"})
    space.grant("erik", "can_consume_data", "sources")
    fill(source, "one")
    fill(source, "two", 5)
    one = space.make("one", landing(shop, "one"), project=project)
    two = space.make("two", landing(shop, "two"), project=project)
    text = "SELECT (SELECT count(*) FROM one.one) + (SELECT count(*) FROM two.two) AS n"
    both = {"type": "transform", "reads": [one, two], "datasets": [{"name": "sum", "sql": text}]}
    total = space.make("total", both, project=project)
    run = space.run(project)
    space.revoke("erik", "can_consume_data", "sources")
    assert {step.name for step in run.steps[:2]} == {"one.one", "two.two"}
    assert run.steps[2].name == "total.sum"
    assert space.rows(total, "sum") == [(8,)]


def test_a_task_is_deleted_with_its_datasets(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "gone")
    task = space.make("gone", landing(shop, "gone"))
    dataset = space.dataset(task, "gone")
    with space.platform.write(ERIK) as ctx:
        resources.delete(ctx, task)
    with space.platform.read(OTTO) as ctx:
        assert ctx.view.ids.get(dataset) is None


def chain(task: str, start: str, *steps: object) -> Mapping[str, object]:
    """The settings of a transform task of visual steps."""
    return {"type": "transform", "reads": [task], "datasets": [{"name": "made", "start": start, "steps": list(steps)}]}


def test_visual_steps_are_one_query_over_the_inputs(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "guests", 6)
    land = space.make("guests", landing(shop, "guests"))
    space.run(land)
    steps = (
        {"step": "filter", "conditions": [{"column": "id", "operator": ">", "value": "2"}]},
        {"step": "derive", "name": "half", "expression": "id / 2", "type": "double"},
        {"step": "select", "columns": ["id", "half"]},
    )
    task = space.make("chained", chain(land, "guests.guests", *steps))
    space.run(task)
    assert space.rows(task, "made") == [(3, 1.5), (4, 2.0), (5, 2.5), (6, 3.0)]


def test_a_step_on_a_column_that_is_gone_is_named(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "lost")
    land = space.make("lost", landing(shop, "lost"))
    task = space.task("loses", chain(land, "lost.lost", {"step": "select", "columns": ["id", "nmae"]}))
    run = space.start(task, PREPARE)
    assert run.state == "failed"
    assert "Step 1 (select): The input 'lost.lost' has no column 'nmae'. Did you mean 'name'?" in run.error


def test_steps_are_previewed_by_whoever_may_view_the_data(
    space: InlineSpace, source: psycopg.Connection, shop: str
) -> None:
    fill(source, "shown")
    land = space.make("shown", landing(shop, "shown"))
    space.run(land)
    task = space.task("shows", chain(land, "shown.shown"))
    dataset = {"name": "made", "start": "shown.shown", "steps": [{"step": "select", "columns": ["name"]}]}
    request = {"task": task, "dataset": dataset}
    found = worker_client.probe(space.platform, ERIK, "spaces.steps", request)
    assert (found["fields"], found["rows"]) == ([{"name": "name", "type": "string"}], None)
    space.grant("erik", "can_view_data", "sales")
    try:
        found = worker_client.probe(space.platform, ERIK, "spaces.steps", {**request, "step": 0})
    finally:
        space.revoke("erik", "can_view_data", "sales")
    assert [row[1] for row in found["rows"]] == ["n1", "n2", "n3"]
    for other in (OTTO, VERA):
        with pytest.raises(LakeholdError):
            worker_client.probe(space.platform, other, "spaces.steps", request)


def test_a_star_schema_is_loaded_in_its_order(space: InlineSpace, source: psycopg.Connection, shop: str) -> None:
    fill(source, "buyers")
    source.execute("CREATE TABLE buys (id int PRIMARY KEY, buyer int, amount int)")
    source.execute("INSERT INTO buys VALUES (1, 1, 10), (2, 2, 20), (3, 9, 30)")
    datasets = [{"name": name, "stream": f"public.{name}"} for name in ("buyers", "buys")]
    land = space.make("land_buys", {"type": "landing", "connection": shop, "datasets": datasets})
    space.run(land)
    star = {
        "type": "data_mart",
        "dimensions": [
            {"name": "buyer", "source": reference(land, "buyers"), "business_key": ["id"],
             "columns": [{"column": "name"}]}
        ],
        "facts": [
            {"name": "bought", "source": reference(land, "buys"), "keys": ["id"],
             "links": [{"dimension": "buyer", "columns": ["buyer"]}]}
        ],
        "views": [{"name": "flat", "fact": "bought", "dimensions": [{"role": "buyer", "columns": ["name"]}]}],
    }  # fmt: skip
    task = space.make("star", star)
    run = space.run(task)
    assert [step.name for step in run.steps] == ["star.buyer", "star.bought", "star.flat"]
    assert [(row[0], row[-1]) for row in space.rows(task, "flat")] == [(1, "n1"), (2, "n2"), (3, None)]
