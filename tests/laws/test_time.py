"""Any moment can be asked for: as_of says what check said then, and what it will say if nothing changes."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Add, Adopt, Change, Remove
from lakehold.kit.clock import SECOND, Moment
from lakehold.kit.database import Database
from tests.clock import StoppedClock
from tests.laws.agreement import assert_agree
from tests.laws.budget import examples
from tests.laws.databases import StoredCase, store_case
from tests.laws.facts import MEMBER_OF, Case, PossibleFacts, shipped_cases
from tests.laws.models import random_cases, revisions
from tests.laws.view_questions import Question, allowed

CASES = [st.tuples(shipped_cases(), st.just("")), st.tuples(random_cases(), st.just("")), revisions()]
ALL_CASES = pytest.mark.parametrize("kind_of_case", CASES, ids=["shipped", "random", "revised"])
FAR = 40


class Made(NamedTuple):
    """A change, in how many seconds it begins, and after how many more it ends."""

    change: Change
    begins: int = 0
    lasts: int | None = None


class Step(NamedTuple):
    """What happens together, some seconds after the step before."""

    pause: int
    made: tuple[Made, ...]


@st.composite
def histories(draw: st.DrawFn, case: Case, other: str) -> list[Step]:
    """Facts that begin and end, now and later; and perhaps another model."""
    possible = PossibleFacts(case.policy, case.things)
    groups = [
        possible.grants(lambda _kind: True),
        possible.attributes(),
        possible.edges(MEMBER_OF.__eq__),
        possible.edges(lambda edge: edge not in {MEMBER_OF, "tenant"}),
    ]
    # Few facts, so that the same ones come again.
    facts = [fact for group in groups if group for fact in draw(st.lists(st.sampled_from(group), max_size=4))]
    kinds: list[st.SearchStrategy[Made]] = [st.just(Made(Adopt(other)))] if other else []
    later, lasting = st.integers(0, FAR) | st.just(0), st.none() | st.integers(1, FAR)
    untimed = [fact for fact in facts if possible.is_untimed(fact)]
    timed = [fact for fact in facts if fact not in untimed]
    ending = [fact for fact in timed if not possible.is_permanent(fact)]
    if untimed:
        kinds.append(st.sampled_from([Made(change(fact)) for fact in untimed for change in (Add, Remove)]))
    if timed:
        kinds.append(st.builds(Made, st.sampled_from(timed).map(Add), later, lasting))
    if ending:
        kinds.append(st.builds(Made, st.sampled_from(ending).map(Remove), later, st.none()))
    made = st.lists(st.one_of(kinds), max_size=4).map(tuple) if kinds else st.just(())
    return draw(st.lists(st.builds(Step, st.integers(1, FAR), made), max_size=5))


@ALL_CASES
@examples(8)
@given(data=st.data())
def test_as_of_says_what_check_said_then(
    shared: Database, kind_of_case: st.SearchStrategy[tuple[Case, str]], data: st.DataObject
) -> None:
    case, other = data.draw(kind_of_case)
    clock = StoppedClock()
    company = store_case(shared, case, clock)
    said: dict[Moment, set[Question]] = {}
    steps = data.draw(histories(case, other))
    watching = company.reopen(clock)
    for step in steps:
        clock.advance(step.pause)
        make(company, step, clock)
        said[clock()] = look(company, watching, clock)
        clock.advance(0.5)
        said[clock()] = look(company, company.access, clock)
    with company.access.read(company.tenant) as session:
        for moment, answers in said.items():
            note(f"{(moment - session.at) / SECOND} s from now")
            assert allowed(session.as_of(moment).current_view()) == answers
            assert_agree(session.as_of(moment))


@ALL_CASES
@examples(8)
@given(data=st.data())
def test_as_of_says_what_check_will_say(
    shared: Database, kind_of_case: st.SearchStrategy[tuple[Case, str]], data: st.DataObject
) -> None:
    case, other = data.draw(kind_of_case)
    clock = StoppedClock()
    company = store_case(shared, case, clock)
    for step in data.draw(histories(case, other)):
        clock.advance(step.pause)
        make(company, step, clock)
    with company.access.read(company.tenant) as session:
        ahead = sorted(data.draw(st.sets(st.integers(0, 2 * FAR), min_size=1, max_size=6)))
        foreseen = {clock() + seconds * SECOND: set[Question]() for seconds in ahead}
        for moment in foreseen:
            foreseen[moment] = allowed(session.as_of(moment).current_view())
            assert_agree(session.as_of(moment))
    for moment, answers in foreseen.items():
        clock.at = moment
        assert look(company, company.access, clock) == answers


def make(company: StoredCase, step: Step, clock: StoppedClock) -> None:
    """Make the changes of a step in one transaction."""
    note(f"{clock() / SECOND}: {step}")
    with company.access.write(company.tenant) as session:
        for change, begins, lasts in step.made:
            since = None if isinstance(change, Adopt) else clock() + begins * SECOND
            until = None if since is None or lasts is None else since + lasts * SECOND
            session.store.apply(company.with_stored_ids(change), since=since, until=until)


def look(company: StoredCase, access: AccessEngine, clock: StoppedClock) -> set[Question]:
    """What is allowed now: the same for a process that has been watching and for one that has just begun."""
    with access.read(company.tenant) as session:
        assert session.at == clock()
        watched = allowed(session.current_view())
        assert_agree(session)
        assert allowed(session.as_of(clock()).current_view()) == watched
    with company.reopen(clock).read(company.tenant) as session:
        assert allowed(session.current_view()) == watched
    return watched
