"""Who is in a workspace without being added: by a role on the tenant that the model counts here."""

from __future__ import annotations

from lakehold.access.model.policy import TENANT
from lakehold.access.model.syntax import PathNode
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext

_STEPS = 2


def lines(ctx: RequestContext, uid: str) -> list[tuple[str, str]]:
    """Pairs of a tenant role and what it is here: Admin, Project Admin."""
    on_tenant = ctx.view.policy.kind(TENANT).schema.roles
    found: list[tuple[str, str]] = []
    for role in kinds.schema_of(ctx.view, uid).roles.values():
        tree = role.derived.tree if role.derived else None
        if (
            isinstance(tree, PathNode)
            and len(tree.names) == _STEPS
            and tree.names[0] == "tenant"
            and tree.names[1] in on_tenant
        ):
            found.append((on_tenant[tree.names[1]].title, role.title))
    return found
