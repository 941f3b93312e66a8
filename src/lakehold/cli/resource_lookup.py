"""Finds the id of a resource that is given by id or name."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from lakehold.cli.errors import ResponseError
from lakehold.cli.transport import Transport, fetch_all, join_path
from lakehold.kit.ids import fold_name, quote

_RESOURCES = "/api/v1/resources"
_UNKNOWN_STATUSES = {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY}


def resolve_id(transport: Transport, word: str, kinds: Collection[str]) -> str:
    """Return the id of the resource with this id or name, of one of these kinds.

    What the caller may not see is not found. A text that matches nothing is returned as it is, so that the next request
    reports it as unknown.
    """
    try:
        transport.request("GET", join_path(_RESOURCES, word))
    except ResponseError as error:
        if error.response_status not in _UNKNOWN_STATUSES:
            raise
    else:
        return word
    matches = [
        found["id"]
        for found in fetch_all(transport, _RESOURCES, {"search": word})
        if found["kind"] in kinds and fold_name(found["name"]) == fold_name(word)
    ]
    if len(matches) > 1:
        raise ResponseError(
            HTTPStatus.CONFLICT,
            "ambiguous",
            f"Several are called {quote(word)}.",
            f"Say which, by its id: {', '.join(matches)}.",
        )
    return matches[0] if matches else word
