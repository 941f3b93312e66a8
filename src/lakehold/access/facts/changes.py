"""Resolves changes into the rows that open and close, and refuses invalid ones, for writing and what-if alike."""

from collections.abc import Iterable, Iterator, Sequence

from lakehold.access.facts.last_holder import refuse_removing_last_holder
from lakehold.access.facts.records import (
    Add,
    Attribute,
    Draft,
    Edge,
    Fact,
    Grant,
    Remove,
    require_mapping,
    require_text,
    to_texts,
)
from lakehold.access.facts.view import (
    ALL_MEMBERS,
    AttributeRow,
    EdgeRow,
    FactRow,
    FactView,
    GrantRow,
    ModelRow,
    ResourceRow,
    role_bit,
)
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import GROUP, MEMBER
from lakehold.access.model.schema import FLAG, AttributeKind, KindSchema
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote

RowChange = tuple[bool, FactRow]
"""A row, and whether it opens (or closes)."""

_SUBJECTS = {MEMBER, GROUP, ALL_MEMBERS}


def resolve_change(view: FactView, change: Add | Remove) -> list[RowChange]:
    """Return the rows that open and close by this change, in order; empty if nothing changes."""
    require_change(change)
    row = resolve_fact(view, change.fact)
    if isinstance(change, Remove):
        refuse_removing_last_holder(view, row)
        if isinstance(row, AttributeRow):
            return [(False, old) for old in _replaced_rows(view, row)]
        return [(False, row)] if fact_holds(view, row) else []
    if fact_holds(view, row):
        return []
    if isinstance(row, EdgeRow):
        refuse_other_parent(view, row)
    return [*((False, old) for old in _replaced_rows(view, row)), (True, row)]


def require_change(change: object) -> None:
    """Refuse anything that is neither `Add` nor `Remove`."""
    if not isinstance(change, Add | Remove):
        raise InvalidInputError(
            f"A change is an Add, a Remove or an Adopt, not {type(change).__name__}.",
            "Use Add(…), Remove(…) or Adopt(…).",
        )


def resolve_fact(view: FactView, fact: Fact) -> FactRow:
    """Resolve the ids and names of a fact; raise an error that names what does not exist."""
    match fact:
        case Grant():
            return _resolve_grant(view, fact)
        case Attribute():
            return _resolve_attribute(view, fact)
        case Edge():
            return _resolve_edge(view, fact)
        case _:
            raise InvalidInputError(
                f"A fact is a grant, an attribute or an edge, not {type(fact).__name__}.",
                "Use Grant(…), Attribute(…) or Edge(…).",
            )


def to_fact(view: FactView, row: FactRow) -> Fact | None:
    """Return the fact of a row as callers name it; None if something that it is about does not exist."""
    uid = view.uids.get
    match row:
        case GrantRow(subject, role, resource) if (who := uid(subject)) and (what := uid(resource)):
            return Grant(who, role, what)
        case EdgeRow(name, source, target) if (here := uid(source)) and (there := uid(target)):
            return Edge(name, here, there)
        case AttributeRow(resource, member, name, value) if (what := uid(resource)) and (not member or uid(member)):
            return Attribute(what, name, value, uid(member) if member else None)
        case _:
            return None


def fact_holds(view: FactView, row: FactRow) -> bool:
    """Return whether the fact holds in the view."""
    match row:
        case GrantRow(subject, role, resource):
            return (view.grants.get(resource) or {}).get(subject, 0) & role_bit(role) != 0
        case EdgeRow(name, source, target):
            return target in (view.edges_out[name].get(source) or ())
        case AttributeRow(resource, member, name, value):
            if member:
                return (view.memberships[name].get(resource) or {}).get(member) == value
            return view.attributes[name].get(resource) == value
        case ResourceRow(resource):
            return view.kinds.get(resource) is not None
        case ModelRow(name, source):
            return view.sources.get(name) == source


def _replaced_rows(view: FactView, row: FactRow) -> Iterator[FactRow]:
    """Yield the rows that this one replaces, where there can be only one."""
    match row:
        case AttributeRow(resource, member, name, _):
            held = view.memberships[name].get(resource) or {}
            old = held.get(member) if member else view.attributes[name].get(resource)
            if old is not None:
                yield AttributeRow(resource, member, name, old)
        case EdgeRow(name, source, _):
            if not view.policy.edge(view.kind(source), name).many:
                yield from (EdgeRow(name, source, old) for old in view.edges_out[name].get(source) or ())
        case GrantRow(_, role, resource):
            if view.policy.role(view.kind(resource), role).single:
                held_by = view.grants.get(resource) or {}
                yield from (GrantRow(old, role, resource) for old, mask in held_by.items() if mask & role_bit(role))


def _resolve_grant(view: FactView, fact: Grant) -> GrantRow:
    resource, subject = view.resource(fact.resource), view.resource(fact.subject, "member or group")
    role = view.policy.role(view.kind(resource), require_text(fact.role, "role"))
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


def _resolve_attribute(view: FactView, fact: Attribute) -> AttributeRow:
    resource = view.resource(fact.resource)
    schema = view.policy.kind(view.kind(resource)).schema
    value = _attribute_value(schema, fact.name, fact.value, of_member=fact.member is not None)
    member = 0 if fact.member is None else view.member(fact.member)
    return AttributeRow(resource, member, fact.name, value)


def _attribute_value(schema: KindSchema, name: str, value: str | bool, *, of_member: bool) -> str:  # noqa: FBT001 - as below
    known, what = (schema.membership, "membership attribute") if of_member else (schema.attributes, "attribute")
    if require_text(name, "attribute") not in known:
        raise InvalidInputError(f"{schema.id} has no {what} {quote(name)}.", did_you_mean(name, known))
    return validate_value(known[name], value)


def validate_value(attribute: AttributeKind, value: str | bool) -> str:  # noqa: FBT001 - a flag's value is a flag
    """Return the value in its stored form, if the attribute allows it."""
    stored = FLAG[value] if isinstance(value, bool) else value
    if stored not in attribute.values:
        raise InvalidInputError(
            f"{quote(str(value))} is not a valid value of {attribute.name}.", did_you_mean(str(value), attribute.values)
        )
    return stored


def _resolve_edge(view: FactView, fact: Edge) -> EdgeRow:
    source, target = view.resource(fact.source), view.resource(fact.target)
    _refuse_wrong_end(view, view.kind(source), fact.name, target)
    if is_reachable(view, fact.name, target, source):
        raise ConflictError(
            f"{quote(fact.source)} cannot point at {quote(fact.target)} as {fact.name}: that would create a cycle.",
            "Remove another edge of the cycle first.",
        )
    return EdgeRow(fact.name, source, target)


def _refuse_wrong_end(view: FactView, kind: str, edge: str, target: int) -> None:
    view.policy.edge(kind, require_text(edge, "edge"))
    ends = view.policy.kind(kind).steps[edge].kinds
    if view.kind(target) not in ends:
        raise InvalidInputError(
            f"{edge} of a {kind} cannot point at {quote(view.uid(target))}, a {view.kind(target)}.",
            f"It points at: {', '.join(ends)}.",
        )


def refuse_missing_end(view: FactView, here: int, edge: str) -> None:
    """Refuse to leave a resource without its parent, or without an edge that it cannot be created without."""
    schema = view.policy.kind(view.kind(here)).schema
    if edge == schema.parent or edge in schema.required_edges:
        message = f"A {schema.title.lower()} is not without a {edge} at any time."
        raise InvalidInputError(message, "Let it point at another one instead, from now on.")


def refuse_other_parent(view: FactView, row: EdgeRow) -> None:
    """Refuse an edge to what lies in another parent, if the model has its ends beside the resource."""
    kind = view.policy.kind(view.kind(row.source))
    if not view.policy.edge(kind.id, row.name).beside or kind.parent is None:
        return
    here, there = (set(view.edges_out[kind.parent.edge].get(each) or ()) for each in (row.source, row.target))
    if here and there and here != there:
        parent = kind.parent.edge.replace("_", " ")
        raise InvalidInputError(
            f"{row.name} cannot point at {quote(view.uid(row.target))}, which lies in another {parent}.",
            f"Choose one of the same {parent}.",
            field=row.name,
        )


def is_reachable(view: FactView, edge: str, start: int, goal: int) -> bool:
    """Return whether the goal is reachable from the start along edges of this name."""
    seen: set[int] = set()
    todo = [start]
    while todo:
        here = todo.pop()
        if here == goal:
            return True
        if here not in seen:
            seen.add(here)
            todo.extend(view.edges_out[edge].get(here) or ())
    return False


def with_changes(view: FactView, changes: Iterable[Add | Remove]) -> FactView:
    """Return the view as it would be after the changes."""
    after = FactView(view.policy, view)
    for change in changes:
        for opens, row in resolve_change(after, change):
            (after.open if opens else after.close)(row)
        after.touch()
    return after


def with_models(view: FactView, sources: Iterable[str]) -> FactView:
    """Return the view under other models, if the facts keep their meaning under them."""
    after = FactView(view.policy, view)
    if not after.sources:
        after.sources = dict(view.policy.sources)
    for source in sources:
        after.open(ModelRow(parse_model(require_text(source, "model")).name, source))
    after.touch()
    for old in view.policy.kinds:
        if old not in after.policy.kinds and view.by_kind.get(old):
            raise ConflictError(
                f"There are still resources of the kind {old}, which the new model drops.", "Delete them first."
            )
    for kind in after.policy.kinds.values():
        for edge in kind.schema.edges:
            _refuse_losing_ends(after, kind.id, edge)
    return after


def _refuse_losing_ends(after: FactView, kind: str, edge: str) -> None:
    ends, many = after.policy.kinds[kind].steps[edge].kinds, after.policy.edge(kind, edge).many
    for here in after.by_kind.get(kind) or ():
        there = after.edges_out[edge].get(here) or ()
        wrong = next((end for end in there if after.kind(end) not in ends), None)
        if wrong is not None:
            raise ConflictError(
                f"{edge} of {quote(after.uid(here))} points at {quote(after.uid(wrong))}, a {after.kind(wrong)}, "
                "which it cannot under the new model.",
                "Point it elsewhere first.",
            )
        if len(there) > 1 and not many:
            raise ConflictError(
                f"{edge} of {quote(after.uid(here))} points at {len(there)}, but only at one under the new model.",
                "Remove the others first.",
            )


_DRAFT = -1


def with_draft(view: FactView, draft: Draft) -> tuple[FactView, int]:
    """Return the view with a resource in it that does not exist yet, and its number."""
    schema = view.policy.kind(require_text(draft.kind, "kind")).schema
    require_mapping(draft.edges, "edges")
    require_mapping(draft.attributes, "attributes")
    if schema.parent and not draft.edges.get(schema.parent):
        raise InvalidInputError(f"A {draft.kind} lies in a {schema.parent}.", f"Set the edge {schema.parent}.")
    after = FactView(view.policy, view)
    after.open(ResourceRow(_DRAFT, "", draft.kind, ""))
    for name, value in draft.attributes.items():
        after.open(AttributeRow(_DRAFT, 0, name, _attribute_value(schema, name, value, of_member=False)))
    for edge, targets in draft.edges.items():
        for target in resolve_targets(view, draft.kind, edge, targets):
            after.open(EdgeRow(edge, _DRAFT, target))
    for edge in draft.edges:
        for target in after.edges_out[edge].get(_DRAFT) or ():
            refuse_other_parent(after, EdgeRow(edge, _DRAFT, target))
    return after, _DRAFT


def resolve_targets(view: FactView, kind: str, edge: str, targets: str | Sequence[str]) -> list[int]:
    """Resolve the resources that an edge is to point at, and refuse those that it cannot."""
    declared = view.policy.edge(kind, require_text(edge, "edge"))
    uids = to_texts(targets, "id")
    if len(uids) > 1 and not declared.many:
        raise InvalidInputError(f"{edge} of a {kind} points at one, not at {len(uids)}.", "Name one of them.")
    ends = [view.resource(uid) for uid in uids]
    for end in ends:
        _refuse_wrong_end(view, kind, edge, end)
    return ends
