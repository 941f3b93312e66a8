"""A run of a pipeline reads what its starter and the author of its definition may both read."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Grant, Remove
from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.errors import DeniedError
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE, Run
from tests.lake.shop import ADA, ED, SECRET
from tests.workspaces.lakehouse.inline_runs import RUNS, InlineRuns


def scheduled(here: InlineRuns, uid: str) -> Run:
    """A run of Ada's schedule."""
    with here.shop.platform.write(ADA) as ctx:
        run = RUNS.insert(ctx, uid, RunOptions(), cause=MANUAL_CAUSE)
    return here.execute(run)


def query(here: InlineRuns, name: str, sql: str, reads: list[str]) -> str:
    """A query of Ed's, into the layer raw."""
    with here.shop.platform.write(ED) as ctx:
        edges = {"lakehouse": "shop", "reads": reads, "writes": "raw", "into": "raw"}
        settings = {"sql": sql, "table": name}
        return resources.create(ctx, "lakehouse.query", name, uid=name, edges=edges, settings=settings)


def test_a_query_that_names_less_than_it_reads_is_refused(here: InlineRuns) -> None:
    uid = query(here, "sly", "SELECT word FROM secret.hidden", ["orders"])
    run = scheduled(here, uid)
    assert (run.state, SECRET in run.error) == ("failed", False)


def test_the_author_of_a_query_must_still_read_its_tables(here: InlineRuns) -> None:
    uid = query(here, "daily_orders", "SELECT id FROM raw.orders", ["orders"])
    assert scheduled(here, uid).state == "succeeded"
    level = Grant("ed", "editor", "raw")
    with here.shop.platform.write(ADA) as ctx:
        ctx.make(Remove(level))
    try:
        assert "Ed, who last changed the definition of query" in scheduled(here, uid).error
        with here.shop.platform.write(ADA) as ctx, pytest.raises(DeniedError, match="Ed, who last changed"):
            RUNS.start(ctx, uid)
        with here.shop.platform.write(ADA) as ctx:
            resource_edit.take_over(ctx, uid)
        assert scheduled(here, uid).state == "succeeded"
    finally:
        with here.shop.platform.write(ADA) as ctx:
            ctx.make(Add(level))


def test_a_saved_table_reads_as_the_author_of_its_query_too(here: InlineRuns) -> None:
    with here.shop.platform.write(ADA) as ctx:
        settings = {"sql": "SELECT word FROM secret.hidden"}
        edges = {"layer": "raw", "saved_from": ["hidden"]}
        uid = resources.create(ctx, "lakehouse.table", "saved", uid="saved", edges=edges, settings=settings)
    with here.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings={"sql": "SELECT id, word FROM secret.hidden"}))
    run = scheduled(here, uid)
    assert (run.state, SECRET in run.error) == ("failed", False)


def test_an_editor_cannot_point_a_source_at_a_volume_of_others(here: InlineRuns) -> None:
    with here.shop.platform.access.write("acme") as session:
        session.store.create("lakehouse.volume", "vault", uid="vault", edges={"layer": "secret"})
    here.put_file("a/x.csv", "id\n1\n")
    uid = here.source("pointed", {"connector": "files", "volume": "raw_files", "folder": "a"})
    with here.shop.platform.read(ADA) as ctx:
        assert resources.get(ctx, uid).edges["reads"][0].uid == "raw_files"
    # The edge follows the setting, also if only edges are given.
    with here.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, uid, ResourceEdit(edges={"reads": []}))
        assert resources.get(ctx, uid).edges["reads"][0].uid == "raw_files"
    settings = {"connector": "files", "volume": "vault", "folder": "a"}
    with here.shop.platform.write(ED) as ctx, pytest.raises(InvalidSettingError, match="no volume"):
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
    # Who only sees the volume may not let a pipeline read it: an edit needs the level before and after.
    with here.shop.platform.access.write("acme") as session:
        session.store.add(Grant("ed", "viewer", "vault"))
    with here.shop.platform.write(ED) as ctx, pytest.raises(DeniedError):
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
    with here.shop.platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
        ctx.make(Remove(Grant("ed", "viewer", "vault")))
    # It is hidden from Ed by now, as the volume is.
    with here.shop.platform.read(ED) as ctx:
        assert not ctx.session.can_see(ctx.principal, uid)


def test_the_mode_of_a_query_has_an_author_of_its_own(here: InlineRuns) -> None:
    uid = query(here, "sly_mode", "SELECT word FROM secret.hidden", ["orders"])
    with here.shop.platform.write(ADA) as ctx:
        settings = {"sql": "SELECT word FROM secret.hidden", "table": "sly_mode", "mode": "append"}
        resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
    assert "Ed, who last changed" in scheduled(here, uid).error


def test_whoever_enables_a_stream_is_an_author_of_it(here: InlineRuns) -> None:
    here.put_file("b/y.csv", "id\n1\n")
    with here.shop.platform.write(ADA) as ctx:
        edges = {"lakehouse": "shop", "into": "raw"}
        settings = {"connector": "files", "volume": "raw_files", "folder": "b"}
        uid = resources.create(ctx, "lakehouse.source", "enabled", edges=edges, settings=settings)
        stream = resources.create(
            ctx,
            "lakehouse.stream",
            "y.csv",
            edges={"source": uid},
            attributes={"enabled": "false"},
            settings={"stream": "y.csv", "table": "enabled_y"},
        )
    with here.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, stream, ResourceEdit(attributes={"enabled": "true"}))
    assert scheduled(here, uid).error == ""
    level = Grant("ed", "editor", "raw")
    with here.shop.platform.write(ADA) as ctx:
        ctx.make(Remove(level))
    try:
        assert "Ed, who last changed" in scheduled(here, uid).error
    finally:
        with here.shop.platform.write(ADA) as ctx:
            ctx.make(Add(level))
