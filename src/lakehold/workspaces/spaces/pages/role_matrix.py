"""The rows and cells of the matrix of a data space's members and roles, and the changes that its form makes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from starlette.datastructures import FormData

from lakehold.access import Add, Grant, Remove
from lakehold.access.facts.view import FactView, role_names
from lakehold.access.model.policy import MEMBER
from lakehold.catalog import change_preview, kinds, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.errors import InvalidInputError
from lakehold.web import urls
from lakehold.web.components import FieldChange
from lakehold.web.form_values import last_day_value
from lakehold.workspaces.spaces.settings import TASK_KIND

OWNER = "owner"
_ON_TASK = {
    "can_view": "open",
    "can_view_data": "view_data",
    "can_consume_data": "consume_data",
    "can_operate": "run",
}
"""The action on a task that a role is for: it is what `Why?` explains, if the caller may ask about tasks."""
_ON_SPACE = {OWNER: "manage_members", "can_manage": "manage_members", "can_edit": "create_project"}
"""The same on the space itself; `see` for the others."""


@dataclass(frozen=True, slots=True)
class RoleCell:
    """A role of a member or group."""

    role: str
    held: bool
    """Whether it was given to this very member or group."""
    by_group: bool
    note: str
    """When it begins or ends, if it does."""
    why: str
    """Where it is explained; empty if the caller may not ask."""


@dataclass(frozen=True, slots=True)
class RoleRow:
    """A member or group of a data space."""

    subject: ResourceRef
    cells: tuple[RoleCell, ...]

    @property
    def is_group(self) -> bool:
        """Whether it is a group."""
        return self.subject.kind != MEMBER


def load_rows(ctx: RequestContext, uid: str) -> list[RoleRow]:
    """Return the members and groups that the caller may know of, by name."""
    members = workspaces.members(ctx, uid)
    held = {
        each.subject.uid: {role.name: _period_note(ctx, role.since, role.until) for role in each.roles}
        for each in members
    }
    return [build_row(ctx, uid, each.subject, held[each.subject.uid]) for each in members]


def _period_note(ctx: RequestContext, since: Moment, until: Moment) -> str:
    begins = f"from {last_day_value(since + 1)}" if since > ctx.at else ""
    ends = f"until {last_day}" if (last_day := last_day_value(until)) else ""
    return " ".join(filter(None, (begins, ends)))


def build_row(ctx: RequestContext, uid: str, subject: ResourceRef, held: Mapping[str, str]) -> RoleRow:
    """Return the row of a member or group with the roles that they hold, each with a note about its time."""
    through = ctx.session.read_view(lambda view: _roles_by_group(view, uid, subject))
    return RoleRow(
        subject,
        tuple(
            RoleCell(role, role in held, role in through, held.get(role, ""), _why(ctx, uid, role, subject))
            for role in kinds.schema_of(ctx.view, uid).roles
        ),
    )


def _roles_by_group(view: FactView, uid: str, subject: ResourceRef) -> set[str]:
    """Return the roles that a member has through groups."""
    if subject.kind != MEMBER:
        return set()
    number, here = view.member(subject.uid), view.grants.get(view.resource(uid)) or {}
    others = view.subject(number).ids_with_all
    return {role for other in others if other != number for role in role_names(here.get(other, 0))}


def _why(ctx: RequestContext, uid: str, role: str, subject: ResourceRef) -> str:
    """Return where the right that the role is for is explained, if the caller may ask that about the member; for a
    group its page, which says who is in it.
    """
    if subject.kind != MEMBER:
        return urls.group(subject.uid)
    asks = subject.uid == ctx.caller.member or change_preview.may_ask_about_others(ctx)
    task = _first_task(ctx, uid) if asks and role in _ON_TASK else ""
    if task:
        return urls.why(task, _ON_TASK[role], subject.uid)
    return urls.why(uid, _ON_SPACE.get(role, "see"), subject.uid) if asks or _gives(ctx, uid) else ""


def _gives(ctx: RequestContext, uid: str) -> bool:
    return ctx.session.cached((_gives, uid, ctx.principal), lambda: change_preview.gives_roles_on(ctx, uid))


def _first_task(ctx: RequestContext, uid: str) -> str:
    """Return a task of the space that the caller may list; empty if there is none."""

    def load() -> str:
        items = ctx.session.list(ctx.principal, "list", TASK_KIND, within=uid, limit=1).items
        return items[0].uid if items else ""

    return ctx.session.cached((_first_task, uid, ctx.principal), load)


@dataclass(frozen=True, slots=True)
class RoleChange:
    """A role that is to be given or taken."""

    grant: Grant
    given: bool

    @property
    def change(self) -> Add | Remove:
        """The change of facts."""
        return Add(self.grant) if self.given else Remove(self.grant)


def parse_changes(ctx: RequestContext, uid: str, sent: FormData) -> list[RoleChange]:
    """Return what the boxes of a form change: those that are ticked and were not, and the other way round."""
    ticked, before = (_parse_boxes(ctx, uid, sent, name) for name in ("role", "was"))
    changes = [RoleChange(each, given=True) for each in ticked if each not in before]
    return [*changes, *(RoleChange(each, given=False) for each in before if each not in ticked)]


def _parse_boxes(ctx: RequestContext, uid: str, sent: FormData, name: str) -> list[Grant]:
    """Return the grants that boxes stand for: each has the role and the id of the member or group as its value."""
    roles, found = kinds.schema_of(ctx.view, uid).roles, dict[Grant, None]()
    for value in sent.getlist(name):
        role, _, subject = str(value).partition(" ")
        if role not in roles or roles[role].single or not subject:
            raise InvalidInputError("A box of this form stands for no role that is given here.", "Reload the page.")
        found[Grant(subject, role, uid)] = None
    return list(found)


def describe_changes(ctx: RequestContext, uid: str, changes: Sequence[RoleChange]) -> list[FieldChange]:
    """Return the roles of each member and group before and after."""
    roles, visible = kinds.schema_of(ctx.view, uid).roles, VisibleRefs(ctx)
    held = {each.subject.uid: [role.name for role in each.roles] for each in workspaces.members(ctx, uid)}
    found = []
    for subject, some in groupby(sorted(changes, key=lambda each: each.grant.subject), lambda each: each.grant.subject):
        before, which = set(held.get(subject, ())), list(some)
        after = before | {each.grant.role for each in which if each.given}
        after -= {each.grant.role for each in which if not each.given}
        texts = [", ".join(role.title for name, role in roles.items() if name in names) for names in (before, after)]
        ref = visible.ref(subject)
        found.append(FieldChange(ref.name if ref else subject, texts[0] or None, texts[1] or None))
    return found
