"""The seam between a verb and an installation: every verb is written once, as requests of the REST API.

`Remote` sends them to a server; `Local` hands them to the same application inside this process, over the embedded
database. Both answer alike, refuse alike, and write the same audit log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import quote

from lakehold.cli.errors import RefusedError

Json = Any
"""What an answer holds; a verb knows its shape."""


class Door(Protocol):
    """The way into an installation."""

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """The answer; an error if it is a refusal."""

    def fetch(
        self, path: str, query: Mapping[str, object] | None = None, *, body: Json = None, accept: str = "*/*"
    ) -> Iterator[bytes]:
        """The answer as it comes, for what is long. With a body it is asked for by POST."""

    def work_off(self, job: str) -> None:
        """Do a job here, if here is where it would have to be done."""

    def close(self) -> None:
        """Let go of what was opened."""


def pages(door: Door, path: str, query: Mapping[str, object] | None = None, most: int = 0) -> list[Json]:
    """All items of a list, page by page; with `most` not more than that."""
    found: list[Json] = []
    after: str | None = None
    while True:
        limit = min(200, most - len(found)) if most else 200
        page = door.ask("GET", path, query={**(query or {}), "limit": limit, "after": after})
        found += page["items"]
        after = page["next"]
        if not after or (most and len(found) >= most):
            return found


ANY = {"if-match": "*"}
"""For a change that says all of what is to be: whatever it was before."""


def at(*parts: str) -> str:
    """The path of a thing; ids may hold whatever they like."""
    first, *rest = parts
    return "/".join((first, *(quote(part, safe="") for part in rest)))


def given(query: Mapping[str, object] | None) -> dict[str, Any]:
    """What was really given of a query."""
    return {name: value for name, value in (query or {}).items() if value not in (None, "", [])}


def answered(status: int, told: Json) -> Json:
    """The answer, or the refusal that it is."""
    if status < 400:  # noqa: PLR2004 - where errors begin
        return told
    said = told if isinstance(told, dict) else {}
    detail = str(said.get("detail") or f"The server answered with status {status}.")
    raise RefusedError(status, str(said.get("code") or f"http_{status}"), detail, str(said.get("hint") or ""))
