"""What the form of a source's connection says, and what is kept of it: settings, and a secret apart from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets
from lakehold.web.lakehouse.forms import parts
from lakehold.web.lakehouse.sources import apis, databases

FILES, DATABASE, API = "files", "database", "api"
CONNECTORS = (
    (FILES, "Files", "CSV, Excel, JSON or Parquet in a volume of this lakehouse.", "file"),
    (DATABASE, "Database", "Tables and views of PostgreSQL, or of another database with a driver.", "database"),
    (API, "API", "Endpoints that answer with JSON, page by page.", "globe"),
)
_TEXTS = {
    FILES: ("volume", "folder"),
    DATABASE: ("product", "host", "port", "database", "address", "driver", "user", "schemas"),
    API: ("address", "auth", "user", "key_name", "key_in", "headers", "per_second"),
}


@dataclass(frozen=True, slots=True)
class Connection:
    """The form as it is filled in."""

    connector: str = ""
    name: str = ""
    description: str = ""
    layer: str = ""
    version: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    endpoints: Sequence[apis.Endpoint] = ()

    def text(self, name: str) -> str:
        """What a field says; empty if nothing."""
        return self.texts.get(name, "")

    @property
    def credential(self) -> str:
        """What the secret is called that it needs; empty if it needs none."""
        if self.connector == API:
            return apis.SECRETS.get(self.text("auth"), "")
        return "password" if self.connector == DATABASE else ""

    def edges(self) -> EdgeTargets:
        """The layer that its tables go into."""
        return {"into": [self.layer]}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it. What the form does not ask for stays as it was."""
        was = before or {}
        match self.connector:
            case "files":
                told: dict[str, object] = {"volume": self.text("volume"), "folder": self.text("folder").strip("/")}
            case "database":
                told = {"address": databases.address(self.texts), "user": self.text("user")}
                told["schemas"] = parts(self.text("schemas"))
                told |= {"driver": self.text("driver")} if self.text("driver") else {}
            case _:
                told = {"address": self.text("address"), "auth": apis.auth(self.texts)}
                told["endpoints"] = apis.settings(self.endpoints, was)
                told["headers"] = apis.headers(self.text("headers"))
                told["limits"] = _limits(self.text("per_second"), was)
        return {**was, "connector": self.connector, **told}

    def errors(self, *, has_secret: bool) -> dict[str, str]:
        """What is wrong with it, by field."""
        found = self.errors_of_reach(has_secret=has_secret)
        if not self.layer:
            found["layer"] = "Choose the layer that its tables go into."
        return found

    def errors_of_reach(self, *, has_secret: bool) -> dict[str, str]:
        """What is wrong with what it is called, and with where it reads from."""
        found: dict[str, str] = {} if self.name else {"name": "Give it a name."}
        match self.connector:
            case "files":
                return found | ({} if self.text("volume") else {"volume": "Choose the volume that the files are in."})
            case "database":
                return found | databases.errors(self.texts)
            case _:
                return found | self._errors_of_api(has_secret=has_secret)

    def _errors_of_api(self, *, has_secret: bool) -> dict[str, str]:
        found: dict[str, str] = {}
        if not self.text("address").startswith(("http://", "https://")):
            found["address"] = "Write an address that begins with http or https."
        if self.text("auth") == apis.BASIC and not self.text("user"):
            found["user"] = "Write the user name."
        if self.text("auth") == apis.KEY and not self.text("key_name"):
            found["key_name"] = "Write what the key is called, such as X-Api-Key."
        if self.credential and not has_secret:
            found["secret"] = f"Fill in the {self.credential}."
        if (rate := self.text("per_second")) and not _is_rate(rate):
            found["per_second"] = "Write a number, such as 5 or 0.5."
        return found | apis.errors(self.endpoints)


def sent(form: FormData) -> Connection:
    """What came in."""

    def text(name: str) -> str:
        return str(form.get(name, "")).strip()

    connector = text("connector")
    return Connection(
        connector,
        text("name"),
        text("description"),
        text("layer"),
        text("version"),
        {name: text(name) for name in _TEXTS.get(connector, ())},
        apis.sent(form) if connector == API else (),
    )


def blank(connector: str, layer: str = "") -> Connection:
    """A form that nobody has filled in."""
    texts = {DATABASE: databases.parts(""), API: {"auth": apis.NONE}}.get(connector, {})
    return Connection(connector if connector in _TEXTS else "", layer=layer, texts=texts)


def present(found: ResourceView, connector: str = "") -> Connection:
    """What a source says now. One that says nothing yet can be given a connector."""
    told = found.settings or {}
    into = found.edges.get("into", ())
    chosen = str(told.get("connector", "")) or connector
    known = chosen if chosen in _TEXTS else ""
    texts = {FILES: _of_files, DATABASE: _of_database, API: _of_api}[known](told) if known else {}
    return Connection(
        known,
        found.name,
        found.description,
        into[0].uid if into else "",
        str(found.version),
        texts,
        apis.present(told),
    )


def _of_files(told: Mapping[str, object]) -> dict[str, str]:
    return {name: str(told.get(name, "")) for name in _TEXTS[FILES]}


def _of_database(told: Mapping[str, object]) -> dict[str, str]:
    schemas = told.get("schemas")
    texts = databases.parts(str(told.get("address", "")))
    texts |= {"user": str(told.get("user", "")), "driver": str(told.get("driver", ""))}
    return texts | {"schemas": ", ".join(map(str, schemas)) if isinstance(schemas, list) else ""}


def _of_api(told: Mapping[str, object]) -> dict[str, str]:
    auth, headers, limits = (_inside(told, name) for name in ("auth", "headers", "limits"))
    return {
        "address": str(told.get("address", "")),
        "auth": str(auth.get("kind", apis.NONE)),
        "user": str(auth.get("user", "")),
        "key_name": str(auth.get("name", "")),
        "key_in": "question" if auth.get("in_question") else "header",
        "headers": "\n".join(f"{name}: {value}" for name, value in headers.items()),
        "per_second": f"{rate:g}" if isinstance(rate := limits.get("per_second"), int | float) and rate else "",
    }


def _limits(rate: str, was: Mapping[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in _inside(was, "limits").items() if name != "per_second"}
    return {**kept, **({"per_second": float(rate)} if rate else {})}


def _is_rate(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def _inside(told: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = told.get(name)
    return found if isinstance(found, Mapping) else {}
