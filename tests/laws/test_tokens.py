"""A token never does more than its member, and one that is narrowed gives nothing away."""

from __future__ import annotations

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lakehold.access.decisions.evaluator import DecisionEvaluator
from lakehold.access.decisions.principal import TokenPrincipal
from lakehold.access.facts.records import Add, Grant, Remove
from lakehold.access.facts.view import FactView
from tests.laws.budget import examples
from tests.laws.facts import Case, PossibleFacts, shipped_cases, some
from tests.laws.models import random_cases
from tests.laws.view_questions import ancestors, facts, members, questions, resources

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])


@st.composite
def tokens(draw: st.DrawFn, view: FactView) -> TokenPrincipal:
    """A token of a member, perhaps narrowed to some actions, perhaps to some resources."""
    actions = sorted({action for kind in view.policy.kinds.values() for action in kind.schema.actions} | {"create"})
    narrow_actions = draw(st.none() | some(actions, 12).map(frozenset))
    narrow_resources = draw(st.none() | some(list(resources(view)), 4).map(frozenset))
    return TokenPrincipal(draw(st.sampled_from(members(view))), narrow_actions, narrow_resources)


@BOTH
@examples(60)
@given(data=st.data())
def test_a_token_does_what_it_is_narrowed_to(kind_of_case: st.SearchStrategy[Case], data: st.DataObject) -> None:
    view = data.draw(kind_of_case).world().view
    token = data.draw(tokens(view))
    note(repr(token))
    decisions = DecisionEvaluator(view)
    for member, action, resource in questions(view):
        if member == token.member:
            may = decisions.check(token, action, resource)
            left = decisions.check(member, action, resource) and is_left(view, token, action, resource)
            assert may == left, (action, resource)


def is_left(view: FactView, token: TokenPrincipal, action: str, resource: str) -> bool:
    """Whether the narrowing leaves this question to the member."""
    if not token.is_narrowed:
        return True
    kind = view.kind(view.resource(resource))
    if (kind, action) in view.policy.granting_actions or (token.actions is not None and action not in token.actions):
        return False
    return token.resources is None or not token.resources.isdisjoint((resource, *ancestors(view, resource)))


@BOTH
@examples(60)
@given(data=st.data())
def test_a_narrowed_token_gives_nothing_away(kind_of_case: st.SearchStrategy[Case], data: st.DataObject) -> None:
    case = data.draw(kind_of_case)
    view = case.world().view
    token = data.draw(tokens(view))
    note(repr(token))
    decisions, possible = DecisionEvaluator(view), PossibleFacts(case.policy, case.things)
    given_away = [Add(fact) for fact in possible.grants(lambda _kind: True)]
    taken = [Remove(fact) for fact in facts(view) if isinstance(fact, Grant) and not possible.is_permanent(fact)]
    changes: list[Add | Remove] = [*given_away, *taken]
    for change in changes:
        assert isinstance(change.fact, Grant)
        passes = decisions.check_change(token, change)
        gives = decisions.check(token, "give", change.fact.resource, role=change.fact.role)
        if token.is_narrowed:
            assert not passes
            assert not gives
        else:
            assert passes == gives == decisions.check_change(token.member, change)


@BOTH
@examples(40)
@given(data=st.data())
def test_a_token_changes_no_more_than_its_member(kind_of_case: st.SearchStrategy[Case], data: st.DataObject) -> None:
    case = data.draw(kind_of_case)
    view = case.world().view
    token = data.draw(tokens(view))
    note(repr(token))
    decisions, possible = DecisionEvaluator(view), PossibleFacts(case.policy, case.things)
    for fact in (*possible.attributes(), *possible.edges(lambda _edge: True)):
        change = Add(fact)
        assert decisions.check_change(token, change) <= decisions.check_change(token.member, change), fact
