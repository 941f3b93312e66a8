"""The preview of a stream: its first rows as they would arrive, and the form of its format and types."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from lakehold.web.form_values import parse_integer, row_settings
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse.pages.sources import setup_pages, stream_form
from lakehold.workspaces.lakehouse.pages.sources.setup_pages import SourceProbe, need_source

routes = router("/resources")

_FORMAT_KEYS = ("kind", "encoding", "delimiter", "quote", "header", "sheet")
_MAX_FIELDS = 1_000


@dataclass(frozen=True, slots=True)
class StreamPreview:
    """The stream that is previewed, with its source and settings."""

    source: ResourceView
    streams: list[ResourceRef]
    chosen: ResourceRef | None
    settings: Mapping[str, Any]
    """Of the chosen stream."""
    endpoints: Sequence[Mapping[str, object]] | None = None
    """The changed endpoints of the source, if they were."""

    @property
    def connector(self) -> str:
        """The connector of the source."""
        return str((self.source.settings or {}).get("connector", ""))


@routes.get("/{uid:path}/preview")
def preview_page(request: Request, uid: str, stream: str = "") -> Response:
    """Render the first rows of a stream, by default of the first one."""
    preview = read_transaction(request).run(lambda ctx: _load_preview(ctx, uid, stream))
    sent = pages.restored_form(request)
    return _page(request, _with_changes(preview, sent) if sent else preview)


@routes.post("/{uid:path}/preview")
def change(request: Request, uid: str, sent: SubmittedForm) -> Response:
    """Preview with the changed format, or save it."""
    saved = read_transaction(request).run(lambda ctx: _load_preview(ctx, uid, str(sent.get("stream", ""))))
    preview = _with_changes(saved, sent)
    do, before = str(sent.get("do", "")), str(sent.get("before", ""))
    shape = preview.settings.get("format") if "kind" in sent else None
    if do == "next" and _form_fingerprint(shape, _parse_fields(sent)) == before:
        return pages.redirect(request, setup_pages.step_url(uid, setup_pages.SCHEDULE))
    if do not in {"save", "next"} or preview.chosen is None:
        return _page(request, preview, before=before)
    seen = _probe(request, preview)
    if seen[1] is not None:
        return _page(request, preview, before=before, seen=seen)
    write_transaction(request).run(lambda ctx: _save(ctx, preview))
    if do == "next":
        return pages.redirect(request, setup_pages.step_url(uid, setup_pages.SCHEDULE))
    to = setup_pages.step_url(uid, setup_pages.PREVIEW, setup=setup_pages.is_setup(request))
    to = f"{to}{'&' if '?' in to else '?'}{urlencode({'stream': preview.chosen.uid})}"
    return pages.redirect(request, to, f"Saved. Applies from the next run of {preview.chosen.name}.")


def _load_preview(ctx: RequestContext, uid: str, stream: str) -> StreamPreview:
    source = need_source(ctx, uid)
    found = stream_form.visible_streams(ctx, VisibleRefs(ctx), uid)
    chosen = next((each for each in found if each.uid == stream), None)
    if stream and chosen is None:
        raise NotFoundError("The source has no such stream.", "Select one of its streams.")
    chosen = chosen or next(iter(found), None)
    return StreamPreview(source, found, chosen, resource_metadata.load(ctx, chosen.uid).settings if chosen else {})


def _with_changes(preview: StreamPreview, sent: FormData) -> StreamPreview:
    """Return the preview with the submitted format of a file, or the submitted fields of an endpoint."""
    if preview.connector == "files" and "kind" in sent:
        return replace(preview, settings={**preview.settings, "format": _parse_format(sent)})
    if preview.connector == "api" and "count" in sent:
        name, fields = preview.settings.get("stream"), _parse_fields(sent)
        some = row_settings(preview.source.settings or {}, "endpoints")
        changed = [{**each, "fields": fields} if each.get("name") == name else each for each in some]
        return replace(preview, endpoints=changed)
    return preview


def _save(ctx: RequestContext, preview: StreamPreview) -> None:
    source = preview.source
    if preview.endpoints is not None:
        edit = ResourceEdit(settings={**(source.settings or {}), "endpoints": preview.endpoints})
        resource_edit.apply_edit(ctx, source.uid, edit, expect_version=source.version)
    elif preview.chosen is not None:
        resource_edit.apply_edit(ctx, preview.chosen.uid, ResourceEdit(settings=preview.settings))


def _probe(request: Request, preview: StreamPreview) -> SourceProbe:
    if preview.chosen is None:
        return {}, None
    changed = {} if preview.endpoints is None else {"endpoints": preview.endpoints}
    asked = {
        "source": preview.source.uid,
        "settings": {**(preview.source.settings or {}), **changed},
        "stream": str(preview.settings.get("stream", "")),
        "how": dict(preview.settings),
    }
    return setup_pages.probe_source(request, asked)


def _parse_format(sent: FormData) -> dict[str, Any]:
    """Parse the submitted format. If one of its keys has changed, the fields are left out and detected again."""
    shape: dict[str, Any] = {name: str(sent.get(name, "")) for name in ("kind", "encoding", "quote", "sheet")}
    shape["delimiter"] = str(sent.get("delimiter", "")) or ","
    shape["header"] = bool(sent.get("header"))
    shape["multiline"] = bool(sent.get("multiline"))
    shape["escape"] = "\\" if sent.get("escape") == "\\" else shape["quote"]
    shape["fields"] = [] if _format_fingerprint(shape) != str(sent.get("was", "")) else _parse_fields(sent)
    return shape


def _parse_fields(sent: FormData) -> list[dict[str, str]]:
    """Parse the submitted field names and types."""
    numbers = range(min(parse_integer(str(sent.get("count", ""))) or 0, _MAX_FIELDS))
    return [{"name": str(sent.get(f"name-{n}", "")), "type": str(sent.get(f"type-{n}", "string"))} for n in numbers]


def _format_fingerprint(shape: Mapping[str, Any] | None) -> str:
    """Return a fingerprint of a format without its fields; empty for none."""
    return json.dumps([str(shape.get(name, "")) for name in _FORMAT_KEYS]) if shape else ""


def _form_fingerprint(shape: Mapping[str, Any] | None, fields: Sequence[Mapping[str, str]]) -> str:
    """Return a fingerprint of the whole form, to find out whether somebody has changed it."""
    return json.dumps([_format_fingerprint(shape), [[each["name"], each["type"]] for each in fields]])


def _page(request: Request, preview: StreamPreview, *, before: str = "", seen: SourceProbe | None = None) -> Response:
    found, error = seen or _probe(request, preview)
    shape, fields = _file_format(found, preview.settings), found.get("fields", [])

    def page(ctx: RequestContext) -> Response:
        setup = setup_pages.is_setup(request)
        values: dict[str, object] = {
            **setup_pages.step_values(ctx, preview.source, setup_pages.PREVIEW, setup=setup),
            "preview": preview,
            "shape": shape,
            "was": _format_fingerprint(shape),
            "before": before or _form_fingerprint(shape, fields),
            "grid": table_pages.sample_grid(fields, found.get("rows", ())),
            "fields": fields,
            "types_change": preview.connector == "api"
            or (shape or {}).get("kind") in {"separated", "json", "json_lines"},
            "notes": found.get("notes", []),
            "error": error,
        }
        status = 422 if error is not None and request.method == "POST" else 200
        return pages.render(request, "lakehouse/preview.html", values, status=status)

    return read_transaction(request).run(page)


def _file_format(found: Mapping[str, Any], how: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the format of a file, or None if the stream is not a file. Submitted values stay if the probe failed."""
    file_format = found.get("format") or how.get("format")
    return {**file_format, "fields": found.get("fields", [])} if isinstance(file_format, Mapping) else None
