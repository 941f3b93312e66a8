"""Kinds of resources as the models declare them: their edges, parents, and rights to edit and delete."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from lakehold.access.facts import names
from lakehold.access.facts.descriptions import describe_resource
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import Policy
from lakehold.access.model.schema import Clause, KindSchema
from lakehold.access.model.syntax import PathNode
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.kit.ids import quote

DELETED = names.DELETED
DISCOVERABLE = "discoverable"
DIRECTORY_MODEL = "tenant"
"""The model whose kinds are people and groups: the directory keeps these."""


class RequiredRight(NamedTuple):
    """An action on a resource that is needed for something else."""

    action: str
    resource: str


def schema_of(view: FactView, uid: str) -> KindSchema:
    """Return the kind of a resource."""
    return view.policy.kinds[view.kind(view.resource(uid))].schema


def catalog_kind(policy: Policy, kind: str) -> KindSchema:
    """Return the kind with this id, or refuse one that belongs to the directory."""
    schema = policy.kind(kind).schema
    if schema.model == DIRECTORY_MODEL:
        raise InvalidInputError(
            f"{quote(kind)} is not a kind of the catalog.",
            "Members, groups and the tenant have endpoints of their own.",
        )
    return schema


def workspace_kinds(policy: Policy) -> list[KindSchema]:
    """Return the kinds of workspaces, which are the roots of every model but the tenant's own."""
    return [model.kinds[model.root] for model in policy.models.values() if model.name != DIRECTORY_MODEL]


def all_kinds(policy: Policy) -> Iterator[KindSchema]:
    """Return all kinds of the catalog, model by model."""
    return (kind.schema for kind in policy.kinds.values() if kind.schema.model != DIRECTORY_MODEL)


def edit_right(view: FactView, uid: str) -> RequiredRight | None:
    """Return the right needed to edit a resource's name and metadata; None if nobody may."""
    return _resolve_right(view, uid, schema_of(view, uid).edited_with)


def delete_right(view: FactView, uid: str) -> RequiredRight | None:
    """Return the right needed to delete a resource; None if nobody may."""
    return _resolve_right(view, uid, schema_of(view, uid).deleted_with)


def need_right(ctx: RequestContext, uid: str, what: Literal["edit", "delete"]) -> None:
    """Refuse unless the caller has the right that the model names for editing or deleting the resource."""
    find_right = edit_right if what == "edit" else delete_right
    right = ctx.session.read_view(lambda view: find_right(view, uid))
    ctx.need_visible(uid, what)
    if right is None:
        title = schema_of(ctx.view, uid).title.lower()
        raise ForbiddenError(f"Nobody may {what} a {title}.", "Its model has no action for that.")
    if not ctx.session.can_see(ctx.principal, right.resource):
        # A narrowed token may see the resource, and not the ancestor on which the right is checked.
        message = f"You may not {what} {describe_resource(ctx.view, uid)}."
        raise DeniedError(message, "This token is narrowed; its member may be able to.", action=what, resource=uid)
    ctx.need(right.action, right.resource)


def has_right(ctx: RequestContext, right: RequiredRight | None) -> bool:
    """Whether the caller has the right."""
    if right is None or not ctx.session.can_see(ctx.principal, right.resource):
        return False
    return ctx.session.check(ctx.principal, right.action, right.resource)


def parent_of(view: FactView, uid: str) -> str | None:
    """Return the parent of a resource."""
    parent = schema_of(view, uid).parent
    ends = view.edges_out[parent].get(view.resource(uid)) if parent else None
    return view.uid(ends[0]) if ends else None


def workspace_of(view: FactView, uid: str) -> str | None:
    """Return the workspace of a resource; that of a workspace is itself."""
    here: str | None = uid
    while here is not None:
        schema = schema_of(view, here)
        if schema.model != DIRECTORY_MODEL and schema.name == view.policy.models[schema.model].root:
            return here
        here = parent_of(view, here)
    return None


def _resolve_right(view: FactView, uid: str, clause: Clause | None) -> RequiredRight | None:
    """Resolve a clause such as `tenant.create_workspace`: edges that lead to a resource, and the action on it."""
    if clause is None or not isinstance(clause.tree, PathNode):
        return None
    *edges, action = clause.tree.names
    here = view.resource(uid)
    for edge in edges:
        ends = view.edges_out[edge].get(here)
        if not ends:
            return None
        here = ends[0]
    return RequiredRight(action, view.uid(here))
