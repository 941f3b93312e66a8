"""Registered data: rows are read where they are, with the right of the project's owner, as long as there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import psycopg
import pytest

from lakehold.access import Draft, TokenPrincipal
from lakehold.catalog import resources
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import ForbiddenError, LakeholdError, NotFoundError
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake import previews, table_views
from lakehold.lake.errors import SourceClosedError
from lakehold.runs.runnable import RunOptions
from lakehold.workspaces.spaces import validation
from lakehold.workspaces.spaces.datasets import TableChange
from lakehold.workspaces.spaces.lineage import LINEAGE
from tests.workspaces.spaces.registry import NELE, Lakehouse, registered
from tests.workspaces.spaces.space import (
    ADA,
    CARL,
    ERIK,
    OLGA,
    OTTO,
    PETRA,
    PREPARE,
    RUNS,
    VERA,
    VITO,
    InlineSpace,
)
from tests.workspaces.spaces.test_tasks import reference

ABSENT = "cannot be found"
"""What SQL says of a table that does not exist, or not for the caller."""
TWO = "SELECT * FROM VALUES (1, 'ann'), (2, 'bob') AS t (id, name)"


def sql(task: str) -> str:
    """The name of the first dataset of a task in SQL."""
    return f"lake.`Sales`.ingest.{task}.rows"


def read(space: InlineSpace, caller: Caller, name: str, columns: str = "*") -> list[tuple[object, ...]]:
    return space.ask(caller, f"SELECT {columns} FROM {sql(name)} ORDER BY id")


def refusal(space: InlineSpace, caller: Caller, name: str) -> str:
    with pytest.raises(LakeholdError) as found:
        read(space, caller, name)
    return str(found.value)


def plan(space: InlineSpace, task: str, by: Caller = OTTO) -> validation.TaskValidation:
    """What validate answers."""
    with space.platform.read(by) as ctx:
        validation.need_validate(ctx, task)
        problems, state = validation.find_problems(ctx, task)
    return validation.validate_task(space.platform, by, task, problems, state)


def test_rows_are_read_where_they_are_and_nothing_is_copied(space: InlineSpace, lake: Lakehouse) -> None:
    source = lake.table(TWO)
    task = space.task("live", registered(source))
    assert [(each.name, each.change, each.columns) for each in plan(space, task).datasets] == [
        ("rows", TableChange.REGISTER, (("id", "int"), ("name", "string")))
    ]
    before = space.tables.lake.all_locations()
    space.prepare(task)
    assert space.run(task).steps[0].rows == 0
    assert read(space, CARL, "live") == [(1, "ann"), (2, "bob")]
    assert space.tables.lake.all_locations() == before
    lake.write(source, "SELECT 3 AS id, 'cyd' AS name")
    assert read(space, CARL, "live") == [(3, "cyd")]
    assert [each.change for each in plan(space, task).datasets] == [TableChange.NONE]


def test_only_can_consume_data_reads_it_by_sql_and_only_can_view_data_its_preview(
    space: InlineSpace, lake: Lakehouse
) -> None:
    task = lake.register("roles", lake.table(TWO))
    dataset = space.dataset(task, "rows")
    for other in (VERA, OTTO, ERIK, PETRA, VITO, ADA, NELE):
        assert ABSENT in refusal(space, other, "roles")
    for each in (VERA, OLGA):
        with space.platform.read(each) as ctx:
            ctx.need("view_data", dataset)
            view = table_views.view_of(ctx, dataset)
            assert previews.read_preview(space.tables.lake, view.place).rows.num_rows == 2
    for other in (CARL, OTTO, ERIK, PETRA):
        with space.platform.read(other) as ctx, pytest.raises(DeniedError):
            ctx.need("view_data", dataset)


def test_nobody_reads_it_when_the_owner_has_lost_the_right(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    task = lake.register("lost_right", table)
    dataset = space.dataset(task, "rows")
    text = {"name": "copy", "sql": "SELECT * FROM lost_right.rows"}
    copy = space.make("copies", {"type": "transform", "reads": [task], "datasets": [text]})
    store = {"type": "storage", "datasets": [{"name": "kept", "source": reference(task, "rows"), "keys": ["id"]}]}
    kept = space.make("keeps", store)
    with lake.without(PETRA, "viewer", table):
        for each in (CARL, OLGA):
            assert ABSENT in refusal(space, each, "lost_right")
        for caller, action in ((VERA, "view_data"), (OLGA, "view_data"), (CARL, "consume_data")):
            with space.platform.read(caller) as ctx:
                assert not ctx.session.check(ctx.principal, action, dataset)
        for uid in (copy, kept):
            run = space.start(uid)
            assert run.state == "failed"
            assert "Petra may not read the table" in run.error
            assert table not in run.error  # who operates does not see the table
        for options in (RunOptions(), RunOptions(parameters=PREPARE)):
            with pytest.raises(DeniedError, match="Petra may not read"), space.platform.write(OTTO) as ctx:
                RUNS.start(ctx, task, options)
        (problem,) = plan(space, task, ERIK).problems
        assert problem.message == f"Petra may not read the table {table}."
    assert read(space, CARL, "lost_right") == [(1, "ann"), (2, "bob")]
    space.run(kept)
    assert space.rows(kept, "kept") == [(1, "ann"), (2, "bob")]


def test_the_refusal_names_person_and_table_to_those_alone_who_may_know(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    dataset = space.dataset(lake.register("told", table), "rows")

    def told(caller: Caller) -> str:
        with space.platform.read(caller) as ctx, pytest.raises(SourceClosedError) as found:
            table_views.view_of(ctx, dataset)
        return str(found.value)

    with lake.without(PETRA, "viewer", table):
        assert f"Petra may not read the table {table}." in told(ERIK)
        assert "Petra may not read the table that it uses, and that you do not see" in told(OTTO)
        for other in (CARL, VERA, VITO):
            assert "Petra" not in told(other)
            assert table not in told(other)


def test_another_owner_is_asked_instead(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    lake.register("handed", table)
    with lake.without(PETRA, "owner", "ingest"):
        assert ABSENT in refusal(space, CARL, "handed")
        space.grant("otto", "owner", "ingest")
        assert ABSENT in refusal(space, CARL, "handed")
        space.grant("otto", "viewer", table)
        assert len(read(space, CARL, "handed")) == 2
        space.revoke("otto", "owner", "ingest")
    assert len(read(space, CARL, "handed")) == 2


def test_an_editor_registers_only_what_they_may_read_themself(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO, readers=[PETRA])
    with pytest.raises(InvalidSettingError, match="There is no table"):
        space.task("peek", registered(table))
    task = space.task("peek", {})
    with pytest.raises(InvalidSettingError, match="There is no table"):
        space.edit(task, registered(table))
    with lake.space.platform.write(ERIK) as ctx, pytest.raises(LakeholdError):
        resources.create(ctx, "spaces.task", "peeks", edges={"project": "ingest", "tables": [table]})


def test_a_narrowed_token_registers_nothing_that_it_does_not_reach(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    task = space.task("narrow", {})
    narrowed = replace(ERIK, narrowed=TokenPrincipal("erik", resources=frozenset({"sales"})))
    with pytest.raises(LakeholdError):
        space.edit(task, registered(table), by=narrowed)
    lake.register("narrow_read", table)
    reader = replace(CARL, narrowed=TokenPrincipal("carl", resources=frozenset({"sales"})))
    assert len(read(space, reader, "narrow_read")) == 2
    elsewhere = replace(CARL, narrowed=TokenPrincipal("carl", resources=frozenset({"lakehouse", "sources"})))
    assert ABSENT in refusal(space, elsewhere, "narrow_read")


@pytest.mark.parametrize("by", [OTTO, ERIK, OLGA, ADA])
def test_only_prepare_makes_a_dataset_show_a_table(space: InlineSpace, lake: Lakehouse, by: Caller) -> None:
    table = lake.table(TWO, readers=[PETRA, by])
    task = lake.register(f"only_{by.member}", lake.table(TWO))
    with space.platform.write(by) as ctx:
        with pytest.raises(LakeholdError):
            resources.create(ctx, "spaces.dataset", "forged", edges={"task": task, "table": table})
        dataset = space.dataset(task, "rows")
        assert not ctx.session.check(ctx.principal, "create", Draft("spaces.dataset", {"task": task, "table": table}))
    with pytest.raises(LakeholdError), space.platform.write(by) as ctx:
        apply_edit(ctx, dataset, ResourceEdit(edges={"table": table}))


def test_what_a_former_version_of_its_settings_named_stays_asked_for(space: InlineSpace, lake: Lakehouse) -> None:
    """Settings that are saved and not prepared change neither what is shown nor whose right is asked."""
    first, second = lake.table(TWO), lake.table("SELECT 9 AS id, 'zoe' AS name")
    task = lake.register("swapped", first)
    space.edit(task, registered(second))
    assert len(read(space, CARL, "swapped")) == 2
    with lake.without(PETRA, "viewer", first):
        assert ABSENT in refusal(space, CARL, "swapped")
    old = space.dataset(task, "rows")
    space.prepare(task)
    assert read(space, CARL, "swapped") == [(9, "zoe")]
    assert space.dataset(task, "rows") != old


def test_hidden_columns_and_former_rows_of_a_data_mart_stay_away(
    space: InlineSpace, lake: Lakehouse, source: psycopg.Connection, shop: str
) -> None:
    mart = lake.mart("SELECT 1 AS id, 'gone' AS name, 'pin' AS secret", "secret")
    lake.write(mart, "SELECT 2 AS id, 'new' AS name, 'pin' AS secret")
    task = lake.register("mart_rows", mart)
    assert plan(space, task).datasets[0].columns == (("id", "int"), ("name", "string"))
    assert read(space, CARL, "mart_rows") == [(2, "new")]
    with space.platform.read(CARL) as ctx:
        view = table_views.view_of(ctx, space.dataset(task, "rows"))
        found = view.current_metadata(space.tables.lake)
    assert found is not None
    assert (len(found.snapshots), view.hides("SECRET")) == (1, True)
    past = [each.id for each in space.tables.current_metadata(lake.place(mart)).snapshots]
    for text in ("SELECT secret FROM {}", f"SELECT * FROM {{}} VERSION AS OF {past[0]}"):
        with pytest.raises(LakeholdError) as refused:
            space.ask(CARL, text.format(sql("mart_rows")))
        assert "pin" not in str(refused.value)
        assert "gone" not in str(refused.value)
    # What reads it as a task has none of it either.
    table = {"source": reference(task, "rows"), "table": "sent_mart"}
    send = space.make("send_mart", {"type": "replication", "connection": shop, "tables": [table]})
    space.run(send)
    assert source.execute("SELECT * FROM sent_mart").fetchall() == [(2, "new")]
    star = {"type": "data_mart",
            "dimensions": [{"name": "who", "source": reference(task, "rows"), "business_key": ["id"]}]}  # fmt: skip
    space.run(space.make("star_mart", star))
    steps = {"name": "made", "start": "mart_rows.rows", "steps": [{"step": "select", "columns": ["secret"]}]}
    chain = space.task("chain_mart", {"type": "transform", "reads": [task], "datasets": [steps]})
    assert "no column 'secret'" in space.start(chain, PREPARE).error


def test_upkeep_of_it_leaves_the_source_untouched(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    for n in range(8):
        lake.write(table, f"SELECT {n} AS id, 'n' AS name")
    task = lake.register("upkept", table)
    before = lake.location(table)
    run = space.start(space.dataset(task, "rows"), {"do": "upkeep"})
    assert run.state == "succeeded", run.error
    assert lake.location(table) == before
    assert read(space, CARL, "upkept") == [(7, "n")]


def test_what_is_registered_no_more_and_a_deleted_task_leave_the_source(space: InlineSpace, lake: Lakehouse) -> None:
    table, other = lake.table(TWO), lake.table(TWO)
    task = lake.register("dropped", table, other)
    before = lake.location(table), lake.location(other)
    space.edit(task, registered(table))
    assert [(each.name, each.change) for each in plan(space, task).datasets] == [
        ("rows", TableChange.NONE),
        ("rows1", TableChange.UNREGISTER),
    ]
    space.prepare(task)
    with space.platform.write(ERIK) as ctx:
        resources.delete(ctx, task)
    assert (lake.location(table), lake.location(other)) == before


def test_a_source_that_is_deleted_is_gone_here_too(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    task = lake.register("orphan", table)
    with space.platform.write(NELE) as ctx:
        assert resources.delete(ctx, table)
    assert ABSENT in refusal(space, CARL, "orphan")
    (problem,) = plan(space, task).problems
    assert (problem.message, problem.field) == ("A table that the task uses is gone.", "datasets.0.source.table")
    with pytest.raises(LakeholdError, match="is gone"):
        space.start(task)


def test_its_columns_are_watched(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    task = lake.register("columns", table)
    space.tables.session.sql(f"ALTER TABLE {lake.place(table).sql} ADD COLUMN age int")
    assert plan(space, task).datasets[0].details == ("age (int) is added.",)
    assert "rows: age (int) is added." in space.lines(space.run(task))
    space.tables.session.sql(f"ALTER TABLE {lake.place(table).sql} DROP COLUMN name")
    run = space.start(task)
    assert (run.state, "name is dropped." in run.error) == ("failed", True)
    assert plan(space, task).datasets[0].change is TableChange.REGISTER
    space.prepare(task)
    space.run(task)
    assert read(space, CARL, "columns") == [(1, None), (2, None)]


def test_a_dataset_with_rows_of_its_own_is_made_anew(space: InlineSpace, lake: Lakehouse) -> None:
    own: Mapping[str, object] = {"type": "transform", "datasets": [{"name": "rows", "sql": "SELECT 5 AS id"}]}
    task = space.make("turned", own)
    space.run(task)
    former = space.dataset(task, "rows")
    space.edit(task, registered(lake.table(TWO)))
    assert plan(space, task).loses_values
    assert "lose rows of rows" in space.start(task, PREPARE).error
    assert read(space, CARL, "turned") == [(5,)]
    space.prepare(task, recreate=True)
    assert read(space, CARL, "turned") == [(1, "ann"), (2, "bob")]
    space.edit(task, own)
    assert not plan(space, task).loses_values
    space.prepare(task)
    assert read(space, CARL, "turned") == []
    assert former != space.dataset(task, "rows")


def test_datasets_are_not_registered_again(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    dataset = space.dataset(lake.register("once", table), "rows")
    with pytest.raises(InvalidSettingError, match="There is no table"):
        space.task("twice", registered(dataset))
    both = [{"name": "a", "source": {"table": table}}, {"name": "a", "source": {"table": table}}]
    with pytest.raises(InvalidSettingError, match="Two datasets are called 'a'"):
        space.task("alike", {"type": "register", "datasets": both})
    for wrong in ({}, {"table": table, "mart": table}):
        with pytest.raises(InvalidSettingError, match="one source"):
            space.task("none", {"type": "register", "datasets": [{"name": "a", "source": wrong}]})


def test_viewing_as_somebody_shows_no_rows(space: InlineSpace, lake: Lakehouse) -> None:
    lake.register("viewed", lake.table(TWO))
    with pytest.raises(ForbiddenError, match="shows no data"):
        read(space, replace(CARL, impersonator="ada"), "viewed")


def test_lineage_leads_from_the_table_to_the_task_for_those_who_see_both(space: InlineSpace, lake: Lakehouse) -> None:
    table = lake.table(TWO)
    task = lake.register("traced", table)
    with space.platform.read(ERIK) as ctx:
        assert table in LINEAGE.upstream(ctx, task).steps
    with space.platform.read(OTTO) as ctx:
        side = LINEAGE.upstream(ctx, task)
        assert (table in side.steps, side.hidden) == (False, True)


def test_a_hidden_task_is_no_help_to_who_reads_it_elsewhere(space: InlineSpace, lake: Lakehouse) -> None:
    """Nele manages the table and has no role in the space: she learns nothing of who registers it."""
    table = lake.table(TWO)
    task = lake.register("unseen", table)
    with space.platform.read(NELE) as ctx, pytest.raises(NotFoundError):
        resources.get(ctx, task)
    with space.platform.read(CARL) as ctx, pytest.raises(NotFoundError):
        resources.get(ctx, table)
