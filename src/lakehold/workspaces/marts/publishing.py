"""A data mart is a draft until somebody who edits it publishes it: only then it is reported on."""

from __future__ import annotations

from lakehold.access.decide.words import named
from lakehold.catalog import details, editing
from lakehold.catalog.editing import Edit
from lakehold.directory.work import Work
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.pipeline import reading
from lakehold.pipeline.lake import Lake
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.checks import checks_of
from lakehold.workspaces.marts.definitions import Definition
from lakehold.workspaces.marts.pipelines.mart import storage_of, told_of


def publish(work: Work, lake: Lake, uid: str) -> None:
    """Let it be reported on, if there is something to report."""
    _need(work, uid)
    told = told_of(work, uid)
    Definition.of(told)
    checks_of(told)
    storage_of(work, uid)
    if lake.now(reading.place_of(work, uid)) is None:
        raise ConflictError(f"The {named(work.view, uid)} has no rows yet.", "Refresh it once, then publish it.")
    _set(work, uid, published=True)


def unpublish(work: Work, uid: str) -> None:
    """Make a draft of it again. Reports on it are refused until it is back."""
    _need(work, uid)
    _set(work, uid, published=False)


def _need(work: Work, uid: str) -> None:
    work.writing()
    work.see(uid, "edit")
    kind = work.view.kind(work.view.resource(uid))
    if kind != nouns.DATA_MART:
        title = work.view.policy.kinds[kind].schema.title.lower()
        raise InvalidInputError(f"A {title} is not published.", "Choose a data mart.")
    work.need("edit", uid)


def _set(work: Work, uid: str, *, published: bool) -> None:
    settings = {**details.read(work, uid).settings, "published": published}
    editing.edit(work, uid, Edit(settings=settings))
