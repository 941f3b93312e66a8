"""A pipeline built on pages, from a real PostgreSQL to a data mart: streams listed, steps previewed, plans shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from urllib.parse import unquote

import httpx
import psycopg
import pytest

from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.catalog import resource_metadata
from lakehold.directory import sign_ins
from lakehold.directory.caller import Caller, ClientInfo
from lakehold.ledger.audit import AuditFilter
from lakehold.web import app_factory
from tests.web.forms import token
from tests.web.site import running
from tests.workspaces.spaces.space import ADA, ERIK, TENANT, InlineSpace
from tests.workspaces.spaces.test_tasks import fill, landing

NEW = "/resources/ingest/tasks/new?type="


class Pages:
    """The web app over the spaces, and a browser without scripts for each member."""

    def __init__(self, space: InlineSpace, address: str, stack: ExitStack) -> None:
        self._space, self._address, self._stack = space, address, stack
        self._clients: dict[str, httpx.Client] = {}

    def by(self, member: str) -> httpx.Client:
        """The browser of somebody who has signed in."""
        if member not in self._clients:
            with self._space.platform.write(Caller(TENANT, member)) as ctx:
                info = ClientInfo("127.0.0.1", "a test", "")
                cookie = sign_ins.create(ctx, self._space.platform.settings, member, "test", info).secret
            client = httpx.Client(
                base_url=self._address, headers={"Accept": "text/html"}, cookies={SESSION_COOKIE: cookie}, timeout=120
            )
            self._clients[member] = self._stack.enter_context(client)
        return self._clients[member]

    def send(self, member: str, to: str, **fields: str | list[str]) -> httpx.Response:
        """Send a form."""
        client = self.by(member)
        return client.post(to, data={"csrf_token": token(client, "/resources/ingest/tasks/new"), **fields})

    def create(self, member: str, word: str, name: str, **fields: str | list[str]) -> str:
        """Create a task in the designer; return its id."""
        made = self.send(member, NEW + word, name=name, do="save", **fields)
        assert made.status_code == 303, errors_on(made)
        return unquote(made.headers["location"].split("/")[2])

    def prepare(self, task: str) -> str:
        """Prepare a task as its operator, who has seen the plan; return the page of the plan."""
        plan = self.by("otto").get(f"/resources/{task}/task/prepare")
        assert plan.status_code == 200
        started = self.send("otto", f"/resources/{task}/task/prepare")
        assert started.status_code == 303
        self._space.execute_next()
        run = self._space.get(started.headers["location"].rpartition("/")[2])
        assert run.state == "succeeded", run.error
        return plan.text


def errors_on(page: httpx.Response) -> list[str]:
    """What a page says is wrong."""
    found = re.findall(r'<(?:p|div) class="(?:field-error|notice bad)"[^>]*>(.*?)</(?:p|div)>', page.text, re.DOTALL)
    return [unescape(" ".join(re.sub(r"<[^>]+>", " ", each).split())) for each in found]


@pytest.fixture(scope="module")
def pages(space: InlineSpace) -> Iterator[Pages]:
    with running(app_factory.create_web_app(space.platform)) as address, ExitStack() as stack:
        yield Pages(space, address, stack)


def reads_of(space: InlineSpace, uid: str) -> list[tuple[str, str]]:
    """Who has read something, by the audit log of reads."""
    space.platform.reads.flush()
    with space.platform.read(ADA) as ctx:
        return [(line.entry.member, line.entry.action) for line in ctx.reads.page(AuditFilter(resource=uid))]


@pytest.mark.slow
def test_a_pipeline_is_built_on_pages(space: InlineSpace, source: psycopg.Connection, shop: str, pages: Pages) -> None:
    fill(source, "bought", 4)
    listed = pages.send("erik", NEW + "landing", name="land_bought", connection=shop, do="streams")
    assert listed.status_code == 200, errors_on(listed)
    (stream,) = re.findall(r'name="chosen\[\]" type="checkbox" value="([^"]*public\.bought&[^"]*)"', listed.text)
    taken = pages.send(
        "erik", NEW + "landing", name="land_bought", connection=shop, do="take", **{"chosen[]": [unescape(stream)]}
    )
    assert 'value="public.bought"' in taken.text
    assert 'name="datasets.0.keys" type="text" value="id"' in taken.text
    first = {"datasets.0.stream": "public.bought", "datasets.0.name": "bought", "datasets.0.mode": "compare"}
    land = pages.create("erik", "landing", "land_bought", connection=shop, **first, **{"datasets.0.keys": "id"})
    plan = pages.prepare(land)
    assert "Create" in plan
    assert "<code>name</code> string" in plan
    run = pages.send("otto", f"/resources/{land}/pipeline/run")
    space.execute_next()
    assert space.get(run.headers["location"].rpartition("/")[2]).state == "succeeded"

    stored = {"datasets.0.name": "bought", "datasets.0.source": f"{land} bought", "datasets.0.keys": "id"}
    store = pages.create("erik", "storage", "store_bought", **stored, **{"datasets.0.deletes": "1"})
    pages.prepare(store)
    space.run(store)

    steps = {
        "datasets.0.how": "steps",
        "datasets.0.name": "last",
        "datasets.0.mode": "overwrite",
        "datasets.0.start": "store_bought.bought",
        "datasets.0.steps.0.step": "filter",
        "datasets.0.steps.0.match": "all",
        "datasets.0.steps.0.conditions.0.column": "id",
        "datasets.0.steps.0.conditions.0.operator": ">",
        "datasets.0.steps.0.conditions.0.value": "2",
        "datasets.0.steps.1.step": "rename",
        "datasets.0.steps.1.columns": "name = title",
    }
    make = pages.create("erik", "transform", "make_last", **{"reads[]": [store]}, **steps)
    edit = f"/resources/{make}/task/edit"
    form: dict[str, str | list[str]] = {"name": "make_last", "reads[]": [store], **steps}
    preview = pages.send("olga", edit, **form, do="preview:datasets.0.steps.0")
    assert ">n3<" in preview.text
    assert "title<small>" not in preview.text
    assert "title<small>" in pages.send("olga", edit, **form, do="preview:datasets.0.steps.1").text
    blind = pages.send("erik", edit, **form, do="preview:datasets.0.steps.1").text
    assert "To see rows you need Can view data" in blind
    assert ">n3<" not in blind
    pages.prepare(make)
    space.run(make)
    assert [row[:2] for row in space.rows(make, "last")] == [(3, "n3"), (4, "n4")]

    mart = {
        "dimensions.0.name": "thing",
        "dimensions.0.source": f"{make} last",
        "dimensions.0.business_key": "id",
        "dimensions.0.history": "1",
        "dimensions.0.closes_missing": "1",
        "facts.0.name": "buy",
        "facts.0.source": f"{store} bought",
        "facts.0.keys": "id",
        "facts.0.links.0.dimension": "thing",
        "facts.0.links.0.columns": "id",
        "views.0.name": "buys",
        "views.0.fact": "buy",
        "views.0.as_of": "fact",
        "views.0.dimensions.0.role": "thing",
        "views.0.dimensions.0.columns": "title",
    }
    star = pages.create("erik", "data_mart", "mart_bought", **mart)
    pages.prepare(star)
    space.run(star)
    view = space.dataset(star, "buys")
    columns = pages.by("vito").get(f"/resources/{view}/dataset").text
    assert "thing_title" in columns
    assert pages.by("vito").get(f"/resources/{view}/dataset/first-rows").status_code == 403
    assert ">n4<" in pages.by("vera").get(f"/resources/{view}/dataset/first-rows").text
    assert pages.by("carl").get(f"/resources/{view}/dataset/first-rows").status_code == 403
    assert reads_of(space, view) == [("vera", "preview")]

    graph = pages.by("otto").get("/resources/ingest/graph").text
    for task in (land, store, make, star):
        assert f"/resources/{task}/task" in graph
    assert "Data mart · ready" in graph
    # What is saved is what the form shows again.
    again = pages.by("erik").get(edit).text
    assert 'value="name = title"' in again
    assert f'value="{land} bought"' in pages.by("erik").get(f"/resources/{star}/task/edit").text


def test_nothing_is_lost_by_a_mistake_and_each_is_at_its_field(shop: str, pages: Pages) -> None:
    to = NEW + "landing"
    wrong = {"connection": shop, "datasets.0.stream": "public.kept", "datasets.0.name": "Not this",
             "datasets.0.mode": "incremental", "datasets.1.name": "second"}  # fmt: skip
    answer = pages.send("erik", to, name="", do="save", **wrong)
    assert answer.status_code == 422
    assert {"Enter a name.", "Enter a stream."} <= {*errors_on(answer)}
    assert 'value="public.kept"' in answer.text
    again = pages.send("erik", to, name="mistaken", do="save", **wrong, **{"datasets.1.stream": "s"})
    assert 'id="field-datasets.0.name-about"' in again.text
    assert any("cannot be 'Not this'" in each for each in errors_on(again))
    cursor = pages.send("erik", to, name="mistaken", do="save", **{**wrong, "datasets.0.name": "kept",
                                                                   "datasets.1.stream": "s"})  # fmt: skip
    assert "kept has no cursor." in " ".join(errors_on(cursor))
    assert pages.send("erik", to, name="x", do="streams").status_code == 422
    assert pages.send("vito", to, name="x", do="save", **wrong).status_code == 403


def test_records_are_added_moved_and_removed(pages: Pages, space: InlineSpace) -> None:
    steps = [{"step": "deduplicate"}, {"step": "select", "columns": ["one"]}]
    task = space.task("moved", {"type": "transform", "datasets": [{"name": "m", "start": "a.b", "steps": steps}]})
    edit = f"/resources/{task}/task/edit"
    form = {"name": "moved", "datasets.0.how": "steps", "datasets.0.name": "m", "datasets.0.mode": "overwrite",
            "datasets.0.start": "a.b", "datasets.0.steps.0.step": "deduplicate", "datasets.0.steps.1.step": "select",
            "datasets.0.steps.1.columns": "one"}  # fmt: skip

    def kinds(do: str, **more: str) -> list[str]:
        page = pages.send("erik", edit, **form, **more, do=do).text
        return re.findall(r'name="datasets\.0\.steps\.\d\.step" value="(\w+)"', page)

    assert kinds("down:datasets.0.steps.0") == ["select", "deduplicate"]
    assert kinds("remove:datasets.0.steps.0") == ["select"]
    added = kinds("add:datasets.0.steps", **{"datasets.0.new_steps": "join"})
    assert added == ["deduplicate", "select", "join"]
    for do in ("up:datasets.0.steps.9", "add:nothing", "remove:x", "preview:datasets.7", "up:datasets.0.steps.a"):
        assert pages.send("erik", edit, **form, do=do).status_code == 422, do
    gone = pages.send("erik", edit, **form, do="preview:datasets.0")
    assert "There is no input" in gone.text or "has no input" in gone.text


def test_a_version_that_somebody_has_changed_meanwhile_is_not_overwritten(space: InlineSpace, pages: Pages) -> None:
    task = space.task("raced", {"type": "transform", "datasets": [{"name": "r", "sql": "SELECT 1 AS one"}]})
    form = {"name": "raced", "datasets.0.how": "sql", "datasets.0.name": "r", "datasets.0.mode": "overwrite"}
    edit, sql = f"/resources/{task}/task/edit", "datasets.0.sql"
    assert pages.send("erik", edit, **form, version="1", do="save", **{sql: "SELECT 2 AS two"}).status_code == 303
    late = pages.send("petra", edit, **form, version="1", do="save", **{sql: "SELECT 3 AS three"})
    assert late.status_code in {412, 422}
    assert "SELECT 3 AS three" in late.text


def test_settings_that_the_form_does_not_have_stay(space: InlineSpace, shop: str, pages: Pages) -> None:
    parts = {"column": "id", "count": 2}
    task = space.task("kept_parts", landing(shop, "kept_parts", parts=parts))
    edit = f"/resources/{task}/task/edit"
    kept = re.search(r'name="datasets\.0\.kept" value="([^"]*)"', pages.by("erik").get(edit).text)
    assert kept
    form = {"name": "kept_parts", "connection": shop, "datasets.0.stream": "public.other", "datasets.0.name": "other",
            "datasets.0.mode": "reload", "datasets.0.kept": unescape(kept[1])}  # fmt: skip
    assert pages.send("erik", edit, **form, do="save").status_code == 303
    with space.platform.read(ERIK) as ctx:
        stored = resource_metadata.load(ctx, task).settings["datasets"]
    assert isinstance(stored, list)
    assert (stored[0]["stream"], stored[0]["parts"]) == ("public.other", parts)
    assert pages.by("otto").get(edit).status_code == 403
