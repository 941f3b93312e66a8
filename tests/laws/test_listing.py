"""A listing is the filter of check: in pages of any size, in any order, searched, and within a container."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple
from unittest import mock

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lakehold.access.decisions.principal import Principal
from lakehold.access.facts.view import FactView
from lakehold.access.query import listing
from lakehold.access.session import AccessQueries
from lakehold.kit.database import Database
from lakehold.kit.ids import fold_name
from tests.laws.budget import examples
from tests.laws.databases import store_case
from tests.laws.facts import Case, shipped_cases, some
from tests.laws.models import random_cases
from tests.laws.test_tokens import tokens
from tests.laws.view_questions import ancestors, members, resources, resources_of_kind

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])
MOST = 10


class Manner(NamedTuple):
    """How a listing is asked for."""

    sort: str
    limit: int
    search: str
    within: str | None


@st.composite
def manners(draw: st.DrawFn, view: FactView) -> Manner:
    """Any order, page size, search and container."""
    return Manner(
        draw(st.sampled_from(("name", "-name", "created", "-created"))),
        draw(st.sampled_from((1, 2, 3, 50))),
        draw(st.sampled_from(("", "", "o", "ss", "STRASSE", "É", "%", "'", "_", "OL\u0308"))),
        draw(st.none() | st.sampled_from(list(resources(view)))),
    )


@contextmanager
def tactics(small: int, driven: bool | None, looked_at: tuple[int, ...]) -> Iterator[None]:
    """The ways in which a listing may be worked out, which depend on how much there is."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(listing, "SCAN_SIZES", looked_at))
        stack.enter_context(mock.patch.object(listing, "SMALL_KIND", small))
        if driven is not None:
            stack.enter_context(mock.patch.object(listing.ResourceListing, "_is_selective", return_value=driven))
        yield


@BOTH
@examples(30)
@given(data=st.data())
def test_list_is_the_filter_of_check(
    shared: Database, kind_of_case: st.SearchStrategy[Case], data: st.DataObject
) -> None:
    company = store_case(shared, data.draw(kind_of_case))
    with company.access.read(company.tenant) as session:
        view = session.current_view()
        asked = sorted({(kind, action) for kind, action in actions(view) if not kind.startswith("tenant.")})
        principals: list[Principal] = [*members(view), data.draw(tokens(view))]
        manner = data.draw(manners(view))
        small, driven = data.draw(st.sampled_from(((2_000, None), (2_000, False), (0, True), (0, False), (1, True))))
        looked_at = data.draw(st.sampled_from(((), (1, 2), listing.SCAN_SIZES)))
        note(f"{manner} small={small} driven={driven} looked_at={looked_at} {principals[-1]}")
        with tactics(small, driven, looked_at):
            for kind, action in data.draw(some(asked, MOST)):
                for principal in principals:
                    assert_filtered(session, principal, action, kind, manner)


def actions(view: FactView) -> Iterator[tuple[str, str]]:
    """Every action of every kind of which there is something."""
    for kind in set(resources(view).values()):
        yield from ((kind, action) for action in view.policy.kinds[kind].schema.actions)


def assert_filtered(session: AccessQueries, principal: Principal, action: str, kind: str, manner: Manner) -> None:
    view = session.current_view()
    may = [uid for uid in resources_of_kind(view, kind) if session.check(principal, action, uid)]
    inside = [uid for uid in may if manner.within is None or manner.within in ancestors(view, uid)]
    found = [uid for uid in inside if fold_name(manner.search) in fold_name(str(view.names.get(view.resource(uid))))]
    question = f"{principal} {action} {kind}"
    assert sorted(session.ids(principal, action, kind)) == sorted(map(view.resource, may)), question
    assert sorted(session.ids(principal, action, kind, within=manner.within)) == sorted(map(view.resource, inside))
    assert paged(session, principal, action, kind, manner) == sorted(found, key=order(session, manner.sort)), question


def order(session: AccessQueries, sort: str) -> Callable[[str], tuple[object, int]]:
    """How resources are sorted: by name or age, and those that are alike by number."""
    view = session.current_view()
    sign = -1 if sort.startswith("-") else 1
    names = sorted({fold_name(str(view.names.get(number))) for number in range(10_000) if view.names.get(number)})
    if "name" in sort:
        return lambda uid: (
            sign * names.index(fold_name(str(view.names.get(view.resource(uid))))),
            sign * view.resource(uid),
        )
    # All of a case began at one moment.
    return lambda uid: (0, sign * view.resource(uid))


def paged(session: AccessQueries, principal: Principal, action: str, kind: str, manner: Manner) -> list[str]:
    """All pages, one after the other."""
    found: list[str] = []
    after: str | None = None
    while True:
        page = session.list(
            principal, action, kind, within=manner.within, search=manner.search, sort=manner.sort, after=after,
            limit=manner.limit,
        )  # fmt: skip
        assert len(page.items) <= manner.limit
        assert {item.kind for item in page.items} <= {kind}
        found += [item.uid for item in page.items]
        if page.after is None:
            return found
        assert len(page.items) == manner.limit
        after = page.after
