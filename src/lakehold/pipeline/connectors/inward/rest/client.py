"""One request, until it is answered: again after what may pass, and refused in words after what will not.

Credentials go to the API's own host and to no other, wherever a redirect or a link leads. Words about a request name
its path behind the API's own address alone: what stands before it, and what is asked for, may hold a secret.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.pipeline.connectors.inward.rest.settings import Settings
from lakehold.pipeline.connectors.inward.rest.waiting import Pace
from lakehold.pipeline.connectors.outward.addresses import Guarded, tls
from lakehold.pipeline.errors import DataError, SourceError

# They would log every address with all that is asked for, and every header.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)

_MOST_REDIRECTS = 5
_SLOWEST = 10
_PASSING = {408, 425, 429}
_BROKEN = 500
_KNOWN = {"text/html", "text/plain", "text/csv", "text/xml", "application/xml"}
"""Kinds that may be named: whatever else an API says of itself may be anything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    data: Any
    """As JSON has it."""
    next: str
    """What its header links to; empty if there is nothing."""
    text: bytes


class Client:
    """Asks an API."""

    def __init__(self, settings: Settings) -> None:
        settings.check()
        self._settings = settings
        self._limits = settings.limits
        self._pace = Pace(settings.limits)
        self._base = httpx.URL(settings.base)
        self._http = httpx.Client(
            transport=Guarded(private=settings.private), timeout=settings.limits.patience, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def url(self, path: str) -> httpx.URL:
        """The address of an endpoint."""
        try:
            return httpx.URL(f"{self._settings.base.rstrip('/')}/{path.lstrip('/')}")
        except httpx.InvalidURL:
            raise InvalidInputError(f"{path!r} is no path of an API.", "Write it like orders/all.") from None

    def where(self, url: httpx.URL) -> str:
        """A request in words: its path behind the address of the API, if it is one of its own."""
        if _origin(url) != _origin(self._base):
            return "another address"
        return "/" + url.path.removeprefix(self._base.path).lstrip("/")

    def get(self, url: httpx.URL, params: Mapping[str, str]) -> Answer:
        """The answer, or a refusal."""
        tried = 0
        while True:
            asked: str | None = None
            self._pace.wait()
            try:
                status, headers, text = self._followed(url, params)
            except httpx.RequestError as error:
                said, status, headers, text = _said(error), 0, httpx.Headers(), b""
            else:
                said, asked = f"it answers {status}", headers.get("Retry-After")
            if status and status not in _PASSING and status < _BROKEN:
                return _answer(self.where(url), status, headers, text)
            if tried >= self._limits.retries:
                raise UnavailableError(
                    f"The API cannot be read at {self.where(url)}: {said}.",
                    f"It was tried {tried + 1} times. Try later.",
                )
            self._pace.rest(tried, asked, self.where(url))
            tried += 1

    def _followed(self, url: httpx.URL, params: Mapping[str, str]) -> tuple[int, httpx.Headers, bytes]:
        here = url.copy_merge_params(dict(params)) if params else url
        for _ in range(_MOST_REDIRECTS + 1):
            status, headers, text = self._sent(here)
            if not 300 <= status < 400 or "Location" not in headers:  # noqa: PLR2004 - redirects
                return status, headers, text
            here = led(here, headers["Location"])
        raise SourceError(f"The API redirects again and again, at {self.where(url)}.", "Check its address.")

    def _sent(self, url: httpx.URL) -> tuple[int, httpx.Headers, bytes]:
        headers = {"Accept": "application/json", "User-Agent": "lakehold"}
        ours = _origin(url) == _origin(self._base)
        if ours:
            headers |= {**self._settings.headers, **self._settings.auth.headers()}
        for name, value in self._settings.auth.params().items():
            # A link may repeat the key that it was asked with.
            params = url.params.set(name, value) if ours else url.params.remove(name)
            url = url.copy_with(params=params)
        request = httpx.Request("GET", url, headers=headers)
        request.extensions["timeout"] = httpx.Timeout(self._limits.patience).as_dict()
        answer = self._http.send(request, stream=True)
        try:
            return answer.status_code, answer.headers, self._text(answer, url)
        finally:
            answer.close()

    def _text(self, answer: httpx.Response, url: httpx.URL) -> bytes:
        found, size, until = [], 0, time.monotonic() + self._limits.patience * _SLOWEST
        for chunk in answer.iter_bytes():
            found.append(chunk)
            size += len(chunk)
            if size > self._limits.most_bytes:
                raise DataError(
                    f"An answer of the API is longer than {self._limits.most_bytes:,} bytes, at {self.where(url)}.",
                    "Ask for smaller pages.",
                )
            if time.monotonic() > until:
                raise httpx.ReadTimeout("slow")
        return b"".join(found)


def led(here: httpx.URL, location: str) -> httpx.URL:
    """Where a redirect or a link leads from here."""
    try:
        there = here.join(location)
    except httpx.InvalidURL:
        there = httpx.URL()
    if there.scheme not in {"http", "https"} or not there.host:
        raise SourceError("The API leads to something that is no address.", "Check its settings.")
    return there


def _answer(where: str, status: int, headers: httpx.Headers, text: bytes) -> Answer:
    if refusal := _refusal(status, where):
        raise refusal
    try:
        data = json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        said = f" but {kind}" if kind in _KNOWN else ""
        raise SourceError(f"What the API answers at {where} is no JSON{said}.", "Check the path.") from None
    return Answer(data, httpx.Response(200, headers=headers).links.get("next", {}).get("url", ""), text)


def _refusal(status: int, path: str) -> LakeholdError | None:
    match status:
        case 401 | 403:
            return SourceError(f"The API does not let us in: it answers {status} at {path}.", "Check the credentials.")
        case 404 | 410:
            return NotFoundError(f"The API has nothing at {path}: it answers {status}.", "Check the path.")
        case _ if not 200 <= status < 300:  # noqa: PLR2004 - what went well
            return SourceError(f"The API refuses: it answers {status} at {path}.", "Check path and parameters.")
    return None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _said(error: httpx.RequestError) -> str:
    match error:
        case httpx.TimeoutException():
            return "it does not answer in time"
        case httpx.ConnectError() if said := tls(error):
            return f"it {said}"
        case httpx.ConnectError():
            return "nobody answers there"
    return "the connection breaks"
