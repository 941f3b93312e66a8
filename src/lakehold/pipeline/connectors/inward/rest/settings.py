"""An API, its endpoints, how they page, and what reading them may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.connectors.inward import kinds
from lakehold.pipeline.connectors.inward.connector import Field
from lakehold.pipeline.connectors.inward.rest.auth import Auth, Nobody


@dataclass(frozen=True, slots=True)
class ByPage:
    """Pages have numbers. The first one without a record is the end: an API may give fewer than it was asked for."""

    parameter: str = "page"
    first: int = 1
    size_parameter: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class ByCursor:
    """Each answer tells what to ask for next; the last one does not."""

    path: str
    """Where it stands in the answer: `meta.next`."""
    parameter: str = "cursor"


@dataclass(frozen=True, slots=True)
class ByLink:
    """Each answer links to the next one in its `Link` header."""


Paging = ByPage | ByCursor | ByLink | None


@dataclass(frozen=True, slots=True)
class Endpoint:
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
    fields: tuple[Field, ...] = ()
    """Names and types, where the guess is not to be taken. Other fields are read as text."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading an API may cost it and us."""

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
class Settings:
    """An API."""

    base: str
    """Where all its endpoints are: scheme, host and perhaps a path."""
    endpoints: tuple[Endpoint, ...]
    auth: Auth = field(default_factory=Nobody)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Limits = field(default_factory=Limits)
    private: bool = False
    """Whether it may be in the network that this machine stands in."""

    def check(self) -> None:
        """Refuse what can be no API."""
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
                kinds.checked(each.type)
