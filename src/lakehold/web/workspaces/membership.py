"""What one member or group is to have in a workspace: the fields of the form, and what they would change.

Roles are the model's own; where one implies the next, one of them is chosen. What belongs to the membership (the scope
of a project) and labels that people hold (its contexts) are in the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.datastructures import ImmutableMultiDict

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.access.model.schema import KindSchema
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.workspaces import MembershipPlan, WorkspaceMembership
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.web import days
from lakehold.web.words import spoken

VALUE = "value_"
_MOST_LABELS = 200


@dataclass(frozen=True, slots=True)
class Filled:
    """What the form says."""

    subject: str
    roles: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    labels: tuple[str, ...] = ()
    """The role and the id of each, with a space between them."""
    until: str = ""

    @classmethod
    def of(cls, sent: ImmutableMultiDict[str, object]) -> Filled:
        """As it was sent, or as the address says."""
        return cls(
            str(sent.get("subject", "")),
            tuple(str(role) for role in sent.getlist("role") if role),
            tuple((name.removeprefix(VALUE), str(value)) for name, value in sent.items() if name.startswith(VALUE)),
            tuple(str(label) for label in sent.getlist("label")),
            str(sent.get("until", "")).strip(),
        )

    def query(self) -> str:
        """The same as an address says it, to come back to."""
        pairs = [("subject", self.subject), *(("role", role) for role in self.roles)]
        pairs += [(VALUE + name, value) for name, value in self.values]
        pairs += [("label", label) for label in self.labels]
        return urlencode([*pairs, ("until", self.until), ("filled", "1")])


@dataclass(frozen=True, slots=True)
class RoleField:
    """A role that can be had."""

    name: str
    title: str
    may: bool
    """Whether the caller may give it."""


@dataclass(frozen=True, slots=True)
class ValueField:
    """A value of the membership."""

    name: str
    title: str
    options: list[tuple[str, str]]
    may: bool


@dataclass(frozen=True, slots=True)
class LabelField:
    """A label that people can hold."""

    value: str
    name: str
    kind: str
    may: bool


def role_fields(ctx: RequestContext, uid: str) -> list[RoleField]:
    """The roles of the workspace, in the model's order. One that there is one of only is handed over elsewhere."""
    roles = kinds.schema_of(ctx.view, uid).roles
    return [
        RoleField(name, role.title, ctx.session.check(ctx.asker, "give", uid, role=name))
        for name, role in roles.items()
        if not role.single
    ]


def is_ladder(schema: KindSchema) -> bool:
    """Whether each role has the next one in it, so that one of them says all."""
    roles = [role for role in schema.roles.values() if not role.single]
    return len(roles) > 1 and all(role.implies for role in roles[:-1])


def value_fields(ctx: RequestContext, uid: str) -> list[ValueField]:
    """What belongs to a membership."""
    me = ctx.caller.member
    return [
        ValueField(
            name,
            spoken(name),
            [(value, spoken(value)) for value in known.values],
            all(ctx.session.check_change(ctx.asker, Add(Attribute(uid, name, value, me))) for value in known.values),
        )
        for name, known in kinds.schema_of(ctx.view, uid).membership.items()
    ]


def label_kinds(ctx: RequestContext, uid: str) -> list[KindSchema]:
    """Kinds of the workspace that people hold, and nobody owns: contexts."""
    schema = kinds.schema_of(ctx.view, uid)
    return [
        kind
        for kind in ctx.view.policy.models[schema.model].kinds.values()
        if kind.name != schema.name and kind.creator is None and any(role.person_only for role in kind.roles.values())
    ]


def label_fields(ctx: RequestContext, uid: str) -> list[LabelField]:
    """All labels of the workspace."""
    found: list[LabelField] = []
    for kind in label_kinds(ctx, uid):
        listed = ctx.session.list(ctx.asker, kind.visible, kind.id, within=uid, limit=_MOST_LABELS).items
        for role in kind.roles.values():
            found += [
                LabelField(
                    f"{role.name} {item.uid}",
                    item.name,
                    kind.title,
                    ctx.session.check(ctx.asker, "give", item.uid, role=role.name),
                )
                for item in listed
            ]
    return found


def present(ctx: RequestContext, uid: str, member: WorkspaceMembership) -> Filled:
    """What a member or group has now."""
    ends = {role.until for role in member.roles}
    until = days.day_of(ends.pop()) if len(ends) == 1 else ""
    labels = tuple(field.value for field in label_fields(ctx, uid) if field.value in held_labels(ctx, member))
    roles = tuple(role.name for role in member.roles)
    return Filled(member.subject.uid, roles, tuple(member.attributes.items()), labels, until)


def held_labels(ctx: RequestContext, member: WorkspaceMembership) -> set[str]:
    """The labels that a member holds, as the form names them."""

    def held(view: FactView) -> set[str]:
        places = view.grants_by_subject.get(view.resource(member.subject.uid)) or {}
        return {f"{one.role} {one.resource}" for place in places for one in view.grants_on(place) if _is(one, member)}

    return ctx.session.read_view(held)


def _is(grant: Grant, member: WorkspaceMembership) -> bool:
    return grant.subject == member.subject.uid


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be so, and what that changes."""

    roles: list[str]
    values: dict[str, str | bool]
    until: Moment | None
    plan: MembershipPlan
    labels: Sequence[Add | Remove]

    @property
    def changes(self) -> list[Add | Remove]:
        """All that it changes."""
        return [*self.plan.changes, *self.labels]


def wanted(ctx: RequestContext, uid: str, filled: Filled, member: WorkspaceMembership) -> Wanted:
    """What the form asks for. What is not the caller's to give or take stays as it is."""
    held = {role.name for role in member.roles}
    givable = {field.name for field in role_fields(ctx, uid) if field.may}
    roles = sorted({*(held - givable), *(role for role in filled.roles if role in givable or role in held)})
    is_member = member.subject.kind == MEMBER
    settable = {field.name for field in value_fields(ctx, uid) if field.may} if is_member else set()
    values: dict[str, str | bool] = {name: value for name, value in filled.values if name in settable}
    until = days.until(ctx, filled.until)
    if until is None and any(role.until < FOREVER for role in member.roles):
        until = FOREVER  # It had an end, and is to have none.
    plan = workspaces.plan_membership(
        ctx, uid, member.subject.uid, roles=roles, attributes=values, lasts=until is not None
    )
    return Wanted(roles, values, until, plan, _labels(ctx, uid, filled, member) if is_member else [])


def _labels(ctx: RequestContext, uid: str, filled: Filled, member: WorkspaceMembership) -> list[Add | Remove]:
    held = held_labels(ctx, member)
    found: list[Add | Remove] = []
    for field in label_fields(ctx, uid):
        role, _, place = field.value.partition(" ")
        grant = Grant(member.subject.uid, role, place)
        if field.may and field.value in filled.labels and field.value not in held:
            found.append(Add(grant))
        elif field.may and field.value in held and field.value not in filled.labels:
            found.append(Remove(grant))
    return found
