"""The membership of one member or group in a workspace: the fields of its form, and the changes that they make.

Roles are those of the model; where each role implies the next, one of them is chosen. Values of the membership, such as
the scope of a project, and labels that members hold, such as contexts, are in the same form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.datastructures import ImmutableMultiDict

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.access.model.schema import AttributeKind, KindSchema
from lakehold.access.query.listing import ListedResource
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.workspaces import WorkspaceMembership
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.web import form_values
from lakehold.web.components import AttributeField
from lakehold.web.labels import humanize

_VALUE_PREFIX = "value_"
_MAX_LABELS = 200


@dataclass(frozen=True, slots=True)
class MembershipForm:
    """The values of the membership form."""

    subject: str
    roles: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    """Roles on labels, as `RoleOption` has them."""
    until: str = ""

    @classmethod
    def parse(cls, sent: ImmutableMultiDict[str, object]) -> MembershipForm:
        """Parse a submitted form or the query of a URL."""
        return cls(
            str(sent.get("subject", "")),
            tuple(str(role) for role in sent.getlist("role") if role),
            {
                name.removeprefix(_VALUE_PREFIX): str(value)
                for name, value in sent.items()
                if name.startswith(_VALUE_PREFIX)
            },
            tuple(str(label) for label in sent.getlist("label")),
            str(sent.get("until", "")).strip(),
        )

    def to_query(self) -> str:
        """Return the values as the query of a URL."""
        pairs = [("subject", self.subject), *(("role", role) for role in self.roles)]
        pairs += [(_VALUE_PREFIX + name, value) for name, value in self.values.items()]
        pairs += [("label", label) for label in self.labels]
        return urlencode([*pairs, ("until", self.until)])


@dataclass(frozen=True, slots=True)
class RoleOption:
    """A role that a member can have: one on the workspace itself, or one on a label in it."""

    value: str
    """The role; of a label, the role and the id of the label, with a space between them."""
    title: str
    may: bool
    """Whether the caller may give it."""
    kind: str = ""
    """The title of the kind of label."""


def role_fields(ctx: RequestContext, uid: str) -> list[RoleOption]:
    """Return the roles of the workspace in the model's order, without those that have a single holder."""
    roles = kinds.schema_of(ctx.view, uid).roles
    return [
        RoleOption(name, role.title, ctx.session.check(ctx.principal, "give", uid, role=name))
        for name, role in roles.items()
        if not role.single
    ]


def is_role_hierarchy(schema: KindSchema) -> bool:
    """Whether each role implies the next, so that a member has one of them."""
    roles = [role for role in schema.roles.values() if not role.single]
    return len(roles) > 1 and all(role.implies for role in roles[:-1])


def value_fields(ctx: RequestContext, uid: str) -> list[AttributeField]:
    """Return the values that a membership has, each with the caller's own."""
    view, me = ctx.view, ctx.caller.member
    found = []
    for known in kinds.schema_of(view, uid).membership.values():
        own = (view.memberships[known.name].get(view.resource(uid)) or {}).get(view.member(me)) or known.default
        found.append(attribute_field(ctx, uid, known, own, member=me))
    return found


def attribute_field(
    ctx: RequestContext, uid: str, declared: AttributeKind, value: str, *, member: str | None = None, hint: str = ""
) -> AttributeField:
    """Return an attribute with all its values as options; it is read-only unless the caller may set all of them."""
    facts = [Attribute(uid, declared.name, each, member) for each in declared.values]
    may = all(ctx.session.check_change(ctx.principal, Add(fact)) for fact in facts)
    options = [(each, humanize(each)) for each in declared.values]
    return AttributeField(declared.name, humanize(declared.name), value, declared.is_flag, options, may, hint)


def label_kinds(ctx: RequestContext, uid: str) -> list[KindSchema]:
    """Return the kinds of labels that members hold and nobody owns, such as contexts."""
    schema = kinds.schema_of(ctx.view, uid)
    return [
        kind
        for kind in ctx.view.policy.models[schema.model].kinds.values()
        if kind.name != schema.name and kind.creator is None and any(role.person_only for role in kind.roles.values())
    ]


def list_labels(ctx: RequestContext, uid: str, kind: KindSchema) -> Sequence[ListedResource]:
    """Return all labels of a kind in the workspace."""
    return ctx.session.list(ctx.principal, kind.visible, kind.id, within=uid, limit=_MAX_LABELS).items


def label_fields(ctx: RequestContext, uid: str) -> list[RoleOption]:
    """Return the roles on all labels of the workspace."""
    return [option for kind in label_kinds(ctx, uid) for option in label_options(ctx, uid, kind, kind.roles, "give")]


def label_options(
    ctx: RequestContext, uid: str, kind: KindSchema, roles: Iterable[str], action: str
) -> list[RoleOption]:
    """Return roles on all labels of a kind, and whether the caller may take the action with each: give or invite."""
    listed = list_labels(ctx, uid, kind)
    return [
        RoleOption(
            f"{role} {item.uid}", item.name, ctx.session.check(ctx.principal, action, item.uid, role=role), kind.title
        )
        for role in roles
        for item in listed
    ]


def current_membership(ctx: RequestContext, uid: str, member: WorkspaceMembership) -> MembershipForm:
    """Return the present membership of a member or group as form values."""
    ends = {role.until for role in member.roles}
    until = form_values.last_day_value(ends.pop()) if len(ends) == 1 else ""
    labels = tuple(label.value for label in label_fields(ctx, uid) if label.value in held_labels(ctx, member))
    roles = tuple(role.name for role in member.roles)
    return MembershipForm(member.subject.uid, roles, member.attributes, labels, until)


def held_labels(ctx: RequestContext, member: WorkspaceMembership) -> set[str]:
    """Return the labels that a member holds, as the form names them."""

    def held(view: FactView) -> set[str]:
        places = view.grants_by_subject.get(view.resource(member.subject.uid)) or {}
        return {
            f"{one.role} {one.resource}"
            for place in places
            for one in view.grants_on(place)
            if one.subject == member.subject.uid
        }

    return ctx.session.read_view(held)


@dataclass(frozen=True, slots=True)
class MembershipChange:
    """The membership that a form asks for, with the changes that lead to it."""

    roles: list[str]
    values: dict[str, str | bool]
    until: Moment | None
    labels: Sequence[Add | Remove]
    changes: Sequence[Add | Remove]
    """All of them: of roles, values and labels."""


def plan_membership(
    ctx: RequestContext, uid: str, filled: MembershipForm, member: WorkspaceMembership
) -> MembershipChange:
    """Plan the membership that the form asks for. What the caller may not give or take stays as it is."""
    held = {role.name for role in member.roles}
    givable = {role.value for role in role_fields(ctx, uid) if role.may}
    roles = sorted({*(held - givable), *(role for role in filled.roles if role in givable or role in held)})
    is_member = member.subject.kind == MEMBER
    settable = {each.name for each in value_fields(ctx, uid) if each.may} if is_member else set()
    values: dict[str, str | bool] = {name: value for name, value in filled.values.items() if name in settable}
    until = form_values.parse_end_of_day(ctx, filled.until)
    if until is None and current_membership(ctx, uid, member).until:
        until = FOREVER  # The form showed an end, and there is to be none.
    plan = workspaces.plan_membership(
        ctx, uid, member.subject.uid, roles=roles, attributes=values, lasts=until is not None
    )
    labels = _label_changes(ctx, uid, filled, member) if is_member else []
    return MembershipChange(roles, values, until, labels, [*plan.changes, *labels])


def _label_changes(
    ctx: RequestContext, uid: str, filled: MembershipForm, member: WorkspaceMembership
) -> list[Add | Remove]:
    held = held_labels(ctx, member)
    found: list[Add | Remove] = []
    for label in label_fields(ctx, uid):
        role, _, place = label.value.partition(" ")
        grant = Grant(member.subject.uid, role, place)
        if label.may and label.value in filled.labels and label.value not in held:
            found.append(Add(grant))
        elif label.may and label.value in held and label.value not in filled.labels:
            found.append(Remove(grant))
    return found
