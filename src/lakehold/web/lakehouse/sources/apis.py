"""The part of a connection that is about an API: how it lets us in, and its endpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.datastructures import FormData

NONE, BEARER, BASIC, KEY = "none", "bearer", "basic", "key"
SECRETS = {BEARER: "token", BASIC: "password", KEY: "key"}
"""What the secret is called that each way in needs."""
PARTS = ("name", "path", "records", "paging", "parameter", "next", "since", "keys")
"""The fields of an endpoint, each sent as often as there are endpoints."""
MOST = 50
_PAGINGS = ("page", "cursor", "link")

Endpoint = Mapping[str, str]


def sent(form: FormData) -> list[Endpoint]:
    """The endpoints that came in, without those that are empty."""
    columns = {part: [str(each).strip() for each in form.getlist(f"endpoint_{part}")] for part in PARTS}
    count = min(len(columns["name"]), MOST)
    rows = [{part: _at(columns[part], n) for part in PARTS} for n in range(count)]
    return [row for row in rows if row["name"] or row["path"]]


def present(settings: Mapping[str, object]) -> list[Endpoint]:
    """The endpoints of a source, as they are filled in."""
    return [_filled(each) for each in _each(settings.get("endpoints"))]


def errors(endpoints: Sequence[Endpoint]) -> dict[str, str]:
    """What is wrong with them, by field."""
    if not endpoints:
        return {"endpoint_path-0": "Name at least one endpoint and its path."}
    found: dict[str, str] = {}
    known: set[str] = set()
    for n, each in enumerate(endpoints):
        if not each["name"]:
            found[f"endpoint_name-{n}"] = "Give it a name: its stream is called so."
        elif each["name"] in known:
            found[f"endpoint_name-{n}"] = "Another endpoint has this name."
        if not each["path"]:
            found[f"endpoint_path-{n}"] = "Write the path behind the address."
        if each["paging"] == "cursor" and not each["next"]:
            found[f"endpoint_next-{n}"] = "Say where in an answer the next cursor stands."
        known.add(each["name"])
    return found


def settings(endpoints: Sequence[Endpoint], before: Mapping[str, object]) -> list[dict[str, object]]:
    """What is kept of them. What the form does not ask for stays as it was, by the endpoint's name."""
    known = {str(each.get("name")): each for each in _each(before.get("endpoints"))}
    return [_kept(each, known.get(each["name"], {})) for each in endpoints]


def auth(texts: Mapping[str, str]) -> dict[str, object]:
    """How it lets us in."""
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


def headers(text: str) -> dict[str, str]:
    """`Accept-Language: de`, one on each line."""
    pairs = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _filled(told: Mapping[str, object]) -> Endpoint:
    paging = told.get("paging")
    page: Mapping[str, object] = paging if isinstance(paging, Mapping) else {}
    keys = told.get("keys")
    return {
        **{part: str(told.get(part, "")) for part in ("name", "path", "records", "since")},
        "paging": str(page.get("by", "page")) if page else "",
        "parameter": str(page.get("parameter", "")),
        "next": str(page.get("path", "")),
        "keys": ", ".join(map(str, keys)) if isinstance(keys, list) else "",
    }


def _kept(each: Endpoint, before: Mapping[str, object]) -> dict[str, object]:
    told: dict[str, object] = {"name": each["name"], "path": each["path"]}
    told |= {name: each[name] for name in ("records", "since") if each[name]}
    if keys := [part.strip() for part in each["keys"].split(",") if part.strip()]:
        told["keys"] = keys
    if each["paging"] in _PAGINGS:
        was = before.get("paging")
        same = dict(was) if isinstance(was, Mapping) and was.get("by") == each["paging"] else {}
        given = {"parameter": each["parameter"], "path": each["next"] if each["paging"] == "cursor" else ""}
        told["paging"] = {**same, "by": each["paging"], **{name: value for name, value in given.items() if value}}
    return {**{name: before[name] for name in ("params", "fields") if name in before}, **told}


def _each(told: object) -> list[Mapping[str, object]]:
    return [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []


def _at(column: Sequence[str], n: int) -> str:
    return column[n] if n < len(column) else ""
