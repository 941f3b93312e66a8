"""Another model in place of the old one: the facts keep their meaning under it, or it is refused."""

from __future__ import annotations

import pytest

from lakehold import directory
from lakehold.access import AccessEngine, Adopt, Edge
from lakehold.access.model.loader import parse_model
from lakehold.kit.clock import DAY
from lakehold.kit.database import Database
from lakehold.kit.errors import InvalidInputError, LakeholdError

TENANT = "acme"
NOTES = """
model: notes
extends: [tenant]
kinds:
  shelf:
    in: tenant
    roles:
      reader: {}
    actions: [see]
    allow:
      - {who: reader, may: see}
  note:
    in: {shelf: {back: notes}}
    edges:
      about: {to: [shelf, note], many: true}
    actions: [see]
    allow:
      - {who: shelf.reader or any(about), may: see}
"""


@pytest.fixture
def access(database: Database) -> AccessEngine:
    access = AccessEngine(database)
    access.create_tenant(TENANT, "Acme", (directory.model(), parse_model(NOTES)))
    with access.write(TENANT) as session:
        store = session.store
        store.create("tenant.member", "Ann", uid="ann", edges={"tenant": TENANT})
        store.create("notes.shelf", "Shelf", uid="shelf", edges={"tenant": TENANT})
        for uid in ("one", "two", "three"):
            store.create("notes.note", uid, uid=uid, edges={"shelf": "shelf"})
        store.add(Edge("about", "one", "two"))
        store.add(Edge("about", "one", "shelf"))
    return access


REFUSED = {
    "an edge that points at a kind it no longer may": NOTES.replace("to: [shelf, note]", "to: [note]"),
    "an edge of which there is only one now": NOTES.replace(", many: true", ""),
    "a kind that is dropped": NOTES[: NOTES.index("  note:")],
    "a model that says nothing": "model: notes",
    "no model at all": "",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_its_meaning(access: AccessEngine, name: str) -> None:
    with access.write(TENANT) as session:
        said = session.check("ann", "see", "one")
        with pytest.raises(LakeholdError):
            session.what_if([Adopt(REFUSED[name])])
        with pytest.raises(LakeholdError):
            session.store.apply(Adopt(REFUSED[name]))
        assert session.check("ann", "see", "one") == said
    with access.read(TENANT) as session:
        assert session.check("ann", "see", "one") == said


def test_what_fits_again_after_a_change(access: AccessEngine) -> None:
    narrower = REFUSED["an edge that points at a kind it no longer may"]
    with access.write(TENANT) as session:
        session.store.remove(Edge("about", "one", "shelf"))
        session.store.apply(Adopt(narrower))
        assert session.check("ann", "see", "one")
        assert not session.check("ann", "see", "three")
        with pytest.raises(InvalidInputError):
            session.store.add(Edge("about", "three", "shelf"))
    with access.read(TENANT) as session:
        assert {item.uid for item in session.list("ann", "see", "notes.note").items} == {"one"}


def test_a_model_has_no_span_of_time(access: AccessEngine) -> None:
    with access.write(TENANT) as session:
        with pytest.raises(InvalidInputError):
            session.store.apply(Adopt(NOTES), since=session.at + DAY)
        with pytest.raises(InvalidInputError):
            session.store.apply(Adopt(NOTES), until=session.at + DAY)
