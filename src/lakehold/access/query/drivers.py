"""The question turned round: from the asker's grants along the edges to the resources.

A driver is a subquery of ids in which every resource for which the expression holds is found, and perhaps more. It is
only ever used beside the condition itself, or where it says the same; so it can make a listing fast, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access.model.expressions import All, Any, Every, Expression, Granted, Item, Relation, Some, Step
from lakehold.access.model.policy import Policy
from lakehold.access.query.sql import Conditions
from lakehold.access.query.terms import NO, Term, edge_names, in_words, joined, literal


@dataclass(frozen=True, slots=True)
class Branch:
    """One of the alternatives that an expression is the union of."""

    expression: Expression
    ids: str
    exact: bool
    wide: bool
    """Whether it goes by containers: few look-ups, many resources."""


class Drivers:
    """Writes drivers for a fixed asker."""

    def __init__(self, policy: Policy, conditions: Conditions) -> None:
        self._policy = policy
        self._sql = conditions

    def ids(self, expression: Expression, kind: str) -> str | None:
        """All resources for which the expression holds, each once; None if only looking at all of them tells."""
        branches = self._branches(expression, kind)
        if branches is None:
            return None
        if not branches:
            return f"SELECT 0 AS id WHERE {NO}"
        ordered = sorted(branches, key=lambda branch: not branch.wide)
        return " UNION ALL ".join(self._apart(branch, ordered[:n], kind) for n, branch in enumerate(ordered))

    def _apart(self, branch: Branch, before: list[Branch], kind: str) -> str:
        """What the branch adds to those before it."""
        d = self._sql.alias()
        here = Term(f"{d}.id", fixed=False)
        conditions = [] if branch.exact else [self._sql.holds(branch.expression, kind, self._sql.me, here)]
        conditions += [f"NOT {self._sql.holds(other.expression, kind, self._sql.me, here)}" for other in before]
        where = joined("AND", conditions)
        return f"SELECT {d}.id FROM ({branch.ids}) {d}" + (f" WHERE {where}" if conditions else "")

    def _branches(self, expression: Expression, kind: str) -> list[Branch] | None:
        match expression:
            case Relation(_, name):
                return self._branches(self._policy.relations[kind, name], kind)
            case Any(inner):
                found: list[Branch] = []
                for part in inner:
                    branches = self._branches(part, kind)
                    if branches is None:
                        return None
                    found.extend(branches)
                return found
            case Granted():
                return [Branch(expression, self._granted(expression), exact=True, wide=False)]
            case Some((item,), then) if not item.where and item.otherwise is None:
                return self._along(expression, item, dict(then), kind)
            case _:
                ids = self._superset(expression, kind)
                return None if ids is None else [Branch(expression, ids, exact=False, wide=False)]

    def _granted(self, granted: Granted) -> str:
        if granted.person_only:
            return self._grants(granted, self._sql.alias(), f"= {self._sql.me.sql}")
        h = self._sql.alias()
        own = self._grants(granted, self._sql.alias(), f"IN ({self._sql.mine})")
        belongs = self._sql.belongs(granted.kind, self._sql.me, Term(f"{h}.resource_id", fixed=False))
        to_all = self._grants(granted, h, f"= {self._sql.bind('everyone')}")
        return f"SELECT DISTINCT id FROM ({own} UNION ALL {to_all} AND {belongs}) s"

    def _grants(self, granted: Granted, g: str, subject: str) -> str:
        roles = in_words(f"{granted.kind}.{role}" for role in granted.roles)
        return (
            f"SELECT {g}.resource_id AS id FROM access_grant {g}"
            f" WHERE {g}.role {roles} AND {self._sql.live(g)} AND {g}.subject_id {subject}"
        )

    def _along(self, expression: Expression, item: Item, then: dict[str, Expression], kind: str) -> list[Branch] | None:
        ids = self._ends(item.step, then, kind)
        if ids is None:
            return None
        # An edge of which there is one, asked in full at its end, gives each resource once and no other.
        exact = self._sql.is_one(item.step, kind) and len(item.step.kinds) == 1
        return [Branch(expression, ids if exact else f"SELECT DISTINCT id FROM ({ids}) s", exact=exact, wide=exact)]

    def _ends(self, step: Step, then: dict[str, Expression], kind: str) -> str | None:
        """The resources from which the step leads to one that may hold."""
        e = self._sql.alias()
        near, far = ("target_id", "source_id") if step.back else ("source_id", "target_id")
        sets: list[str] = []
        for end in step.kinds:
            held = self._held(then[end], end)
            if held is None:
                return None
            sets.append(held)
        return (
            f"SELECT {e}.{near} AS id FROM access_edge {e} WHERE {e}.{far} IN ({' UNION ALL '.join(sets)})"
            f" AND {e}.name {in_words(edge_names(step, kind))} AND {self._sql.live(e)}{self._of_kind(step, kind, e)}"
        )

    def _of_kind(self, step: Step, kind: str, e: str) -> str:
        """Seen from behind, an edge may lead to resources of other kinds too."""
        if not step.back or all(self._policy.kinds[end].steps[step.edge].kinds == (kind,) for end in step.kinds):
            return ""
        k = self._sql.alias()
        return f" AND EXISTS (SELECT 1 FROM resource {k} WHERE {k}.id = {e}.target_id AND {k}.kind = {literal(kind)})"

    def _held(self, expression: Expression, kind: str) -> str | None:
        """Exactly the resources of the kind for which the expression holds."""
        if self._sql.is_small(kind) or self._sql.is_cut:
            return self._sql.held(expression, kind)
        return self.ids(expression, kind)

    def _superset(self, expression: Expression, kind: str) -> str | None:
        """Some resources, among them all for which the expression holds."""
        match expression:
            case Every(items, then) | Some(items, then):
                return self._of_items(items, dict(then), kind)
            case All(inner):
                usable = [(part, ids) for part in inner if (ids := self.ids(part, kind)) is not None]
                return min(usable, key=lambda pair: not isinstance(pair[0], Granted))[1] if usable else None
            case _:
                return None

    def _of_items(self, items: tuple[Item, ...], then: dict[str, Expression], kind: str) -> str | None:
        parts: list[str] = []
        for item in items:
            for step in (item.step, item.otherwise):
                ids = self._ends(step, then, kind) if step else ""
                if ids is None:
                    return None
                if ids:
                    parts.append(ids)
        return f"SELECT DISTINCT id FROM ({' UNION ALL '.join(parts)}) s"
