"""What the form of a report says, and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.web.lakehouse.forms import parts, whole
from lakehold.web.marts.reports.kinds import ALONE

_KNOWN = frozenset({"columns", "sums", "where", "sort", "limit", "parameters", "zone", "send", "message", "delivery"})
"""What the form knows; anything else stays as it was."""
_MOST = 50
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Report:
    """The form as it is filled in. Rows are texts by name, as they stand in it."""

    name: str = ""
    description: str = ""
    destination: str = ""
    columns: Sequence[str] = ()
    sums: Sequence[Row] = ()
    """`column` (none counts rows), `how`, `name`."""
    where: Sequence[Row] = ()
    """`column`, `is`, `value`."""
    sort: Sequence[Row] = ()
    """`column`, `way`."""
    limit: str = ""
    parameters: str = ""
    zone: str = "UTC"
    send: str = "always"
    message: str = ""
    file: str = ""
    subject: str = ""
    kind: str = ""
    version: str = ""

    @property
    def shown(self) -> list[str]:
        """What the result has beside all columns, by which it can be sorted."""
        return [*self.columns, *(sum_name(each) for each in self.sums)]

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it beside the destination. What says nothing is left out."""
        stays = {name: value for name, value in (before or {}).items() if name not in _KNOWN}
        told: dict[str, object] = {
            "columns": list(self.columns),
            "sums": [_without_empty(each) for each in self.sums],
            "where": [_condition(each) for each in self.where],
            "sort": [{"column": each["column"], "descending": each["way"] == "down"} for each in self.sort],
            "limit": whole(self.limit),
            "parameters": pairs(self.parameters),
            "zone": self.zone if self.zone != "UTC" else "",
            "send": self.send if self.send != "always" else "",
            "message": self.message,
            "delivery": self._delivery(before or {}),
        }
        return {**stays, **{name: value for name, value in told.items() if value not in ("", [], {}, None)}}

    def _delivery(self, before: Mapping[str, object]) -> dict[str, object]:
        """What it says of its delivery; a text that was written there before there were messages stays."""
        was = before.get("delivery")
        body = was.get("body", "") if isinstance(was, Mapping) else ""
        told = {"name": self.file, "subject": self.subject, "kind": self.kind, "body": body}
        return {name: value for name, value in told.items() if value}

    def added(self, do: str, form: FormData) -> Report:
        """With one more row, or one less, as a button says: `where`, `sum`, `where-drop-2`."""
        what, _, number = do.partition("-drop-")
        name = {"where": "where", "sum": "sums", "sort": "sort"}.get(what, "")
        if not name:
            return self
        rows: list[Row] = list(getattr(self, name))
        if number:
            rows = [row for n, row in enumerate(rows) if str(n) != number]
        elif name == "where" and (column := str(form.get("where_new", ""))):
            rows.append({"column": column, "is": "", "value": ""})
        elif name == "sums":
            rows.append({"column": str(form.get("sum_new", "")), "how": "", "name": ""})
        return replace(self, **{name: rows[:_MOST]})  # type: ignore[arg-type]


def sum_name(each: Row) -> str:
    """What a sum is called in the result, as the question names it."""
    how, column = each.get("how") or "count", each.get("column", "")
    return each.get("name") or (f"{how} of {column}" if column else how)


def sent(form: FormData) -> Report:
    """What came in."""

    def text(name: str) -> str:
        return str(form.get(name, "")).replace("\r\n", "\n").strip()

    texts = ("name", "description", "destination", "limit", "parameters", "message", "file", "subject", "kind")
    return Report(
        **{name: text(name) for name in texts},
        version=text("version"),
        zone=text("zone") or "UTC",
        send=text("send") or "always",
        columns=[str(each) for each in form.getlist("columns") if each],
        sums=_rows(form, "sum", ("column", "how", "name")),
        where=[each for each in _rows(form, "where", ("column", "is", "value")) if each["column"]],
        sort=[each for each in _rows(form, "sort", ("column", "way")) if each["column"]],
    )


def present(found: ResourceView, settings: Mapping[str, object]) -> Report:
    """What a report says now."""
    delivery = settings.get("delivery")
    said: Mapping[str, object] = delivery if isinstance(delivery, Mapping) else {}
    limit, ends = settings.get("limit"), found.edges.get("destination", ())
    return Report(
        name=found.name,
        description=found.description,
        destination=ends[0].uid if ends else "",
        columns=[str(each) for each in _list(settings, "columns")],
        sums=[
            {part: str(each.get(part, "")) for part in ("column", "how", "name")} for each in _maps(settings, "sums")
        ],
        where=[_filled(each) for each in _maps(settings, "where")],
        sort=[
            {"column": str(each.get("column", "")), "way": "down" if each.get("descending") is True else "up"}
            for each in _maps(settings, "sort")
        ],
        limit=str(limit) if isinstance(limit, int) else "",
        parameters="\n".join(f"{name}: {value}" for name, value in _pairs(settings).items()),
        zone=str(settings.get("zone", "UTC")),
        send=str(settings.get("send", "always")),
        message=str(settings.get("message", "")),
        file=str(said.get("name", "")),
        subject=str(said.get("subject", "")),
        kind=str(said.get("kind", "")),
        version=str(found.version),
    )


def pairs(text: str) -> dict[str, str]:
    """`since: today - 7`, one on each line."""
    lines = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in lines if name.strip()}


def _rows(form: FormData, of: str, names: Sequence[str]) -> list[Row]:
    columns = {name: [str(each).strip() for each in form.getlist(f"{of}_{name}")] for name in names}
    count = min(max((len(column) for column in columns.values()), default=0), _MOST)
    return [{name: column[n] if n < len(column) else "" for name, column in columns.items()} for n in range(count)]


def _condition(each: Row) -> dict[str, object]:
    told: dict[str, object] = {"column": each["column"], "is": each["is"] or "="}
    if each["is"] in ALONE:
        return told
    return {**told, "values": parts(each["value"])} if each["is"] == "in" else {**told, "value": each["value"]}


def _filled(each: Mapping[str, object]) -> Row:
    values = each.get("values")
    value = ", ".join(map(str, values)) if isinstance(values, list) else str(each.get("value", ""))
    return {"column": str(each.get("column", "")), "is": str(each.get("is", "=")), "value": value}


def _without_empty(each: Row) -> dict[str, object]:
    return {name: value for name, value in {**each, "how": each["how"] or "count"}.items() if value}


def _list(settings: Mapping[str, object], name: str) -> list[object]:
    found = settings.get(name)
    return found if isinstance(found, list) else []


def _maps(settings: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    return [each for each in _list(settings, name) if isinstance(each, Mapping)]


def _pairs(settings: Mapping[str, object]) -> Mapping[str, object]:
    found = settings.get("parameters")
    return found if isinstance(found, Mapping) else {}
