"""One expression of a policy as an SQL condition on a member and a resource.

Either side may be fixed for the whole statement (a bound value, or a subquery of one) or vary from row to row. What is
fixed is turned into a set that the database works out once; what varies is looked up by index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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
    parts,
)
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Policy
from lakehold.access.query.sets import Bind, Sets
from lakehold.access.query.terms import NO, STAYS, YES, End, Term, compared, edge_names, in_words, joined, literal


class Conditions(Sets):
    """Writes conditions for one statement. `bind` writes a placeholder; `small` says which kinds have few resources."""

    def __init__(self, policy: Policy, bind: Bind, small: Callable[[str], bool], deepest: int) -> None:
        super().__init__(bind, deepest)
        self._policy = policy
        self.is_small = small

    def holds(self, expression: Expression, kind: str, member: Term, resource: Term) -> str:
        """The expression as a condition."""
        match expression:
            case Relation(_, name):
                return self.holds(self._policy.relations[kind, name], kind, member, resource)
            case Any(inner):
                ordered = sorted(inner, key=lambda part: not self._is_by_set(part, member))
                return joined("OR", (self.holds(part, kind, member, resource) for part in ordered))
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
            case Some() | Every() | Holder() if self.is_deep:
                return self._set_apart(expression, kind, member, resource)
            case Some(items, then):
                return self._some(items, dict(then), kind, member, resource)
            case Every(items, then):
                return self._every(items, dict(then), kind, member, resource)
            case Holder():
                return self._holder(expression, kind, resource)

    def _is_by_set(self, expression: Expression, member: Term) -> bool:
        """Whether a look-up and a set that is worked out once tell it: then it is asked before all else."""
        return isinstance(expression, Some) and all(
            self._is_set(kind, member) and not isinstance(part, Everyone) for kind, part in expression.then
        )

    def _set_apart(self, expression: Expression, kind: str, member: Term, resource: Term) -> str:
        """The same condition, worked out beforehand for all that it may be asked of."""
        if member.fixed:
            return f"{compared(resource.sql)} IN ({self.held(expression, kind)})"
        a, d, pairs = self.alias(), self.alias(), self.pairs_at(resource)
        person, here = Term(f"{d}.member_id", fixed=False), Term(f"{d}.id", fixed=False, pairs=pairs)
        yes = self.named(
            ("yes", expression, kind, pairs),
            lambda: f"SELECT {d}.member_id, {d}.id FROM {pairs} {d} WHERE {self.holds(expression, kind, person, here)}",
        )
        return f"EXISTS (SELECT 1 FROM {yes} {a} WHERE {a}.member_id = {member.sql} AND {a}.id = {resource.sql})"

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
        elif granted.person_only or resource.fixed or not member.fixed or self.is_small(granted.kind):
            direct = self._exists_grant(roles, resource, self.is_subject(member, granted.person_only))
        else:
            # Of many resources each has few grants: they are read once, and each is tested.
            return self._exists_grant(roles, resource, lambda g: self._reaches_me(granted.kind, resource, g))
        if granted.person_only:
            return direct
        to_all = self._exists_grant(roles, resource, lambda g: f"{g}.subject_id = {self.bind('everyone')}")
        return f"({direct} OR {joined('AND', (to_all, self.belongs(granted.kind, member, resource)))})"

    def _reaches_me(self, kind: str, resource: Term, g: str) -> str:
        to_all = joined("AND", (f"{g}.subject_id = {self.bind('everyone')}", self.belongs(kind, self.me, resource)))
        return f"({compared(f'{g}.subject_id')} IN ({self.mine}) OR {to_all})"

    def _exists_grant(self, roles: str, resource: Term, to: Callable[[str], str]) -> str:
        g = self.alias()
        role = compared(f"{g}.role", "''")
        return (
            f"EXISTS (SELECT 1 FROM access_grant {g} WHERE {g}.resource_id = {resource.sql}"
            f" AND {to(g)} AND {role} {roles} AND {self.live(g)} {STAYS})"
        )

    def is_subject(self, member: Term, person_only: bool) -> Callable[[str], str]:  # noqa: FBT001 - as the role says
        """Grants that reach the member: their own, and those of their groups."""
        if person_only:
            return lambda g: f"{g}.subject_id = {member.sql}"
        if member.fixed:
            return lambda g: f"{g}.subject_id IN ({self.mine})"
        groups = self.edge_ahead(f"{MEMBER}.{MEMBER_OF}", member.sql)
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
            ahead = self.set_once(("end", name, resource.sql), lambda: self.edge_ahead(name, resource.sql))
            return Term(f"({ahead} LIMIT 1)", fixed=True)
        return Term(f"({self.edge_ahead(name, resource.sql)} LIMIT 1)", fixed=False)

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
            end = self.end(item.step, kind, resource)
            asked = self.holds(then[item.step.kinds[0]], item.step.kinds[0], member, end)
            return joined("AND", (f"{end.sql} IS NOT NULL", asked))
        if plain and self.is_one(item.step, kind) and self._is_by_set(Some(items, tuple(then.items())), member):
            return self.at_end(then, member, End(self.end(item.step, kind, resource), item.step.kinds))
        return joined(
            "OR",
            (
                self._exists_end(item, kind, member, resource, lambda end: self.at_end(then, member, end))
                for item in items
            ),
        )

    def _every(
        self, items: tuple[Item, ...], then: dict[str, Expression], kind: str, member: Term, resource: Term
    ) -> str:
        there = joined("OR", (self._exists_end(item, kind, member, resource, _always) for item in items))
        refusing = (
            f"NOT {self._exists_end(item, kind, member, resource, lambda end: f'NOT {self.at_end(then, member, end)}')}"
            for item in items
        )
        return joined("AND", (there, *refusing))

    def _exists_end(self, item: Item, kind: str, member: Term, resource: Term, asked: Callable[[End], str]) -> str:
        counted: Callable[[End], str] = lambda end: self._counted(item, member, end)  # noqa: E731 - said twice below
        here = self._exists(item.step, kind, resource, counted, asked)
        if item.otherwise is None:
            return here
        none = self._exists(item.step, kind, resource, counted, _always)
        instead = self._exists(item.otherwise, kind, resource, _always, asked)
        return f"({here} OR (NOT {none} AND {instead}))"

    def _counted(self, item: Item, member: Term, end: End) -> str:
        """The condition after `where`. Mostly no person comes into it, and then it is worked out once."""
        if not item.where:
            return YES
        personal = any(self._is_personal(part) for _, part in item.where)
        return self.at_end(dict(item.where), member if personal else self.me, end)

    def _is_personal(self, expression: Expression) -> bool:
        """Whether the condition asks for an attribute of a membership."""
        if isinstance(expression, Relation):
            expression = self._policy.relations[expression.kind, expression.name]
        return isinstance(expression, MemberIs) or any(map(self._is_personal, parts(expression)))

    def _exists(
        self, step: Step, kind: str, resource: Term, where: Callable[[End], str], asked: Callable[[End], str]
    ) -> str:
        e = self.alias()
        near, far = ("target_id", "source_id") if step.back else ("source_id", "target_id")
        end = End(Term(f"{e}.{far}", fixed=False, pairs=self.pairs_along(step, kind, resource)), step.kinds)
        with self.deeper():
            conditions = [part for part in (where(end), asked(end)) if part != YES]
        return (
            f"EXISTS (SELECT 1 FROM access_edge {e} WHERE {e}.{near} = {resource.sql}"
            f" AND {e}.name {in_words(edge_names(step, kind))} AND {self.live(e)}"
            + "".join(f" AND {part}" for part in conditions)
            + f" {STAYS})"
        )

    def at_end(self, then: dict[str, Expression], member: Term, end: End) -> str:
        """What each kind is asked at the end of an edge."""
        return joined("OR", (self._of_kind(then[kind], kind, member, end) for kind in end.kinds))

    def _of_kind(self, expression: Expression, kind: str, member: Term, end: End) -> str:
        condition = self._hoisted(expression, kind, member, end.term)
        if len(end.kinds) == 1 or condition == NO or self._tells_kind(expression, kind, member):
            return condition
        k = self.alias()
        is_kind = f"EXISTS (SELECT 1 FROM resource {k} WHERE {k}.id = {end.term.sql} AND {k}.kind = {literal(kind)})"
        return joined("AND", (is_kind, condition))

    def _hoisted(self, expression: Expression, kind: str, member: Term, end: Term) -> str:
        """With a fixed asker and few resources of the kind, the set of those that hold is worked out once."""
        if isinstance(expression, Everyone):
            return YES
        if not self._is_set(kind, member):
            return self.holds(expression, kind, member, end)
        return f"{compared(end.sql)} IN ({self.held(expression, kind)})"

    def _is_set(self, kind: str, member: Term) -> bool:
        return member.fixed and self.is_small(kind)

    def _tells_kind(self, expression: Expression, kind: str, member: Term) -> bool:
        """Whether it holds for this kind alone: sets are of one kind, and roles and edges are kept with theirs."""
        match expression:
            case Everyone():
                return False
            case _ if self._is_set(kind, member):
                return True
            case Relation(_, name):
                return self._tells_kind(self._policy.relations[kind, name], kind, member)
            case Granted() | Holder():
                return True
            case Some(items) | Every(items):
                return not any(step.back for item in items for step in (item.step, item.otherwise) if step)
            case All(inner):
                return any(self._tells_kind(part, kind, member) for part in inner)
            case Any(inner):
                return all(self._tells_kind(part, kind, member) for part in inner)
            case _:
                return False

    def held(self, expression: Expression, kind: str) -> str:
        """All resources of a kind for which the expression holds for the asker."""
        write = self.listed if self.is_small(kind) else self._held
        return self.set_once(("held", expression, kind), lambda: write(expression, kind))

    def _held(self, expression: Expression, kind: str) -> str:
        x = self.alias()
        inner = self.holds(expression, kind, self.me, Term(f"{x}.id", fixed=False))
        return f"SELECT {x}.id FROM resource {x} WHERE {self.all_of(kind, x)} AND {inner}"

    # Another person

    def _holder(self, holder: Holder, kind: str, resource: Term) -> str:
        g, p = self.alias(), self.alias()
        person = Term(f"{g}.subject_id", fixed=False)
        asked = resource
        if self.is_cut and not resource.fixed:
            asked = replace(resource, pairs=self._pairs_held(holder, kind))
        with self.deeper():
            question = self.holds(holder.question, kind, person, asked)
        return (
            f"EXISTS (SELECT 1 FROM access_grant {g} JOIN resource {p} ON {p}.id = {g}.subject_id"
            f" AND {p}.kind = {literal(MEMBER)} WHERE {self._held_by(holder, kind, resource, g)} AND {question})"
        )

    def _held_by(self, holder: Holder, kind: str, resource: Term, g: str) -> str:
        """The condition on a grant that its subject is the person who is asked instead."""
        here, here_kind = resource, kind
        for step in holder.steps:
            here = self.end(step, here_kind, here)
            here_kind = step.kinds[0]
        roles = in_words(f"{here_kind}.{role}" for role in holder.role.roles)
        return f"{g}.resource_id = {here.sql} AND {g}.role {roles} AND {self.live(g)}"

    def _pairs_held(self, holder: Holder, kind: str) -> str:
        """Every resource of the kind with the person who is asked there."""
        g, x = self.alias(), self.alias()
        held = self._held_by(holder, kind, Term(f"{x}.id", fixed=False), g)
        return self.named(
            ("held by", holder.steps, holder.role, kind),
            lambda: (
                f"SELECT DISTINCT {g}.subject_id AS member_id, {x}.id AS id FROM resource {x}"
                f" JOIN access_grant {g} ON {held} WHERE {self.all_of(kind, x)}"
            ),
        )


def _always(_end: End) -> str:
    return YES
