"""Access checks about the company, and their answers computed with plain Python sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.facts import ADMIN, ALL, LAYERS, TABLES_IN_LAYER, TENANT, WIDE_QUERY, Facts, layer_of, table

Question = tuple[str, str, str]
"""Member, action, table."""

LEVEL = {"read": "viewer", "write": "editor", "delete": "manager"}
LADDER = {"viewer": ("viewer",), "editor": ("viewer", "editor"), "manager": ("viewer", "editor", "manager")}
"""The levels that each level has in it."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The access checks that all contenders answer."""

    simple: Sequence[Question]
    """Allowed by the member's own grant on the table."""
    union: Sequence[Question]
    """Denied after every path: own and groups' grants on table and layer, All, tenant role, plan."""
    mixed: Sequence[Question]
    """Of all kinds; only used to see that everybody answers alike."""
    wide: Sequence[str]
    """The tables of the pipeline with 20 of them."""


class Answers:
    """Reference answers, computed with sets."""

    def __init__(self, facts: Facts) -> None:
        self._groups = facts.groups
        self._held: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for subject, role, resource in facts.grants:
            name = role.rpartition(".")[2]
            for level in LADDER.get(name, (name,)):
                self._held[resource][level].add(subject)

    def allows(self, member: str, action: str, uid: str) -> bool:
        """Whether the member may do this with the table."""
        level, me = LEVEL[action], {member, ALL, *self._groups[member]}
        on_table, on_layer = self._held[uid][level], self._held[layer_of(int(uid[1:]))][level]
        return bool(me & on_table or me & on_layer or me & self._held[TENANT]["admin"])


def questions(facts: Facts, count: int = 2_000) -> Questions:
    """Choose checks at random with a fixed seed."""
    chance, answers = Random(11), Answers(facts)
    own = [
        (subject, "read", resource)
        for subject, role, resource in facts.grants
        if subject in facts.groups and role.startswith("lakehouse.table.")
    ]
    members = [member for member, groups in facts.groups.items() if len(groups) >= 4]

    def any_table() -> str:
        return table(chance.randrange(LAYERS * TABLES_IN_LAYER))

    asked = [(chance.choice(members), "delete", any_table()) for _ in range(count * 2)]
    mixed = [(chance.choice([ADMIN, *facts.groups]), chance.choice([*LEVEL]), any_table()) for _ in range(count)]
    mixed += [(ADMIN, action, any_table()) for action in LEVEL]
    return Questions(
        simple=chance.sample(own, count),
        union=[question for question in asked if not answers.allows(*question)][:count],
        mixed=mixed,
        wide=[
            target
            for name, source, target in facts.edges
            if source == WIDE_QUERY and name != "lakehouse.query.lakehouse"
        ],
    )
