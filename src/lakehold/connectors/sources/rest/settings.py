"""Settings of an API: endpoints, paging, authentication and limits."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.connector import StreamField
from lakehold.kit.errors import InvalidInputError


class ApiAuth(Protocol):
    """Authentication of requests to the API itself, and to no other host. No implementation prints its secret."""

    def headers(self) -> dict[str, str]:
        """Return the headers to send."""

    def params(self) -> dict[str, str]:
        """Return the query parameters to send."""


@dataclass(frozen=True, slots=True)
class NoAuth:
    """No authentication."""

    def headers(self) -> dict[str, str]:
        """Return no headers."""
        return {}

    def params(self) -> dict[str, str]:
        """Return no parameters."""
        return {}


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """Authentication by a bearer token."""

    token: str = field(repr=False)

    def headers(self) -> dict[str, str]:
        """Return the authorization header."""
        return {"Authorization": f"Bearer {self.token}"}

    def params(self) -> dict[str, str]:
        """Return no parameters."""
        return {}


@dataclass(frozen=True, slots=True)
class BasicAuth:
    """Authentication by user name and password."""

    user: str
    password: str = field(repr=False)

    def headers(self) -> dict[str, str]:
        """Return the authorization header."""
        both = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"Authorization": f"Basic {both}"}

    def params(self) -> dict[str, str]:
        """Return no parameters."""
        return {}


@dataclass(frozen=True, slots=True)
class ApiKeyAuth:
    """Authentication by a key in a header or query parameter."""

    name: str
    key: str = field(repr=False)
    in_question: bool = False

    def headers(self) -> dict[str, str]:
        """Return the key, if it goes into a header."""
        return {} if self.in_question else {self.name: self.key}

    def params(self) -> dict[str, str]:
        """Return the key, if it goes into the query."""
        return {self.name: self.key} if self.in_question else {}


@dataclass(frozen=True, slots=True)
class PageNumberPaging:
    """Pages have numbers. The first page without a record is the end, as an API may return fewer than requested."""

    parameter: str = "page"
    first: int = 1
    size_parameter: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class CursorPaging:
    """Each response contains the cursor of the next page; the last one does not."""

    path: str
    """Where it stands in the answer: `meta.next`."""
    parameter: str = "cursor"


@dataclass(frozen=True, slots=True)
class LinkHeaderPaging:
    """Each response links to the next page in its `Link` header."""


Paging = PageNumberPaging | CursorPaging | LinkHeaderPaging | None


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """One stream of an API."""

    name: str
    path: str
    records: str = ""
    """Where the records stand in an answer: `data.items`. Empty if the answer is the list."""
    paging: Paging = None
    params: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    """The parameter that asks for what is new; its value is the cursor of the last sync."""
    keys: tuple[str, ...] = ()
    fields: tuple[StreamField, ...] = ()
    """Names and types, where the guess is not to be taken. Other fields are read as text."""


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """Limits on requests, retries and response sizes."""

    per_second: float = 0
    """How many requests at most; 0 is as fast as it answers."""
    patience: float = 30
    """How many seconds we wait for an answer."""
    retries: int = 5
    """How often a request is made again that failed for a reason that may pass."""
    backoff: float = 0.5
    """How many seconds we wait before the first of them; each time it is twice as long."""
    longest_wait: float = 120
    """An API that asks us to wait for longer is left alone."""
    most_pages: int = 100_000
    most_records: int = 100_000_000
    most_bytes: int = 50 * 1024 * 1024
    """Of one answer, unpacked."""


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Settings of an API."""

    base: str
    """Where all its endpoints are: scheme, host and perhaps a path."""
    endpoints: tuple[ApiEndpoint, ...]
    auth: ApiAuth = field(default_factory=NoAuth)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: ApiLimits = field(default_factory=ApiLimits)
    private: bool = False
    """Whether it may be in the network that this machine stands in."""

    def check(self) -> None:
        """Refuse settings that cannot be an API's."""
        try:
            parts = urlsplit(self.base)
            whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        except ValueError:
            whole = False
        if not whole:
            raise InvalidInputError("The address of the API is none.", "Write one that begins with http or https.")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InvalidInputError(
                "The address of the API has more in it than scheme, host and path.",
                "Give credentials and parameters apart from it.",
            )
        if not all(
            text.isascii() and text.isprintable() for text in (*self.auth.headers().values(), *self.headers.values())
        ):
            raise InvalidInputError(
                "The credentials or headers have a character that no header can have.",
                "Look for line breaks and letters with marks in them.",
            )
        names = [endpoint.name for endpoint in self.endpoints]
        if not names or len(set(names)) < len(names):
            raise InvalidInputError("An API needs endpoints with different names.")
        for endpoint in self.endpoints:
            for each in endpoint.fields:
                field_types.valid_type(each.type)
