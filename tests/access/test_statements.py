"""Every listing and every who of the shipped models is a statement that both databases can read, in all its forms."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import pytest

from lakehold.access import AccessEngine, AccessSession, Edge, Grant
from lakehold.access.model.policy import TENANT as TENANT_KIND
from lakehold.access.query import listing
from lakehold.kit.database import Database
from lakehold.workspaces import models, policy
from tests.laws.facts import in_order
from tests.laws.view_questions import members, resources, resources_of_kind

TENANT = "one of each"
KINDS = in_order(policy(), list(policy().models))


@pytest.fixture(scope="module")
def access(shared: Database) -> AccessEngine:
    """One resource of every kind, each pointing at whatever it can point at."""
    access = AccessEngine(shared)
    access.create_tenant(TENANT, "One of each", models())
    with access.write(TENANT) as session:
        for kind in KINDS:
            if kind not in {TENANT_KIND, "tenant.all_members"}:
                _make(session, kind)
        session.store.add(Grant("tenant.member", "owner", TENANT))
        for source, edge, target in _edges(session):
            session.store.add(Edge(edge, source, target))
    return access


def _make(session: AccessSession, kind: str) -> None:
    parent = policy().kinds[kind].parent
    above = [uid for end in parent.kinds for uid in resources_of_kind(session.current_view(), end)] if parent else []
    session.store.create(kind, kind, uid=kind, edges={parent.edge: above[0]} if parent else {})


def _edges(session: AccessSession) -> Iterator[tuple[str, str, str]]:
    view = session.current_view()
    for uid, kind in resources(view).items():
        for edge in policy().kinds[kind].schema.edges:
            ends = [
                end
                for to in policy().kinds[kind].steps[edge].kinds
                for end in resources_of_kind(view, to)
                if end != uid
            ]
            yield from ((uid, edge, end) for end in ends[:1] if edge != "member_of")


@pytest.mark.parametrize(("small", "driven"), [(2_000, True), (2_000, False), (0, True), (0, False)])
def test_listings(access: AccessEngine, small: int, driven: bool) -> None:
    with (
        mock.patch.object(listing, "SMALL_KIND", small),
        mock.patch.object(listing, "SCAN_SIZES", ()),
        mock.patch.object(listing.ResourceListing, "_is_selective", return_value=driven),
        access.read(TENANT) as session,
    ):
        (member,) = members(session.current_view())
        for kind in KINDS:
            for action in policy().kinds[kind].schema.actions:
                may = [
                    uid for uid in resources_of_kind(session.current_view(), kind) if session.check(member, action, uid)
                ]
                assert [item.uid for item in session.list(member, action, kind).items] == may, (kind, action)
                assert list(session.ids(member, action, kind)) == list(map(session.current_view().resource, may))


def test_who(access: AccessEngine) -> None:
    with access.read(TENANT) as session:
        (member,) = members(session.current_view())
        for resource, kind in resources(session.current_view()).items():
            for action in policy().kinds[kind].schema.actions:
                may = [member] if session.check(member, action, resource) else []
                assert list(session.who(action, resource)) == may, (action, resource)
