"""Reverse lookup: from the principal's grants along the edges to the resources, as SQL; and its selectivity, estimated
in memory, so that the database is queried in the way that suits it.

A lookup is a subquery of ids that contains every resource for which the expression holds, and perhaps more. It is only
ever used beside the condition itself, or where it is exact; so it can make a listing fast, never wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lakehold.access.decisions.check import compiled_checks, role_mask
from lakehold.access.facts.view import FactView, MemberSubject
from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import Policy
from lakehold.access.query.conditions import ConditionWriter
from lakehold.access.query.statement import SQL_FALSE, SqlTerm, edge_names, in_list, join_conditions, literal


@dataclass(frozen=True, slots=True)
class LookupBranch:
    """One of the alternatives that an expression is the union of."""

    expression: expr.Expression
    ids: str
    exact: bool
    wide: bool
    """Whether it goes by containers: few look-ups, many resources."""


class ReverseLookup:
    """Writes reverse lookups for a fixed principal."""

    def __init__(self, policy: Policy, conditions: ConditionWriter) -> None:
        self._policy = policy
        self._sql = conditions

    def ids(self, expression: expr.Expression, kind: str) -> str | None:
        """Return a subquery of all resources for which the expression holds; None if all must be scanned."""
        branches = self._branches(expression, kind)
        if branches is None:
            return None
        if not branches:
            return f"SELECT 0 AS id WHERE {SQL_FALSE}"
        ordered = sorted(branches, key=lambda branch: not branch.wide)
        return " UNION ALL ".join(self._disjoint_part(branch, ordered[:n], kind) for n, branch in enumerate(ordered))

    def _disjoint_part(self, branch: LookupBranch, before: list[LookupBranch], kind: str) -> str:
        """Return what the branch adds to those before it."""
        d = self._sql.alias()
        here = SqlTerm(f"{d}.id", fixed=False)
        conditions = [] if branch.exact else [self._sql.holds(branch.expression, kind, self._sql.me, here)]
        conditions += [f"NOT {self._sql.holds(other.expression, kind, self._sql.me, here)}" for other in before]
        where = join_conditions("AND", conditions)
        return f"SELECT {d}.id FROM ({branch.ids}) {d}" + (f" WHERE {where}" if conditions else "")

    def _branches(self, expression: expr.Expression, kind: str) -> list[LookupBranch] | None:
        match expression:
            case expr.Relation(_, name):
                return self._branches(self._policy.relations[kind, name], kind)
            case expr.AnyOf(inner):
                found: list[LookupBranch] = []
                for part in inner:
                    branches = self._branches(part, kind)
                    if branches is None:
                        return None
                    found.extend(branches)
                return found
            case expr.HasRole():
                return [LookupBranch(expression, self._granted(expression), exact=True, wide=False)]
            case expr.Some((item,), then) if not item.where and item.otherwise is None:
                return self._along(expression, item, dict(then), kind)
            case _:
                ids = self._superset(expression, kind)
                return None if ids is None else [LookupBranch(expression, ids, exact=False, wide=False)]

    def _granted(self, granted: expr.HasRole) -> str:
        if granted.person_only:
            return self._grants(granted, self._sql.alias(), f"= {self._sql.me.sql}")
        h = self._sql.alias()
        own = self._grants(granted, self._sql.alias(), f"IN ({self._sql.principal_ids})")
        belongs = self._sql.is_in_everyone(granted.kind, self._sql.me, SqlTerm(f"{h}.resource_id", fixed=False))
        to_all = self._grants(granted, h, f"= {self._sql.bind('everyone')}")
        return f"SELECT DISTINCT id FROM ({own} UNION ALL {to_all} AND {belongs}) s"

    def _grants(self, granted: expr.HasRole, g: str, subject: str) -> str:
        roles = in_list(f"{granted.kind}.{role}" for role in granted.roles)
        return (
            f"SELECT {g}.resource_id AS id FROM access_grant {g}"
            f" WHERE {g}.role {roles} AND {self._sql.is_live(g)} AND {g}.subject_id {subject}"
        )

    def _along(
        self, expression: expr.Expression, item: expr.QuantifierItem, then: dict[str, expr.Expression], kind: str
    ) -> list[LookupBranch] | None:
        ids = self._ends(item.step, then, kind)
        if ids is None:
            return None
        # An edge of which there is one, asked in full at its end, gives each resource once and no other.
        exact = self._sql.is_one(item.step, kind) and len(item.step.kinds) == 1
        return [
            LookupBranch(expression, ids if exact else f"SELECT DISTINCT id FROM ({ids}) s", exact=exact, wide=exact)
        ]

    def _ends(self, step: expr.EdgeStep, then: dict[str, expr.Expression], kind: str) -> str | None:
        """Return the resources from which the step leads to one for which it may hold."""
        e = self._sql.alias()
        near, far = ("target_id", "source_id") if step.back else ("source_id", "target_id")
        sets: list[str] = []
        for end in step.kinds:
            held = self._exact_ids(then[end], end)
            if held is None:
                return None
            sets.append(held)
        return (
            f"SELECT {e}.{near} AS id FROM access_edge {e} WHERE {e}.{far} IN ({' UNION ALL '.join(sets)})"
            f" AND {e}.name {in_list(edge_names(step, kind))} AND {self._sql.is_live(e)}"
            f"{self._kind_condition(step, kind, e)}"
        )

    def _kind_condition(self, step: expr.EdgeStep, kind: str, e: str) -> str:
        """Return the condition on the kind: seen from behind, an edge may lead to resources of other kinds too."""
        if not step.back or all(self._policy.kinds[end].steps[step.edge].kinds == (kind,) for end in step.kinds):
            return ""
        k = self._sql.alias()
        return f" AND EXISTS (SELECT 1 FROM resource {k} WHERE {k}.id = {e}.target_id AND {k}.kind = {literal(kind)})"

    def _exact_ids(self, expression: expr.Expression, kind: str) -> str | None:
        """Return exactly the resources of the kind for which the expression holds."""
        if self._sql.is_small(kind) or self._sql.is_split:
            return self._sql.resources_where(expression, kind)
        return self.ids(expression, kind)

    def _superset(self, expression: expr.Expression, kind: str) -> str | None:
        """Return a superset of the resources for which the expression holds."""
        match expression:
            case expr.Every(items, then) | expr.Some(items, then):
                return self._of_items(items, dict(then), kind)
            case expr.AllOf(inner):
                usable = [(part, ids) for part in inner if (ids := self.ids(part, kind)) is not None]
                return min(usable, key=lambda pair: not isinstance(pair[0], expr.HasRole))[1] if usable else None
            case _:
                return None

    def _of_items(
        self, items: tuple[expr.QuantifierItem, ...], then: dict[str, expr.Expression], kind: str
    ) -> str | None:
        parts: list[str] = []
        for item in items:
            for step in (item.step, item.otherwise):
                ids = self._ends(step, then, kind) if step else ""
                if ids is None:
                    return None
                if ids:
                    parts.append(ids)
        return f"SELECT DISTINCT id FROM ({' UNION ALL '.join(parts)}) s"


class _LimitExceededError(Exception):
    """More grants and edges would have to be read than the limit allows, or no grant leads to the resources at all."""


class GrantSelectivity:
    """The resources that the grants of one subject lead to, up to a limit: what a reverse lookup finds."""

    def __init__(self, view: FactView, subject: MemberSubject, most: int) -> None:
        self._view = view
        self._subject = subject
        self._left = most

    def is_selective(self, expression: expr.Expression, kind: str) -> bool:
        """Return whether all resources for which the expression holds are found by reading few grants and edges."""
        try:
            for _ in self._candidates(expression, kind):
                pass
        except _LimitExceededError:
            return False
        return True

    def _candidates(self, expression: expr.Expression, kind: str) -> Iterator[int]:
        match expression:
            case expr.Relation(_, name):
                yield from self._candidates(self._view.policy.relations[kind, name], kind)
            case expr.AnyOf(inner):
                for part in inner:
                    yield from self._candidates(part, kind)
            case expr.HasRole():
                yield from self._granted(expression)
            case expr.Some(items, then) | expr.Every(items, then):
                for item in items:
                    yield from self._sources(item, dict(then), kind)
            case expr.AllOf(inner):
                yield from self._in_all(expression, inner, kind)
            case _:
                raise _LimitExceededError

    def _granted(self, granted: expr.HasRole) -> Iterator[int]:
        view, mask = self._view, role_mask(granted.roles)
        holders = (self._subject.id,) if granted.person_only else self._subject.ids_with_all
        held = [view.grants_by_subject.get(holder) or {} for holder in holders]
        self._spend(sum(map(len, held)))
        for resource, roles in (pair for of_one in held for pair in of_one.items()):
            if roles & mask and view.kinds.get(resource) == granted.kind:
                yield resource

    def _sources(self, item: expr.QuantifierItem, then: dict[str, expr.Expression], kind: str) -> Iterator[int]:
        """Yield the resources of the kind from which a step leads to one that is found."""
        for step in (item.step, item.otherwise) if item.otherwise else (item.step,):
            for end_kind in step.kinds:
                for end in self._candidates(then[end_kind], end_kind):
                    yield from self._step_sources(step, kind, end)

    def _step_sources(self, step: expr.EdgeStep, kind: str, end: int) -> Iterator[int]:
        edges = (self._view.edges_out if step.back else self._view.edges_in)[step.edge].get(end) or ()
        self._spend(len(edges))
        return (near for near in edges if self._view.kinds.get(near) == kind)

    def _in_all(self, whole: expr.Expression, parts: tuple[expr.Expression, ...], kind: str) -> Iterator[int]:
        """Yield the resources found by the first part that grants lead to, tested by the whole."""
        holds = compiled_checks(self._view.policy).expression_test(whole)
        for part in parts:
            try:
                found = list(self._candidates(part, kind))
            except _LimitExceededError:
                continue
            yield from (here for here in found if holds(self._view, self._subject, here))
            return
        raise _LimitExceededError

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _LimitExceededError
