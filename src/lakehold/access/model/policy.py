"""Models that stand on each other, resolved into one relation for every kind and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

from lakehold.access.model import soundness
from lakehold.access.model.document import loads
from lakehold.access.model.errors import ModelError, did_you_mean
from lakehold.access.model.expressions import All, Any, Expression, Granted, Relation, Some
from lakehold.access.model.kinds import KindPolicy, kinds_of
from lakehold.access.model.names import CREATE, give, link
from lakehold.access.model.requests import Request, holds
from lakehold.access.model.resolving import Key, ResolvedRule, Resolver
from lakehold.access.model.schema import EdgeKind, Model, Role
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

__all__ = ["GROUP", "MEMBER", "MEMBER_OF", "TENANT", "Key", "KindPolicy", "Policy", "ResolvedRule", "policy_of"]

TENANT = "tenant.tenant"
MEMBER = "tenant.member"
GROUP = "tenant.group"
MEMBER_OF = "member_of"

_MOST_GIVEN = 64
"""How many answers to what is asked of the request are kept compiled."""


class Policy:
    """Everything that a tenant's models say. Immutable; compiled once for each set of models."""

    def __init__(self, models: Iterable[Model], given: frozenset[str] = frozenset()) -> None:
        self.models: Mapping[str, Model] = _by_name(models)
        self.sources = {model.name: model.source for model in self.models.values()}
        self.kinds: Mapping[str, KindPolicy] = kinds_of(self.models)
        resolver = Resolver(self.models, self.kinds, given)
        self.relations: Mapping[Key, Expression] = resolver.relations()
        self.rules: Mapping[str, tuple[ResolvedRule, ...]] = resolver.rules()
        """For each kind its `allow` lines: the paths that a decision is the union of."""
        self.gates: Mapping[str, tuple[ResolvedRule, ...]] = resolver.gates()
        self.asked = resolver.asked
        """What conditions ask of the request itself, by the name under which expressions know it."""
        self._under: dict[frozenset[str], Policy] = {frozenset(): self}
        soundness.refuse_cycles(self.relations, resolver.clauses, self.kinds)
        soundness.refuse_negated_rights(self.relations, resolver.clauses, self.kinds)
        soundness.refuse_idle_rules(resolver.clauses, self.kinds)

    def under(self, request: Request) -> Policy:
        """The same policy for a question that brings these properties along."""
        given = frozenset(key for key, asked in self.asked.items() if holds(asked, request))
        if given not in self._under:
            if len(self._under) >= _MOST_GIVEN:
                self._under = {frozenset(): self}
            self._under[given] = Policy(self.models.values(), given)
        return self._under[given]

    def kind(self, kind: str) -> KindPolicy:
        """The kind of this id."""
        try:
            return self.kinds[kind]
        except KeyError:
            raise InvalidInputError(f"There is no kind {quote(kind)}.", did_you_mean(kind, self.kinds)) from None

    def relation(self, kind: str, name: str) -> Expression:
        """Who stands in this relation to a resource of this kind."""
        return self.relations[kind, name]

    def action(self, kind: str, action: str) -> Expression:
        """Who may do this."""
        if action not in self.kind(kind).schema.actions:
            actions = self.kinds[kind].schema.actions
            raise InvalidInputError(f"{kind} has no action {quote(action)}.", did_you_mean(action, actions))
        return self.relations[kind, action]

    def role(self, kind: str, role: str) -> Role:
        """The role of this name on this kind."""
        roles = self.kind(kind).schema.roles
        if role not in roles:
            raise InvalidInputError(f"{kind} has no role {quote(role)}.", did_you_mean(role, roles))
        return roles[role]

    def edge(self, kind: str, edge: str) -> EdgeKind:
        """The edge of this name that leads away from this kind."""
        edges = self.kind(kind).schema.edges
        if edge not in edges:
            raise InvalidInputError(f"{kind} has no edge {quote(edge)}.", did_you_mean(edge, edges))
        return edges[edge]

    def everyone(self, kind: str) -> Granted | None:
        """The roles whose holders the group All means on resources of this kind; None: everybody."""
        everyone = self.kinds[kind].everyone
        if everyone is None:
            return None
        root = everyone[-1].kinds[0] if everyone else kind
        return Granted(root, frozenset(self.kinds[root].schema.roles))

    @cached_property
    def handing_out(self) -> frozenset[Key]:
        """The actions that make grants or invites: no narrowed token does these."""
        found: set[Key] = set()
        for kind in self.kinds.values():
            for role in kind.schema.roles.values():
                if role.given_with:
                    found |= _ends(self.relations[kind.id, give(role.name)])
                if role.invited_with:
                    found.add((kind.id, role.invited_with))
        # Making somebody a member, or one of a group, hands out what members and the group have.
        for name in (CREATE, link(MEMBER_OF)):
            if (MEMBER, name) in self.relations:
                found |= _ends(self.relations[MEMBER, name])
        return frozenset(found)


@lru_cache(maxsize=32)
def policy_of(sources: tuple[tuple[str, str], ...]) -> Policy:
    """The policy of these models, given by name and text, compiled once for the same ones."""
    return Policy(loads(source, f"{name}/model.yaml") for name, source in sources)


def _ends(expression: Expression) -> set[Key]:
    match expression:
        case Relation(kind, name):
            return {(kind, name)}
        case Some(_, then):
            return set().union(*(_ends(part) for _, part in then))
        case All(inner) | Any(inner):
            return set().union(*map(_ends, inner))
        case _:
            return set()


def _by_name(models: Iterable[Model]) -> dict[str, Model]:
    named: dict[str, Model] = {}
    for model in models:
        if model.name in named:
            raise ModelError(model.place, f"there are two models called {model.name!r}.", "Rename one of them.")
        named[model.name] = model
    for model in named.values():
        for base in model.extends:
            if base not in named:
                raise ModelError(base.place, f"it extends {base!r}, which is not there.", did_you_mean(base, named))
    return named
