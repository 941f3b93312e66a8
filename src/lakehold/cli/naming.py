"""What a person calls something: its id, or else its name."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from lakehold.cli.door import Door, at, pages
from lakehold.cli.errors import RefusedError
from lakehold.kit.ids import fold_name, quote

_RESOURCES = "/api/v1/resources"
_UNKNOWN = {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY}

LAKEHOUSES = ("lakehouse.lakehouse",)
PIPELINES = (
    *("lakehouse.source", "lakehouse.query", "lakehouse.history", "lakehouse.destination"),
    *("marts.data_mart", "marts.report"),
)


def meant(door: Door, word: str, kinds: Collection[str]) -> str:
    """The id of what somebody calls so. What they may not see is not found, as if it were not there.

    A word that is nothing's name is left as it is: whoever is asked next says that there is no such thing.
    """
    try:
        door.ask("GET", at(_RESOURCES, word))
    except RefusedError as error:
        if error.told_status not in _UNKNOWN:
            raise
    else:
        return word
    named = [
        found["id"]
        for found in pages(door, _RESOURCES, {"search": word})
        if found["kind"] in kinds and fold_name(found["name"]) == fold_name(word)
    ]
    if len(named) > 1:
        raise RefusedError(
            HTTPStatus.CONFLICT,
            "ambiguous",
            f"Several are called {quote(word)}.",
            f"Say which, by its id: {', '.join(named)}.",
        )
    return named[0] if named else word
