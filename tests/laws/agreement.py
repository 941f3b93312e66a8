"""Asserts that check, list, ids and who agree."""

from __future__ import annotations

from lakehold.access.session import AccessQueries
from tests.laws.view_questions import members, resources_of_kind


def assert_agree(asked: AccessQueries, most_actions: int = 1, most_members: int = 2) -> None:
    """For the first actions of each kind that there is something of."""
    view = asked.current_view()
    for kind in view.policy.kinds.values():
        there = resources_of_kind(view, kind.id)
        for action in kind.schema.actions[:most_actions] if there else ():
            for member in members(view)[:most_members]:
                may = {uid for uid in there if asked.check(member, action, uid)}
                assert {item.uid for item in asked.list(member, action, kind.id).items} == may
                assert set(asked.ids(member, action, kind.id)) == set(map(view.resource, may))
            assert set(asked.who(action, there[0])) == {m for m in members(view) if asked.check(m, action, there[0])}
