"""The connector for APIs: its settings (endpoints, paging, authentication and limits) and its descriptor."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from lakehold.connectors.form_fields import load_fields
from lakehold.connectors.registry import Connector
from lakehold.connectors.settings import SourceSettings
from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.field_types import StreamField
from lakehold.kit.errors import at_field
from lakehold.kit.network_policy import ANY_HOST, HostList, NetworkTarget, PolicyList, target_of_url
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, Text


@dataclass(frozen=True, slots=True)
class PageNumberPaging(SettingsRecord):
    """Paging by page number. The first page without a record is the end, as an API may return fewer than requested."""

    parameter: str = "page"
    first: int = 1
    size_parameter: str = ""
    size: int = 0
    by: Literal["page"] = field(default="page", kw_only=True)


@dataclass(frozen=True, slots=True)
class CursorPaging(SettingsRecord):
    """Paging by cursor: each response but the last contains the cursor of the next page."""

    path: Text
    """Of the next cursor in the response, such as `meta.next`."""
    parameter: str = "cursor"
    by: Literal["cursor"] = field(default="cursor", kw_only=True)


@dataclass(frozen=True, slots=True)
class LinkHeaderPaging(SettingsRecord):
    """Paging by link: each response links to the next page in its `Link` header."""

    by: Literal["link"] = field(default="link", kw_only=True)


Paging = Annotated[PageNumberPaging | CursorPaging | LinkHeaderPaging, Field(discriminator="by")]


@dataclass(frozen=True, slots=True)
class ApiEndpoint(SettingsRecord):
    """One stream of an API."""

    name: Text
    path: Text
    records: str = ""
    """In the response, such as `data.items`. Empty if the response is the list."""
    paging: Paging | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    """If the API can filter by the last cursor value: the parameter that takes it."""
    keys: tuple[str, ...] = ()
    fields: tuple[StreamField, ...] = ()
    """Names and types, where the guess is not to be taken. Other fields are read as text."""


@dataclass(frozen=True, slots=True)
class ApiAuthSettings(SettingsRecord):
    """The authentication of requests; the secret itself is a credential."""

    kind: Literal["none", "bearer", "basic", "key"] = "none"
    user: str = ""
    name: str = ""
    """What the key is called, such as `X-Api-Key`."""
    in_question: bool = False
    """Whether the key is a query parameter; else it is a header."""

    def __post_init__(self) -> None:
        needed = {"basic": "user", "key": "name"}.get(self.kind)
        if needed and not getattr(self, needed).strip():
            message = f"The authentication of the source has no {needed}."
            raise InvalidSettingError(message, f"Set {needed}.", field=needed)

    @property
    def credential(self) -> str:
        """The name of the secret that it needs; empty if it needs none."""
        return {"bearer": "token", "basic": "password", "key": "key"}.get(self.kind, "")

    def headers(self, secret: str) -> dict[str, str]:
        """Return the headers to send with this secret, to the API itself and to no other host."""
        match self.kind:
            case "bearer":
                return {"Authorization": f"Bearer {secret}"}
            case "basic":
                return {"Authorization": f"Basic {base64.b64encode(f'{self.user}:{secret}'.encode()).decode()}"}
            case "key" if not self.in_question:
                return {self.name: secret}
            case _:
                return {}

    def params(self, secret: str) -> dict[str, str]:
        """Return the query parameters to send with this secret, to no other host either."""
        return {self.name: secret} if self.kind == "key" and self.in_question else {}


@dataclass(frozen=True, slots=True)
class ApiLimitSettings(SettingsRecord):
    """The limits that a source may choose."""

    per_second: Annotated[float, Field(ge=0)] = 0
    """The rate limit; 0 for none."""
    retries: Annotated[int, Field(ge=0)] = 5
    """How often a request is made again that failed for a reason that may pass."""


@dataclass(frozen=True, slots=True)
class ApiLimits(ApiLimitSettings):
    """All limits on requests, retries and response sizes."""

    patience: float = 30
    """How many seconds we wait for an answer."""
    backoff: float = 0.5
    """How many seconds we wait before the first retry; each time it is twice as long."""
    most_pages: int = 100_000
    most_records: int = 100_000_000
    most_bytes: int = 50 * 1024 * 1024
    """Of one answer, unpacked."""


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Settings of an API, with its secret."""

    base: str
    """Where all its endpoints are: scheme, host and perhaps a path."""
    endpoints: tuple[ApiEndpoint, ...]
    auth: ApiAuthSettings = field(default_factory=ApiAuthSettings)
    secret: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: ApiLimits = field(default_factory=ApiLimits)
    private: bool = False
    """Whether it may be in the network that this machine stands in."""
    hosts: HostList = ANY_HOST
    """Those that the tenant's network policy allows."""

    def check(self) -> None:
        """Refuse invalid settings."""
        check_api(self.base, self.endpoints, (*self.auth.headers(self.secret).values(), *self.headers.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSourceSettings(SourceSettings):
    """Endpoints of an HTTP API that answer with JSON."""

    connector: Literal["api"] = "api"
    address: Text
    """Where all its endpoints are: scheme, host and perhaps a path."""
    endpoints: tuple[ApiEndpoint, ...] = ()
    auth: ApiAuthSettings = field(default_factory=ApiAuthSettings)
    headers: Mapping[str, str] = field(default_factory=dict)
    limits: ApiLimitSettings = field(default_factory=ApiLimitSettings)

    def __post_init__(self) -> None:
        check_api(self.address, self.endpoints, self.headers.values())

    def network_targets(self, secrets: Mapping[str, str]) -> Iterator[NetworkTarget]:  # noqa: ARG002 - it has none
        """Return the host of the API."""
        yield target_of_url(PolicyList.SOURCES, self.address, "address")


def check_api(address: str, endpoints: Sequence[ApiEndpoint], header_values: Iterable[str]) -> None:
    """Refuse an invalid address, headers that cannot be sent, and endpoints without unique names."""
    with at_field("address"):
        _check_address(address)
    if not all(text.isascii() and text.isprintable() for text in header_values):
        message = "The credentials or headers have a character that is not allowed in a header."
        raise InvalidSettingError(message, "Remove line breaks and letters that are not ASCII.", field="headers")
    names = [endpoint.name for endpoint in endpoints]
    if not names or len(set(names)) < len(names):
        message = "An API needs endpoints with different names."
        raise InvalidSettingError(message, "Name each stream once.", field="endpoints")
    for n, endpoint in enumerate(endpoints):
        with at_field(f"endpoints.{n}.fields"):
            for each in endpoint.fields:
                field_types.valid_type(each.type)


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        hint = "Use one that begins with http:// or https://."
        raise InvalidSettingError("The address of the API is not valid.", hint)
    if parts.username or parts.password or parts.query or parts.fragment:
        message = "The address of the API must consist of scheme, host and path only."
        raise InvalidSettingError(message, "Enter credentials and parameters in their own fields.")


CONNECTOR = Connector(
    name="api",
    label="API",
    icon="globe",
    source=ApiSourceSettings,
    source_hint="Paginated JSON endpoints.",
    source_form=load_fields(__file__, "source"),
)
