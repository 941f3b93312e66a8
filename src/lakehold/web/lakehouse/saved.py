"""Queries that one keeps: saved, opened, renamed, deleted."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from fastapi import Request, Response

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import CurrentPlatform, PendingRequest, ReadContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resource_view, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.kit.ids import quote as quote_text
from lakehold.runs import queries
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse import saved_queries
from lakehold.workspaces.lakehouse.saved_queries import SAVED_QUERY

routes = router("/workspaces")

_AT_ONCE, _MOST = 200, 1_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A saved query that is open in the editor."""

    uid: str
    name: str
    sql: str
    may_edit: bool


def mine(ctx: RequestContext, workspace: str) -> list[resource_view.ResourceRef]:
    """The caller's own there, by name. Who may see those of others finds them in the list of the kind."""
    found: list[resource_view.ResourceRef] = []
    after, seen = None, 0
    while seen < _MOST:
        some = ctx.session.list(ctx.asker, "see", SAVED_QUERY, within=workspace, after=after, limit=_AT_ONCE)
        found += [
            resource_view.ResourceRef(each.uid, each.kind, each.name) for each in some.items if _is_mine(ctx, each.uid)
        ]
        seen, after = seen + len(some.items), some.after
        if after is None:
            break
    return found


def actions(workspace: str, kept: resource_view.ResourceRef) -> list[PageAction]:
    """What one does with a query of one's own, beside the editor."""
    here = urls.workspace(workspace, f"sql/saved/{quote(kept.uid, safe='')}")
    return [
        PageAction("Rename", f"{here}/rename", icon="pencil", dialog=True),
        PageAction("Delete", f"{here}/delete", "post", "trash-2", danger=True, confirm=f"Delete {kept.name}?"),
    ]


def opened(ctx: RequestContext, workspace: str, uid: str) -> Kept:
    """A saved query of this lakehouse, with its text."""
    found = _need(ctx, workspace, uid)
    if found.settings is None:
        raise NotFoundError(f"There is no saved query {quote_text(uid)}.", "Look its name up beside the editor.")
    return Kept(uid, found.name, str(found.settings.get("sql", "")), found.may_edit)


@routes.post("/{uid:path}/sql/save")
def save(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Keep what stands in the editor: in the saved query that is open, or as a new one, whose name is asked for.

    What it reads, the worker tells, outside of any transaction.
    """
    sql, kept = str(sent.get("sql", "")), str(sent.get("saved", ""))
    reading, writing = (PendingRequest(request, read_credentials(request), writes=writes) for writes in (False, True))
    place = reading.run(lambda ctx: queries.open_scope(ctx, uid))
    if kept and not sent.get("anew"):
        found = reading.run(lambda ctx: opened(ctx, uid, kept))
        read = saved_queries.tables_read_if_known(platform, place, sql)
        writing.run(lambda ctx: saved_queries.update_sql(ctx, kept, sql, read))
        return pages.redirect(request, _address(uid, kept), Flash(f"{found.name} was saved."))
    if "name" not in sent:
        return reading.run(lambda ctx: _naming(request, ctx, uid, sql))
    name = str(sent["name"]).strip()
    try:
        read = saved_queries.tables_read_if_known(platform, place, sql)
        made = writing.run(lambda ctx: saved_queries.create_saved_query(ctx, uid, name, sql, read))
    except (InvalidInputError, ConflictError) as refused:
        error = refused
        return reading.run(lambda ctx: _naming(request, ctx, uid, sql, name=name, error=error))
    return pages.redirect(request, _address(uid, made), Flash(f"{name} was saved."))


@routes.get("/{uid:path}/sql/saved/{query:path}/rename")
def rename_form(request: Request, ctx: ReadContext, uid: str, query: str) -> Response:
    """Ask for the name."""
    return _renaming(request, ctx, uid, _need_edit(ctx, uid, query))


@routes.post("/{uid:path}/sql/saved/{query:path}/rename")
def rename(request: Request, ctx: WriteContext, uid: str, query: str, sent: SubmittedForm) -> Response:
    """Call it something else."""
    found, name = _need_edit(ctx, uid, query), str(sent.get("name", "")).strip()
    try:
        resource_edit.apply_edit(ctx, query, ResourceEdit(name=name))
    except (InvalidInputError, ConflictError) as error:
        return _renaming(request, ctx, uid, found, name=name, error=error)
    return pages.redirect(request, _address(uid, query), Flash(f"It is called {name} now."))


@routes.post("/{uid:path}/sql/saved/{query:path}/delete")
def delete(request: Request, ctx: WriteContext, uid: str, query: str, sent: SubmittedForm) -> Response:
    """Delete it, once they are sure."""
    found = _need(ctx, uid, query)
    text = "Its text is gone with it. What it read stays as it is."
    if question := confirm(request, sent, f"Delete {found.name}?", text, do="Delete", back=_address(uid, query)):
        return question
    resources.delete(ctx, query)
    return pages.redirect(request, urls.workspace(uid, "sql"), Flash(f"{found.name} was deleted."))


def _naming(
    request: Request, ctx: RequestContext, uid: str, sql: str, *, name: str = "", error: LakeholdError | None = None
) -> Response:
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "SQL", "Save"),
        "space": need_lakehouse(ctx, uid),
        "sql": sql,
        "name": name,
        "error": error,
    }
    return pages.render(request, "lakehouse/sql_save.html", values, status=422 if error else 200)


def _renaming(
    request: Request,
    ctx: RequestContext,
    uid: str,
    found: ResourceView,
    *,
    name: str | None = None,
    error: LakeholdError | None = None,
) -> Response:
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "SQL", "Rename"),
        "space": uid,
        "found": found,
        "name": found.name if name is None else name,
        "error": error,
    }
    return pages.render(request, "lakehouse/sql_rename.html", values, status=422 if error else 200)


def _need(ctx: RequestContext, workspace: str, uid: str) -> ResourceView:
    need_lakehouse(ctx, workspace)
    found = resources.get(ctx, uid)
    if found.kind != SAVED_QUERY or found.workspace is None or found.workspace.uid != workspace:
        raise NotFoundError(f"There is no saved query {quote_text(uid)}.", "Look its name up beside the editor.")
    return found


def _need_edit(ctx: RequestContext, workspace: str, uid: str) -> ResourceView:
    found = _need(ctx, workspace, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def _is_mine(ctx: RequestContext, uid: str) -> bool:
    owners = ctx.session.read_view(lambda view: resource_view.owners_of(view, uid))
    return any(ctx.caller.member in held for held in owners.values())


def _address(workspace: str, uid: str) -> str:
    return f"{urls.workspace(workspace, 'sql')}?{urlencode({'open': uid})}"
