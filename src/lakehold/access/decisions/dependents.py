"""The dependency graph of relations: which relations of which resources can change when a fact does.

A relation is evaluated along edges; here the edges are walked back, from the changed fact to all that depends on it.
The walk goes by relation, not by resource: a grant on a table reaches `see` of its layer, and from there no other
table.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lakehold.access.decisions.check import step_ends
from lakehold.access.facts.view import AttributeRow, EdgeRow, FactRow, FactView, GrantRow, role_names
from lakehold.access.model import expressions as expr
from lakehold.access.model.policy import MEMBER_OF, Policy

AffectedResources = dict[expr.RelationKey, set[int]]


@dataclass(frozen=True, slots=True)
class _Dependent:
    """A relation that depends on something at the end of the steps. `kinds` are passed on the way."""

    key: expr.RelationKey
    steps: tuple[expr.EdgeStep, ...]
    kinds: tuple[str, ...]


class DependencyGraph:
    """For one policy: from each fact and relation to the relations that depend on it."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._by_relation: dict[expr.RelationKey, list[_Dependent]] = defaultdict(list)
        self._by_role: dict[expr.RelationKey, list[_Dependent]] = defaultdict(list)
        self._by_attribute: dict[expr.RelationKey, list[_Dependent]] = defaultdict(list)
        self._by_edge: dict[expr.RelationKey, list[tuple[_Dependent, bool]]] = defaultdict(list)
        """Those that go along an edge, and whether they go back against it."""
        for key, expression in policy.relations.items():
            self._walk(expression, _Dependent(key, (), (key[0],)))

    def _walk(self, expression: expr.Expression, dependent: _Dependent) -> None:
        kind = dependent.kinds[-1]
        match expression:
            case expr.Relation(_, name):
                self._by_relation[kind, name].append(dependent)
            case expr.HasRole(_, roles):
                self._note_roles(kind, roles, dependent)
            case expr.AttributeIs(name) | expr.MembershipIs(name):
                self._by_attribute[kind, name].append(dependent)
            case expr.AllOf() | expr.AnyOf() | expr.Not():
                for part in expr.subexpressions(expression):
                    self._walk(part, dependent)
            case expr.Some(items, then) | expr.Every(items, then):
                for item in items:
                    self._walk_step(item.step, (*then, *item.where), dependent)
                    if item.otherwise:
                        self._walk_step(item.otherwise, then, dependent)
            case expr.RoleHolder(steps, role, question):
                if isinstance(role, expr.HasRole):
                    self._note_roles(role.kind, role.roles, self._along(dependent, steps))
                self._walk(question, dependent)

    def _walk_step(
        self, step: expr.EdgeStep, then: Iterable[tuple[str, expr.Expression]], dependent: _Dependent
    ) -> None:
        for source in step.kinds if step.back else (dependent.kinds[-1],):
            self._by_edge[source, step.edge].append((dependent, step.back))
        for kind, part in then:
            if kind in step.kinds:
                self._walk(part, _Dependent(dependent.key, (*dependent.steps, step), (*dependent.kinds, kind)))

    def _along(self, dependent: _Dependent, steps: Iterable[expr.EdgeStep]) -> _Dependent:
        for step in steps:
            self._by_edge[dependent.kinds[-1], step.edge].append((dependent, False))
            dependent = _Dependent(dependent.key, (*dependent.steps, step), (*dependent.kinds, step.kinds[0]))
        return dependent

    def _note_roles(self, kind: str, roles: Iterable[str], dependent: _Dependent) -> None:
        for role in roles:
            self._by_role[kind, role].append(dependent)
        everyone = self._policy.everyone_roles(kind)
        if everyone is not None:
            # All means those with a role at the root, so a role there can matter to any grant to All.
            root = self._along(dependent, self._policy.kinds[kind].everyone or ())
            for role in everyone.roles:
                self._by_role[everyone.kind, role].append(root)

    # Walking back

    def affected(self, views: tuple[FactView, FactView], rows: Iterable[FactRow]) -> AffectedResources:
        """Return every relation of every resource that may differ between the two views, given the rows that do."""
        found: AffectedResources = defaultdict(set)
        todo: list[tuple[expr.RelationKey, set[int]]] = []
        for row in rows:
            for dependent, start in self._direct_dependents(views, row):
                todo.append((dependent.key, self._walk_back(views, dependent, {start})))
        while todo:
            key, resources = todo.pop()
            new = resources - found[key]
            if not new:
                continue
            found[key] |= new
            todo.extend((dependent.key, self._walk_back(views, dependent, new)) for dependent in self._by_relation[key])
        return {key: resources for key, resources in found.items() if resources}

    def _direct_dependents(self, views: tuple[FactView, FactView], row: FactRow) -> Iterator[tuple[_Dependent, int]]:
        match row:
            case GrantRow(_, role, resource):
                yield from ((dependent, resource) for dependent in self._by_role[views[0].kind(resource), role])
            case AttributeRow(resource, _, name, _):
                yield from ((dependent, resource) for dependent in self._by_attribute[views[0].kind(resource), name])
            case EdgeRow(name, source, target):
                for dependent, back in self._by_edge[views[0].kind(source), name]:
                    near = target if back else source
                    if views[0].kind(near) == dependent.kinds[-1]:
                        yield dependent, near
                if name == MEMBER_OF:
                    yield from self._through_group(views, target)

    def _through_group(self, views: tuple[FactView, FactView], group: int) -> Iterator[tuple[_Dependent, int]]:
        for view in views:
            for resource, mask in (view.grants_by_subject.get(group) or {}).items():
                for role in role_names(mask):
                    yield from self._direct_dependents(views, GrantRow(group, role, resource))

    @staticmethod
    def _walk_back(views: tuple[FactView, FactView], dependent: _Dependent, there: set[int]) -> set[int]:
        """Return the resources whose relation leads, along the steps, to one of those given."""
        for step, kind in zip(reversed(dependent.steps), reversed(dependent.kinds[:-1]), strict=True):
            reverse = step_ends(expr.EdgeStep(step.edge, not step.back, (kind,)))
            there = {
                near for view in views for end in there for near in reverse(view, end) if view.kinds.get(near) == kind
            }
        return there
