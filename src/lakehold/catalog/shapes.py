"""A resource as one caller may see it. Whatever they may not see is left out, and nothing says that it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lakehold.access.facts.view import FactView
from lakehold.access.query.listing import ListedResource
from lakehold.catalog import details, kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment


@dataclass(frozen=True, slots=True)
class Ref:
    """A resource, a member or a group, by id, kind and name."""

    uid: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A resource in a list."""

    uid: str
    kind: str
    name: str
    parent: Ref | None
    description: str
    version: int
    since: Moment
    actions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource by itself."""

    uid: str
    kind: str
    name: str
    parent: Ref | None
    workspace: Ref | None
    description: str
    settings: Mapping[str, object] | None
    """None for those who may not edit it."""
    attributes: Mapping[str, str]
    edges: Mapping[str, Sequence[Ref]]
    owners: Mapping[str, Sequence[Ref]]
    """Who holds the roles that go to a person."""
    actions: Sequence[str]
    may_edit: bool
    may_delete: bool
    version: int
    created_at: Moment | None
    created_by: Ref | None
    updated_at: Moment | None
    updated_by: Ref | None


class VisibleRefs:
    """What one caller sees of what they look at; asked once for each resource."""

    def __init__(self, ctx: RequestContext) -> None:
        self._ctx = ctx
        self._known: dict[str, Ref | None] = {}

    def sees(self, uid: str) -> bool:
        """Whether the caller may know of it. What does not exist is not seen either."""
        return self.ref(uid) is not None

    def ref(self, uid: str | None) -> Ref | None:
        """The resource by name, if the caller may know of it."""
        if not uid:
            return None
        if uid not in self._known:
            self._known[uid] = self._ctx.session.read_view(partial(self._look, uid))
        return self._known[uid]

    def _look(self, uid: str, view: FactView) -> Ref | None:
        exists = view.ids.get(uid) is not None
        return ref(view, uid) if exists and self._ctx.session.can_see(self._ctx.asker, uid) else None

    def numbered(self, number: int) -> Ref | None:
        """The same by its number; what was deleted is not seen."""
        return self.ref(self._ctx.session.read_view(lambda view: view.uids.get(number)))

    def parent(self, uid: str) -> Ref | None:
        """What the resource lies in."""
        return self.ref(self._ctx.session.read_view(lambda view: kinds.parent_of(view, uid)))

    def workspace(self, uid: str) -> Ref | None:
        """The workspace that the resource lies in."""
        return self.ref(self._ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)))

    def refs(self, uids: Iterable[str]) -> list[Ref]:
        """Those of them that the caller may know of, in order."""
        return [found for uid in uids if (found := self.ref(uid)) is not None]


def ref(view: FactView, uid: str) -> Ref:
    """A resource by name."""
    number = view.resource(uid)
    return Ref(uid, view.kind(number), view.names.get(number) or "")


def resource(ctx: RequestContext, uid: str) -> Resource:
    """All of a resource that the caller may see; refused if that is nothing."""
    ctx.see(uid)
    eyes, told = VisibleRefs(ctx), details.read(ctx, uid)
    ask = ctx.session.read_view
    here = ask(lambda view: ref(view, uid))
    may_edit = kinds.has(ctx, ask(lambda view: kinds.editing(view, uid)))
    return Resource(
        uid=uid,
        kind=here.kind,
        name=here.name,
        parent=eyes.parent(uid),
        workspace=eyes.workspace(uid),
        description=told.description,
        settings=told.settings if may_edit else None,
        attributes=ask(lambda view: attributes_of(view, uid)),
        edges={name: eyes.refs(ends) for name, ends in ask(lambda view: edges_of(view, uid)).items()},
        owners={role: eyes.refs(held) for role, held in ask(lambda view: owners_of(view, uid)).items()},
        actions=ctx.session.actions(ctx.asker, uid),
        may_edit=may_edit,
        may_delete=kinds.has(ctx, ask(lambda view: kinds.deleting(view, uid))),
        version=told.version,
        created_at=told.created_at,
        created_by=eyes.ref(told.created_by),
        updated_at=told.updated_at,
        updated_by=eyes.ref(told.updated_by),
    )


def summaries(ctx: RequestContext, found: Sequence[ListedResource]) -> list[Summary]:
    """Resources that the caller may see, for a list."""
    told = details.read_many(ctx, [item.id for item in found])
    eyes = VisibleRefs(ctx)
    return [
        Summary(
            uid=item.uid,
            kind=item.kind,
            name=item.name,
            parent=eyes.parent(item.uid),
            description=told[item.id].description if item.id in told else "",
            version=told[item.id].version if item.id in told else 1,
            since=item.since,
            actions=ctx.session.actions(ctx.asker, item.uid),
        )
        for item in found
    ]


def attributes_of(view: FactView, uid: str) -> dict[str, str]:
    """The value of every attribute that the kind has."""
    number = view.resource(uid)
    return {
        name: view.attributes[name].get(number) or attribute.default
        for name, attribute in kinds.schema_of(view, uid).attributes.items()
    }


def edges_of(view: FactView, uid: str) -> dict[str, list[str]]:
    """Where every edge but the one to the parent leads, hidden ends too."""
    number, schema = view.resource(uid), kinds.schema_of(view, uid)
    return {
        name: [view.uid(end) for end in view.edges_out[name].get(number) or ()]
        for name in schema.edges
        if name != schema.parent
    }


def owners_of(view: FactView, uid: str) -> dict[str, list[str]]:
    """Who holds each of the roles that go to a person."""
    number, roles = view.resource(uid), kinds.schema_of(view, uid).roles
    return {name: view.holders(number, name) for name, role in roles.items() if role.person_only}
