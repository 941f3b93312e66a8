"""From a change as people name it to the rows that open and close. Everything that cannot be is refused here,
for writing and for what-if alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lakehold.access.facts.inputs import mapping, one_or_several, text
from lakehold.access.facts.records import Add, Attribute, Draft, Edge, Fact, Grant, Remove
from lakehold.access.facts.view import (
    ALL_MEMBERS,
    AttributeRow,
    EdgeRow,
    GrantRow,
    ModelRow,
    ResourceRow,
    Row,
    View,
    role_bit,
)
from lakehold.access.model.document import loads
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import GROUP, MEMBER
from lakehold.access.model.schema import FLAG
from lakehold.access.model.schema import Attribute as AttributeKind
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote

Opening = tuple[bool, Row]
"""A row, and whether it opens (or closes)."""

_SUBJECTS = {MEMBER, GROUP, ALL_MEMBERS}


def rows(view: View, change: Add | Remove) -> list[Opening]:
    """What opens and closes by this change, in order. Empty if it is so already."""
    refuse_what_is_no_change(change)
    row = row_of(view, change.fact)
    if isinstance(change, Remove):
        refuse_taking_the_last(view, row)
        if isinstance(row, AttributeRow):
            return [(False, old) for old in _replaced(view, row)]
        return [(False, row)] if holds(view, row) else []
    if holds(view, row):
        return []
    return [*((False, old) for old in _replaced(view, row)), (True, row)]


def refuse_what_is_no_change(change: object) -> None:
    """Refuse what neither adds nor removes."""
    if not isinstance(change, Add | Remove):
        raise InvalidInputError(
            f"A change adds, removes or adopts something; {type(change).__name__} does not.",
            "Say Add(…), Remove(…) or Adopt(…).",
        )


def row_of(view: View, fact: Fact) -> Row:
    """The fact with everything in it looked up, or an error that names what is not there."""
    match fact:
        case Grant():
            return _grant(view, fact)
        case Attribute():
            return _attribute(view, fact)
        case Edge():
            return _edge(view, fact)
        case _:
            raise InvalidInputError(
                f"A fact is a grant, an attribute or an edge, not {type(fact).__name__}.",
                "Say Grant(…), Attribute(…) or Edge(…).",
            )


def fact_of(view: View, row: Row) -> Fact:
    """The row as people name it."""
    match row:
        case GrantRow(subject, role, resource):
            return Grant(view.uid(subject), role, view.uid(resource))
        case EdgeRow(name, source, target):
            return Edge(name, view.uid(source), view.uid(target))
        case AttributeRow(resource, member, name, value):
            return Attribute(view.uid(resource), name, value, view.uid(member) if member else None)
        case ResourceRow() | ModelRow():
            raise TypeError(row)


def holds(view: View, row: Row) -> bool:
    """Whether the fact holds in the view."""
    match row:
        case GrantRow(subject, role, resource):
            return (view.grants.get(resource) or {}).get(subject, 0) & role_bit(role) != 0
        case EdgeRow(name, source, target):
            return target in (view.out[name].get(source) or ())
        case AttributeRow(resource, member, name, value):
            if member:
                return (view.memberships[name].get(resource) or {}).get(member) == value
            return view.attributes[name].get(resource) == value
        case ResourceRow(resource):
            return view.kinds.get(resource) is not None
        case ModelRow(name, source):
            return view.sources.get(name) == source


def refuse_taking_the_last(view: View, row: Row) -> None:
    """Some roles must always be held by somebody: a tenant without an Owner could never have one again."""
    if not isinstance(row, GrantRow) or not holds(view, row):
        return
    role = view.policy.role(view.kind(row.resource), row.role)
    held = (view.grants.get(row.resource) or {}).values()
    if role.last_stays and sum(1 for mask in held if mask & role_bit(row.role)) == 1:
        raise ConflictError(
            f"{quote(view.uid(row.subject))} is the last {role.title} of {quote(view.uid(row.resource))}.",
            "Give the role to somebody else first.",
        )


def _replaced(view: View, row: Row) -> Iterator[Row]:
    """The facts whose place this one takes, where there can be only one."""
    match row:
        case AttributeRow(resource, member, name, _):
            held = view.memberships[name].get(resource) or {}
            old = held.get(member) if member else view.attributes[name].get(resource)
            if old is not None:
                yield AttributeRow(resource, member, name, old)
        case EdgeRow(name, source, _):
            if not view.policy.edge(view.kind(source), name).many:
                yield from (EdgeRow(name, source, old) for old in view.out[name].get(source) or ())
        case GrantRow(_, role, resource):
            if view.policy.role(view.kind(resource), role).single:
                held_by = view.grants.get(resource) or {}
                yield from (GrantRow(old, role, resource) for old, mask in held_by.items() if mask & role_bit(role))


def _grant(view: View, fact: Grant) -> GrantRow:
    resource, subject = view.resource(fact.resource), view.resource(fact.subject, "member or group")
    role = view.policy.role(view.kind(resource), text(fact.role, "role"))
    kind = view.kind(subject)
    if kind not in _SUBJECTS:
        raise InvalidInputError(
            f"{quote(fact.subject)} is a {kind}, and cannot hold a role.", "Give roles to members and groups."
        )
    if role.person_only and kind != MEMBER:
        raise InvalidInputError(
            f"{role.title} is held by a person, and {quote(fact.subject)} is a group.", "Give it to a member."
        )
    return GrantRow(subject, fact.role, resource)


def _attribute(view: View, fact: Attribute) -> AttributeRow:
    resource = view.resource(fact.resource)
    schema = view.policy.kind(view.kind(resource)).schema
    known = schema.attributes if fact.member is None else schema.membership
    if text(fact.name, "attribute") not in known:
        raise InvalidInputError(
            f"{schema.id} has no {'' if fact.member is None else 'membership '}attribute {quote(fact.name)}.",
            did_you_mean(fact.name, known),
        )
    value = valid_value(known[fact.name], fact.value)
    member = 0 if fact.member is None else view.member(fact.member)
    return AttributeRow(resource, member, fact.name, value)


def valid_value(attribute: AttributeKind, value: str | bool) -> str:  # noqa: FBT001 - a flag's value is a flag
    """The value as it is kept."""
    kept = FLAG[value] if isinstance(value, bool) else value
    if kept not in attribute.values:
        raise InvalidInputError(
            f"{quote(str(value))} is no value of {attribute.name}.", did_you_mean(str(value), attribute.values)
        )
    return kept


def _edge(view: View, fact: Edge) -> EdgeRow:
    source, target = view.resource(fact.source), view.resource(fact.target)
    _refuse_wrong_end(view, view.kind(source), fact.name, target)
    if reaches(view, fact.name, target, source):
        raise ConflictError(
            f"{quote(fact.source)} cannot point at {quote(fact.target)} as {fact.name}: that would close a circle.",
            "Break the circle elsewhere first.",
        )
    return EdgeRow(fact.name, source, target)


def _refuse_wrong_end(view: View, kind: str, edge: str, target: int) -> None:
    view.policy.edge(kind, text(edge, "edge"))
    ends = view.policy.kind(kind).steps[edge].kinds
    if view.kind(target) not in ends:
        raise InvalidInputError(
            f"{edge} of a {kind} cannot point at {quote(view.uid(target))}, a {view.kind(target)}.",
            f"It points at: {', '.join(ends)}.",
        )


def reaches(view: View, edge: str, start: int, goal: int) -> bool:
    """Whether the goal can be come to from the start along edges of this name."""
    seen: set[int] = set()
    todo = [start]
    while todo:
        here = todo.pop()
        if here == goal:
            return True
        if here not in seen:
            seen.add(here)
            todo.extend(view.out[edge].get(here) or ())
    return False


def with_changes(view: View, changes: Iterable[Add | Remove]) -> View:
    """The view as it would be after the changes."""
    after = View(view.policy, view)
    for change in changes:
        for opens, row in rows(after, change):
            (after.open if opens else after.close)(row)
        after.touch()
    return after


def with_model(view: View, source: str) -> View:
    """The view under another model, if the facts keep their meaning under it."""
    after = View(view.policy, view)
    if not after.sources:
        after.sources = dict(view.policy.sources)
    after.open(ModelRow(loads(text(source, "model")).name, source))
    after.touch()
    for old in view.policy.kinds:
        if old not in after.policy.kinds and view.of_kind.get(old):
            raise ConflictError(
                f"There are still resources of the kind {old}, which the new model drops.", "Delete them first."
            )
    for kind in after.policy.kinds.values():
        for edge in kind.schema.edges:
            _refuse_losing_ends(after, kind.id, edge)
    return after


def _refuse_losing_ends(after: View, kind: str, edge: str) -> None:
    ends, many = after.policy.kinds[kind].steps[edge].kinds, after.policy.edge(kind, edge).many
    for here in after.of_kind.get(kind) or ():
        there = after.out[edge].get(here) or ()
        wrong = next((end for end in there if after.kind(end) not in ends), None)
        if wrong is not None:
            raise ConflictError(
                f"{edge} of {quote(after.uid(here))} points at {quote(after.uid(wrong))}, a {after.kind(wrong)}, "
                "which it cannot under the new model.",
                "Point it elsewhere first.",
            )
        if len(there) > 1 and not many:
            raise ConflictError(
                f"{edge} of {quote(after.uid(here))} points at {len(there)}, and at one under the new model.",
                "Remove the others first.",
            )


_DRAFT = -1


def with_draft(view: View, draft: Draft) -> tuple[View, int]:
    """The view with a resource in it that does not exist yet, and its number."""
    schema = view.policy.kind(text(draft.kind, "kind")).schema
    mapping(draft.edges, "edges")
    mapping(draft.attributes, "attributes")
    if schema.parent and not draft.edges.get(schema.parent):
        raise InvalidInputError(f"A {draft.kind} lies in a {schema.parent}.", f"Name it as the edge {schema.parent}.")
    after = View(view.policy, view)
    after.open(ResourceRow(_DRAFT, "", draft.kind, ""))
    for name, value in draft.attributes.items():
        if text(name, "attribute") not in schema.attributes:
            raise InvalidInputError(
                f"{draft.kind} has no attribute {quote(name)}.", did_you_mean(name, schema.attributes)
            )
        after.open(AttributeRow(_DRAFT, 0, name, valid_value(schema.attributes[name], value)))
    for edge, targets in draft.edges.items():
        for target in ends_of(view, draft.kind, edge, targets):
            after.open(EdgeRow(edge, _DRAFT, target))
    return after, _DRAFT


def ends_of(view: View, kind: str, edge: str, targets: str | Sequence[str]) -> list[int]:
    """The resources that an edge is to point at, if it can."""
    declared = view.policy.edge(kind, text(edge, "edge"))
    uids = one_or_several(targets, "id")
    if len(uids) > 1 and not declared.many:
        raise InvalidInputError(f"{edge} of a {kind} points at one, not at {len(uids)}.", "Name one of them.")
    ends = [view.resource(uid) for uid in uids]
    for end in ends:
        _refuse_wrong_end(view, kind, edge, end)
    return ends
