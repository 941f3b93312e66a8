"""Sends requests to a server over HTTP."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from lakehold.cli.errors import UnreachableError
from lakehold.cli.transport import Json, Transport, drop_empty, unwrap_response

_TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class RemoteTransport(Transport):
    """Sends requests over HTTP, with an API token."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._client = httpx.Client(
            base_url=url, headers={"authorization": f"Bearer {token}"} if token else {}, timeout=_TIMEOUT
        )

    def send(self, method: str, path: str, **content: Any) -> httpx.Response:  # noqa: ANN401 - those of httpx
        """Send a request and return the whole response."""
        try:
            return self._client.request(method, path, **content)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def stream(
        self, path: str, query: Mapping[str, object] | None = None, *, body: Json = None, accept: str = "*/*"
    ) -> Iterator[bytes]:
        """Send a request and yield its response in chunks."""
        method = "GET" if body is None else "POST"
        try:
            with self._client.stream(
                method, path, params=drop_empty(query), json=body, headers={"accept": accept}, timeout=None
            ) as response:
                if response.is_error:
                    unwrap_response(response.status_code, response.read())
                yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def run_job(self, job: str) -> None:
        """Do nothing, because a worker of the server runs the job."""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _unreachable(self, error: httpx.TransportError) -> UnreachableError:
        return UnreachableError(
            f"{self._url} cannot be reached: {str(error) or type(error).__name__}.",
            "Is the server running? Set LAKEHOLD_URL, or use --local.",
        )
