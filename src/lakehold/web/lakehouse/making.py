"""New queries and histories, and changing them."""

from __future__ import annotations

from typing import Literal

from fastapi import Request, Response

from lakehold.api.frame.works import Reading, Writing
from lakehold.catalog import editing, kinds, resources
from lakehold.catalog.editing import Edit
from lakehold.catalog.errors import ChangedMeanwhileError
from lakehold.catalog.shapes import Resource
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.web import addresses, pages
from lakehold.web.access import acting
from lakehold.web.flashes import Flash
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.pipeline import HAS_FORM, need_pipeline
from lakehold.web.lakehouse.pipelines import need_lakehouse
from lakehold.web.routes import Sent, router

new = router("/workspaces")
routes = router("/resources")

Word = Literal["query", "history"]
_MENDED = (InvalidInputError, ConflictError, HiddenError, DeniedError, ChangedMeanwhileError)


@new.get("/{uid:path}/pipelines/new/{word}")
def new_form(request: Request, work: Reading, uid: str, word: Word, *, table: str = "", sql: str = "") -> Response:
    """The form for a new one; the address may say what it reads, and the query."""
    need_lakehouse(work, uid)
    filled = forms.Filled(reads=[table] if table else [], sql=sql)
    return _form(request, work, uid, f"lakehouse.{word}", filled)


@new.post("/{uid:path}/pipelines/new/{word}")
def make(request: Request, work: Writing, uid: str, word: Word, sent: Sent) -> Response:
    """Make it."""
    need_lakehouse(work, uid)
    kind, filled = f"lakehouse.{word}", forms.sent(sent)
    if errors := filled.errors(kind):
        return _form(request, work, uid, kind, filled, errors=errors)
    edges = {"lakehouse": uid, **filled.edges()}
    try:
        made = resources.create(
            work, kind, filled.name, edges=edges, settings=filled.settings(kind), description=filled.description
        )
    except _MENDED as error:
        return _form(request, work, uid, kind, filled, error=error)
    return pages.go(request, acting.home_of(work, made), Flash(f"{filled.name} was made. Run it to fill its table."))


@routes.get("/{uid:path}/pipeline/edit")
def edit_form(request: Request, work: Reading, uid: str) -> Response:
    """The form with what it says now."""
    found = _need_edit(work, uid)
    return _form(request, work, _workspace(found), found.kind, forms.present(found), found=found)


@routes.post("/{uid:path}/pipeline/edit")
def edit(request: Request, work: Writing, uid: str, sent: Sent) -> Response:
    """Change it, unless somebody else has since the form was opened."""
    found, filled = _need_edit(work, uid), forms.sent(sent)
    within = _workspace(found)
    if errors := filled.errors(found.kind):
        return _form(request, work, within, found.kind, filled, found=found, errors=errors)
    wanted = Edit(
        name=filled.name,
        description=filled.description,
        settings=filled.settings(found.kind, found.settings),
        edges=filled.edges(),
    )
    version = int(filled.version) if filled.version.isdigit() else None
    try:
        editing.edit(work, uid, wanted, expect_version=version)
    except _MENDED as error:
        return _form(request, work, within, found.kind, filled, found=found, error=error)
    return pages.go(request, acting.home_of(work, uid), Flash("Saved. It is so from the next run on."))


def _need_edit(work: Work, uid: str) -> Resource:
    found = need_pipeline(work, uid)
    kinds.need(work, work.session.asking(lambda view: kinds.editing(view, uid)), uid, "edit")
    if found.kind not in HAS_FORM:
        title = kinds.kept_here(work.view.policy, found.kind).title.lower()
        raise InvalidInputError(f"A {title} has no such form.", "Edit it from its page.")
    return found


def _workspace(found: Resource) -> str:
    return found.workspace.uid if found.workspace else ""


def _form(
    request: Request,
    work: Work,
    within: str,
    kind: str,
    filled: forms.Filled,
    *,
    found: Resource | None = None,
    errors: dict[str, str] | None = None,
    error: LakeholdError | None = None,
) -> Response:
    title = kinds.kept_here(work.view.policy, kind).title
    word = kind.rpartition(".")[2]
    there = addresses.resource(found.uid, "pipeline/edit") if found else ""
    values: dict[str, object] = {
        "crumbs": acting.crumbs(work, found.uid, "Edit")
        if found
        else acting.crumbs(work, within, f"New {title.lower()}"),
        "title": f"Edit {found.name}" if found else f"New {title.lower()}",
        "to": there or addresses.workspace(within, f"pipelines/new/{word}"),
        "back": acting.home_of(work, found.uid) if found else addresses.workspace(within, "pipelines"),
        "is_query": kind == forms.QUERY,
        "is_new": found is None,
        "filled": filled,
        "options": forms.options(work, within),
        "errors": errors or {},
        "error": error,
    }
    return pages.page(request, "lakehouse/making.html", values, status=422 if errors or error else 200)
