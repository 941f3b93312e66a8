"""Writes one expression of a policy as an SQL condition on a member and a resource.

Either side may be fixed for the whole statement (a bound value, or a subquery of one) or vary from row to row. What is
fixed is turned into a set that the database evaluates once; what varies is looked up by index.
"""

from collections.abc import Callable
from dataclasses import replace

from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Policy
from lakehold.access.query.statement import (
    KEEP_LOOKUP,
    SQL_FALSE,
    SQL_TRUE,
    EdgeEnd,
    Placeholders,
    SqlTerm,
    StatementBuilder,
    edge_names,
    in_list,
    join_conditions,
    literal,
    unindexed,
)


class ConditionWriter(StatementBuilder):
    """Writes conditions for one statement. `bind` writes a placeholder; `small` says which kinds have few resources."""

    def __init__(self, policy: Policy, bind: Placeholders, small: Callable[[str], bool], deepest: int) -> None:
        super().__init__(bind, deepest)
        self._policy = policy
        self.is_small = small

    def holds(self, expression: expr.Expression, kind: str, member: SqlTerm, resource: SqlTerm) -> str:
        """Return the expression as a condition."""
        match expression:
            case expr.Relation(_, name):
                return self.holds(self._policy.relations[kind, name], kind, member, resource)
            case expr.AnyOf(inner):
                ordered = sorted(inner, key=lambda part: not self._is_set_lookup(part, member))
                return join_conditions("OR", (self.holds(part, kind, member, resource) for part in ordered))
            case expr.AllOf(inner):
                return join_conditions("AND", (self.holds(part, kind, member, resource) for part in inner))
            case expr.Not(part):
                return f"NOT {self.holds(part, kind, member, resource)}"
            case expr.Everyone():
                return SQL_TRUE
            case expr.HasRole():
                return self._granted(expression, member, resource)
            case expr.IsSelf():
                return f"{member.sql} = {resource.sql}"
            case expr.AttributeIs(name, value, default):
                return self._attribute_is(name, value, default, resource, "0")
            case expr.MembershipIs(name, value, default):
                return self._attribute_is(name, value, default, resource, member.sql)
            case expr.Some() | expr.Every() | expr.RoleHolder() if self.is_deep:
                return self._moved_out(expression, kind, member, resource)
            case expr.Some():
                return self._some(expression, kind, member, resource)
            case expr.Every():
                return self._every(expression, kind, member, resource)
            case expr.RoleHolder():
                return self._holder(expression, kind, resource)

    def _is_set_lookup(self, expression: expr.Expression, member: SqlTerm) -> bool:
        """Return whether a look-up and a set that is evaluated once decide it: then it comes before all else."""
        return isinstance(expression, expr.Some) and all(
            self._is_set(kind, member) and not isinstance(part, expr.Everyone) for kind, part in expression.then
        )

    def _moved_out(self, expression: expr.Expression, kind: str, member: SqlTerm, resource: SqlTerm) -> str:
        """Return the same condition as a lookup in a set that is evaluated once."""
        if member.fixed:
            return f"{unindexed(resource.sql)} IN ({self.resources_where(expression, kind)})"
        a, d, pairs = self.alias(), self.alias(), self.pairs_at(resource)
        person, here = SqlTerm(f"{d}.member_id", fixed=False), SqlTerm(f"{d}.id", fixed=False, pairs=pairs)
        yes = self.cte(
            ("yes", expression, kind, pairs),
            lambda: f"SELECT {d}.member_id, {d}.id FROM {pairs} {d} WHERE {self.holds(expression, kind, person, here)}",
        )
        return f"EXISTS (SELECT 1 FROM {yes} {a} WHERE {a}.member_id = {member.sql} AND {a}.id = {resource.sql})"

    # Attributes

    def _attribute_is(self, name: str, value: str, default: str, resource: SqlTerm, member: str) -> str:
        a = self.alias()
        comparison = f"{a}.value {'<>' if value == default else '='} {literal(value)}"
        exists = (
            f"EXISTS (SELECT 1 FROM access_attribute {a} WHERE {a}.resource_id = {resource.sql}"
            f" AND {a}.name = {literal(name)} AND {a}.member_id = {member} AND {comparison} AND {self.is_live(a)})"
        )
        return f"NOT {exists}" if value == default else exists

    # Grants

    def _granted(self, granted: expr.HasRole, member: SqlTerm, resource: SqlTerm) -> str:
        roles = in_list(f"{granted.kind}.{role}" for role in granted.roles)
        if resource.fixed and not member.fixed:
            key = ("holders", roles, resource.sql)
            people = self.cte_ids(key, lambda: self._holders(roles, resource, groups=not granted.person_only))
            direct = f"{member.sql} IN ({people})"
        elif granted.person_only or resource.fixed or not member.fixed or self.is_small(granted.kind):
            direct = self._exists_grant(roles, resource, self.is_subject(member, granted.person_only))
        else:
            # Of many resources each has few grants: they are read once, and each is tested.
            return self._exists_grant(roles, resource, lambda g: self._reaches_principal(granted.kind, resource, g))
        if granted.person_only:
            return direct
        to_all = self._exists_grant(roles, resource, lambda g: f"{g}.subject_id = {self.bind('everyone')}")
        return f"({direct} OR {join_conditions('AND', (to_all, self.is_in_everyone(granted.kind, member, resource)))})"

    def _reaches_principal(self, kind: str, resource: SqlTerm, g: str) -> str:
        to_all = join_conditions(
            "AND", (f"{g}.subject_id = {self.bind('everyone')}", self.is_in_everyone(kind, self.me, resource))
        )
        return f"({unindexed(f'{g}.subject_id')} IN ({self.principal_ids}) OR {to_all})"

    def _exists_grant(self, roles: str, resource: SqlTerm, to: Callable[[str], str]) -> str:
        g = self.alias()
        role = unindexed(f"{g}.role", "''")
        return (
            f"EXISTS (SELECT 1 FROM access_grant {g} WHERE {g}.resource_id = {resource.sql}"
            f" AND {to(g)} AND {role} {roles} AND {self.is_live(g)} {KEEP_LOOKUP})"
        )

    def is_subject(self, member: SqlTerm, person_only: bool) -> Callable[[str], str]:  # noqa: FBT001 - as the role says
        """Return the condition on grants that reach the member: their own, and those of their groups."""
        if person_only:
            return lambda g: f"{g}.subject_id = {member.sql}"
        if member.fixed:
            return lambda g: f"{g}.subject_id IN ({self.principal_ids})"
        groups = self.edge_ahead(f"{MEMBER}.{MEMBER_OF}", member.sql)
        return lambda g: f"({g}.subject_id = {member.sql} OR {g}.subject_id IN ({groups}))"

    def _holders(self, roles: str, resource: SqlTerm, *, groups: bool) -> str:
        """Return a subquery of all members whom a grant of these roles on one resource reaches."""
        g, h, e = self.alias(), self.alias(), self.alias()
        direct = (
            f"SELECT {g}.subject_id AS id FROM access_grant {g} WHERE {g}.resource_id = {resource.sql}"
            f" AND {g}.role {roles} AND {self.is_live(g)}"
        )
        if not groups:
            return direct
        return (
            f"{direct} UNION ALL SELECT {e}.source_id FROM access_grant {h} JOIN access_edge {e}"
            f" ON {e}.target_id = {h}.subject_id AND {e}.name = {literal(f'{MEMBER}.{MEMBER_OF}')}"
            f" AND {self.is_live(e)}"
            f" WHERE {h}.resource_id = {resource.sql} AND {h}.role {roles} AND {self.is_live(h)}"
        )

    def is_in_everyone(self, kind: str, member: SqlTerm, resource: SqlTerm) -> str:
        """Return the condition that the group All includes the member here."""
        everyone = self._policy.everyone_roles(kind)
        if everyone is None:
            return SQL_TRUE
        roles = in_list(f"{everyone.kind}.{role}" for role in everyone.roles)
        here, here_kind = resource, kind
        for step in self._policy.kinds[kind].everyone or ():
            here = self.end(step, here_kind, here)
            here_kind = step.kinds[0]
        return self._exists_grant(roles, here, self.is_subject(member, person_only=False))

    def end(self, step: expr.EdgeStep, kind: str, resource: SqlTerm) -> SqlTerm:
        """Return the one resource at the end of a single-valued edge."""
        name = f"{kind}.{step.edge}"
        if resource.fixed:
            ahead = self.cte_ids(("end", name, resource.sql), lambda: self.edge_ahead(name, resource.sql))
            return SqlTerm(f"({ahead} LIMIT 1)", fixed=True)
        return SqlTerm(f"({self.edge_ahead(name, resource.sql)} LIMIT 1)", fixed=False)

    # Edges

    def is_one(self, step: expr.EdgeStep, kind: str) -> bool:
        """Return whether the edge leads to at most one resource."""
        return not step.back and not self._policy.kinds[kind].schema.edges[step.edge].many

    def _some(self, some: expr.Some, kind: str, member: SqlTerm, resource: SqlTerm) -> str:
        item, then = some.items[0], dict(some.then)
        one = len(some.items) == 1 and not item.where and item.otherwise is None and self.is_one(item.step, kind)
        if one and resource.fixed and len(item.step.kinds) == 1:
            end = self.end(item.step, kind, resource)
            asked = self.holds(then[item.step.kinds[0]], item.step.kinds[0], member, end)
            return join_conditions("AND", (f"{end.sql} IS NOT NULL", asked))
        if one and self._is_set_lookup(some, member):
            return self.at_end(then, member, EdgeEnd(self.end(item.step, kind, resource), item.step.kinds))
        asking: Callable[[EdgeEnd], str] = lambda end: self.at_end(then, member, end)  # noqa: E731 - as below
        return join_conditions("OR", (self._exists_end(item, kind, member, resource, asking) for item in some.items))

    def _every(self, every: expr.Every, kind: str, member: SqlTerm, resource: SqlTerm) -> str:
        then = dict(every.then)
        there = join_conditions("OR", (self._exists_end(item, kind, member, resource, _always) for item in every.items))
        refusing = (
            f"NOT {self._exists_end(item, kind, member, resource, lambda end: f'NOT {self.at_end(then, member, end)}')}"
            for item in every.items
        )
        return join_conditions("AND", (there, *refusing))

    def _exists_end(
        self, item: expr.QuantifierItem, kind: str, member: SqlTerm, resource: SqlTerm, asked: Callable[[EdgeEnd], str]
    ) -> str:
        counted: Callable[[EdgeEnd], str] = lambda end: self._where_condition(item, member, end)  # noqa: E731 - said twice below
        here = self._exists(item.step, kind, resource, counted, asked)
        if item.otherwise is None:
            return here
        none = self._exists(item.step, kind, resource, counted, _always)
        instead = self._exists(item.otherwise, kind, resource, _always, asked)
        return f"({here} OR (NOT {none} AND {instead}))"

    def _where_condition(self, item: expr.QuantifierItem, member: SqlTerm, end: EdgeEnd) -> str:
        """Return the condition after `where`. Mostly no person comes into it, and then it is evaluated once."""
        if not item.where:
            return SQL_TRUE
        personal = any(self._is_personal(part) for _, part in item.where)
        return self.at_end(dict(item.where), member if personal else self.me, end)

    def _is_personal(self, expression: expr.Expression) -> bool:
        """Return whether the condition depends on an attribute of a membership."""
        if isinstance(expression, expr.Relation):
            expression = self._policy.relations[expression.kind, expression.name]
        return isinstance(expression, expr.MembershipIs) or any(map(self._is_personal, expr.subexpressions(expression)))

    def _exists(
        self,
        step: expr.EdgeStep,
        kind: str,
        resource: SqlTerm,
        where: Callable[[EdgeEnd], str],
        asked: Callable[[EdgeEnd], str],
    ) -> str:
        e = self.alias()
        near, far = ("target_id", "source_id") if step.back else ("source_id", "target_id")
        end = EdgeEnd(SqlTerm(f"{e}.{far}", fixed=False, pairs=self.pairs_along(step, kind, resource)), step.kinds)
        with self.deeper():
            conditions = [part for part in (where(end), asked(end)) if part != SQL_TRUE]
        return (
            f"EXISTS (SELECT 1 FROM access_edge {e} WHERE {e}.{near} = {resource.sql}"
            f" AND {e}.name {in_list(edge_names(step, kind))} AND {self.is_live(e)}"
            + "".join(f" AND {part}" for part in conditions)
            + f" {KEEP_LOOKUP})"
        )

    def at_end(self, then: dict[str, expr.Expression], member: SqlTerm, end: EdgeEnd) -> str:
        """Return the condition at the end of an edge, for each kind that it can be of."""
        return join_conditions("OR", (self._of_kind(then[kind], kind, member, end) for kind in end.kinds))

    def _of_kind(self, expression: expr.Expression, kind: str, member: SqlTerm, end: EdgeEnd) -> str:
        condition = self._set_or_condition(expression, kind, member, end.term)
        if len(end.kinds) == 1 or condition == SQL_FALSE or self._implies_kind(expression, kind, member):
            return condition
        k = self.alias()
        is_kind = f"EXISTS (SELECT 1 FROM resource {k} WHERE {k}.id = {end.term.sql} AND {k}.kind = {literal(kind)})"
        return join_conditions("AND", (is_kind, condition))

    def _set_or_condition(self, expression: expr.Expression, kind: str, member: SqlTerm, end: SqlTerm) -> str:
        """Return a set lookup for a fixed principal and a small kind, and the condition itself otherwise."""
        if isinstance(expression, expr.Everyone):
            return SQL_TRUE
        if not self._is_set(kind, member):
            return self.holds(expression, kind, member, end)
        return f"{unindexed(end.sql)} IN ({self.resources_where(expression, kind)})"

    def _is_set(self, kind: str, member: SqlTerm) -> bool:
        return member.fixed and self.is_small(kind)

    def _implies_kind(self, expression: expr.Expression, kind: str, member: SqlTerm) -> bool:
        """Return whether it holds for this kind alone: sets, and stored roles and edges, are of one kind."""
        match expression:
            case expr.Everyone():
                return False
            case _ if self._is_set(kind, member):
                return True
            case expr.Relation(_, name):
                return self._implies_kind(self._policy.relations[kind, name], kind, member)
            case expr.HasRole() | expr.RoleHolder():
                return True
            case expr.Some(items) | expr.Every(items):
                return not any(step.back for item in items for step in (item.step, item.otherwise) if step)
            case expr.AllOf(inner):
                return any(self._implies_kind(part, kind, member) for part in inner)
            case expr.AnyOf(inner):
                return all(self._implies_kind(part, kind, member) for part in inner)
            case _:
                return False

    def resources_where(self, expression: expr.Expression, kind: str) -> str:
        """Return a subquery of all resources of a kind for which the expression holds for the principal."""
        write = self.bound_list if self.is_small(kind) else self._resources_where
        return self.cte_ids(("held", expression, kind), lambda: write(expression, kind))

    def _resources_where(self, expression: expr.Expression, kind: str) -> str:
        x = self.alias()
        inner = self.holds(expression, kind, self.me, SqlTerm(f"{x}.id", fixed=False))
        return f"SELECT {x}.id FROM resource {x} WHERE {self.kind_condition(kind, x)} AND {inner}"

    # Another person

    def _holder(self, holder: expr.RoleHolder, kind: str, resource: SqlTerm) -> str:
        g, p = self.alias(), self.alias()
        person = SqlTerm(f"{g}.subject_id", fixed=False)
        asked = resource
        if self.is_split and not resource.fixed:
            asked = replace(resource, pairs=self._pairs_held(holder, kind))
        if isinstance(holder.role, expr.IsSelf):
            return self.holds(holder.question, kind, SqlTerm(resource.sql, fixed=False), asked)
        with self.deeper():
            question = self.holds(holder.question, kind, person, asked)
        return (
            f"EXISTS (SELECT 1 FROM access_grant {g} JOIN resource {p} ON {p}.id = {g}.subject_id"
            f" AND {p}.kind = {literal(MEMBER)} WHERE {self._held_by(holder, kind, resource, g)} AND {question})"
        )

    def _held_by(self, holder: expr.RoleHolder, kind: str, resource: SqlTerm, g: str) -> str:
        """Return the condition that the subject of a grant is the role holder whose rights are checked."""
        here, here_kind = resource, kind
        for step in holder.steps:
            here = self.end(step, here_kind, here)
            here_kind = step.kinds[0]
        assert isinstance(holder.role, expr.HasRole)  # noqa: S101 - who is the resource itself holds nothing there
        roles = in_list(f"{here_kind}.{role}" for role in holder.role.roles)
        return f"{g}.resource_id = {here.sql} AND {g}.role {roles} AND {self.is_live(g)}"

    def _pairs_held(self, holder: expr.RoleHolder, kind: str) -> str:
        """Return every resource of the kind with the role holder whose rights are checked there."""
        g, x = self.alias(), self.alias()
        if isinstance(holder.role, expr.IsSelf):
            selves = f"SELECT {x}.id AS member_id, {x}.id FROM resource {x} WHERE {self.kind_condition(kind, x)}"
            return self.cte(("selves", kind), lambda: selves)
        held = self._held_by(holder, kind, SqlTerm(f"{x}.id", fixed=False), g)
        return self.cte(
            ("held by", holder.steps, holder.role, kind),
            lambda: (
                f"SELECT DISTINCT {g}.subject_id AS member_id, {x}.id AS id FROM resource {x}"
                f" JOIN access_grant {g} ON {held} WHERE {self.kind_condition(kind, x)}"
            ),
        )


def _always(_end: EdgeEnd) -> str:
    return SQL_TRUE
