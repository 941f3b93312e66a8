"""The company that is measured: made up, the same in every run.

One lakehouse of 100 layers with 1,000 tables each, 5,000 pipelines with 22,000 edges to tables, 1,000 members in 100
groups, and 300,000 grants. Four members are known by name: Ada administers, Ann may see 30 tables, Bob 10,000 and Cyd
90,000; each of the three by grants of their own, by groups and by All.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

TENANT, LAKE, ALL = "acme", "lake", "acme/all"
ADMIN, FEW, SOME, MOST = "ada", "ann", "bob", "cyd"
SEEN = {FEW: 30, SOME: 10_000, MOST: 90_000}
MEMBERS, GROUPS, LAYERS, TABLES_IN_LAYER, QUERIES, QUERY_EDGES, GRANTS = 1_000, 100, 100, 1_000, 5_000, 22_000, 300_000

LARGE_GROUP = "g00"
"""500 members."""
QUIET_LAYER = "layer-99"
"""1,000 tables; the large group holds nothing on it."""
WIDE_QUERY = "q0000"
"""20 tables, all of which Cyd may see."""

_WORDS = ("orders", "invoices", "customers", "events", "sessions", "payments", "refunds", "stock", "prices", "visits")
_ROLES = ("viewer",) * 70 + ("editor",) * 22 + ("manager",) * 8


@dataclass(slots=True)
class Facts:
    """Resources, edges and grants by the ids that people use."""

    resources: list[tuple[str, str, str]] = field(default_factory=list)
    """Id, kind and name."""
    edges: list[tuple[str, str, str]] = field(default_factory=list)
    """Edge with the kind that has it, source, target."""
    grants: dict[tuple[str, str, str], None] = field(default_factory=dict)
    """Subject, role with the kind that has it, resource."""
    groups: dict[str, list[str]] = field(default_factory=dict)
    """For each member the groups that they are in."""

    def grant(self, subject: str, role: str, resource: str) -> None:
        """The subject holds the role."""
        self.grants[subject, role, resource] = None


def layer(number: int) -> str:
    """The id of a layer."""
    return f"layer-{number:02}"


def table(number: int) -> str:
    """The id of a table; tables of one layer follow each other."""
    return f"t{number:05}"


def tables_of(first: int, last: int) -> range:
    """The tables of these layers, the last one left out."""
    return range(first * TABLES_IN_LAYER, last * TABLES_IN_LAYER)


def layer_of(number: int) -> str:
    """The layer of a table."""
    return layer(number // TABLES_IN_LAYER)


def company() -> Facts:
    """All facts."""
    chance, facts = Random(7), Facts()
    _people(facts, chance)
    _data(facts, chance)
    _pipelines(facts, chance)
    _known_members(facts, chance)
    _all_others(facts, chance)
    return facts


def _people(facts: Facts, chance: Random) -> None:
    facts.resources += [(f"g{number:02}", "tenant.group", f"Group {number:02}") for number in range(GROUPS)]
    known = [ADMIN, FEW, SOME, MOST]
    others = [f"m{number:04}" for number in range(len(known), MEMBERS)]
    facts.resources += [(member, "tenant.member", member.title()) for member in (*known, *others)]
    facts.groups = {ADMIN: [], FEW: ["g96"], SOME: ["g95", "g97"], MOST: ["g94", "g98", "g99"]}
    for number, member in enumerate(others):
        large = [LARGE_GROUP] if number < 500 else []
        facts.groups[member] = large + [f"g{group:02}" for group in chance.sample(range(1, 94), 4)]
    facts.edges += [
        ("tenant.member.member_of", member, group) for member in facts.groups for group in facts.groups[member]
    ]
    for member in facts.groups:
        facts.grant(member, "lakehouse.lakehouse.member", LAKE)
    for role in ("owner", "admin"):
        facts.grant(ADMIN, f"tenant.tenant.{role}", TENANT)


def _data(facts: Facts, chance: Random) -> None:
    facts.resources.append((LAKE, "lakehouse.lakehouse", "Lake"))
    facts.resources += [(layer(number), "lakehouse.layer", layer(number)) for number in range(LAYERS)]
    # Names say nothing of the layer: what a member may see lies anywhere in the order of names.
    suffixes = chance.sample(range(LAYERS * TABLES_IN_LAYER), LAYERS * TABLES_IN_LAYER)
    names = [f"{chance.choice(_WORDS)}_{suffix:05}" for suffix in suffixes]
    facts.resources += [(table(number), "lakehouse.table", name) for number, name in enumerate(names)]
    facts.edges += [("lakehouse.layer.lakehouse", layer(number), LAKE) for number in range(LAYERS)]
    facts.edges += [("lakehouse.table.layer", table(number), layer_of(number)) for number in tables_of(0, LAYERS)]


def _pipelines(facts: Facts, chance: Random) -> None:
    """Most read three tables and write one, nearby; some read one more; the first has 16 inputs and 4 outputs."""
    more = set(chance.sample(range(1, QUERIES), QUERY_EDGES - 4 * (QUERIES - 1) - 20))
    for number in range(QUERIES):
        uid = f"q{number:04}"
        facts.resources.append((uid, "lakehouse.query", f"{chance.choice(_WORDS)}_by_{number:04}"))
        facts.edges.append(("lakehouse.query.lakehouse", uid, LAKE))
        near = tables_of(0, 85) if uid == WIDE_QUERY else _near(chance)
        chosen = chance.sample(near, 20 if uid == WIDE_QUERY else 5 if number in more else 4)
        writes = len(chosen) // 4 if uid == WIDE_QUERY else 1
        facts.edges += [("lakehouse.query.writes", uid, table(end)) for end in chosen[:writes]]
        facts.edges += [("lakehouse.query.reads", uid, table(end)) for end in chosen[writes:]]


def _near(chance: Random) -> range:
    first = chance.randrange(LAYERS - 2)
    return tables_of(first, first + 3)


def _known_members(facts: Facts, chance: Random) -> None:
    to_all = set(chance.sample(tables_of(90, 100), 10))
    for number in to_all:
        facts.grant(ALL, "lakehouse.table.viewer", table(number))
    _see(facts, FEW, "g96", chance.sample(tables_of(10, 20), 20))
    for number in range(30, 38):
        facts.grant("g97", "lakehouse.layer.viewer", layer(number))
    _see(facts, SOME, "g95", chance.sample(tables_of(40, 80), 1_990))
    for number in range(85):
        facts.grant("g98" if number % 2 else "g99", "lakehouse.layer.viewer", layer(number))
    _see(facts, MOST, "g94", chance.sample(sorted({*tables_of(85, 100)} - to_all), 4_990))
    # What they may see already, once more: by far not every grant adds something.
    for number in chance.sample(tables_of(30, 38), 500):
        facts.grant(SOME, "lakehouse.table.editor", table(number))
    for number in chance.sample(tables_of(0, 85), 2_000):
        facts.grant(MOST, "lakehouse.table.editor", table(number))


def _see(facts: Facts, member: str, group: str, numbers: list[int]) -> None:
    """The member may see these tables, half of them by a group."""
    for place, number in enumerate(numbers):
        facts.grant(group if place % 2 else member, "lakehouse.table.viewer", table(number))


def _all_others(facts: Facts, chance: Random) -> None:
    groups = [f"g{number:02}" for number in range(94)]
    members = [member for member in facts.groups if member not in {ADMIN, FEW, SOME, MOST}]
    for number in range(LAYERS):
        for subject in (*chance.sample(groups[1:], 3), *chance.sample(members, 2)):
            facts.grant(subject, f"lakehouse.layer.{chance.choice(_ROLES)}", layer(number))
    for number in range(10):
        facts.grant(LARGE_GROUP, "lakehouse.layer.viewer", layer(number))
    while len(facts.grants) < GRANTS:
        subject = chance.choice(groups[1:] if chance.random() < 0.2 else members)
        number = chance.randrange(LAYERS * TABLES_IN_LAYER)
        facts.grant(subject, f"lakehouse.table.{chance.choice(_ROLES)}", table(number))


def own_grants(facts: Facts) -> Iterator[tuple[str, str]]:
    """Members, each with a table on which they themselves hold a role."""
    for subject, role, resource in facts.grants:
        if subject in facts.groups and role.startswith("lakehouse.table."):
            yield subject, resource
