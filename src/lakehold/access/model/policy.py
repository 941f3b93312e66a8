"""Policies: models that extend each other, compiled into one relation for every kind and name; and the properties of a
request that conditions may read.

A property that is missing, or of another type than it is compared with, makes a comparison false.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache

from lakehold.access.model import expressions as expr
from lakehold.access.model import validation
from lakehold.access.model.errors import ModelError, did_you_mean
from lakehold.access.model.loader import parse_model
from lakehold.access.model.resolver import ResolvedRule, Resolver
from lakehold.access.model.schema import AccessModel, EdgeKind, KindPolicy, RoleKind, resolve_kinds
from lakehold.access.model.syntax import ComparisonNode, RequestProperty
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

Properties = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RequestProperties:
    """The properties of the subject, the resource and the context of a request."""

    subject: Properties = field(default_factory=dict)
    resource: Properties = field(default_factory=dict)
    context: Properties = field(default_factory=dict)

    def value(self, request_property: RequestProperty) -> object:
        """Return the value of a property, or None."""
        sides = {"subject": self.subject, "resource": self.resource, "context": self.context}
        return sides[request_property.side].get(request_property.name)


def comparison_holds(comparison: ComparisonNode, request: RequestProperties) -> bool:
    """Return whether the comparison is true of this request."""
    left = _comparable(request.value(comparison.left))
    right = _comparable(
        request.value(comparison.right) if isinstance(comparison.right, RequestProperty) else comparison.right
    )
    if left is None or right is None or type(left) is not type(right):
        return False
    if comparison.sign == "=":
        return left == right
    if not isinstance(left, Decimal) or not isinstance(right, Decimal):
        return False
    compare = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[comparison.sign]
    return bool(compare(left, right))


def _comparable(value: object) -> str | bool | Decimal | None:
    if isinstance(value, str | bool | Decimal):
        return value
    if isinstance(value, int | float):
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            return None
        return number if number.is_finite() else None
    return None


TENANT = "tenant.tenant"
MEMBER = expr.MEMBER
GROUP = "tenant.group"
MEMBER_OF = "member_of"
MANAGE_MODELS = "manage_models"

_MOST_VARIANTS = 64
"""How many policies that were compiled for request properties are cached."""


class Policy:
    """The compiled policy of a tenant's models. Immutable; compiled once for each set of models."""

    def __init__(self, models: Iterable[AccessModel], true_comparisons: frozenset[str] = frozenset()) -> None:
        self.models: Mapping[str, AccessModel] = _models_by_name(models)
        self.sources = {model.name: model.source for model in self.models.values()}
        self.kinds: Mapping[str, KindPolicy] = resolve_kinds(self.models)
        resolver = Resolver(self.models, self.kinds, true_comparisons)
        self.relations: Mapping[expr.RelationKey, expr.Expression] = resolver.relations()
        self.rules: Mapping[str, Sequence[ResolvedRule]] = resolver.resolve_rules(lambda kind: kind.allow)
        """For each kind its `allow` lines: the paths that a decision is the union of."""
        self.gates: Mapping[str, Sequence[ResolvedRule]] = resolver.resolve_rules(lambda kind: kind.gates)
        self.request_comparisons = resolver.request_comparisons
        """What conditions ask of the request itself, by the name under which expressions know it."""
        self._by_comparisons: dict[frozenset[str], Policy] = {frozenset(): self}
        validation.refuse_cycles(self.relations, resolver.clauses, self.kinds)
        validation.refuse_negated_rights(self.relations, resolver.clauses, self.kinds)
        validation.refuse_redundant_rules(resolver.clauses, self.kinds)

    def with_request(self, request: RequestProperties) -> Policy:
        """Return the same policy for a request with these properties."""
        true_comparisons = frozenset(
            key for key, comparison in self.request_comparisons.items() if comparison_holds(comparison, request)
        )
        if true_comparisons not in self._by_comparisons:
            if len(self._by_comparisons) >= _MOST_VARIANTS:
                self._by_comparisons = {frozenset(): self}
            self._by_comparisons[true_comparisons] = Policy(self.models.values(), true_comparisons)
        return self._by_comparisons[true_comparisons]

    def roles_for(self, kind: str, relation: str, place: str) -> frozenset[str]:
        """Return the roles on `place` that count for a relation: the tenant's that make one an admin of a project."""
        found: set[str] = set()
        left: list[expr.Expression] = [self.relations[kind, relation]]
        for part in left:
            if isinstance(part, expr.HasRole) and part.kind == place:
                found |= part.roles
            inner = (self.relations[part.kind, part.name],) if isinstance(part, expr.Relation) else ()
            left += (each for each in (*inner, *expr.subexpressions(part)) if each not in left)
        return frozenset(found)

    def kind(self, kind: str) -> KindPolicy:
        """Return the kind of this id."""
        try:
            return self.kinds[kind]
        except KeyError:
            raise InvalidInputError(f"There is no kind {quote(kind)}.", did_you_mean(kind, self.kinds)) from None

    def action(self, kind: str, action: str) -> expr.Expression:
        """Return the expression of an action of this kind."""
        if action not in self.kind(kind).schema.actions:
            actions = self.kinds[kind].schema.actions
            raise InvalidInputError(f"{kind} has no action {quote(action)}.", did_you_mean(action, actions))
        return self.relations[kind, action]

    def role(self, kind: str, role: str) -> RoleKind:
        """Return the role of this name on this kind."""
        roles = self.kind(kind).schema.roles
        if role not in roles:
            raise InvalidInputError(f"{kind} has no role {quote(role)}.", did_you_mean(role, roles))
        return roles[role]

    def edge(self, kind: str, edge: str) -> EdgeKind:
        """Return the edge of this name that leads away from this kind."""
        edges = self.kind(kind).schema.edges
        if edge not in edges:
            raise InvalidInputError(f"{kind} has no edge {quote(edge)}.", did_you_mean(edge, edges))
        return edges[edge]

    def referenced_relations(self, kind: str, name: str) -> set[expr.RelationKey]:
        """Return the relations that this one refers to directly; none for one that there is not."""
        expression = self.relations.get((kind, name))
        return set() if expression is None else _referenced_relations(expression)

    def everyone_roles(self, kind: str) -> expr.HasRole | None:
        """Return the roles whose holders the group All means on resources of this kind; None: everybody."""
        everyone = self.kinds[kind].everyone
        if everyone is None:
            return None
        root = everyone[-1].kinds[0] if everyone else kind
        return expr.HasRole(root, frozenset(self.kinds[root].schema.roles))

    @cached_property
    def granting_actions(self) -> frozenset[expr.RelationKey]:
        """The actions that make or take grants, memberships, invites or models: no narrowed token does these."""
        # With a member or a group goes all that they were given.
        found: set[expr.RelationKey] = {(TENANT, MANAGE_MODELS), (MEMBER, "delete"), (GROUP, "delete")}
        for kind in self.kinds.values():
            for role in kind.schema.roles.values():
                if role.given_with:
                    needed = _referenced_relations(self.relations[kind.id, expr.give_relation(role.name)])
                    # A custom model says nothing about the actions of the models that it extends.
                    found |= {key for key in needed if self.kinds[key[0]].schema.model == kind.schema.model}
                if role.invited_with:
                    found.add((kind.id, role.invited_with))
        # Making somebody a member, or one of a group, hands out what members and the group have.
        for name in (expr.CREATE_RELATION, expr.link_relation(MEMBER_OF)):
            if (MEMBER, name) in self.relations:
                found |= _referenced_relations(self.relations[MEMBER, name])
        return frozenset(found)


@lru_cache(maxsize=32)
def compile_policy(sources: tuple[tuple[str, str], ...]) -> Policy:
    """Compile the policy of these models, given by name and text, once for the same ones."""
    return Policy(parse_model(source, f"{name}/model.yaml") for name, source in sources)


def _referenced_relations(expression: expr.Expression) -> set[expr.RelationKey]:
    match expression:
        case expr.Relation(kind, name):
            return {(kind, name)}
        case expr.Some(_, then):
            return set().union(*(_referenced_relations(part) for _, part in then))
        case expr.AllOf(inner) | expr.AnyOf(inner):
            return set().union(*map(_referenced_relations, inner))
        case _:
            return set()


def _models_by_name(models: Iterable[AccessModel]) -> dict[str, AccessModel]:
    named: dict[str, AccessModel] = {}
    for model in models:
        if model.name in named:
            raise ModelError(model.place, f"there are two models called {model.name!r}.", "Rename one of them.")
        named[model.name] = model
    for model in named.values():
        for base in model.extends:
            if base not in named:
                raise ModelError(base.place, f"it extends {base!r}, which does not exist.", did_you_mean(base, named))
    return named
