"""HTTP client of an API: retries temporary failures, throttles requests, and refuses permanent errors with a message.

Credentials go to the API's own host and to no other, wherever a redirect or a link leads. Messages about a request name
only its path below the API's base URL, as the rest may hold a secret.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self

import httpx

from lakehold.connectors.address_guard import GuardedTransport, describe_tls_error
from lakehold.connectors.api.settings import ApiKeyAuth, ApiLimits, ApiSettings, BasicAuth, BearerAuth
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.lake.errors import DataError, SourceError


class Throttle:
    """Limits the rate of requests and waits between retries."""

    def __init__(self, limits: ApiLimits) -> None:
        self._limits = limits
        self._next = 0.0

    def wait(self) -> None:
        """Wait until the next request may be sent."""
        if not self._limits.per_second:
            return
        now = time.monotonic()
        time.sleep(max(0.0, self._next - now))
        self._next = max(now, self._next) + 1 / self._limits.per_second

    def wait_before_retry(self, attempt: int, retry_after: str | None, where: str) -> None:
        """Wait before a retry: as long as the API asks for, or longer each time."""
        seconds = parse_retry_after(retry_after)
        if seconds is not None and seconds > self._limits.longest_wait:
            raise UnavailableError(
                f"The API is rate limited: retry after {seconds:,.0f} seconds, at {where}.",
                "Run it again later, or less often.",
                field="address",
            )
        time.sleep(min(max(seconds or 0.0, self._limits.backoff * 2**attempt), self._limits.longest_wait))


def parse_retry_after(text: str | None) -> float | None:
    """Return how many seconds a `Retry-After` header asks for."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (at - datetime.now(UTC)).total_seconds()) if at.tzinfo else None


# They would log every URL with its query, and every header.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)

_MOST_REDIRECTS = 5
_MAX_SLOWDOWN = 10
_TEMPORARY = {408, 425, 429}
_DENIED = {401, 403}
_SERVER_ERROR = 500
_CREDENTIALS: Mapping[type, str] = {BearerAuth: "token", BasicAuth: "password", ApiKeyAuth: "key"}
"""What the secret is called that each authentication needs."""
_KNOWN_CONTENT_TYPES = {"text/html", "text/plain", "text/csv", "text/xml", "application/xml"}
"""Kinds that may be named: whatever else an API says of itself may be anything."""


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """Response of an API."""

    data: Any
    """As JSON has it."""
    next: str
    """What its header links to; empty if there is nothing."""
    text: bytes


class ApiClient:
    """HTTP client of an API."""

    def __init__(self, settings: ApiSettings) -> None:
        settings.check()
        self._settings = settings
        self._limits = settings.limits
        self._pace = Throttle(settings.limits)
        self._base = httpx.URL(settings.base)
        self._http = httpx.Client(
            transport=GuardedTransport(private=settings.private), timeout=settings.limits.patience, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def endpoint_url(self, path: str) -> httpx.URL:
        """Return the URL of an endpoint."""
        try:
            return httpx.URL(f"{self._settings.base.rstrip('/')}/{path.lstrip('/')}")
        except httpx.InvalidURL:
            raise InvalidInputError(f"{path!r} is no path of an API.", "Write it like orders/all.") from None

    def describe_url(self, url: httpx.URL) -> str:
        """Return a request's path below the API's base URL, for messages."""
        if _origin(url) != _origin(self._base):
            return "another address"
        return "/" + url.path.removeprefix(self._base.path).lstrip("/")

    def get(self, url: httpx.URL, params: Mapping[str, str]) -> ApiResponse:
        """Return the response to a GET request, or refuse."""
        attempt = 0
        while True:
            retry_after: str | None = None
            self._pace.wait()
            try:
                status, headers, text = self._follow_redirects(url, params)
            except httpx.RequestError as error:
                problem, status, headers, text = _describe_error(error), 0, httpx.Headers(), b""
            else:
                problem, retry_after = f"it answers {status}", headers.get("Retry-After")
            if status in _DENIED:
                raise SourceError(
                    f"The API denied access: it answers {status} at {self.describe_url(url)}.",
                    "Check the credentials.",
                    field=_CREDENTIALS.get(type(self._settings.auth), "auth"),
                )
            if status and status not in _TEMPORARY and status < _SERVER_ERROR:
                return _parse_response(self.describe_url(url), status, headers, text)
            if attempt >= self._limits.retries:
                raise UnavailableError(
                    f"The API cannot be read at {self.describe_url(url)}: {problem}.",
                    f"It was tried {attempt + 1} times. Try later.",
                    field="address",
                )
            self._pace.wait_before_retry(attempt, retry_after, self.describe_url(url))
            attempt += 1

    def _follow_redirects(self, url: httpx.URL, params: Mapping[str, str]) -> tuple[int, httpx.Headers, bytes]:
        here = url.copy_merge_params(dict(params)) if params else url
        for _ in range(_MOST_REDIRECTS + 1):
            status, headers, text = self._send(here)
            if not 300 <= status < 400 or "Location" not in headers:  # noqa: PLR2004 - redirects
                return status, headers, text
            here = resolve_link(here, headers["Location"])
        raise SourceError(f"The API redirects again and again, at {self.describe_url(url)}.", "Check its address.")

    def _send(self, url: httpx.URL) -> tuple[int, httpx.Headers, bytes]:
        headers = {"Accept": "application/json", "User-Agent": "lakehold"}
        ours = _origin(url) == _origin(self._base)
        if ours:
            headers |= {**self._settings.headers, **self._settings.auth.headers()}
        for name, value in self._settings.auth.params().items():
            # A link may repeat the key of the request.
            params = url.params.set(name, value) if ours else url.params.remove(name)
            url = url.copy_with(params=params)
        request = httpx.Request("GET", url, headers=headers)
        request.extensions["timeout"] = httpx.Timeout(self._limits.patience).as_dict()
        answer = self._http.send(request, stream=True)
        try:
            return answer.status_code, answer.headers, self._read_body(answer, url)
        finally:
            answer.close()

    def _read_body(self, answer: httpx.Response, url: httpx.URL) -> bytes:
        found, size, until = [], 0, time.monotonic() + self._limits.patience * _MAX_SLOWDOWN
        for chunk in answer.iter_bytes():
            found.append(chunk)
            size += len(chunk)
            if size > self._limits.most_bytes:
                raise DataError(
                    f"An answer of the API is longer than {self._limits.most_bytes:,} bytes,"
                    f" at {self.describe_url(url)}.",
                    "Ask for smaller pages.",
                )
            if time.monotonic() > until:
                raise httpx.ReadTimeout("slow")
        return b"".join(found)


def resolve_link(here: httpx.URL, location: str) -> httpx.URL:
    """Return the URL that a redirect or a link leads to."""
    try:
        there = here.join(location)
    except httpx.InvalidURL:
        there = httpx.URL()
    if there.scheme not in {"http", "https"} or not there.host:
        raise SourceError("The API leads to something that is no address.", "Check its settings.")
    return there


def _parse_response(where: str, status: int, headers: httpx.Headers, text: bytes) -> ApiResponse:
    if refusal := _error_of_status(status, where):
        raise refusal
    try:
        data = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        said = f" but {kind}" if kind in _KNOWN_CONTENT_TYPES else ""
        raise SourceError(f"What the API answers at {where} is no JSON{said}.", "Check the path.") from None
    return ApiResponse(data, httpx.Response(200, headers=headers).links.get("next", {}).get("url", ""), text)


def _error_of_status(status: int, path: str) -> LakeholdError | None:
    match status:
        case 404 | 410:
            return NotFoundError(f"The API has nothing at {path}: it answers {status}.", "Check the path.")
        case _ if not 200 <= status < 300:  # noqa: PLR2004 - what went well
            return SourceError(f"The API refuses: it answers {status} at {path}.", "Check path and parameters.")
    return None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _describe_error(error: httpx.RequestError) -> str:
    match error:
        case httpx.TimeoutException():
            return "it does not answer in time"
        case httpx.ConnectError() if said := describe_tls_error(error):
            return f"it {said}"
        case httpx.ConnectError():
            return "nobody answers there"
    return "the connection breaks"
