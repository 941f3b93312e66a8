"""What the models say of a kind, for those who keep resources of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lakehold.access.decisions.explanation import describe_resource
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import TENANT, Policy
from lakehold.access.model.schema import Clause, KindSchema
from lakehold.access.model.syntax import AndNode, PathNode
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ForbiddenError, InvalidInputError
from lakehold.kit.ids import quote

DELETED = "deleted"
DISCOVERABLE = "discoverable"
_DIRECTORY = "tenant"
"""The model whose kinds are people and groups: the directory keeps these."""


class Right(NamedTuple):
    """An action, and the resource that it is asked of."""

    action: str
    resource: str


def schema_of(view: FactView, uid: str) -> KindSchema:
    """The kind of a resource."""
    return view.policy.kinds[view.kind(view.resource(uid))].schema


def made_with(schema: KindSchema) -> frozenset[str]:
    """The edges without which one of this kind is not made: to make it asks for a right at their only end."""
    tree = schema.create.tree if schema.create else None
    asked = tree.trees if isinstance(tree, AndNode) else (tree,)
    names = {part.names[0] for part in asked if isinstance(part, PathNode) and len(part.names) > 1}
    return frozenset(
        name for name in names & set(schema.edges) if name != schema.parent and not schema.edges[name].many
    )


def kept_here(policy: Policy, kind: str) -> KindSchema:
    """The kind of this id, if its resources are kept in the catalog."""
    schema = policy.kind(kind).schema
    if schema.model == _DIRECTORY:
        raise InvalidInputError(
            f"{quote(kind)} is no kind of the catalog.", "Members, groups and the tenant are kept in the directory."
        )
    return schema


def roots(policy: Policy) -> list[KindSchema]:
    """The kinds of workspaces: the root of every model but the tenant's own, custom ones too."""
    return [model.kinds[model.root] for model in policy.models.values() if model.name != _DIRECTORY]


def all_kinds(policy: Policy) -> Iterator[KindSchema]:
    """All kinds of the catalog, model by model."""
    return (kind.schema for kind in policy.kinds.values() if kind.schema.model != _DIRECTORY)


def editing(view: FactView, uid: str) -> Right | None:
    """What is needed to change the name of a resource and what is told of it; None if nobody may."""
    return _right(view, uid, schema_of(view, uid).edited_with)


def deleting(view: FactView, uid: str) -> Right | None:
    """What is needed to end a resource; None if nobody may."""
    return _right(view, uid, schema_of(view, uid).deleted_with)


def need(ctx: RequestContext, right: Right | None, uid: str, what: str) -> None:
    """Refuse unless the caller has the right; `what` is said of a kind for which there is none."""
    ctx.see(uid, what)
    if right is None:
        title = schema_of(ctx.view, uid).title.lower()
        raise ForbiddenError(f"Nobody may {what} a {title}.", "Its model names no action for it.")
    if not ctx.session.can_see(ctx.asker, right.resource):
        # A narrowed token may see the resource, and not the place further up where the right is asked for.
        message = f"You may not {what} {describe_resource(ctx.view, uid)}."
        raise DeniedError(message, "This token is narrowed; its member may be able to.", action=what, resource=uid)
    ctx.need(right.action, right.resource)


def has(ctx: RequestContext, right: Right | None) -> bool:
    """Whether the caller has the right."""
    if right is None or not ctx.session.can_see(ctx.asker, right.resource):
        return False
    return ctx.session.check(ctx.asker, right.action, right.resource)


def parent_of(view: FactView, uid: str) -> str | None:
    """What a resource lies in."""
    parent = schema_of(view, uid).parent
    ends = view.edges_out[parent].get(view.resource(uid)) if parent else None
    return view.uid(ends[0]) if ends else None


def workspace_of(view: FactView, uid: str) -> str | None:
    """The workspace that a resource lies in; a workspace lies in itself."""
    here: str | None = uid
    while here is not None:
        schema = schema_of(view, here)
        if schema.model != _DIRECTORY and schema.name == view.policy.models[schema.model].root:
            return here
        here = parent_of(view, here)
    return None


def is_tenant(kind: str) -> bool:
    """Whether it is the tenant itself."""
    return kind == TENANT


def _right(view: FactView, uid: str, clause: Clause | None) -> Right | None:
    """`tenant.create_workspace` of a lakehouse: the last name is the action, those before it lead to where it is."""
    if clause is None or not isinstance(clause.tree, PathNode):
        return None
    *edges, action = clause.tree.names
    here = view.resource(uid)
    for edge in edges:
        ends = view.edges_out[edge].get(here)
        if not ends:
            return None
        here = ends[0]
    return Right(action, view.uid(here))
