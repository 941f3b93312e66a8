"""A data mart is a draft until somebody who edits it publishes it: only then it is reported on."""

from __future__ import annotations

from lakehold.access.decisions.explanation import describe_resource
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.checks import checks_of
from lakehold.workspaces.marts.definitions import Definition
from lakehold.workspaces.marts.pipelines.mart import storage_of, told_of


def publish(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> None:
    """Let it be reported on, if there is something to report."""
    _need(ctx, uid)
    told = told_of(ctx, uid)
    Definition.of(told)
    checks_of(told)
    storage_of(ctx, uid)
    if lake.current_metadata(readable_tables.identifier_of(ctx, uid)) is None:
        raise ConflictError(
            f"The {describe_resource(ctx.view, uid)} has no rows yet.", "Refresh it once, then publish it."
        )
    _set(ctx, uid, published=True)


def unpublish(ctx: RequestContext, uid: str) -> None:
    """Make a draft of it again. Reports on it are refused until it is back."""
    _need(ctx, uid)
    _set(ctx, uid, published=False)


def _need(ctx: RequestContext, uid: str) -> None:
    ctx.need_writable()
    ctx.need_visible(uid, "edit")
    kind = ctx.view.kind(ctx.view.resource(uid))
    if kind != nouns.DATA_MART:
        title = ctx.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} is not published.", "Choose a data mart.")
    ctx.need("edit", uid)


def _set(ctx: RequestContext, uid: str, *, published: bool) -> None:
    settings = {**resource_metadata.load(ctx, uid).settings, "published": published}
    resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings))
