"""Sends requests to a platform through an HTTP client: to a server, or to the application inside this process."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from lakehold.cli.errors import UnreachableError
from lakehold.cli.transport import Json, drop_empty, unwrap_response

_TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class Transport:
    """Sends requests to a platform."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def send(self, method: str, path: str, **content: Any) -> httpx.Response:  # noqa: ANN401 - those of httpx
        """Send a request and return the whole response."""
        try:
            return self._client.request(method, path, **content)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

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
        response = self.send(method, path, params=drop_empty(query), json=body, headers=dict(headers or {}))
        return unwrap_response(response.status_code, response.content)

    def stream(
        self, path: str, query: Mapping[str, object] | None = None, *, body: Json = None, accept: str = "*/*"
    ) -> Iterator[bytes]:
        """Send a request and yield its response in chunks. With a body it is a POST."""
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
        """Run a job in this process, if there is no worker that does it: a server has one."""

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _unreachable(self, error: httpx.TransportError) -> UnreachableError:
        url = str(self._client.base_url).rstrip("/")
        return UnreachableError(
            f"{url} cannot be reached: {str(error) or type(error).__name__}.",
            "Is the server running? Set LAKEHOLD_URL, or use --local.",
        )


def connect(url: str, token: str) -> Transport:
    """Return a transport to a server, with an API token."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return Transport(httpx.Client(base_url=url, headers=headers, timeout=_TIMEOUT))
