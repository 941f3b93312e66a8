"""The preview of a stream: its first rows as they would arrive, and the format in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import read_transaction, write_transaction
from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.web import pages, table_pages
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse.pages import pipeline_graph
from lakehold.workspaces.lakehouse.pages.sources import formats, setup_pages
from lakehold.workspaces.lakehouse.pages.sources.setup_pages import SourceProbe, need_source

routes = router("/resources")

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True, slots=True)
class StreamPreview:
    """The stream that is previewed, with its source and settings."""

    source: ResourceView
    streams: list[ResourceRef]
    chosen: ResourceRef | None
    settings: Mapping[str, Any]
    """Of the chosen stream."""

    @property
    def connector(self) -> str:
        """The connector of the source."""
        return str((self.source.settings or {}).get("connector", ""))

    def probe_request(self, how: Mapping[str, Any], endpoints: object) -> dict[str, Any]:
        """Return the request for the worker."""
        settings = dict(self.source.settings or {})
        name = str(self.settings.get("stream", ""))
        changed = {"endpoints": endpoints} if endpoints is not None else {}
        return {"source": self.source.uid, "settings": {**settings, **changed}, "stream": name, "how": dict(how)}


@routes.get("/{uid:path}/preview")
def preview_page(request: Request, uid: str, stream: str = "") -> Response:
    """Render the first rows of a stream, by default of the first one."""
    looked = read_transaction(request).run(lambda ctx: _load_preview(ctx, uid, stream))
    return _page(request, looked, dict(looked.settings), None)


@routes.post("/{uid:path}/preview")
def change(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Preview with the changed format, or save it."""
    looked = read_transaction(request).run(lambda ctx: _load_preview(ctx, uid, str(sent.get("stream", ""))))
    how, endpoints = _parse_changes(looked, sent)
    do, before = str(sent.get("do", "")), str(sent.get("before", ""))
    if do == "next" and _form_fingerprint(how, sent) == before:
        return pages.redirect(request, setup_pages.setup_url(uid, setup_pages.SCHEDULE))
    if do not in {"save", "next"} or looked.chosen is None:
        return _page(request, looked, how, endpoints, before=before)
    seen = _probe(request, looked, how, endpoints)
    if seen.error is not None:
        return _page(request, looked, how, endpoints, before=before, seen=seen)
    write_transaction(request).run(lambda ctx: _save(ctx, looked, how, endpoints))
    if do == "next":
        return pages.redirect(request, setup_pages.setup_url(uid, setup_pages.SCHEDULE))
    to = setup_pages.step_url(uid, setup_pages.PREVIEW, setup=setup_pages.is_setup(request))
    to = f"{to}{'&' if '?' in to else '?'}{urlencode({'stream': looked.chosen.uid})}"
    words = f"Saved. Applies from the next run of {looked.chosen.name}."
    return pages.redirect(request, to, Flash(words))


def _load_preview(ctx: RequestContext, uid: str, stream: str) -> StreamPreview:
    source = need_source(ctx, uid)
    found = sorted(VisibleRefs(ctx).refs(pipeline_graph.stream_ids(ctx, uid)), key=lambda ref: ref.name.casefold())
    chosen = next((each for each in found if each.uid == stream), None)
    if stream and chosen is None:
        raise NotFoundError("The source has no such stream.", "Select one of its streams.")
    chosen = chosen or next(iter(found), None)
    return StreamPreview(source, found, chosen, resource_metadata.load(ctx, chosen.uid).settings if chosen else {})


def _parse_changes(looked: StreamPreview, sent: FormData) -> tuple[dict[str, Any], object]:
    """Return the changed settings of the stream, and the endpoints of the source if these change."""
    if looked.connector == "files" and "kind" in sent:
        return {**looked.settings, "format": formats.parse_format(sent)}, None
    if looked.connector == "api" and "count" in sent:
        endpoints = (looked.source.settings or {}).get("endpoints")
        name = looked.settings.get("stream")
        some = [each for each in endpoints if isinstance(each, Mapping)] if isinstance(endpoints, list) else []
        changed = [
            {**each, "fields": formats.parse_fields(sent)} if each.get("name") == name else each for each in some
        ]
        return dict(looked.settings), changed
    return dict(looked.settings), None


def _save(ctx: RequestContext, looked: StreamPreview, how: Mapping[str, Any], endpoints: object) -> None:
    if endpoints is not None:
        settings = {**(looked.source.settings or {}), "endpoints": endpoints}
        resource_edit.apply_edit(
            ctx, looked.source.uid, ResourceEdit(settings=settings), expect_version=looked.source.version
        )
    elif looked.chosen is not None:
        resource_edit.apply_edit(ctx, looked.chosen.uid, ResourceEdit(settings=how))


def _probe(request: Request, looked: StreamPreview, how: Mapping[str, Any], endpoints: object) -> SourceProbe:
    return setup_pages.probe_source(request, looked.probe_request(how, endpoints)) if looked.chosen else SourceProbe()


def _form_fingerprint(how: Mapping[str, Any], sent: FormData) -> str:
    """Return a fingerprint of the submitted values, to be compared with the one that was rendered."""
    file_format = how.get("format") if "kind" in sent else None
    return formats.form_fingerprint(file_format, formats.parse_fields(sent))


def _page(
    request: Request,
    looked: StreamPreview,
    how: Mapping[str, Any],
    endpoints: object,
    *,
    before: str = "",
    seen: SourceProbe | None = None,
) -> Response:
    found = seen or _probe(request, looked, how, endpoints)
    shape = _file_format(found, how)

    def page(ctx: RequestContext) -> Response:
        setup, uid = setup_pages.is_setup(request), looked.source.uid
        values: dict[str, object] = {
            "crumbs": resource_header.breadcrumbs(ctx, uid, "Preview"),
            "found": looked.source,
            "steps": setup_pages.setup_steps(setup_pages.PREVIEW, uid) if setup else [],
            "setup": setup,
            "to": setup_pages.step_url(uid, setup_pages.PREVIEW, setup=setup),
            "next": setup_pages.setup_url(uid, setup_pages.SCHEDULE),
            "back": resource_header.overview_url(ctx, uid),
            "choose": setup_pages.step_url(uid, setup_pages.STREAMS, setup=setup),
            "looked": looked,
            "shape": shape,
            "was": formats.format_fingerprint(shape) if shape else "",
            "before": before or formats.form_fingerprint(shape, found.found.get("fields", [])),
            "grid": _grid(found),
            "fields": list(enumerate(found.found.get("fields", []))),
            "types_change": looked.connector == "api"
            or (shape or {}).get("kind") in {"separated", "json", "json_lines"},
            "types": formats.type_options,
            "formats": formats,
            "notes": found.found.get("notes", []),
            "error": found.error,
        }
        status = 422 if found.error is not None and request.method == "POST" else 200
        return pages.render(request, "lakehouse/preview.html", values, status=status)

    return read_transaction(request).run(page)


def _file_format(seen: SourceProbe, how: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the format of a file, or None if the stream is not a file. Submitted values stay if the probe failed."""
    file_format = seen.found.get("format") or how.get("format")
    return {**file_format, "fields": seen.found.get("fields", [])} if isinstance(file_format, Mapping) else None


def _grid(seen: SourceProbe) -> table_pages.Grid:
    columns = [
        table_pages.GridColumn(str(each["name"]), str(each["type"]), str(each["type"]).startswith(_NUMBERS))
        for each in seen.found.get("fields", ())
    ]
    rows = [[table_pages.format_cell(value) for value in row[: len(columns)]] for row in seen.found.get("rows", ())]
    return table_pages.Grid(columns, rows)
