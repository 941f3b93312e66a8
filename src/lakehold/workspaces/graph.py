"""Neighbours of a resource in the graph of edges, and checks of its kind and of connections."""

from collections.abc import Collection

from lakehold.access import Draft
from lakehold.catalog import kinds
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables


def edge_targets(ctx: RequestContext, uid: str, edge: str) -> list[str]:
    """Return the resources that the edges of this name lead to."""
    return ctx.session.read_view(
        lambda view: [view.uid(target) for target in view.edges_out[edge].get(view.resource(uid)) or ()]
    )


def edge_sources(ctx: RequestContext, uid: str, edge: str) -> list[str]:
    """Return the resources whose edges of this name lead here."""
    return ctx.session.read_view(
        lambda view: [view.uid(source) for source in view.edges_in[edge].get(view.resource(uid)) or ()]
    )


def need_kind(
    ctx: RequestContext, uid: str, action: str, among: Collection[str], *, refusal: str = "", hint: str = ""
) -> str:
    """Return the kind of a resource with which the caller may do this; refuse one that is of no kind among these.

    In a refusal of its own, `{}` stands for what such a resource is called.
    """
    ctx.need_visible(uid, action)
    schema = kinds.schema_of(ctx.view, uid)
    if schema.id not in among:
        nouns = " or ".join(each.rpartition(".")[2].replace("_", " ") for each in among)
        message = refusal.format(schema.title.lower()) if refusal else f"{quote(uid)} is no {nouns}."
        raise InvalidInputError(message, hint or f"Choose a {nouns}.")
    ctx.need(action, uid)
    return schema.id


def need_connection(ctx: RequestContext, uid: str, workspace: str, draft: Draft) -> Caller:
    """Return the caller if they may edit a connection; without an id, if they may create one like this.

    A probe or test contacts another system and shows data, so members who view as somebody else are refused.
    """
    readable_tables.refuse_impersonation(ctx)
    if uid:
        ctx.need("edit", uid)
    else:
        ctx.need_visible(workspace)
        ctx.need_draft(draft)
    return ctx.caller
