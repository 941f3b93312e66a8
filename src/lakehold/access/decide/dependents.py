"""Which relations of which resources can change when a fact does.

A relation is asked along edges; here the way is walked back, from the changed fact to all that asks for it. It goes by
relation, not by resource: a grant on a table reaches `see` of its layer, and from there no other table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lakehold.access.decide.check import ends
from lakehold.access.facts.view import AttributeRow, EdgeRow, GrantRow, Row, View, role_names
from lakehold.access.model.expressions import (
    All,
    Any,
    Every,
    Expression,
    Granted,
    Holder,
    Is,
    MemberIs,
    Not,
    Relation,
    Some,
    Step,
)
from lakehold.access.model.policy import MEMBER_OF, Key, Policy

Affected = dict[Key, set[int]]


@dataclass(frozen=True, slots=True)
class _Asker:
    """A relation that asks for something at the end of a way. `kinds` are passed on the way, the first is its own."""

    key: Key
    way: tuple[Step, ...]
    kinds: tuple[str, ...]


class Dependents:
    """For one policy: from each fact and relation to those that ask for it."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._of_relation: dict[Key, list[_Asker]] = defaultdict(list)
        self._of_role: dict[Key, list[_Asker]] = defaultdict(list)
        self._of_attribute: dict[Key, list[_Asker]] = defaultdict(list)
        self._of_edge: dict[Key, list[tuple[_Asker, bool]]] = defaultdict(list)
        """Those that go along an edge, and whether they go back against it."""
        for key, expression in policy.relations.items():
            self._walk(expression, _Asker(key, (), (key[0],)))

    def _walk(self, expression: Expression, asker: _Asker) -> None:
        kind = asker.kinds[-1]
        match expression:
            case Relation(_, name):
                self._of_relation[kind, name].append(asker)
            case Granted(_, roles):
                self._note_roles(kind, roles, asker)
            case Is(name) | MemberIs(name):
                self._of_attribute[kind, name].append(asker)
            case All(inner) | Any(inner):
                for part in inner:
                    self._walk(part, asker)
            case Not(part):
                self._walk(part, asker)
            case Some(items, then) | Every(items, then):
                for item in items:
                    self._walk_step(item.step, (*then, *item.where), asker)
                    if item.otherwise:
                        self._walk_step(item.otherwise, then, asker)
            case Holder(steps, role, question):
                self._note_roles(role.kind, role.roles, self._along(asker, steps))
                self._walk(question, asker)

    def _walk_step(self, step: Step, then: Iterable[tuple[str, Expression]], asker: _Asker) -> None:
        for source in step.kinds if step.back else (asker.kinds[-1],):
            self._of_edge[source, step.edge].append((asker, step.back))
        for kind, part in then:
            if kind in step.kinds:
                self._walk(part, _Asker(asker.key, (*asker.way, step), (*asker.kinds, kind)))

    def _along(self, asker: _Asker, steps: Iterable[Step]) -> _Asker:
        for step in steps:
            self._of_edge[asker.kinds[-1], step.edge].append((asker, False))
            asker = _Asker(asker.key, (*asker.way, step), (*asker.kinds, step.kinds[0]))
        return asker

    def _note_roles(self, kind: str, roles: Iterable[str], asker: _Asker) -> None:
        for role in roles:
            self._of_role[kind, role].append(asker)
        everyone = self._policy.everyone(kind)
        if everyone is not None:
            # All means those with a role at the root, so a role there can matter to any grant to All.
            root = self._along(asker, self._policy.kinds[kind].everyone or ())
            for role in everyone.roles:
                self._of_role[everyone.kind, role].append(root)

    # Walking back

    def affected(self, views: tuple[View, View], rows: Iterable[Row]) -> Affected:
        """Every relation of every resource that may differ between the two views, given the rows that do."""
        found: Affected = defaultdict(set)
        todo: list[tuple[Key, set[int]]] = []
        for row in rows:
            for asker, start in self._first(views, row):
                todo.append((asker.key, self._back(views, asker, {start})))
        while todo:
            key, resources = todo.pop()
            new = resources - found[key]
            if not new:
                continue
            found[key] |= new
            todo.extend((asker.key, self._back(views, asker, new)) for asker in self._of_relation[key])
        return {key: resources for key, resources in found.items() if resources}

    def _first(self, views: tuple[View, View], row: Row) -> Iterator[tuple[_Asker, int]]:
        match row:
            case GrantRow(_, role, resource):
                yield from ((asker, resource) for asker in self._of_role[views[0].kind(resource), role])
            case AttributeRow(resource, _, name, _):
                yield from ((asker, resource) for asker in self._of_attribute[views[0].kind(resource), name])
            case EdgeRow(name, source, target):
                for asker, back in self._of_edge[views[0].kind(source), name]:
                    near = target if back else source
                    if views[0].kind(near) == asker.kinds[-1]:
                        yield asker, near
                if name == MEMBER_OF:
                    yield from self._through_group(views, target)

    def _through_group(self, views: tuple[View, View], group: int) -> Iterator[tuple[_Asker, int]]:
        for view in views:
            for resource, mask in (view.held.get(group) or {}).items():
                for role in role_names(mask):
                    yield from self._first(views, GrantRow(group, role, resource))

    @staticmethod
    def _back(views: tuple[View, View], asker: _Asker, there: set[int]) -> set[int]:
        """The resources whose relation leads, along the way, to one of those given."""
        for step, kind in zip(reversed(asker.way), reversed(asker.kinds[:-1]), strict=True):
            reverse = ends(Step(step.edge, not step.back, (kind,)))
            there = {
                near for view in views for end in there for near in reverse(view, end) if view.kinds.get(near) == kind
            }
        return there
