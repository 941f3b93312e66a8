"""How the rows of a stream arrive, before they are written; how they are read is changed where it is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.web import pages
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse import grids, ways
from lakehold.web.lakehouse.sources import formats, looking, steps
from lakehold.web.lakehouse.sources.connecting import need_source
from lakehold.web.lakehouse.sources.connection import API, FILES
from lakehold.web.lakehouse.sources.looking import Seen
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources")

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True, slots=True)
class Looked:
    """A stream of a source, and what it was looked at with."""

    source: ResourceView
    streams: list[ResourceRef]
    chosen: ResourceRef | None
    settings: Mapping[str, Any]
    """Of the chosen stream."""

    @property
    def connector(self) -> str:
        """What the source reads from."""
        return str((self.source.settings or {}).get("connector", ""))

    def asked(self, how: Mapping[str, Any], endpoints: object) -> dict[str, Any]:
        """What the worker is asked."""
        told = dict(self.source.settings or {})
        name = str(self.settings.get("stream", ""))
        changed = {"endpoints": endpoints} if endpoints is not None else {}
        return {"source": self.source.uid, "settings": {**told, **changed}, "stream": name, "how": dict(how)}


@routes.get("/{uid:path}/preview")
def preview_page(request: Request, uid: str, stream: str = "") -> Response:
    """The first rows of a stream as they would arrive; of the first one if the address names none."""
    looked = looking.reading(request).run(lambda ctx: _looked(ctx, uid, stream))
    return _page(request, looked, dict(looked.settings), None)


@routes.post("/{uid:path}/preview")
def change(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Look again with what was changed, or keep it."""
    looked = looking.reading(request).run(lambda ctx: _looked(ctx, uid, str(sent.get("stream", ""))))
    how, endpoints = _changed(looked, sent)
    do, before = str(sent.get("do", "")), str(sent.get("before", ""))
    if do == "next" and _mark(how, sent) == before:
        return pages.redirect(request, steps.at(uid, steps.SCHEDULE))
    if do not in {"save", "next"} or looked.chosen is None:
        return _page(request, looked, how, endpoints, before=before)
    seen = _seen(request, looked, how, endpoints)
    if seen.error is not None:
        return _page(request, looked, how, endpoints, before=before, seen=seen)
    looking.writing(request).run(lambda ctx: _keep(ctx, looked, how, endpoints))
    if do == "next":
        return pages.redirect(request, steps.at(uid, steps.SCHEDULE))
    to = steps.page(uid, steps.PREVIEW, setup=_is_setup(request))
    to = f"{to}{'&' if '?' in to else '?'}{urlencode({'stream': looked.chosen.uid})}"
    words = f"{looked.chosen.name} is read so from the next run on."
    return pages.redirect(request, to, Flash(words))


def _looked(ctx: RequestContext, uid: str, stream: str) -> Looked:
    source = need_source(ctx, uid)
    found = sorted(VisibleRefs(ctx).refs(ways.streams(ctx, uid)), key=lambda ref: ref.name.casefold())
    chosen = next((each for each in found if each.uid == stream), None)
    if stream and chosen is None:
        raise NotFoundError("The source has no such stream.", "Choose one of its streams.")
    chosen = chosen or next(iter(found), None)
    return Looked(source, found, chosen, resource_metadata.load(ctx, chosen.uid).settings if chosen else {})


def _changed(looked: Looked, sent: FormData) -> tuple[dict[str, Any], object]:
    """The settings of the stream as they would be, and the endpoints of the source if they are what changes."""
    if looked.connector == FILES and "kind" in sent:
        return {**looked.settings, "format": formats.sent(sent)}, None
    if looked.connector == API and "count" in sent:
        told = (looked.source.settings or {}).get("endpoints")
        name = looked.settings.get("stream")
        some = [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []
        changed = [{**each, "fields": formats.fields(sent)} if each.get("name") == name else each for each in some]
        return dict(looked.settings), changed
    return dict(looked.settings), None


def _keep(ctx: RequestContext, looked: Looked, how: Mapping[str, Any], endpoints: object) -> None:
    if endpoints is not None:
        settings = {**(looked.source.settings or {}), "endpoints": endpoints}
        resource_edit.apply_edit(
            ctx, looked.source.uid, ResourceEdit(settings=settings), expect_version=looked.source.version
        )
    elif looked.chosen is not None:
        resource_edit.apply_edit(ctx, looked.chosen.uid, ResourceEdit(settings=how))


def _seen(request: Request, looked: Looked, how: Mapping[str, Any], endpoints: object) -> Seen:
    return looking.look(request, looked.asked(how, endpoints)) if looked.chosen else Seen()


def _is_setup(request: Request) -> bool:
    return bool(request.query_params.get("setup"))


def _mark(how: Mapping[str, Any], sent: FormData) -> str:
    """What was filled in, to be compared with what was shown at first."""
    told = how.get("format") if "kind" in sent else None
    return formats.mark(told, formats.fields(sent))


def _page(
    request: Request,
    looked: Looked,
    how: Mapping[str, Any],
    endpoints: object,
    *,
    before: str = "",
    seen: Seen | None = None,
) -> Response:
    found = seen or _seen(request, looked, how, endpoints)
    shape = _shape(found, how)

    def page(ctx: RequestContext) -> Response:
        setup, uid = _is_setup(request), looked.source.uid
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid, "Preview"),
            "found": looked.source,
            "steps": steps.steps(steps.PREVIEW, uid) if setup else [],
            "setup": setup,
            "to": steps.page(uid, steps.PREVIEW, setup=setup),
            "next": steps.at(uid, steps.SCHEDULE),
            "back": resource_header.overview_url(ctx, uid),
            "choose": steps.page(uid, steps.STREAMS, setup=setup),
            "looked": looked,
            "shape": shape,
            "was": formats.shape(shape) if shape else "",
            "before": before or formats.mark(shape, found.found.get("fields", [])),
            "grid": _grid(found),
            "fields": list(enumerate(found.found.get("fields", []))),
            "types_change": looked.connector == API or (shape or {}).get("kind") in {"separated", "json", "json_lines"},
            "types": formats.types,
            "formats": formats,
            "notes": found.found.get("notes", []),
            "error": found.error,
        }
        status = 422 if found.error is not None and request.method == "POST" else 200
        return pages.render(request, "lakehouse/preview.html", values, status=status)

    return looking.reading(request).run(page)


def _shape(seen: Seen, how: Mapping[str, Any]) -> dict[str, Any] | None:
    """How a file is read; None if it is none. What was filled in stays, where it could not be looked at."""
    told = seen.found.get("format") or how.get("format")
    return {**told, "fields": seen.found.get("fields", [])} if isinstance(told, Mapping) else None


def _grid(seen: Seen) -> grids.Grid:
    columns = [
        grids.Column(str(each["name"]), str(each["type"]), str(each["type"]).startswith(_NUMBERS))
        for each in seen.found.get("fields", ())
    ]
    rows = [[grids.cell(value) for value in row[: len(columns)]] for row in seen.found.get("rows", ())]
    return grids.Grid(columns, rows)
