"""The twelve expressions that a rule can consist of, with every name resolved.

Every use of a model (check, list, who, explain, review, what-if, docs) is one walk over these. They are values: equal
where they ask the same. Relations that no model names itself have a space in their names, so that nothing can clash.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

RelationKey = tuple[str, str]
"""A kind, and the name of one of its relations."""

MEMBER = "tenant.member"
"""The kind of members, whose resources are people themselves."""

CREATE_RELATION = "create it"
EDIT_RELATION = "edit it"
DELETE_RELATION = "delete it"


def give_relation(role: str) -> str:
    """Return the name of the relation of those who may give or take this role."""
    return f"give {role}"


def invite_relation(role: str) -> str:
    """Return the name of the relation of those who may invite somebody with this role."""
    return f"invite {role}"


def set_relation(attribute: str, value: str) -> str:
    """Return the name of the relation of those who may set this attribute to this value."""
    return f"put {attribute} {value}"


def link_relation(edge: str) -> str:
    """Return the name of the relation of those who may set this edge."""
    return f"link {edge}"


@dataclass(frozen=True, slots=True)
class Everyone:
    """Always holds."""


@dataclass(frozen=True, slots=True)
class HasRole:
    """The person holds one of these roles on the resource: directly, by a group, or as one of All."""

    kind: str
    roles: frozenset[str]
    person_only: bool = False


@dataclass(frozen=True, slots=True)
class IsSelf:
    """The person is the resource, a member."""


@dataclass(frozen=True, slots=True)
class AttributeIs:
    """The resource's attribute has this value."""

    name: str
    value: str
    default: str


@dataclass(frozen=True, slots=True)
class MembershipIs:
    """The attribute of the person's membership in the resource has this value."""

    name: str
    value: str
    default: str


@dataclass(frozen=True, slots=True)
class Relation:
    """Another relation of the same resource: a role, a definition or an action."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class EdgeStep:
    """Along an edge, or back against it, to resources of these kinds."""

    edge: str
    back: bool
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuantifierItem:
    """Some of the resources at the end of a step; when there are none at all, those of another step."""

    step: EdgeStep
    where: tuple[tuple[str, Expression], ...] = ()
    otherwise: EdgeStep | None = None


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of the items exists and holds. `then` is the expression for each kind."""

    items: tuple[QuantifierItem, ...]
    then: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Every:
    """There is at least one item, and all of them hold."""

    items: tuple[QuantifierItem, ...]
    then: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class RoleHolder:
    """The question holds for the person who holds the role at the end of the steps, or who is the resource."""

    steps: tuple[EdgeStep, ...]
    role: HasRole | IsSelf
    question: Expression


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold. Only conditions are negated, never a person's rights."""

    part: Expression


@dataclass(frozen=True, slots=True)
class AllOf:
    """All parts hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds. Without parts: never."""

    parts: tuple[Expression, ...]


Expression = (
    Everyone
    | HasRole
    | IsSelf
    | AttributeIs
    | MembershipIs
    | Relation
    | Some
    | Every
    | RoleHolder
    | Not
    | AllOf
    | AnyOf
)

NEVER = AnyOf(())
ALWAYS = Everyone()


def all_of(*parts: Expression | None) -> Expression:
    """Join the parts by and, as flat as possible."""
    unique = tuple(part for part in _flatten(parts, AllOf) if part != ALWAYS)
    if NEVER in unique:
        return NEVER
    return ALWAYS if not unique else unique[0] if len(unique) == 1 else AllOf(unique)


def any_of(*parts: Expression | None) -> Expression:
    """Join the parts by or, as flat as possible."""
    unique = _flatten(parts, AnyOf)
    if ALWAYS in unique:
        return ALWAYS
    return unique[0] if len(unique) == 1 else AnyOf(unique)


def _flatten(parts: Iterable[Expression | None], join: type[AllOf | AnyOf]) -> tuple[Expression, ...]:
    """Return the parts without those that are missing, and with the parts of joins of the same sort, each once."""
    flat = (part.parts if isinstance(part, join) else (part,) for part in parts if part is not None)
    return tuple(dict.fromkeys(chain.from_iterable(flat)))


def subexpressions(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions directly inside this one, of the same resource or of others."""
    match expression:
        case AllOf(inner) | AnyOf(inner):
            return inner
        case Not(part):
            return (part,)
        case RoleHolder(_, role, question):
            return (role, question)
        case Some(items, then) | Every(items, then):
            conditions = tuple(part for item in items for _, part in item.where)
            return conditions + tuple(part for _, part in then)
        case _:
            return ()
