"""The fields of connection forms that are specific to a connector: the address of a database; authentication and
endpoints of an API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from starlette.datastructures import FormData

from lakehold.web.form_values import parse_integer

POSTGRESQL, OTHER = "postgresql", "other"
DEFAULT_PORT = "5432"
_JDBC_URL = re.compile(r"jdbc:postgresql://(?P<host>\[[^\]/?]+\]|[^/:?,\[]+)(?::(?P<port>\d+))?/(?P<database>[^/?]+)")
_HOST = re.compile(r"\[[0-9a-fA-F:.]+\]|[^\s/:?,@\[\]]+")
_DATABASE = re.compile(r"[^\s/?]+")
_MAX_PORT = 65_535


def database_address(texts: Mapping[str, str]) -> str:
    """Return the JDBC address of the submitted fields."""
    if texts.get("product") == OTHER:
        return texts.get("address", "")
    return f"jdbc:postgresql://{texts.get('host', '')}:{texts.get('port') or DEFAULT_PORT}/{texts.get('database', '')}"


def split_database_address(address: str) -> dict[str, str]:
    """Split a JDBC address into form fields."""
    if not address:
        return {"product": POSTGRESQL, "port": DEFAULT_PORT}
    found = _JDBC_URL.fullmatch(address)
    if found is None:
        return {"product": OTHER, "address": address}
    return {"product": POSTGRESQL, **found.groupdict(), "port": found["port"] or DEFAULT_PORT}


def database_errors(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the errors by field."""
    if texts.get("product") == OTHER:
        return {} if texts.get("address") else {"address": "Enter the JDBC URL."}
    found: dict[str, str] = {}
    if not _HOST.fullmatch(texts.get("host", "")):
        found["host"] = "Enter a host name, such as db.shop.internal."
    port = texts.get("port", "")
    if port and not 0 < (parse_integer(port) or 0) <= _MAX_PORT:
        found["port"] = "Enter a port number up to 65535."
    if not _DATABASE.fullmatch(texts.get("database", "")):
        found["database"] = "Enter the database name."
    return found


def database_fields(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the form fields by setting, and by error code where the address has several fields."""
    if texts.get("product") == OTHER:
        return {"address": "address", "driver": "driver", "user": "user", "password": "secret"}
    return {"address": "host", "unknown_database": "database", "user": "user", "password": "secret"}


NONE, BEARER, BASIC, KEY = "none", "bearer", "basic", "key"
API_SECRETS = {BEARER: "token", BASIC: "password", KEY: "key"}
"""What the secret is called that each way in needs."""
ENDPOINT_FIELDS = ("name", "path", "records", "paging", "parameter", "next", "since", "keys")
"""The fields of an endpoint, each sent as often as there are endpoints."""
API_FIELDS = {
    **{name: name for name in ("address", "headers", "auth")},
    "auth.user": "user",
    "auth.name": "key_name",
    "limits": "per_second",
    **dict.fromkeys(("token", "password", "key"), "secret"),
    "endpoints": "endpoint_name-{}",
    "endpoints.paging.path": "endpoint_next-{}",
    **{f"endpoints.{name}": f"endpoint_{name}-{{}}" for name in ENDPOINT_FIELDS},
}
"""The form fields by setting."""
MAX_ENDPOINTS = 50
_PAGING_KINDS = ("page", "cursor", "link")

Endpoint = Mapping[str, str]


def parse_endpoints(form: FormData) -> list[Endpoint]:
    """Parse the submitted endpoints, without empty ones."""
    columns = {part: [str(each).strip() for each in form.getlist(f"endpoint_{part}")] for part in ENDPOINT_FIELDS}
    count = min(len(columns["name"]), MAX_ENDPOINTS)
    rows = [{part: _at(columns[part], n) for part in ENDPOINT_FIELDS} for n in range(count)]
    return [row for row in rows if row["name"] or row["path"]]


def endpoints_from_settings(settings: Mapping[str, object]) -> list[Endpoint]:
    """Return the endpoints of a source as form fields."""
    return [_endpoint_fields(each) for each in _mappings(settings.get("endpoints"))]


def endpoint_errors(endpoints: Sequence[Endpoint]) -> dict[str, str]:
    """Return the errors by field."""
    if not endpoints:
        return {"endpoint_path-0": "Add at least one endpoint with a path."}
    found: dict[str, str] = {}
    known: set[str] = set()
    for n, each in enumerate(endpoints):
        if not each["name"]:
            found[f"endpoint_name-{n}"] = "Enter a name. It is used as the stream name."
        elif each["name"] in known:
            found[f"endpoint_name-{n}"] = "This name is already used."
        if not each["path"]:
            found[f"endpoint_path-{n}"] = "Enter a path."
        if each["paging"] == "cursor" and not each["next"]:
            found[f"endpoint_next-{n}"] = "Enter the path of the next cursor in the response."
        known.add(each["name"])
    return found


def endpoint_settings(endpoints: Sequence[Endpoint], before: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the endpoints to save. Settings that the form does not have are kept, by the name of the endpoint."""
    known = {str(each.get("name")): each for each in _mappings(before.get("endpoints"))}
    return [_merge_endpoint(each, known.get(each["name"], {})) for each in endpoints]


def auth_settings(texts: Mapping[str, str]) -> dict[str, object]:
    """Return the authentication settings."""
    match texts.get("auth", NONE):
        case "bearer":
            return {"kind": BEARER}
        case "basic":
            return {"kind": BASIC, "user": texts.get("user", "")}
        case "key":
            in_question = texts.get("key_in") == "question"
            return {"kind": KEY, "name": texts.get("key_name", ""), "in_question": in_question}
        case _:
            return {"kind": NONE}


def parse_headers(text: str) -> dict[str, str]:
    """Parse one header per line: `Accept-Language: de`."""
    pairs = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _endpoint_fields(settings: Mapping[str, object]) -> Endpoint:
    paging = settings.get("paging")
    page: Mapping[str, object] = paging if isinstance(paging, Mapping) else {}
    keys = settings.get("keys")
    return {
        **{part: str(settings.get(part, "")) for part in ("name", "path", "records", "since")},
        "paging": str(page.get("by", "page")) if page else "",
        "parameter": str(page.get("parameter", "")),
        "next": str(page.get("path", "")),
        "keys": ", ".join(map(str, keys)) if isinstance(keys, list) else "",
    }


def _merge_endpoint(each: Endpoint, before: Mapping[str, object]) -> dict[str, object]:
    settings: dict[str, object] = {"name": each["name"], "path": each["path"]}
    settings |= {name: each[name] for name in ("records", "since") if each[name]}
    if keys := [part.strip() for part in each["keys"].split(",") if part.strip()]:
        settings["keys"] = keys
    if each["paging"] in _PAGING_KINDS:
        was = before.get("paging")
        same = dict(was) if isinstance(was, Mapping) and was.get("by") == each["paging"] else {}
        given = {"parameter": each["parameter"], "path": each["next"] if each["paging"] == "cursor" else ""}
        settings["paging"] = {**same, "by": each["paging"], **{name: value for name, value in given.items() if value}}
    return {**{name: before[name] for name in ("params", "fields") if name in before}, **settings}


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _at(column: Sequence[str], n: int) -> str:
    return column[n] if n < len(column) else ""
