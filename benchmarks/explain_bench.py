"""explain and what_if: reasons, proposed grants and who could give them, and effects of a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.facts import FEW, LARGE_GROUP, MOST, QUIET_LAYER, SOME, TENANT, WIDE_QUERY
from benchmarks.figures import Figure, Sample, p50
from benchmarks.listing_bench import TABLE, WHO_NOTE
from benchmarks.world import World
from lakehold.access.facts.records import Add, Grant
from lakehold.access.session import AccessSession

_US, _MS = 1e-6, 1e-3

Question = tuple[str, str, str]


def agree(world: World) -> None:
    """Check the results before measuring them. Allowed checks have facts, denied ones have ways and givers, and
    changes have effects.
    """
    with world.databases["SQLite"].access.read(TENANT) as session:
        for question in _allowed(session)[:20]:
            explanation = session.explain(*question)
            assert explanation.allowed
            assert any(list(path.reason.all_facts()) for path in explanation.paths), question
        for question in (*_denied(session)[:20], (MOST, "edit", WIDE_QUERY)):
            explanation = session.explain(*question)
            assert not explanation.allowed
            assert explanation.ways, question
            assert all(needed.givers for way in explanation.ways for needed in way.needed), question
        reads = [
            group for group in session.what_if([_change()]).groups if (group.kind, group.action) == (TABLE, "read")
        ]
        # Nearly all of the layer: a table or two are open to the whole group already.
        assert [group.gained for group in reads] == [True]
        assert 950 < reads[0].resources <= 1_000
        assert 400 < reads[0].members <= 500


def figures(world: World) -> Iterator[Figure]:
    """The figures of explain and what_if."""
    with world.databases["SQLite"].access.read(TENANT) as session:
        allowed, denied = _allowed(session), _denied(session)
    pipeline = [(MOST, "see", WIDE_QUERY)] * 100
    wide = [(MOST, "edit", WIDE_QUERY)] * 20
    for name, questions, most in (
        ("explain an allow", allowed, 300 * _US),
        ("explain an allow, pipeline of 20 tables", pipeline, None),
        ("explain a denial with ways and givers", denied, 20 * _MS),
        ("explain a denial, pipeline of 20 tables", wide, 20 * _MS),
    ):
        yield Figure(name, _explain(world, questions), most=most, note=WHO_NOTE)
    yield Figure(
        "what_if: a group of 500 on a layer of 1,000 tables, grouped", _what_if(world), most=300 * _MS, note=WHO_NOTE
    )


def _allowed(session: AccessSession) -> list[Question]:
    """Tables that members see in different ways."""
    found = [(member, session.list(member, "see", TABLE, limit=100).items) for member in (FEW, SOME, MOST)]
    return [(member, "read", item.uid) for member, items in found for item in items]


def _denied(session: AccessSession) -> list[Question]:
    """Tables that members see and may not delete."""
    return [(member, "delete", uid) for member, _, uid in _allowed(session) if not session.check(member, "delete", uid)]


def _forget(session: AccessSession) -> None:
    """Clear the caches, as a change does."""
    view = session.evaluator.view
    view.memo.clear()
    view.sets.clear()


def _explain(world: World, questions: Sequence[Question]) -> Sample:
    def sample() -> float:
        with world.databases["SQLite"].access.read(TENANT) as session:
            return p50(session.explain, questions, before=lambda: _forget(session))

    return sample


def _change() -> Add:
    return Add(Grant(LARGE_GROUP, "viewer", QUIET_LAYER))


def _what_if(world: World) -> Callable[[], float]:
    def sample() -> float:
        with world.databases["SQLite"].access.read(TENANT) as session:
            return p50(session.what_if, [([_change()],)] * 5, budget=3, before=lambda: _forget(session))

    return sample
