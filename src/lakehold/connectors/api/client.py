"""HTTP client of an API: page after page, with retries of temporary failures, a limited rate, and clear refusals.

Credentials go to the API's own host and to no other, wherever a redirect or a link leads. Messages about a request name
only its path below the API's base URL, as the rest may hold a secret.
"""

import json
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from lakehold.connectors.address_guard import GuardedTransport, describe_tls_error, parse_retry_after
from lakehold.connectors.api.connector import ApiEndpoint, ApiSettings, CursorPaging, LinkHeaderPaging, PageNumberPaging
from lakehold.kit.errors import InvalidInputError, NotFoundError, UnavailableError
from lakehold.lake.errors import DataError, SourceError

# They would log every URL with its query, and every header.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)

_LONGEST_WAIT = 120.0
"""An API that asks us to wait for longer is left alone."""
_MOST_REDIRECTS = 5
_MAX_SLOWDOWN = 10
_TEMPORARY = {408, 425, 429}
_DENIED = {401, 403}
_GONE = {404, 410}
_SERVER_ERROR = 500
_EXAMPLES = 10
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
        self._next_request = 0.0
        self._base = httpx.URL(settings.base)
        self._http = httpx.Client(
            transport=GuardedTransport(private=settings.private, hosts=settings.hosts),
            timeout=settings.limits.patience,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def pages(self, endpoint: ApiEndpoint, since: str | None) -> Iterator[tuple[int, list[Any]]]:
        """Yield the number and records of each page. More than allowed are refused, never silently cut off."""
        url: httpx.URL | None = self._endpoint_url(endpoint.path)
        params = {**endpoint.params, **_first_page_params(endpoint)}
        if endpoint.since and since:
            params[endpoint.since] = since
        number, count, before = 0, 0, b""
        seen: set[str] = set()
        while url is not None:
            where = self._describe_url(url)
            answer = self._get(url, params)
            number += 1
            found = _extract_records(answer.data, endpoint.records, where)
            if isinstance(endpoint.paging, PageNumberPaging) and found and answer.text == before:
                hint = f"It ignores the parameter {endpoint.paging.parameter!r}; choose another way of paging."
                raise SourceError(f"The API returns the same page again, at {where}.", hint)
            before = answer.text
            count += len(found)
            if number > self._limits.most_pages or count > self._limits.most_records:
                most = f"{self._limits.most_pages:,} pages or {self._limits.most_records:,} records"
                raise DataError(f"The API has more than {most}, at {where}.", "Read only what is new, or allow more.")
            if found:
                yield number, found
            url, params = _next_page(endpoint, answer, url, params, more=bool(found))
            step = f"{url} {sorted(params.items())}"
            if url is not None and step in seen:
                message = f"The API links to a page that was already read, at {self._describe_url(url)}."
                raise SourceError(message, "Check how it pages.")
            seen.add(step)

    def _endpoint_url(self, path: str) -> httpx.URL:
        try:
            return httpx.URL(f"{self._settings.base.rstrip('/')}/{path.lstrip('/')}")
        except httpx.InvalidURL:
            raise InvalidInputError(f"{path!r} is not a path of an API.", "Use a path such as orders/all.") from None

    def _describe_url(self, url: httpx.URL) -> str:
        """Return a request's path below the API's base URL, for messages."""
        if not self._is_own(url):
            return "another address"
        return "/" + url.path.removeprefix(self._base.path).lstrip("/")

    def _is_own(self, url: httpx.URL) -> bool:
        return (url.scheme, url.host, url.port) == (self._base.scheme, self._base.host, self._base.port)

    def _get(self, url: httpx.URL, params: Mapping[str, str]) -> ApiResponse:
        """Return the response to a GET request, or refuse."""
        attempt, where = 0, self._describe_url(url)
        while True:
            self._keep_pace()
            try:
                status, headers, text = self._follow_redirects(url, params)
                problem = f"it answers {status}"
            except httpx.RequestError as error:
                status, headers, text, problem = 0, httpx.Headers(), b"", _describe_error(error)
            if status in _DENIED:
                message = f"The API denied access: it answers {status} at {where}."
                raise SourceError(message, "Check the credentials.", field=self._settings.auth.credential or "auth")
            if status and status not in _TEMPORARY and status < _SERVER_ERROR:
                return _parse_response(where, status, headers, text)
            if attempt >= self._limits.retries:
                message, hint = f"The API cannot be read at {where}: {problem}.", f"It was tried {attempt + 1} times."
                raise UnavailableError(message, f"{hint} Try later.", field="address")
            self._wait_before_retry(attempt, headers.get("Retry-After"), where)
            attempt += 1

    def _keep_pace(self) -> None:
        """Wait until the next request may be sent."""
        if self._limits.per_second:
            now = time.monotonic()
            time.sleep(max(0.0, self._next_request - now))
            self._next_request = max(now, self._next_request) + 1 / self._limits.per_second

    def _wait_before_retry(self, attempt: int, retry_after: str | None, where: str) -> None:
        """Wait before a retry: as long as the API asks for, or longer each time."""
        seconds = parse_retry_after(retry_after)
        if seconds is not None and seconds > _LONGEST_WAIT:
            message = f"The API is rate limited: retry after {seconds:,.0f} seconds, at {where}."
            raise UnavailableError(message, "Run it again later, or less often.", field="address")
        time.sleep(min(max(seconds or 0.0, self._limits.backoff * 2**attempt), _LONGEST_WAIT))

    def _follow_redirects(self, url: httpx.URL, params: Mapping[str, str]) -> tuple[int, httpx.Headers, bytes]:
        here = url.copy_merge_params(dict(params)) if params else url
        for _ in range(_MOST_REDIRECTS + 1):
            status, headers, text = self._send(here)
            if not 300 <= status < 400 or "Location" not in headers:  # noqa: PLR2004 - redirects
                return status, headers, text
            here = _resolve_link(here, headers["Location"])
        raise SourceError(f"The API redirects again and again, at {self._describe_url(url)}.", "Check its address.")

    def _send(self, url: httpx.URL) -> tuple[int, httpx.Headers, bytes]:
        headers = {"Accept": "application/json", "User-Agent": "lakehold"}
        auth, secret, ours = self._settings.auth, self._settings.secret, self._is_own(url)
        if ours:
            headers |= {**self._settings.headers, **auth.headers(secret)}
        for name, value in auth.params(secret).items():
            # A link may repeat the key of the request.
            url = url.copy_with(params=url.params.set(name, value) if ours else url.params.remove(name))
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
                most, where = f"{self._limits.most_bytes:,} bytes", self._describe_url(url)
                raise DataError(f"A response of the API is larger than {most}, at {where}.", "Use smaller pages.")
            if time.monotonic() > until:
                raise httpx.ReadTimeout("slow")
        return b"".join(found)


def _resolve_link(here: httpx.URL, location: str) -> httpx.URL:
    """Return the URL that a redirect or a link leads to."""
    try:
        there = here.join(location)
    except httpx.InvalidURL:
        there = httpx.URL()
    if there.scheme not in {"http", "https"} or not there.host:
        raise SourceError("The API links to an invalid address.", "Check its settings.")
    return there


def _parse_response(where: str, status: int, headers: httpx.Headers, text: bytes) -> ApiResponse:
    if status in _GONE:
        raise NotFoundError(f"The API has nothing at {where}: it answers {status}.", "Check the path.")
    if not 200 <= status < 300:  # noqa: PLR2004 - what went well
        raise SourceError(f"The API refuses: it answers {status} at {where}.", "Check path and parameters.")
    try:
        data = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        said = f" but {kind}" if kind in _KNOWN_CONTENT_TYPES else ""
        raise SourceError(f"The response of the API at {where} is not JSON{said}.", "Check the path.") from None
    return ApiResponse(data, httpx.Response(200, headers=headers).links.get("next", {}).get("url", ""), text)


def _describe_error(error: httpx.RequestError) -> str:
    match error:
        case httpx.TimeoutException():
            return "it does not answer in time"
        case httpx.ConnectError() if said := describe_tls_error(error):
            return f"it {said}"
        case httpx.ConnectError():
            return "nothing answers there"
    return "the connection breaks"


def _extract_records(data: Any, path: str, where: str) -> list[Any]:  # noqa: ANN401 - any JSON
    """Return the records in a response; a single object is one record."""
    here = data
    for step in filter(None, path.split(".")):
        if not isinstance(here, dict) or step not in here:
            there = ", ".join(list(here)[:_EXAMPLES]) if isinstance(here, dict) else "no object"
            message = f"There is no {path!r} in the response of the API at {where}."
            raise SourceError(message, f"Where {step!r} should be is: {there}.")
        here = here[step]
    match here:
        case None:
            return []
        case list():
            return here
        case dict():
            return [here]
    raise SourceError(f"The value at {path!r} is not a list of records, at {where}.", "Check where the records are.")


def _first_page_params(endpoint: ApiEndpoint) -> dict[str, str]:
    paging = endpoint.paging
    if not isinstance(paging, PageNumberPaging):
        return {}
    size = {paging.size_parameter: str(paging.size)} if paging.size_parameter and paging.size else {}
    return {paging.parameter: str(paging.first), **size}


def _next_page(
    endpoint: ApiEndpoint, answer: ApiResponse, url: httpx.URL, params: dict[str, str], *, more: bool
) -> tuple[httpx.URL | None, dict[str, str]]:
    match endpoint.paging:
        case PageNumberPaging() as paging if more:
            return url, {**params, paging.parameter: str(int(params[paging.parameter]) + 1)}
        case LinkHeaderPaging() if answer.next:
            # The link contains all parameters.
            return _resolve_link(url, answer.next), {}
        case CursorPaging() as paging:
            value = _text_at(answer.data, paging.path)
            if value and value.startswith(("http://", "https://")):
                return _resolve_link(url, value), {}
            return (url, {**params, paging.parameter: value}) if value else (None, params)
    return None, params


def _text_at(data: Any, path: str) -> str:  # noqa: ANN401 - any JSON
    here = data
    for step in path.split("."):
        here = here.get(step) if isinstance(here, dict) else None
    return str(here) if isinstance(here, str | int) and not isinstance(here, bool) and here != "" else ""
