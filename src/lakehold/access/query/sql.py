"""One expression of a policy as an SQL condition on a member and a resource.

Either side may be fixed for the whole statement (a bound value, or a subquery of one) or vary from row to row. What is
fixed is turned into a set that the database works out once; what varies is looked up by index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
    Everyone,
    Expression,
    Granted,
    Holder,
    Is,
    Item,
    MemberIs,
    Not,
    Relation,
    Some,
    Step,
)
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Policy

YES, NO = "1 = 1", "1 = 0"

_PLAIN = re.compile(r"[a-z0-9_.]+")


def literal(word: str) -> str:
    """A word of a model as an SQL literal. Models have plain words only, and this is where that is relied on."""
    if not _PLAIN.fullmatch(word):
        raise ValueError(word)
    return f"'{word}'"


def in_words(words: Iterable[str]) -> str:
    """`IN ('a', 'b')`, or `= 'a'` for one."""
    listed = [literal(word) for word in sorted(words)]
    return f"= {listed[0]}" if len(listed) == 1 else f"IN ({', '.join(listed)})"


@dataclass(frozen=True, slots=True)
class Term:
    """A member or a resource in a statement."""

    sql: str
    fixed: bool


class Conditions:
    """Writes conditions for one statement. `bind` writes a placeholder; `small` says which kinds have few resources."""

    def __init__(self, policy: Policy, bind: Callable[[str], str], small: Callable[[str], bool]) -> None:
        self._policy = policy
        self.bind = bind
        self.is_small = small
        self._numbers = count(1)
        self._sets: dict[object, tuple[str, str]] = {}
        self.me = Term(bind("me"), fixed=True)

    def alias(self) -> str:
        """A name that the statement does not use yet."""
        return f"t{next(self._numbers)}"

    def set_once(self, key: object, write: Callable[[], str]) -> str:
        """A subquery of ids that does not vary from row to row: worked out once, and kept apart so that a statement
        is never nested deeply.
        """
        if key not in self._sets:
            query = write()
            self._sets[key] = (f"s{len(self._sets) + 1}", query)
        return f"SELECT id FROM {self._sets[key][0]}"

    def statement(self, query: str) -> str:
        """The query with the sets that it uses. `me` are the asker and their groups."""
        groups = self._edge_ahead(f"{MEMBER}.{MEMBER_OF}", self.me.sql)
        sets = [("me", f"SELECT {self.me.sql} AS id UNION ALL {groups}"), *self._sets.values()]
        return "WITH " + ", ".join(f"{name} AS MATERIALIZED ({text})" for name, text in sets) + f" {query}"

    def _edge_ahead(self, name: str, source: str) -> str:
        e = self.alias()
        return (
            f"SELECT {e}.target_id AS id FROM access_edge {e} WHERE {e}.source_id = {source}"
            f" AND {e}.name = {literal(name)} AND {self.live(e)}"
        )

    def live(self, alias: str) -> str:
        """The fact holds at the moment of the question."""
        return f"{alias}.since <= {self.bind('at')} AND {alias}.until > {self.bind('at')}"

    def holds(self, expression: Expression, kind: str, member: Term, resource: Term) -> str:
        """The expression as a condition."""
        match expression:
            case Relation(_, name):
                return self.holds(self._policy.relations[kind, name], kind, member, resource)
            case Any(inner):
                return joined("OR", (self.holds(part, kind, member, resource) for part in inner))
            case All(inner):
                return joined("AND", (self.holds(part, kind, member, resource) for part in inner))
            case Not(part):
                return f"NOT {self.holds(part, kind, member, resource)}"
            case Everyone():
                return YES
            case Granted():
                return self._granted(expression, member, resource)
            case Is(name, value, default):
                return self._valued(name, value, default, resource, "0")
            case MemberIs(name, value, default):
                return self._valued(name, value, default, resource, member.sql)
            case Some(items, then):
                return self._some(items, dict(then), kind, member, resource)
            case Every(items, then):
                return self._every(items, dict(then), kind, member, resource)
            case Holder():
                return self._holder(expression, kind, resource)

    # Attributes

    def _valued(self, name: str, value: str, default: str, resource: Term, member: str) -> str:
        a = self.alias()
        told = f"{a}.value {'<>' if value == default else '='} {literal(value)}"
        exists = (
            f"EXISTS (SELECT 1 FROM access_attribute {a} WHERE {a}.resource_id = {resource.sql}"
            f" AND {a}.name = {literal(name)} AND {a}.member_id = {member} AND {told} AND {self.live(a)})"
        )
        return f"NOT {exists}" if value == default else exists

    # Grants

    def _granted(self, granted: Granted, member: Term, resource: Term) -> str:
        roles = in_words(f"{granted.kind}.{role}" for role in granted.roles)
        if resource.fixed and not member.fixed:
            key = ("holders", roles, resource.sql)
            people = self.set_once(key, lambda: self._holders(roles, resource, groups=not granted.person_only))
            direct = f"{member.sql} IN ({people})"
        else:
            direct = self._exists_grant(roles, resource, self.is_subject(member, granted.person_only))
        if granted.person_only:
            return direct
        to_all = self._exists_grant(roles, resource, lambda g: f"{g}.subject_id = {self.bind('everyone')}")
        return f"({direct} OR {joined('AND', (to_all, self.belongs(granted.kind, member, resource)))})"

    def _exists_grant(self, roles: str, resource: Term, to: Callable[[str], str]) -> str:
        g = self.alias()
        return (
            f"EXISTS (SELECT 1 FROM access_grant {g} WHERE {g}.resource_id = {resource.sql}"
            f" AND {to(g)} AND {g}.role {roles} AND {self.live(g)})"
        )

    def is_subject(self, member: Term, person_only: bool) -> Callable[[str], str]:  # noqa: FBT001 - as the role says
        """Grants that reach the member: their own, and those of their groups."""
        if person_only:
            return lambda g: f"{g}.subject_id = {member.sql}"
        if member.fixed:
            return lambda g: f"{g}.subject_id IN (SELECT id FROM me)"
        groups = self._edge_ahead(f"{MEMBER}.{MEMBER_OF}", member.sql)
        return lambda g: f"({g}.subject_id = {member.sql} OR {g}.subject_id IN ({groups}))"

    def _holders(self, roles: str, resource: Term, *, groups: bool) -> str:
        """All members whom a grant of these roles on one resource reaches."""
        g, h, e = self.alias(), self.alias(), self.alias()
        direct = (
            f"SELECT {g}.subject_id AS id FROM access_grant {g} WHERE {g}.resource_id = {resource.sql}"
            f" AND {g}.role {roles} AND {self.live(g)}"
        )
        if not groups:
            return direct
        return (
            f"{direct} UNION ALL SELECT {e}.source_id FROM access_grant {h} JOIN access_edge {e}"
            f" ON {e}.target_id = {h}.subject_id AND {e}.name = {literal(f'{MEMBER}.{MEMBER_OF}')} AND {self.live(e)}"
            f" WHERE {h}.resource_id = {resource.sql} AND {h}.role {roles} AND {self.live(h)}"
        )

    def belongs(self, kind: str, member: Term, resource: Term) -> str:
        """Whether the group All means the member here."""
        everyone = self._policy.everyone(kind)
        if everyone is None:
            return YES
        roles = in_words(f"{everyone.kind}.{role}" for role in everyone.roles)
        here, here_kind = resource, kind
        for step in self._policy.kinds[kind].everyone or ():
            here = self.end(step, here_kind, here)
            here_kind = step.kinds[0]
        return self._exists_grant(roles, here, self.is_subject(member, person_only=False))

    def end(self, step: Step, kind: str, resource: Term) -> Term:
        """The one resource at the end of an edge of which there is one."""
        name = f"{kind}.{step.edge}"
        if resource.fixed:
            ahead = self.set_once(("end", name, resource.sql), lambda: self._edge_ahead(name, resource.sql))
            return Term(f"({ahead} LIMIT 1)", fixed=True)
        return Term(f"({self._edge_ahead(name, resource.sql)} LIMIT 1)", fixed=False)

    # Edges

    def is_one(self, step: Step, kind: str) -> bool:
        """Whether the edge leads to one resource at the most."""
        return not step.back and not self._policy.kinds[kind].schema.edges[step.edge].many

    def _some(
        self, items: tuple[Item, ...], then: dict[str, Expression], kind: str, member: Term, resource: Term
    ) -> str:
        item = items[0]
        plain = len(items) == 1 and not item.where and item.otherwise is None
        if plain and resource.fixed and self.is_one(item.step, kind) and len(item.step.kinds) == 1:
            return self.holds(then[item.step.kinds[0]], item.step.kinds[0], member, self.end(item.step, kind, resource))
        return joined(
            "OR",
            (self._exists_end(item, kind, resource, lambda end: self.at_end(then, member, end)) for item in items),
        )

    def _every(
        self, items: tuple[Item, ...], then: dict[str, Expression], kind: str, member: Term, resource: Term
    ) -> str:
        there = joined("OR", (self._exists_end(item, kind, resource, _always) for item in items))
        refusing = (
            f"NOT {self._exists_end(item, kind, resource, lambda end: f'NOT {self.at_end(then, member, end)}')}"
            for item in items
        )
        return joined("AND", (there, *refusing))

    def _exists_end(self, item: Item, kind: str, resource: Term, asked: Callable[[End], str]) -> str:
        here = self._exists(item.step, kind, resource, lambda end: self._counted(item, end), asked)
        if item.otherwise is None:
            return here
        none = self._exists(item.step, kind, resource, lambda end: self._counted(item, end), _always)
        instead = self._exists(item.otherwise, kind, resource, _always, asked)
        return f"({here} OR (NOT {none} AND {instead}))"

    def _counted(self, item: Item, end: End) -> str:
        """The condition after `where`, which no person comes into."""
        return self.at_end(dict(item.where), self.me, end) if item.where else YES

    def _exists(
        self, step: Step, kind: str, resource: Term, where: Callable[[End], str], asked: Callable[[End], str]
    ) -> str:
        e = self.alias()
        near, far = ("target_id", "source_id") if step.back else ("source_id", "target_id")
        end = End(Term(f"{e}.{far}", fixed=False), step.kinds)
        conditions = [part for part in (where(end), asked(end)) if part != YES]
        return (
            f"EXISTS (SELECT 1 FROM access_edge {e} WHERE {e}.{near} = {resource.sql}"
            f" AND {e}.name {in_words(edge_names(step, kind))} AND {self.live(e)}"
            + "".join(f" AND {part}" for part in conditions)
            + ")"
        )

    def at_end(self, then: dict[str, Expression], member: Term, end: End) -> str:
        """What each kind is asked at the end of an edge."""
        asked = [
            self._of_kind(kind, self._hoisted(then[kind], kind, member, end.term), end, len(end.kinds) > 1)
            for kind in end.kinds
        ]
        return joined("OR", asked)

    def _of_kind(self, kind: str, condition: str, end: End, tested: bool) -> str:  # noqa: FBT001 - one of two shapes
        if not tested or condition == NO:
            return condition
        k = self.alias()
        is_kind = f"EXISTS (SELECT 1 FROM resource {k} WHERE {k}.id = {end.term.sql} AND {k}.kind = {literal(kind)})"
        return joined("AND", (is_kind, condition))

    def _hoisted(self, expression: Expression, kind: str, member: Term, end: Term) -> str:
        """With a fixed asker and few resources of the kind, the set of those that hold is worked out once."""
        if isinstance(expression, Everyone):
            return YES
        if not (member.fixed and self.is_small(kind)):
            return self.holds(expression, kind, member, end)
        return f"{end.sql} IN ({self.held(expression, kind)})"

    def held(self, expression: Expression, kind: str) -> str:
        """All resources of a kind for which the expression holds for the asker."""
        return self.set_once(("held", expression, kind), lambda: self._held(expression, kind))

    def _held(self, expression: Expression, kind: str) -> str:
        x = self.alias()
        inner = self.holds(expression, kind, self.me, Term(f"{x}.id", fixed=False))
        return (
            f"SELECT {x}.id FROM resource {x} WHERE {x}.tenant_id = {self.bind('tenant')}"
            f" AND {x}.kind = {literal(kind)} AND {self.live(x)} AND {inner}"
        )

    # Another person

    def _holder(self, holder: Holder, kind: str, resource: Term) -> str:
        here, here_kind = resource, kind
        for step in holder.steps:
            here = self.end(step, here_kind, here)
            here_kind = step.kinds[0]
        g, p = self.alias(), self.alias()
        roles = in_words(f"{here_kind}.{role}" for role in holder.role.roles)
        question = self.holds(holder.question, kind, Term(f"{g}.subject_id", fixed=False), resource)
        return (
            f"EXISTS (SELECT 1 FROM access_grant {g} JOIN resource {p} ON {p}.id = {g}.subject_id"
            f" AND {p}.kind = {literal(MEMBER)} WHERE {g}.resource_id = {here.sql}"
            f" AND {g}.role {roles} AND {self.live(g)} AND {question})"
        )


@dataclass(frozen=True, slots=True)
class End:
    """What an edge leads to, and of which kinds it can be."""

    term: Term
    kinds: tuple[str, ...]


def edge_names(step: Step, kind: str) -> Iterator[str]:
    """The edge as it is kept: with the kind that it leads away from."""
    return (f"{source}.{step.edge}" for source in (step.kinds if step.back else (kind,)))


def _always(_end: End) -> str:
    return YES


def joined(word: str, parts: Iterable[str]) -> str:
    """The parts joined by AND or OR, without those that say nothing."""
    neutral, absorbing = (NO, YES) if word == "OR" else (YES, NO)
    kept: list[str] = []
    for part in parts:
        if part == absorbing:
            return absorbing
        if part != neutral:
            kept.append(part)
    if len(kept) < 2:  # noqa: PLR2004 - nothing to join
        return kept[0] if kept else neutral
    return f"({f' {word} '.join(kept)})"
