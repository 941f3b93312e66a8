"""A name that SQL or people look up belongs to one resource where they do, whichever way another one comes there."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

import pytest

from lakehold.access import Add, Draft, Grant
from lakehold.access.facts.names import NameTakenError
from lakehold.catalog import resource_edit, resources, workspaces
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import groups
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import BusyError
from tests.demo_company import TENANT, DemoPlatform, as_member

LAKE, MARTS = "lake_house", "sales"


def name_of(ctx: RequestContext, uid: str) -> str:
    return ctx.view.names.get(ctx.view.resource(uid)) or ""


def create(kind: str, edge: str, parent: str) -> Callable[[RequestContext, str], str]:
    return lambda ctx, name: resources.create(ctx, kind, name, edges={edge: parent})


TAKEN: dict[str, tuple[Callable[[RequestContext, str], str], str]] = {
    "layer": (create("lakehouse.layer", "lakehouse", LAKE), "clean"),
    "table": (create("lakehouse.table", "layer", "clean"), "orders"),
    "volume": (create("lakehouse.volume", "layer", "clean"), "clean_files"),
    "query": (create("lakehouse.query", "lakehouse", LAKE), "make_orders"),
    "storage": (create("marts.storage", "project", MARTS), "till_files"),
    "destination": (create("marts.destination", "project", MARTS), "finance_table"),
    "report": (
        lambda ctx, name: resources.create(
            ctx, "marts.report", name, edges={"data_mart": "suppliers", "destination": "finance_table"}
        ),
        "margin_book",
    ),
    "workspace": (lambda ctx, name: workspaces.create(ctx, "spaces", name), LAKE),
    "group": (groups.create, "all"),
}


@pytest.mark.parametrize("case", TAKEN)
def test_a_second_one_is_refused_at_its_name(corner: DemoPlatform, case: str) -> None:
    make, holder = TAKEN[case]
    uid = f"{TENANT}/all" if holder == "all" else holder
    with corner.read(as_member("olga")) as ctx:
        name = name_of(ctx, uid)
    with pytest.raises(NameTakenError) as refused, corner.write(as_member("olga")) as ctx:
        make(ctx, name.upper())
    error = refused.value
    assert (error.field, error.code, error.status, error.holder) == ("name", "name_taken", 409, uid)
    with corner.write(as_member("olga")) as ctx:
        assert make(ctx, error.free), "what it suggests is free"


def test_names_are_compared_as_people_read_them(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        make = create("lakehouse.layer", "lakehouse", LAKE)
        make(ctx, "Straße")
        for same in ("STRASSE", "straße", "ｓｔｒａｓｓｅ"):
            with pytest.raises(NameTakenError) as refused:
                make(ctx, same)
            assert refused.value.free.endswith(" 2")
        street = make(ctx, "Strasse 2")
        ctx.rename(street, "STRASSE 2")
        assert name_of(ctx, street) == "STRASSE 2"


def test_elsewhere_the_same_name_is_free(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        resources.create(ctx, "lakehouse.table", "orders", edges={"layer": "raw"})
        resources.create(ctx, "lakehouse.volume", "orders", edges={"layer": "clean"})
        # A saved query is its owner's own, and looked up by nobody.
        for _ in range(2):
            resources.create(ctx, "lakehouse.saved_query", "How many", edges={"lakehouse": LAKE})


def test_an_edit_or_a_move_takes_no_name(corner: DemoPlatform) -> None:
    with pytest.raises(NameTakenError), corner.write(as_member("olga")) as ctx:
        resource_edit.apply_edit(ctx, "order_lines", ResourceEdit(name="Orders", description="New."))
    with corner.write(as_member("olga")) as ctx:
        made = resources.create(ctx, "lakehouse.table", "ORDERS", edges={"layer": "raw"})
    with pytest.raises(NameTakenError) as refused, corner.write(as_member("olga")) as ctx:
        resource_edit.reparent(ctx, made, "clean")
    assert refused.value.holder == "orders"
    with corner.write(as_member("olga")) as ctx:
        resource_edit.reparent(ctx, "orders", "shaped")
        resource_edit.reparent(ctx, made, "clean")
        assert create("lakehouse.table", "layer", "raw")(ctx, "orders"), "its old place is free"


def test_a_report_takes_no_name_of_another_mart(corner: DemoPlatform) -> None:
    with pytest.raises(NameTakenError), corner.write(as_member("olga")) as ctx:
        resource_edit.apply_edit(ctx, "supplier_bill", ResourceEdit(name=name_of(ctx, "margin_book")))


def test_what_is_deleted_frees_its_name(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        name, make = name_of(ctx, "finance_table"), create("marts.destination", "project", MARTS)
        assert not resources.delete(ctx, "finance_table")
        another = make(ctx, name)
    with pytest.raises(NameTakenError) as refused, corner.write(as_member("olga")) as ctx:
        resources.restore(ctx, "finance_table")
    assert (refused.value.field, refused.value.holder) == ("name", another)
    with corner.write(as_member("olga")) as ctx:
        other = resources.create(ctx, "marts.destination", "Other", edges={"project": MARTS})
        with pytest.raises(NameTakenError):
            resources.restore(ctx, "finance_table", "other")
        assert name_of(ctx, "finance_table") == name, "nothing is half done"
        assert resources.delete(ctx, other)
        resources.restore(ctx, "finance_table", refused.value.free)
        assert name_of(ctx, "finance_table") == refused.value.free
        with pytest.raises(NameTakenError):
            make(ctx, refused.value.free)
        assert resources.delete(ctx, another)
        assert make(ctx, name)


def test_a_hidden_holder_is_not_named(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        ctx.make(Add(Grant("erik", "editor", "clean")))
        hidden = resources.create(ctx, "marts.destination", "Hidden", edges={"project": MARTS})
    said = {}
    for member in ("olga", "bella"):
        with corner.read(as_member(member)) as ctx:
            assert ctx.session.can_see(member, hidden) == (member == "olga")
        with pytest.raises(NameTakenError) as refused, corner.write(as_member(member)) as ctx:
            create("marts.destination", "project", MARTS)(ctx, "HIDDEN")
        said[member] = str(refused.value)
    assert said == {
        "olga": "The name 'HIDDEN' is taken by the destination Hidden. 'HIDDEN 2' is free.",
        "bella": "The name 'HIDDEN' is taken. 'HIDDEN 2' is free.",
    }


def together(*writers: Callable[[], None]) -> list[Exception]:
    """Let all write at once. Which errors they got."""
    errors: list[Exception] = []

    def run(write: Callable[[], None]) -> None:
        try:
            write()
        except (NameTakenError, BusyError) as error:
            errors.append(error)

    threads = [Thread(target=run, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return errors


def test_of_two_writers_one_gets_the_name(corner: DemoPlatform) -> None:
    def write() -> None:
        with corner.write(as_member("olga")) as ctx:
            create("lakehouse.table", "layer", "clean")(ctx, "wanted")

    errors = together(write, write)
    assert [type(error) for error in errors] == [NameTakenError]


@pytest.mark.parametrize("corner", ["postgresql"], indirect=True)
def test_the_database_refuses_a_name_that_was_checked_too_early(corner: DemoPlatform) -> None:
    """Without the lock of the tenant's writers, both see a free name; the index has the last word."""
    both, checked = Event(), Event()

    def write(name: str, mine: Event, other: Event) -> None:
        with corner.access.write(TENANT) as session:
            session.store.claims.refuse_taken(session.store.claims.draft_scope(DRAFT), name)
            mine.set()
            assert other.wait(60)
            session.store.create(DRAFT.kind, name, edges=DRAFT.edges)

    errors = together(lambda: write("wanted", both, checked), lambda: write("WANTED", checked, both))
    assert [type(error) for error in errors] == [NameTakenError]
    with corner.read(as_member("olga")) as ctx:
        assert len(resources.find(ctx, "wanted", within="clean").items) == 1


DRAFT = Draft("lakehouse.table", {"layer": "clean"})
