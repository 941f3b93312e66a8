"""Who reads a registered dataset, for every combination of rights: by check, by list and by who."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest

from lakehold import workspaces
from lakehold.access import Edge, Grant, Remove
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings

TENANT = "acme"
SOURCES = {"table": ("lakehouse.table", "viewer"), "mart": ("marts.data_mart", "business_owner")}
FACTS = {
    "owned": Grant("petra", "owner", "project"),
    "opened": Grant("petra", "{role}", "source"),
    "consumes": Grant("carl", "can_consume_data", "space"),
    "reads_source": Grant("carl", "{role}", "source"),
    "views": Grant("carl", "can_view_data", "space"),
}


@pytest.fixture(params=sorted(SOURCES))
def world(request: pytest.FixtureRequest, template_file: Path, tmp_path: Path) -> tuple[Platform, str]:
    """A registered dataset of a table or a data mart, without any right to it; and the role that reads its source."""
    shutil.copy(template_file, tmp_path / "lakehold.sqlite")
    platform = Platform(Settings(data=tmp_path / "data", database=f"sqlite:///{tmp_path / 'lakehold.sqlite'}"))
    platform.access.create_tenant(TENANT, "Acme", workspaces.models())
    kind, role = SOURCES[request.param]
    with platform.access.write(TENANT) as session:
        store = session.store
        for member in ("ada", "petra", "carl"):
            store.create("tenant.member", member.title(), uid=member, edges={"tenant": TENANT})
        store.add(Grant("ada", "owner", TENANT))
        store.create("lakehouse.lakehouse", "Lake", uid="lake", edges={"tenant": TENANT})
        store.create("lakehouse.layer", "Raw", uid="layer", edges={"lakehouse": "lake"})
        store.create("marts.project", "Marts", uid="marts", edges={"tenant": TENANT})
        store.create("marts.storage", "Files", uid="storage", edges={"project": "marts"})
        for member in ("petra", "carl"):
            store.add(Grant(member, "business_user", "marts"))
        parent = {"layer": "layer"} if request.param == "table" else {"project": "marts", "storage": "storage"}
        store.create(kind, "source", uid="source", edges=parent)
        store.create("spaces.space", "Space", uid="space", edges={"tenant": TENANT})
        store.create("spaces.project", "Project", uid="project", edges={"space": "space"})
        store.create("spaces.task", "task", uid="task", edges={"project": "project"})
        store.create("spaces.dataset", "rows", uid="rows", edges={"task": "task", request.param: "source"})
        store.create("spaces.dataset", "own", uid="own", edges={"task": "task"})
    return platform, role


def test_the_owner_of_the_project_opens_it_and_a_role_in_the_space_reads_it(world: tuple[Platform, str]) -> None:
    platform, role = world
    facts = {name: Grant(each.subject, each.role.format(role=role), each.resource) for name, each in FACTS.items()}
    there: set[str] = set()
    for chosen in product((False, True), repeat=len(facts)):
        wanted = {name for name, held in zip(facts, chosen, strict=True) if held}
        with platform.access.write(TENANT) as session:
            for name in wanted - there:
                session.store.add(facts[name])
            for name in there - wanted:
                session.store.remove(facts[name])
        there = wanted
        is_open = {"owned", "opened"} <= there
        with platform.access.read(TENANT) as session:
            for action, needed in (("consume_data", "consumes"), ("view_data", "views")):
                expected = is_open and needed in there
                assert session.check("carl", action, "rows") == expected, (there, action)
                listed = {each.uid for each in session.list("carl", action, "spaces.dataset").items}
                assert listed == {name for name, held in (("rows", expected), ("own", needed in there)) if held}
                assert session.who(action, "rows") == (["carl"] if expected else [])
            assert session.check("carl", "read" if role == "viewer" else "use", "source") == ("reads_source" in there)


def test_without_its_source_it_has_no_rows_of_its_own_to_show(world: tuple[Platform, str]) -> None:
    platform, role = world
    with platform.access.write(TENANT) as session:
        for fact in (Grant("petra", "owner", "project"), Grant("petra", role, "source")):
            session.store.add(fact)
        session.store.delete("source")
        view = session.current_view()
        assert not any(view.edges_out[edge].get(view.resource("rows")) for edge in SOURCES)


def test_nobody_sets_what_a_dataset_shows(world: tuple[Platform, str]) -> None:
    platform, role = world
    with platform.access.write(TENANT) as session:
        for fact in (
            Grant("petra", "owner", "project"),
            Grant("petra", "owner", "space"),
            Grant("petra", role, "source"),
        ):
            session.store.add(fact)
        for member in ("ada", "petra", "carl"):
            for edge in SOURCES:
                if session.current_view().edges_out[edge].get(session.current_view().resource("rows")):
                    assert not session.check_change(member, Remove(Edge(edge, "rows", "source")))
