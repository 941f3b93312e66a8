"""Registered data on pages, by REST, in apps and in the file of a project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from lakehold.web import app_factory
from lakehold.workspaces.spaces.project_files import file_format
from lakehold.workspaces.spaces.project_files.export import export_project
from lakehold.workspaces.spaces.project_files.project_import import ImportOptions, ProjectImport
from tests.web.site import running
from tests.workspaces.spaces.dashboard import Dashboard, sum_of
from tests.workspaces.spaces.registry import Lakehouse, registered
from tests.workspaces.spaces.space import ERIK, PETRA, InlineSpace
from tests.workspaces.spaces.test_designer_pages import NEW, Pages, errors_on

ROWS = "SELECT * FROM VALUES (1, 'wilma'), (2, 'zelda') AS t (id, name)"


@pytest.fixture(scope="module")
def pages(space: InlineSpace) -> Iterator[Pages]:
    with running(app_factory.create_web_app(space.platform)) as address, ExitStack() as stack:
        yield Pages(space, address, stack)


def test_a_table_is_registered_on_pages(space: InlineSpace, lake: Lakehouse, pages: Pages) -> None:
    table, other = lake.table(ROWS), lake.table(ROWS, readers=[ERIK])
    form = pages.by("erik").get(NEW + "register").text
    assert "New register data task" in form
    added = pages.send("erik", NEW + "register", name="shown", do="add:datasets")
    assert f"Lake / Raw / {table}</option>" in added.text
    assert f"Lake / Raw / {other}: the project&#39;s owner may not read it</option>" in added.text
    assert f"Lake / Raw / {table}" not in pages.send("otto", NEW + "register", name="s", do="add:datasets").text
    empty = pages.send("erik", NEW + "register", name="shown", **{"datasets.0.name": "people"})
    assert any("Select the source." in each for each in errors_on(empty))
    fields = {"datasets.0.name": "people", "datasets.0.source": f"table {table}"}
    task = pages.create("erik", "register", "shown", **fields)
    assert "Register" in pages.prepare(task)
    edited = pages.by("erik").get(f"/resources/{task}/task/edit").text
    assert f'value="table {table}" selected' in edited
    dataset = space.dataset(task, "people")
    page = pages.by("erik").get(f"/resources/{dataset}/dataset").text
    assert "Registered dataset" in page
    assert table in page
    assert "<code>name</code>" in page
    unseen = pages.by("otto").get(f"/resources/{dataset}/dataset").text
    assert table not in unseen
    assert "Not visible to you." in unseen
    rows = pages.by("vera").get(f"/resources/{dataset}/dataset/first-rows").text
    assert "zelda" in rows
    with lake.without(PETRA, "viewer", table):
        assert f"Petra may not read the table {table}." in pages.by("erik").get(f"/resources/{task}/task").text
        closed = pages.by("otto").get(f"/resources/{dataset}/dataset").text
        assert "cannot be read now" in closed
        assert "<code>name</code>" not in closed
        denied = pages.by("vera").get(f"/resources/{dataset}/dataset/first-rows")
        assert (denied.status_code, "zelda" in denied.text) == (403, False)
        vera = pages.by("vera").get(f"/resources/{dataset}/dataset").text
        assert "Petra may not" not in vera


def test_what_prepare_would_do_is_told_by_rest(lake: Lakehouse, space: InlineSpace, pages: Pages) -> None:
    table = lake.table(ROWS)
    task = space.task("told_by_rest", registered(table))
    found = pages.send("otto", f"/resources/{task}/task/validate")
    assert found.status_code == 200
    assert "No problems found" in found.text


def test_an_app_shows_it_until_the_owner_of_the_project_loses_the_right(lake: Lakehouse, board: Dashboard) -> None:
    table = lake.table(ROWS)
    task = lake.register("for_app", table)
    source = {"task": task, "dataset": "rows"}
    chart = board.chart(source=source, group_by=["name"], series=[sum_of("id", "total")])
    app = board.app({"charts": [chart]}, "nora")
    assert [each["rows"] for each in board.data("nora", app)] == [[["wilma", 1], ["zelda", 2]]]
    with lake.without(PETRA, "viewer", table):
        for member in ("nora", "carl"):
            (found,) = board.data(member, app)
            assert not found.get("rows")
            assert "Its data cannot be read." in str(found)
            assert "Petra" not in str(found)
            assert "zelda" not in str(found)


def test_the_file_of_a_project_names_it_by_its_path(space: InlineSpace, lake: Lakehouse) -> None:
    table, mart = lake.table(ROWS), lake.mart(ROWS)
    with space.platform.write(PETRA) as ctx:
        project = ctx.create("spaces.project", "filed", edges={"space": "sales"})
    space.task("seen", registered(table, mart), project=project)
    with space.platform.write(PETRA) as ctx:
        text = export_project(ctx, project)
        assert f"table: Lake/Raw/{table}" in text
        assert f"mart: Marketing/{mart}" in text
        assert ProjectImport(ctx, file_format.parse(text), ImportOptions("sales")).plan() == []
        again = file_format.parse(text.replace("project: filed", "project: filed_again"))
        ProjectImport(ctx, again, ImportOptions("sales")).apply()
    with lake.without(PETRA, "viewer", table), space.platform.write(PETRA) as ctx:
        third = file_format.parse(text.replace("project: filed", "project: filed_thrice"))
        with pytest.raises(Exception, match="There is no table"):
            ProjectImport(ctx, third, ImportOptions("sales")).apply()
