"""Of several ways to a right, those first that are given close to the thing: what is given far above it opens more than
was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakehold.access import Edge
from lakehold.access.decisions.ways import Way
from lakehold.access.facts.records import Fact
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext


def nearest_first(ctx: RequestContext, uid: str, ways: Sequence[Way]) -> list[tuple[int, Way]]:
    """The ways to a right on a thing, each with its number."""
    above = ctx.session.read_view(lambda view: _above(view, uid))
    return sorted(enumerate(ways), key=lambda each: _far(above, each[1]))


def _far(above: Sequence[str], way: Way) -> tuple[int, int]:
    """How far its nearest part is from the thing, and its farthest."""
    parts = [_distance(above, needed.fact) for needed in way.needed]
    return min(parts), max(parts)


def _distance(above: Sequence[str], fact: Fact) -> int:
    place = fact.source if isinstance(fact, Edge) else fact.resource
    if isinstance(fact, Edge) and fact.name == MEMBER_OF:
        # Whoever is in a group has all that it holds: only the tenant's own roles open more.
        return max(len(above) - 2, 0)
    # What does not lie above it lies beside it, as the tables of a pipeline do.
    return above.index(place) if place in above else 1


def _above(view: FactView, uid: str) -> list[str]:
    """The thing, and what it lies in up to the tenant."""
    found = [uid]
    while (parent := kinds.parent_of(view, found[-1])) is not None:
        found.append(parent)
    return found
