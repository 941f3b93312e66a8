"""check and every() on a caught-up index, beside all three peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.facts import FEW, MOST, TENANT, WIDE_QUERY
from benchmarks.figures import Figure, Sample, p50
from benchmarks.peers import Peer
from benchmarks.questions import Answers, Question
from benchmarks.world import World

_US = 1e-6
_ALIKE = 300

EVERY_NOTE = (
    "every(): casbin and cedarpy have no quantifier over edges, so the caller asks for each of the 20 tables"
    " (cedarpy: in one batch); oso has forall()."
)


def agree(world: World) -> None:
    """Check that all contenders give the same answers."""
    answers, asked = Answers(world.facts), world.questions
    sample = [*asked.simple[:_ALIKE], *asked.union[:_ALIKE], *asked.mixed[:_ALIKE], *asked.mixed[-3:]]
    with world.databases["SQLite"].access.read(TENANT) as session:
        for question in sample:
            right = answers.allows(*question)
            assert session.check(*question) == right, question
            assert world.floor.check(*question) == right, question
            for name, peer in world.peers.items():
                assert peer.check(*question) == right, (name, question)
        for member in (MOST, FEW):
            right = all(answers.allows(member, "read", uid) for uid in asked.wide)
            assert session.check(member, "see", WIDE_QUERY) == right
            assert all(peer.every(member) == right for peer in world.peers.values())


def figures(world: World) -> Iterator[Figure]:
    """The figures of check."""
    asked = world.questions
    yield _check(world, "check, simple path (own grant on the table)", asked.simple, 5 * _US)
    yield _check(world, "check, full union (denied after every path)", asked.union, 20 * _US)
    yield Figure("check, full union, nothing remembered", lambda: _cold(world), most=20 * _US)
    peers = {name: _every(peer) for name, peer in world.peers.items()}
    cold, warm = (lambda: _wide(world, forget=True)), (lambda: _wide(world, forget=False))
    yield Figure("every() over 20 tables, cold", cold, peers, most=60 * _US, note=EVERY_NOTE)
    yield Figure("every() over 20 tables, nothing changed since", warm, peers, most=10 * _US, note=EVERY_NOTE)


def _check(world: World, name: str, questions: Sequence[Question], most: float) -> Figure:
    peers = {peer: _sample(contender.check, questions) for peer, contender in world.peers.items()}
    floor = {"SQLite alone": _sample(world.floor.check, questions)}

    def ours() -> float:
        with world.databases["SQLite"].access.read(TENANT) as session:
            return p50(session.check, questions)

    return Figure(name, ours, peers, floor, most=most, times=5)


def _cold(world: World) -> float:
    """Time the first check after a change, when cached results of layers and the lakehouse are invalid."""
    with world.databases["SQLite"].access.read(TENANT) as session:
        return p50(session.check, world.questions.union, before=session.evaluator.view.memo.clear)


def _sample(ask: Callable[[str, str, str], bool], questions: Sequence[Question]) -> Sample:
    return lambda: p50(ask, questions)


def _every(peer: Peer) -> Sample:
    return lambda: p50(peer.every, [(MOST,)] * 100)


def _wide(world: World, *, forget: bool) -> float:
    with world.databases["SQLite"].access.read(TENANT) as session:
        memo = session.evaluator.view.memo
        asked = [(MOST, "see", WIDE_QUERY)] * 1_000
        return p50(session.check, asked, before=memo.clear if forget else None)
