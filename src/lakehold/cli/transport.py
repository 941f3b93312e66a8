"""The interface between a command and a platform: every command is written once, as requests of the REST API.

`RemoteTransport` sends them to a server; `LocalTransport` passes them to the same application inside this process,
over the embedded database. Both give the same responses and errors, and write the same audit log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import quote

from lakehold.cli.errors import ResponseError

Json = Any
"""What an answer holds; a verb knows its shape."""


class Transport(Protocol):
    """Sends requests to a platform."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """Send a request and return its JSON; raise if the response is an error."""

    def stream(
        self, path: str, query: Mapping[str, object] | None = None, *, body: Json = None, accept: str = "*/*"
    ) -> Iterator[bytes]:
        """Send a request and yield its response in chunks. With a body it is a POST."""

    def run_job(self, job: str) -> None:
        """Run a job in this process, if there is no worker that does it."""

    def close(self) -> None:
        """Close all connections."""


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
"""For a change that says all of what is to be: whatever it was before."""


def join_path(*parts: str) -> str:
    """Join the parts of a path, and quote the ids in it."""
    first, *rest = parts
    return "/".join((first, *(quote(part, safe="") for part in rest)))


def drop_empty(query: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the parameters of a query that are not empty."""
    return {name: value for name, value in (query or {}).items() if value not in (None, "", [])}


def unwrap_response(status: int, value: Json) -> Json:
    """Return the JSON of a response, or raise the error that it is."""
    if status < 400:  # noqa: PLR2004 - where errors begin
        return value
    problem = value if isinstance(value, dict) else {}
    detail = str(problem.get("detail") or f"The server answered with status {status}.")
    raise ResponseError(status, str(problem.get("code") or f"http_{status}"), detail, str(problem.get("hint") or ""))
