"""The eleven things that a rule can ask of a person and a resource, with every name resolved.

Every use of a model (check, list, who, explain, review, what-if, docs) is one walk over these. They are values:
equal where they ask the same.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Everyone:
    """Always holds."""


@dataclass(frozen=True, slots=True)
class Granted:
    """The person holds one of these roles on the resource: directly, by a group, or as one of All."""

    kind: str
    roles: frozenset[str]
    person_only: bool = False


@dataclass(frozen=True, slots=True)
class Is:
    """The resource's attribute has this value."""

    name: str
    value: str
    default: str


@dataclass(frozen=True, slots=True)
class MemberIs:
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
class Step:
    """Along an edge, or back against it, to resources of these kinds."""

    edge: str
    back: bool
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """Some of the resources at the end of a step; when there are none at all, those of another step."""

    step: Step
    where: tuple[tuple[str, Expression], ...] = ()
    otherwise: Step | None = None


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of the items is there and answers yes. `then` says what each kind is asked."""

    items: tuple[Item, ...]
    then: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Every:
    """There is at least one item, and all of them answer yes."""

    items: tuple[Item, ...]
    then: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """The question holds for the person who holds the role at the end of the steps."""

    steps: tuple[Step, ...]
    role: Granted
    question: Expression


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold. Only conditions are negated, never a person's rights."""

    part: Expression


@dataclass(frozen=True, slots=True)
class All:
    """All parts hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """At least one part holds. Without parts: never."""

    parts: tuple[Expression, ...]


Expression = Everyone | Granted | Is | MemberIs | Relation | Some | Every | Holder | Not | All | Any

NEVER = Any(())
ALWAYS = Everyone()


def both(*parts: Expression | None) -> Expression:
    """The parts joined by and, as flat as can be."""
    flat: list[Expression] = []
    for part in parts:
        if part is None or part == ALWAYS:
            continue
        flat.extend(part.parts if isinstance(part, All) else (part,))
    unique = tuple(dict.fromkeys(flat))
    if NEVER in unique:
        return NEVER
    return ALWAYS if not unique else unique[0] if len(unique) == 1 else All(unique)


def either(*parts: Expression | None) -> Expression:
    """The parts joined by or, as flat as can be."""
    flat: list[Expression] = []
    for part in parts:
        if part is None:
            continue
        flat.extend(part.parts if isinstance(part, Any) else (part,))
    unique = tuple(dict.fromkeys(flat))
    if ALWAYS in unique:
        return ALWAYS
    return unique[0] if len(unique) == 1 else Any(unique)


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside this one, asked of the same resource or of others."""
    match expression:
        case All(inner) | Any(inner):
            return inner
        case Not(part):
            return (part,)
        case Holder(_, role, question):
            return (role, question)
        case Some(items, then) | Every(items, then):
            conditions = tuple(part for item in items for _, part in item.where)
            return conditions + tuple(part for _, part in then)
        case _:
            return ()
