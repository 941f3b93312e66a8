"""A resource as one caller may see it. What they may not see is left out and not counted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER
from lakehold.access.query.listing import ListedResource
from lakehold.catalog import credentials, kinds, network_policy, resource_metadata
from lakehold.catalog.resource_metadata import ResourceMetadata, Settings
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.workspaces import registry


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """Id, kind and name of a resource, a member or a group."""

    uid: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class ResourceSummary(ResourceRef):
    """A resource in a list."""

    parent: ResourceRef | None
    description: str
    version: int
    since: Moment
    actions: Sequence[str]
    settings_problems: Sequence[InvalidSettingError] = ()
    """Why stored settings cannot be used, for those who may edit them."""


@dataclass(frozen=True, slots=True)
class ResourceView(ResourceRef):
    """A resource with all that the caller may see of it."""

    parent: ResourceRef | None
    workspace: ResourceRef | None
    description: str
    settings: Mapping[str, object] | None
    """None for those who may neither edit it nor read its settings."""
    settings_problems: Sequence[InvalidSettingError]
    """Why stored settings cannot be used, for those who may edit them."""
    attributes: Mapping[str, str]
    edges: Mapping[str, Sequence[ResourceRef]]
    owners: Mapping[str, Sequence[ResourceRef]]
    """Holders of the roles that only a person can have."""
    actions: Sequence[str]
    may_edit: bool
    may_delete: bool
    version: int
    created_at: Moment | None
    created_by: ResourceRef | None
    updated_at: Moment | None
    updated_by: ResourceRef | None


class VisibleRefs:
    """References that one caller may see, with one check for each resource."""

    def __init__(self, ctx: RequestContext) -> None:
        self._ctx = ctx
        self._known: dict[str, ResourceRef | None] = {}

    def sees(self, uid: str) -> bool:
        """Whether the caller may see the resource. False if it does not exist."""
        return self.ref(uid) is not None

    def ref(self, uid: str | None) -> ResourceRef | None:
        """Return the reference of a resource, if the caller may see it."""
        if not uid:
            return None
        if uid not in self._known:
            self._known[uid] = self._ctx.session.read_view(partial(self._load, uid))
        return self._known[uid]

    def _load(self, uid: str, view: FactView) -> ResourceRef | None:
        exists = view.ids.get(uid) is not None
        return make_ref(view, uid) if exists and self._ctx.session.can_see(self._ctx.principal, uid) else None

    def by_number(self, number: int) -> ResourceRef | None:
        """Return the reference of a resource by its number, if the caller may see it and it is not deleted."""
        return self.ref(self._ctx.session.read_view(lambda view: view.uids.get(number)))

    def parent(self, uid: str) -> ResourceRef | None:
        """Return the parent of a resource, if the caller may see it."""
        return self.ref(self._ctx.session.read_view(lambda view: kinds.parent_of(view, uid)))

    def workspace(self, uid: str) -> ResourceRef | None:
        """Return the workspace of a resource, if the caller may see it."""
        return self.ref(self._ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)))

    def refs(self, uids: Iterable[str]) -> list[ResourceRef]:
        """Return the references that the caller may see, in order."""
        return [found for uid in uids if (found := self.ref(uid)) is not None]


def need_references(ctx: RequestContext, kind: str, before: Settings, after: Settings, own: str = "") -> None:
    """Refuse settings that newly name a resource which does not exist, is of another kind, is hidden from the caller,
    or is the one that they belong to. All of these answer alike.
    """
    schema = registry.find_settings_schema(kind)
    if schema is None:
        return
    visible, known = VisibleRefs(ctx), {each.uid for each in schema.references(before)}
    for each in schema.references(after):
        found = visible.ref(each.uid) if each.uid != own else None
        if each.uid not in known and (found is None or found.kind != each.kind):
            title = ctx.view.policy.kind(each.kind).schema.title.lower()
            hint = f"Use the ID of another {title} that you can see." if own else f"Use the ID of a {title}."
            raise InvalidSettingError(f"There is no {title} {quote(each.uid)}.", hint, field=each.field)


def reference_edges(kind: str, settings: Settings, before: Settings | None = None) -> dict[str, list[str]]:
    """Return the edges that follow the settings of a kind, with their ends.

    A draft that was none before has none; one that was a draft keeps the edges that it is given.
    """
    schema = registry.find_settings_schema(kind)
    if schema is None or (schema.is_draft(settings) and schema.is_draft(before or {})):
        return {}
    return schema.edges(settings)


def make_ref(view: FactView, uid: str) -> ResourceRef:
    """Return the reference of a resource, without a check."""
    number = view.resource(uid)
    return ResourceRef(uid, view.kind(number), view.names.get(number) or "")


def load_resource(ctx: RequestContext, uid: str) -> ResourceView:
    """Return all of a resource that the caller may see, or refuse if they may not see it."""
    ctx.need_visible(uid)
    visible_refs, stored = VisibleRefs(ctx), resource_metadata.load(ctx, uid)
    ask = ctx.session.read_view
    here = ask(lambda view: make_ref(view, uid))
    may_edit = kinds.has_right(ctx, ask(lambda view: kinds.edit_right(view, uid)))
    return ResourceView(
        uid=uid,
        kind=here.kind,
        name=here.name,
        parent=visible_refs.parent(uid),
        workspace=visible_refs.workspace(uid),
        description=stored.description,
        settings=stored.settings if may_edit else _readable_settings(ctx, uid, stored),
        settings_problems=_problems(ctx, uid, stored) if may_edit else (),
        attributes=ask(lambda view: attributes_of(view, uid)),
        edges={name: visible_refs.refs(ends) for name, ends in ask(lambda view: edges_of(view, uid)).items()},
        owners={role: visible_refs.refs(held) for role, held in ask(lambda view: owners_of(view, uid)).items()},
        actions=ctx.session.actions(ctx.principal, uid),
        may_edit=may_edit,
        may_delete=kinds.has_right(ctx, ask(lambda view: kinds.delete_right(view, uid))),
        version=stored.version,
        created_at=stored.created_at,
        created_by=visible_refs.ref(stored.created_by),
        updated_at=stored.updated_at,
        updated_by=visible_refs.ref(stored.updated_by),
    )


def _readable_settings(ctx: RequestContext, uid: str, stored: ResourceMetadata) -> Settings | None:
    """Return the settings that a caller who may not edit a resource may read, if its kind has an action for that."""
    kind = ctx.view.kind(ctx.view.resource(uid))
    action, schema = registry.describe_kind(kind).settings_action, registry.find_settings_schema(kind)
    if not action or schema is None or not ctx.session.check(ctx.principal, action, uid):
        return None
    return schema.own(stored.settings)


def load_summaries(ctx: RequestContext, found: Sequence[ListedResource]) -> list[ResourceSummary]:
    """Return summaries of resources that the caller may see."""
    stored = resource_metadata.load_many(ctx, [item.id for item in found])
    visible_refs = VisibleRefs(ctx)
    problems_of = find_problems(ctx, {item.id: (item.kind, stored[item.id]) for item in found if item.id in stored})

    def summarize(item: ListedResource) -> ResourceSummary:
        detail = stored.get(item.id) or resource_metadata.ResourceMetadata()
        problems = problems_of.get(item.id, ())
        may_edit = problems and kinds.has_right(
            ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, item.uid))
        )
        return ResourceSummary(
            uid=item.uid,
            kind=item.kind,
            name=item.name,
            parent=visible_refs.parent(item.uid),
            description=detail.description,
            version=detail.version,
            since=item.since,
            actions=ctx.session.actions(ctx.principal, item.uid),
            settings_problems=problems if may_edit else (),
        )

    return [summarize(item) for item in found]


def _problems(ctx: RequestContext, uid: str, stored: ResourceMetadata) -> Sequence[InvalidSettingError]:
    number = ctx.view.resource(uid)
    return find_problems(ctx, {number: (ctx.view.kind(number), stored)})[number]


def find_problems(
    ctx: RequestContext, stored: Mapping[int, tuple[str, ResourceMetadata]]
) -> dict[int, list[InvalidSettingError]]:
    """Return why settings cannot be used, by number of the resource: they are wrong, or lead to a host that the
    tenant's network policy does not allow. They are given with the kinds.
    """
    policy = network_policy.load(ctx)
    secrets = {} if policy.is_open else credentials.load_addresses(ctx, stored)
    return {
        number: [
            *resource_metadata.find_problems(kind, each.settings),
            *network_policy.find_problems(policy, kind, each.settings, secrets.get(number, {})),
        ]
        for number, (kind, each) in stored.items()
    }


def attributes_of(view: FactView, uid: str) -> dict[str, str]:
    """Return the value of every attribute that the kind has."""
    number = view.resource(uid)
    return {
        name: view.attributes[name].get(number) or attribute.default
        for name, attribute in kinds.schema_of(view, uid).attributes.items()
    }


def membership_of(view: FactView, uid: str, subject: str) -> dict[str, str]:
    """Return the value of every attribute of a member's membership in a workspace; a group has none."""
    if view.kind(view.resource(subject)) != MEMBER:
        return {}
    known = kinds.schema_of(view, uid).membership
    return {name: attribute.default for name, attribute in known.items()} | explicit_membership(view, uid, subject)


def explicit_membership(view: FactView, uid: str, subject: str) -> dict[str, str]:
    """Return the values of a membership that were set."""
    here, who = view.resource(uid), view.resource(subject)
    found = {name: (view.memberships[name].get(here) or {}).get(who) for name in kinds.schema_of(view, uid).membership}
    return {name: value for name, value in found.items() if value is not None}


def edges_of(view: FactView, uid: str) -> dict[str, list[str]]:
    """Return the ends of every edge but that to the parent, hidden ones too."""
    number, schema = view.resource(uid), kinds.schema_of(view, uid)
    return {
        name: [view.uid(end) for end in view.edges_out[name].get(number) or ()]
        for name in schema.edges
        if name != schema.parent
    }


def owners_of(view: FactView, uid: str) -> dict[str, list[str]]:
    """Return the holders of each role for a single person."""
    number, roles = view.resource(uid), kinds.schema_of(view, uid).roles
    return {name: view.holders(number, name) for name, role in roles.items() if role.person_only}
