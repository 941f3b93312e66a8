"""Orders the ways to a right by their distance from the resource.

What is granted far above the resource opens more than was asked for, so it comes last.
"""

from collections.abc import Sequence

from lakehold.access.decisions.ways import Way
from lakehold.access.facts.records import Edge, Fact
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF


def rank_ways(view: FactView, uid: str, ways: Sequence[Way]) -> list[tuple[int, Way]]:
    """Return the ways to a right on a resource, nearest first, each with its number."""
    above = [view.uid(place) for place in view.containers(view.resource(uid))]
    return sorted(enumerate(ways), key=lambda each: _distance_range(above, each[1]))


def _distance_range(above: Sequence[str], way: Way) -> tuple[int, int]:
    """Return the distance of the nearest and of the farthest part of a way."""
    parts = [_distance(above, needed.fact) for needed in way.needed]
    return min(parts, default=0), max(parts, default=0)


def _distance(above: Sequence[str], fact: Fact) -> int:
    place = fact.source if isinstance(fact, Edge) else fact.resource
    if isinstance(fact, Edge) and fact.name == MEMBER_OF:
        # Members of a group have all that it holds: only the tenant's own roles open more.
        return max(len(above) - 2, 0)
    # What does not lie above it lies beside it, as the tables of a pipeline do.
    return above.index(place) if place in above else 1
