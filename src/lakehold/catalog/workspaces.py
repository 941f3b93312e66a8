"""Workspaces of every model, side by side in a tenant, with their members and settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.access.facts.changes import validate_value
from lakehold.access.facts.records import require_mapping, require_text, to_texts
from lakehold.access.facts.view import FactView
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.policy import MEMBER
from lakehold.access.model.schema import KindSchema
from lakehold.catalog import grants, kinds, resources
from lakehold.catalog.resources import Listed
from lakehold.catalog.shapes import Ref
from lakehold.directory.request_context import RequestContext, When
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote


@dataclass(frozen=True, slots=True)
class Role:
    """A role on the workspace, and for how long."""

    name: str
    title: str
    since: Moment
    until: Moment


@dataclass(frozen=True, slots=True)
class Member:
    """A member or group of a workspace, with what belongs to the membership, as the scope of a role does."""

    subject: Ref
    roles: list[Role]
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to change for one member or group, and has not been made."""

    given: Sequence[Add]
    """The roles, which may be given for a time."""
    others: Sequence[Add | Remove]

    @property
    def changes(self) -> list[Add | Remove]:
        """All of it, in order."""
        return [*self.given, *self.others]


def create(
    ctx: RequestContext,
    model: str,
    name: str,
    *,
    uid: str | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    description: str = "",
) -> str:
    """Make a workspace of a model. Its maker gets the role that the model names."""
    schema = _root(ctx, model)
    edges = {schema.parent: ctx.caller.tenant} if schema.parent else {}
    return resources.create(ctx, schema.id, name, uid=uid, edges=edges, attributes=attributes, description=description)


def page(
    ctx: RequestContext,
    *,
    model: str | None = None,
    search: str = "",
    sort: str = "name",
    after: str | None = None,
    limit: int = 50,
) -> Listed:
    """The workspaces that the caller may see, of one model or of all."""
    roots = kinds.roots(ctx.view.policy) if model is None else [_root(ctx, model)]
    among = [root.id for root in roots]
    return resources.find(ctx, search, among=among, sort=sort, after=after, limit=limit)


def members(ctx: RequestContext, uid: str) -> list[Member]:
    """Who is in a workspace. Who keeps its members sees all of them, everybody else themself and its owners."""
    need_workspace(ctx, uid)
    found: dict[str, Member] = {}
    given = grants.direct(ctx, uid)
    people = {held.subject.uid for held in given}
    values = ctx.session.read_view(lambda view: {who: _values_of(view, uid, who) for who in people})
    for held in given:
        who = held.subject
        if who.uid not in found:
            found[who.uid] = Member(who, [], values[who.uid])
        found[who.uid].roles.append(Role(held.role, held.title, held.since, held.until))
    return sorted(found.values(), key=lambda member: (member.subject.name, member.subject.uid))


def set_member(
    ctx: RequestContext,
    uid: str,
    subject: str,
    *,
    roles: Collection[str] | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    until: When | None = None,
) -> None:
    """Let a member or group have exactly these roles in a workspace, and these values of the membership.

    What is None stays as it is. Everything is asked about before anything is made.
    """
    plan = planned(ctx, uid, subject, roles=roles, attributes=attributes, lasts=until is not None)
    for change in plan.changes:
        ctx.need_change(change)
    for change in plan.given:
        ctx.made(change, until=until)
    for change in plan.others:
        ctx.made(change)


def planned(
    ctx: RequestContext,
    uid: str,
    subject: str,
    *,
    roles: Collection[str] | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    lasts: bool = False,
) -> Plan:
    """What `set_member` would change. `lasts`: roles that are held already are given anew, until another time."""
    need_workspace(ctx, uid)
    ctx.see(require_text(subject, "id"), "grant")
    schema = kinds.schema_of(ctx.view, uid)
    others = [*_values(ctx, schema, uid, subject, attributes)]
    given: list[Add] = []
    if roles is not None:
        wanted = dict.fromkeys(to_texts(list(roles), "role"))
        for role in wanted:
            ctx.view.policy.role(schema.id, role)
        held = {grant.role for grant in ctx.grants(uid) if grant.subject == subject}
        given = [Add(Grant(subject, role, uid)) for role in wanted if role not in held or lasts]
        others = [*(Remove(Grant(subject, role, uid)) for role in sorted(held - wanted.keys())), *others]
    return Plan(given, others)


def remove_member(ctx: RequestContext, uid: str, subject: str) -> None:
    """Take a member or group out of a workspace: every role on it, and the values of the membership.

    What they hold on single resources in it stays, and counts again should they come back.
    """
    changes = leaving(ctx, uid, subject)
    for change in changes:
        ctx.need_change(change)
    for change in changes:
        ctx.made(change)


def leaving(ctx: RequestContext, uid: str, subject: str) -> list[Add | Remove]:
    """What `remove_member` would change; refused for who is not in it."""
    need_workspace(ctx, uid)
    ctx.see(require_text(subject, "id"), "revoke")
    changes: list[Add | Remove] = [Remove(grant) for grant in ctx.grants(uid) if grant.subject == subject]
    set_values = ctx.session.read_view(lambda view: _set_values(view, uid, subject))
    changes += [Remove(Attribute(uid, name, value, subject)) for name, value in set_values.items()]
    if not changes:
        # Who may not know who is in it is not told.
        grants.effective(ctx, kinds.schema_of(ctx.view, uid).visible, uid)
        raise NotFoundError(f"{quote(subject)} has no role in {quote(uid)}.", "Look at who has.")
    return changes


def need_workspace(ctx: RequestContext, uid: str) -> None:
    """Refuse what is no workspace, or not the caller's to see."""
    ctx.see(uid)
    if kinds.schema_of(ctx.view, uid).id not in {root.id for root in kinds.roots(ctx.view.policy)}:
        raise InvalidInputError(f"{quote(uid)} is no workspace.", "Name the workspace that it lies in.")


def _root(ctx: RequestContext, model: str) -> KindSchema:
    roots = {root.model: root for root in kinds.roots(ctx.view.policy)}
    if require_text(model, "model") not in roots:
        raise InvalidInputError(f"There is no model {quote(model)}.", did_you_mean(model, roots))
    return roots[model]


def _membership(ctx: RequestContext, uid: str, subject: str) -> dict[str, str]:
    """The values that hold for a member; a group has none."""
    return ctx.session.read_view(lambda view: _values_of(view, uid, subject))


def _values_of(view: FactView, uid: str, subject: str) -> dict[str, str]:
    if view.kind(view.resource(subject)) != MEMBER:
        return {}
    known = kinds.schema_of(view, uid).membership
    return {name: attribute.default for name, attribute in known.items()} | _set_values(view, uid, subject)


def _set_values(view: FactView, uid: str, subject: str) -> dict[str, str]:
    here, who = view.resource(uid), view.resource(subject)
    found = {name: (view.memberships[name].get(here) or {}).get(who) for name in kinds.schema_of(view, uid).membership}
    return {name: value for name, value in found.items() if value is not None}


def _values(
    ctx: RequestContext, schema: KindSchema, uid: str, subject: str, wanted: Mapping[str, str | bool] | None
) -> list[Add | Remove]:
    present = _membership(ctx, uid, subject)
    found: list[Add | Remove] = []
    for name, value in require_mapping({} if wanted is None else wanted, "attributes").items():
        known = schema.membership.get(require_text(name, "attribute"))
        if known is None:
            raise InvalidInputError(
                f"{schema.id} has no membership attribute {quote(str(name))}.",
                did_you_mean(str(name), schema.membership),
            )
        kept = validate_value(known, value)  # type: ignore[arg-type]
        if present.get(known.name) != kept:
            found.append(Add(Attribute(uid, known.name, kept, subject)))
    return found
