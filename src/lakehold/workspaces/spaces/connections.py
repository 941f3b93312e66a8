"""Data connections: who may test one, and who may list what it has."""

from collections.abc import Mapping
from typing import Any

from lakehold.access import Draft
from lakehold.access.facts.descriptions import describe_resource
from lakehold.catalog import kinds, resource_metadata
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.workspaces.graph import edge_sources, edge_targets, need_connection, need_kind
from lakehold.workspaces.spaces import owner_context
from lakehold.workspaces.spaces.settings import CONNECTION_KIND


def need_probe(ctx: RequestContext, request: Mapping[str, Any]) -> Caller:
    """Return the caller if they may edit the connection, or create one like this."""
    space, gateway = request.get("space", ""), request.get("gateway", "")
    draft = Draft(CONNECTION_KIND, {"space": space, **({"gateway": gateway} if gateway else {})})
    uid = request.get("connection", "")
    caller = need_connection(ctx, uid, space, draft)
    if uid:
        for each in (gateway,) if "gateway" in request else edge_targets(ctx, uid, "gateway"):
            _need_gateway(ctx, each)
    return caller


def _need_gateway(ctx: RequestContext, gateway: str) -> None:
    """Refuse a gateway that the caller may not use, although the connection is theirs."""
    if not gateway:
        return
    ctx.need_visible(gateway, "use")
    space = kinds.workspace_of(ctx.view, gateway)
    if space is None or not ctx.session.holds(ctx.caller.member, "supplies", space):
        message = f"You may not use the {describe_resource(ctx.view, gateway)}."
        hint = "Ask for Can consume data, Can edit or Can manage in its data space."
        raise DeniedError(message, hint, action="use", resource=gateway)


def need_streams(ctx: RequestContext, uid: str, project: str) -> Mapping[str, object]:
    """Return the settings of a connection whose streams the caller may list to design a task of a project.

    The names of tables and columns at the source are told to those who may edit the project, if its owner, in whose
    context the task will read them, has a role for that in the space of the connection.
    """
    readable_tables.refuse_impersonation(ctx)
    need_kind(ctx, uid, "list", (CONNECTION_KIND,))
    ctx.need("update", project)
    missing = owner_context.missing_role(ctx, project, uid)
    if missing is not None:
        hint = "Ask for that role, or give the project an owner who has it."
        place = describe_resource(ctx.view, uid)
        raise DeniedError(f"The {place} cannot be used here. {missing.text}", hint, action="use", resource=uid)
    return resource_metadata.load(ctx, uid).settings


def used_by(ctx: RequestContext, uid: str) -> list[str]:
    """Return the tasks that read from a connection or write to it, visible or not."""
    return [*edge_sources(ctx, uid, "sources"), *edge_sources(ctx, uid, "targets")]
