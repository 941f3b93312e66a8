"""Bad input: a named error that helps, never a silent yes or no, never another exception, never SQL."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.access import AccessEngine, AccessSession, Draft, Edge, Grant
from lakehold.access.query.listing import ListedResource
from lakehold.kit.database import Database
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.workspaces import models, policy
from tests.access.probes import PROBES, TABLE, Probe
from tests.access.test_session import RollbackError
from tests.laws.budget import examples
from tests.laws.view_questions import facts
from tests.processor_time import bounded

TENANT = "acme"
SQL = "x'; DROP TABLE resource; --"
TEXTS = [
    "", " ", "nope", "Ann", "ANN", "ann ", "x" * 100_000, "a\0b", "\ud800", "\n", "\u202e", "%", "_", "\\", "'", '"',
    SQL, '" OR 1 = 1 --', "' OR '1'='1", "%(me)s", ":me", "{}", "{0.__class__}", "${x}", "../../etc/passwd",
]  # fmt: skip
OTHERS = [
    None, True, 5, -1, 2**70, 1.5, float("nan"), b"ann", [], ["ann"], {}, {"a": 1}, (), frozenset({"ann"}), object(),
    datetime(2026, 1, 1),  # noqa: DTZ001 - no time zone, which is what is wrong with it
]  # fmt: skip


def words() -> set[str]:
    """Every word that means something here."""
    found = {"acme", "acme/all", "ann", "bob", "lh", "bronze", "orders", "project", "create", "give", "invite"}
    for kind in policy().kinds.values():
        schema = kind.schema
        found |= {kind.id, *schema.actions, *schema.roles, *schema.edges, *schema.attributes, *schema.membership}
        for attribute in (*schema.attributes.values(), *schema.membership.values()):
            found |= {*attribute.values}
    return found | {"name", "-name", "created", "-created"}


KNOWN = words()


@pytest.fixture(scope="module")
def access(shared: Database) -> AccessEngine:
    """The smallest tenant in which every probe has something to ask for. Nothing in it is ever committed again."""
    access = AccessEngine(shared)
    with suppress(ConflictError):
        access.create_tenant(TENANT, "Acme", models())
        with access.write(TENANT) as session:
            fill(session)
    return access


def fill(session: AccessSession) -> None:
    store = session.store
    for member in ("ann", "bob"):
        store.create("tenant.member", member, uid=member, edges={"tenant": TENANT})
    store.create("lakehouse.lakehouse", "Lake", uid="lh", edges={"tenant": TENANT})
    store.create("lakehouse.layer", "Bronze", uid="bronze", edges={"lakehouse": "lh"})
    store.create(TABLE, "Orders", uid="orders", edges={"layer": "bronze"})
    store.create("marts.project", "Project", uid="project", edges={"tenant": TENANT})
    store.add(Grant("ann", "owner", TENANT))


def put(access: AccessEngine, probe: Probe, value: object) -> LakeholdError | None:
    """Ask with this value, and leave nothing behind. Anything but a Lakehold error comes through."""
    refused: LakeholdError | None = None
    with suppress(RollbackError), (access.write if probe.writes else access.read)(TENANT) as session:
        before = facts(session.current_view())
        try:
            with bounded(f"{probe.name} with {value!r:.80}"):
                probe.call(session, value)
        except LakeholdError as error:
            refused = error
            assert facts(session.current_view()) == before, "half of it was written"
        raise RollbackError
    return refused


def assert_refused(access: AccessEngine, probe: Probe, value: object) -> None:
    """The value is refused in words, unless it may be there."""
    refused = put(access, probe, value)
    if refused is None:
        assert probe.fine(value), f"{probe.name} takes {value!r:.80} without a word"
    else:
        assert 10 < len(str(refused)) < 2_000
        assert str(refused).encode().decode() == str(refused)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_what_is_wrong_is_refused_by_name(access: AccessEngine, probe: Probe) -> None:
    for value in (*TEXTS, *OTHERS):
        assert_refused(access, probe, value)


VALUES = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=20),
    st.text("'\";-%_\\\0\ud800ann orders", max_size=12),
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=8),
    st.lists(st.text(max_size=4), max_size=3),
    st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
    st.sampled_from([Draft(TABLE), Grant("bob", "viewer", "nope"), Edge("layer", "orders", "orders"), object()]),
)


@examples(400)
@given(probe=st.sampled_from(PROBES), value=VALUES)
def test_anything_is_answered_or_refused(access: AccessEngine, probe: Probe, value: object) -> None:
    if isinstance(value, str) and value in KNOWN:
        put(access, probe, value)
    else:
        assert_refused(access, probe, value)


@pytest.mark.parametrize("value", [*TEXTS, *OTHERS], ids=lambda value: repr(value)[:20])
def test_a_tenant_that_is_not_there(access: AccessEngine, value: object) -> None:
    with pytest.raises(LakeholdError), access.read(value):  # type: ignore[arg-type] # wrong on purpose
        pass


@pytest.mark.parametrize("value", ["", "a\0b", "\ud800", "x" * 201, None, 5, []], ids=lambda value: repr(value)[:20])
def test_a_tenant_that_cannot_be(access: AccessEngine, value: object) -> None:
    with pytest.raises(InvalidInputError):
        access.create_tenant(value, "Name", models())  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(InvalidInputError):
        access.create_tenant("another", value, models())  # type: ignore[arg-type] # wrong on purpose


def cursor(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


FORGED = {
    "of another sort": ("name", cursor("created", 1, 1)),
    "too short": ("name", cursor("name", "x")),
    "a number for a name": ("name", cursor("name", 1, 1)),
    "a name for a number": ("created", cursor("created", "x", 1)),
    "a flag for a number": ("created", cursor("created", True, 1)),
    "too large a time": ("created", cursor("created", 2**70, 1)),
    "too large a number": ("name", cursor("name", "x", 2**70)),
    "a broken number": ("name", cursor("name", "x", 1.5)),
    "NUL": ("name", cursor("name", "a\0b", 1)),
    "half a character": ("name", cursor("name", "\ud800", 1)),
    "a mapping": ("name", base64.urlsafe_b64encode(b'{"name": 1, "x": 2, "y": 3}').decode()),
    "very deep": ("name", base64.urlsafe_b64encode(b"[" * 100_000).decode()),
    "deep": ("name", base64.urlsafe_b64encode(b"[" * 2_900).decode()),
    "no base64": ("name", "\u00e9\u00e9\u00e9"),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_cursor(access: AccessEngine, forged: str) -> None:
    sort, after = FORGED[forged]
    with access.read(TENANT) as session, pytest.raises(InvalidInputError):
        session.list("ann", "see", TABLE, sort=sort, after=after)


NO_ENDS = {
    "nothing": ("layer", "orders", "nope", NotFoundError),
    "a member": ("layer", "orders", "ann", InvalidInputError),
    "itself": ("saved_from", "orders", "orders", ConflictError),
    "its own child": ("layer", "bronze", "orders", InvalidInputError),
    "from nothing": ("layer", "nope", "bronze", NotFoundError),
    "a group that is a table": ("member_of", "ann", "orders", InvalidInputError),
}


@pytest.mark.parametrize("end", NO_ENDS)
def test_edges_that_cannot_be(access: AccessEngine, end: str) -> None:
    name, source, target, expected = NO_ENDS[end]
    with suppress(RollbackError), access.write(TENANT) as session:
        with pytest.raises(expected):
            session.store.add(Edge(name, source, target))
        raise RollbackError


def test_circles_are_refused_however_long_and_however_asked(access: AccessEngine) -> None:
    with suppress(RollbackError), access.write(TENANT) as session:
        for number in range(1, 4):
            session.store.create(TABLE, "Next", uid=f"t{number}", edges={"layer": "bronze"})
            session.store.add(Edge("saved_from", f"t{number}", f"t{number - 1}" if number > 1 else "orders"))
        with pytest.raises(ConflictError):
            session.store.add(Edge("saved_from", "orders", "t3"))
        with pytest.raises(ConflictError):
            session.check("ann", "edit", "orders", edges={"saved_from": ["t3"]})
        assert session.check("ann", "see", "t3")
        raise RollbackError


def test_what_looks_like_sql_is_only_a_name(access: AccessEngine) -> None:
    odd = [text for text in TEXTS if text.strip() and len(text) <= 200 and text.isprintable()]
    with suppress(RollbackError), access.write(TENANT) as session:
        for text in odd:
            session.store.create(TABLE, text, uid=f"id {text}", edges={"layer": "bronze"})
        for text in odd:
            assert session.check("ann", "see", f"id {text}")
            assert "ann" in session.who("see", f"id {text}")
            found = session.list("ann", "see", TABLE, search=text, limit=1_000).items
            assert f"id {text}" in {item.uid for item in found}
            assert all(text.casefold() in item.name.casefold() for item in found)
        pages: list[ListedResource] = []
        after: str | None = None
        while not pages or after:
            page = session.list("ann", "see", TABLE, limit=1, after=after)
            pages, after = [*pages, *page.items], page.after
        assert {item.name for item in pages} == {"Orders", *odd}
        raise RollbackError


def test_what_is_another_tenants_is_not_there(access: AccessEngine) -> None:
    with suppress(ConflictError):
        access.create_tenant("elsewhere", "Elsewhere", models())
        with access.write("elsewhere") as session:
            session.store.create("tenant.member", "Eve", uid="eve", edges={"tenant": "elsewhere"})
            session.store.create("lakehouse.lakehouse", "Lake", uid="hidden", edges={"tenant": "elsewhere"})
    with access.read(TENANT) as session:
        for question in (("eve", "see", "orders"), ("ann", "see", "hidden"), ("ann", "see", "elsewhere")):
            with pytest.raises(NotFoundError):
                session.check(*question)
        with pytest.raises(NotFoundError):
            session.list("ann", "see", TABLE, within="hidden")
