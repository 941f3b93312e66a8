"""Requests of the REST API and their responses: paths, pages, errors, and resources by their name.

Every command is written once, as such requests. A `Transport` sends them to a server; a `LocalTransport` to the same
application inside this process, over the embedded database, with the same responses, errors and audit log.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakehold.cli.errors import ResponseError
from lakehold.kit.errors import ConflictError
from lakehold.kit.ids import fold_name
from lakehold.kit.ids import quote as quote_name

if TYPE_CHECKING:
    from lakehold.cli.http_transport import Transport

Json = Any
"""The JSON of a request or response; a command knows its shape."""


def fetch_all(transport: Transport, path: str, query: Mapping[str, object] | None = None, most: int = 0) -> list[Json]:
    """Return all items of a list, page by page; with `most` not more than that."""
    found: list[Json] = []
    after: str | None = None
    while True:
        limit = min(200, most - len(found)) if most else 200
        page = transport.request("GET", path, query={**(query or {}), "limit": limit, "after": after})
        found += page["items"]
        after = page["next"]
        if not after or (most and len(found) >= most):
            return found


IF_MATCH_ANY = {"if-match": "*"}
"""The header of a change that sets the whole state, whatever it was before."""


def join_path(*parts: str) -> str:
    """Join the parts of a path, and quote the ids in it."""
    first, *rest = parts
    return "/".join((first, *(quote(part, safe="") for part in rest)))


def drop_empty(query: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the parameters of a query that are not empty."""
    return {name: value for name, value in (query or {}).items() if value not in (None, "", [])}


def unwrap_response(status: int, content: bytes) -> Json:
    """Return the JSON of a response, None if there is none, or raise the error that it is."""
    try:
        value = json.loads(content) if content else None
    except ValueError:
        value = None
    if status < 400:  # noqa: PLR2004 - where errors begin
        return value
    problem = value if isinstance(value, dict) else {}
    detail = str(problem.get("detail") or f"The server answered with status {status}.")
    code, hint, field = (str(problem.get(name) or "") for name in ("code", "hint", "field"))
    raise ResponseError(status, code or f"http_{status}", detail, hint, field=field)


_RESOURCES = "/api/v1/resources"
_UNKNOWN_STATUSES = {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY}


def resolve_id(transport: Transport, word: str, kinds: Collection[str]) -> str:
    """Return the id of the resource with this id, name or path, of one of these kinds.

    A path is a name after those of what it lies in, such as `ingest/orders`; it may begin anywhere. What the caller may
    not see is not found. A text that matches nothing is returned as it is, so that the next request reports it as
    unknown.
    """
    try:
        transport.request("GET", join_path(_RESOURCES, word))
    except ResponseError as error:
        if error.status not in _UNKNOWN_STATUSES:
            raise
    else:
        return word
    matches = _find_by_path(transport, (word,), kinds)
    if not matches and "/" in word:
        matches = _find_by_path(transport, word.split("/"), kinds)
    if len(matches) > 1:
        message = f"Several resources are named {quote_name(word)}."
        raise ConflictError(message, f"Use the ID or a longer path: {', '.join(matches)}.", code="ambiguous")
    return matches[0] if matches else word


def _find_by_path(transport: Transport, path: Sequence[str], kinds: Collection[str]) -> list[str]:
    """Return the ids of the resources with these names, their own last, of one of these kinds."""
    *above, name = path
    return [
        found["id"]
        for found in fetch_all(transport, _RESOURCES, {"search": name})
        if found["kind"] in kinds and fold_name(found["name"]) == fold_name(name) and _lies_in(transport, found, above)
    ]


def _lies_in(transport: Transport, found: Json, above: Sequence[str]) -> bool:
    """Return whether a resource lies in those with these names, as far as the caller may see them."""
    for name in reversed(above):
        parent = found["parent"]
        if parent is None or fold_name(parent["name"]) != fold_name(name):
            return False
        found = transport.request("GET", join_path(_RESOURCES, parent["id"]))
    return True
