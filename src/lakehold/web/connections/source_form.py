"""The form of a source's connection: its fields, and the settings that are saved. The secret is kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.web.connections import connector_fields
from lakehold.web.form_values import split_names

FILES, DATABASE, API = "files", "database", "api"
CONNECTOR_LABELS = {FILES: "Files", DATABASE: "Database", API: "API"}
CONNECTOR_ICONS = {FILES: "file", DATABASE: "database", API: "globe"}
CONNECTOR_HINTS = {
    DATABASE: "Tables and views of PostgreSQL, or another database with a JDBC driver.",
    API: "Paginated JSON endpoints.",
}
"""What each reads; where files lie is said by the workspace."""
_TEXTS = {
    FILES: ("volume", "folder"),
    DATABASE: ("product", "host", "port", "database", "address", "driver", "user", "schemas"),
    API: ("address", "auth", "user", "key_name", "key_in", "headers", "per_second"),
}


@dataclass(frozen=True, slots=True)
class SourceForm:
    """The values of the connection form of a source."""

    connector: str = ""
    name: str = ""
    description: str = ""
    version: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    endpoints: Sequence[connector_fields.Endpoint] = ()

    def text(self, name: str) -> str:
        """Return the text of a field, or an empty string."""
        return self.texts.get(name, "")

    @property
    def credential(self) -> str:
        """Return the name of the secret that the connector needs, or an empty string."""
        if self.connector == API:
            return connector_fields.API_SECRETS.get(self.text("auth"), "")
        return "password" if self.connector == DATABASE else ""

    @property
    def fields(self) -> Mapping[str, str]:
        """The form fields by setting."""
        match self.connector:
            case "files":
                return {"volume": "volume", "folder": "folder"}
            case "database":
                return {**connector_fields.database_fields(self.texts), "schemas": "schemas"}
            case _:
                return connector_fields.API_FIELDS

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """Return the settings to save. Settings that the form does not have stay unchanged."""
        was = before or {}
        match self.connector:
            case "files":
                settings: dict[str, object] = {"volume": self.text("volume"), "folder": self.text("folder").strip("/")}
            case "database":
                settings = {"address": connector_fields.database_address(self.texts), "user": self.text("user")}
                settings["schemas"] = split_names(self.text("schemas"))
                settings |= {"driver": self.text("driver")} if self.text("driver") else {}
            case _:
                settings = {"address": self.text("address"), "auth": connector_fields.auth_settings(self.texts)}
                settings["endpoints"] = connector_fields.endpoint_settings(self.endpoints, was)
                settings["headers"] = connector_fields.parse_headers(self.text("headers"))
                settings["limits"] = _limits(self.text("per_second"), was)
        return {**was, "connector": self.connector, **settings}

    def connection_errors(self, *, has_secret: bool) -> dict[str, str]:
        """Return the errors of the name and the connection, by field."""
        found: dict[str, str] = {} if self.name else {"name": "Enter a name."}
        match self.connector:
            case "files":
                return found | ({} if self.text("volume") else {"volume": "Select the volume of the files."})
            case "database":
                return found | connector_fields.database_errors(self.texts)
            case _:
                return found | self._api_errors(has_secret=has_secret)

    def _api_errors(self, *, has_secret: bool) -> dict[str, str]:
        found: dict[str, str] = {}
        if not self.text("address").startswith(("http://", "https://")):
            found["address"] = "Enter a URL that starts with http or https."
        if self.text("auth") == connector_fields.BASIC and not self.text("user"):
            found["user"] = "Enter the user name."
        if self.text("auth") == connector_fields.KEY and not self.text("key_name"):
            found["key_name"] = "Enter the key name, such as X-Api-Key."
        if self.credential and not has_secret:
            found["secret"] = f"Enter the {self.credential}."
        if (rate := self.text("per_second")) and not _is_rate(rate):
            found["per_second"] = "Enter a number, such as 5 or 0.5."
        return found | connector_fields.endpoint_errors(self.endpoints)


def connector_choices(hints: Mapping[str, str]) -> tuple[tuple[str, str, str, str], ...]:
    """Return the connectors that have a hint, each as word, label, hint and icon."""
    return tuple((word, CONNECTOR_LABELS[word], about, CONNECTOR_ICONS[word]) for word, about in hints.items())


def parse_source_form(form: FormData) -> SourceForm:
    """Parse a submitted form."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    connector = text("connector")
    return SourceForm(
        connector,
        text("name"),
        text("description"),
        text("version"),
        {name: text(name) for name in _TEXTS.get(connector, ())},
        connector_fields.parse_endpoints(form) if connector == API else (),
    )


def blank_source_form(connector: str) -> SourceForm:
    """Return an empty form for a connector."""
    texts = {DATABASE: connector_fields.split_database_address(""), API: {"auth": connector_fields.NONE}}.get(
        connector, {}
    )
    return SourceForm(connector if connector in _TEXTS else "", texts=texts)


def source_form_from_resource(found: ResourceView, connector: str = "") -> SourceForm:
    """Return the form for an existing source. `connector` applies if the source has none yet."""
    settings = found.settings or {}
    chosen = str(settings.get("connector", "")) or connector
    known = chosen if chosen in _TEXTS else ""
    texts = {FILES: _files_fields, DATABASE: _database_fields, API: _api_fields}[known](settings) if known else {}
    return SourceForm(
        known,
        found.name,
        found.description,
        str(found.version),
        texts,
        connector_fields.endpoints_from_settings(settings),
    )


def _files_fields(settings: Mapping[str, object]) -> dict[str, str]:
    return {name: str(settings.get(name, "")) for name in _TEXTS[FILES]}


def _database_fields(settings: Mapping[str, object]) -> dict[str, str]:
    schemas = settings.get("schemas")
    texts = connector_fields.split_database_address(str(settings.get("address", "")))
    texts |= {"user": str(settings.get("user", "")), "driver": str(settings.get("driver", ""))}
    return texts | {"schemas": ", ".join(map(str, schemas)) if isinstance(schemas, list) else ""}


def _api_fields(settings: Mapping[str, object]) -> dict[str, str]:
    auth, headers, limits = (_mapping(settings, name) for name in ("auth", "headers", "limits"))
    return {
        "address": str(settings.get("address", "")),
        "auth": str(auth.get("kind", connector_fields.NONE)),
        "user": str(auth.get("user", "")),
        "key_name": str(auth.get("name", "")),
        "key_in": "question" if auth.get("in_question") else "header",
        "headers": "\n".join(f"{name}: {value}" for name, value in headers.items()),
        "per_second": f"{rate:g}" if isinstance(rate := limits.get("per_second"), int | float) and rate else "",
    }


def _limits(rate: str, was: Mapping[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in _mapping(was, "limits").items() if name != "per_second"}
    return {**kept, **({"per_second": float(rate)} if rate else {})}


def _is_rate(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def _mapping(settings: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = settings.get(name)
    return found if isinstance(found, Mapping) else {}
