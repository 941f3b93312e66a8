"""An installation by its server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import httpx

from lakehold.cli.door import Json, answered, given
from lakehold.cli.errors import UnreachableError

_PATIENCE = httpx.Timeout(60.0, connect=10.0)


class Remote:
    """Requests over HTTP, with an API token."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._client = httpx.Client(
            base_url=url, headers={"authorization": f"Bearer {token}"} if token else {}, timeout=_PATIENCE
        )

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
        try:
            told = self._client.request(method, path, params=given(query), json=body, headers=dict(headers or {}))
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        return answered(told.status_code, read(told.content))

    def fetch(
        self, path: str, query: Mapping[str, object] | None = None, *, body: Json = None, accept: str = "*/*"
    ) -> Iterator[bytes]:
        """The answer as it comes."""
        method = "GET" if body is None else "POST"
        try:
            with self._client.stream(
                method, path, params=given(query), json=body, headers={"accept": accept}, timeout=None
            ) as told:
                if told.is_error:
                    answered(told.status_code, read(told.read()))
                yield from told.iter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def work_off(self, job: str) -> None:
        """A worker of the server does it."""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _unreachable(self, error: httpx.TransportError) -> UnreachableError:
        return UnreachableError(
            f"{self._url} does not answer: {str(error) or type(error).__name__}.",
            "Is the server running? Set LAKEHOLD_URL, or use --local.",
        )


def read(content: bytes) -> Json:
    """An answer's JSON; None if there is none."""
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None
