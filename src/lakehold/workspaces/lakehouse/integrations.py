"""Integrations: a read-only way in for other tools, to chosen tables, as the member who opened it. Deactivated, it lets
nobody in; and which tables it has is asked each time.
"""

from __future__ import annotations

from lakehold.catalog import resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import attributes_of
from lakehold.directory import tokens
from lakehold.directory.request_context import RequestContext
from lakehold.directory.token_lookup import ACTIVE, OFF
from lakehold.directory.tokens import CreatedToken
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.ends import ends

KIND = "lakehouse.integration"
ACTIONS = ("see", "read")


def open_to(ctx: RequestContext, uid: str, days: int | None = None) -> CreatedToken:
    """A token with which a tool reads the integration's tables, and nothing else. It lives with its member's rights."""
    ctx.need_visible(uid, "edit")
    kind = ctx.view.kind(ctx.view.resource(uid))
    if kind != KIND:
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} is no integration.", "Choose one.")
    ctx.need("edit", uid)
    reads = ends(ctx, uid, "reads")
    if not reads:
        raise ConflictError(f"The integration {quote(uid)} reads no table.", "Let it read at least one.")
    name = f"Integration {ctx.view.names.get(ctx.view.resource(uid)) or uid}"
    return tokens.create(ctx, name[:200], days=days, actions=ACTIONS, resources=reads, integration=uid)


def is_active(ctx: RequestContext, uid: str) -> bool:
    """Whether it lets anybody in."""
    return ctx.session.read_view(lambda view: attributes_of(view, uid).get(ACTIVE)) != OFF


def switch(ctx: RequestContext, uid: str, *, active: bool) -> None:
    """Let its tokens in again, or none of them."""
    resource_edit.apply_edit(ctx, uid, ResourceEdit(attributes={ACTIVE: "true" if active else OFF}))
