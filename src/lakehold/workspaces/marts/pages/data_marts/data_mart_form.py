"""The form of a data mart: its definition, the joined data marts, and the edges and settings that are saved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView, VisibleRefs
from lakehold.connectors.sources.settings import SyncMode
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.web.form_values import split_names
from lakehold.workspaces.marts.settings import DefinitionType, reads_from

MAX_JOINS = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class JoinForm:
    """The values of a joined data mart."""

    mart: str = ""
    name: str = ""
    on: str = ""
    """`our column = their column`, with commas between them."""

    def to_settings(self) -> dict[str, object]:
        """Return the settings to save."""
        return {"mart": self.mart, "name": self.name, "on": parse_join_columns(self.on)}


def parse_joins(form: FormData) -> list[JoinForm]:
    """Parse the submitted joins, without empty ones."""
    marts, names, ons = (
        [str(each).strip() for each in form.getlist(f"join_{part}")] for part in ("mart", "name", "on")
    )
    some = [JoinForm(*each) for each in zip(marts[:MAX_JOINS], names, ons, strict=False)]
    return [join for join in some if join.mart or join.name or join.on]


def visible_joins(ctx: RequestContext, settings: Mapping[str, object]) -> tuple[list[JoinForm], bool]:
    """Return the joins that the caller may see, and whether there are more."""
    eyes, some = VisibleRefs(ctx), join_settings(settings)
    seen = [
        JoinForm(str(each.get("mart", "")), str(each.get("name", "")), _format_columns(each.get("on")))
        for each in some
        if eyes.sees(str(each.get("mart", "")))
    ]
    return seen, len(seen) < len(some)


def hidden_joins(ctx: RequestContext, settings: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the joins that the caller may not see; they stay unchanged."""
    eyes = VisibleRefs(ctx)
    return [each for each in join_settings(settings) if not eyes.sees(str(each.get("mart", "")))]


def join_errors(joins: Sequence[JoinForm], own: str = "") -> dict[str, str]:
    """Return the errors by field."""
    found: dict[str, str] = {}
    known: set[str] = set()
    for n, join in enumerate(joins):
        if not join.mart:
            found[f"join_mart-{n}"] = "Select a data mart."
        elif join.mart == own:
            found[f"join_mart-{n}"] = "A data mart cannot be joined to itself."
        if not _NAME.fullmatch(join.name):
            found[f"join_name-{n}"] = "Enter a prefix of letters and digits."
        elif join.name in known:
            found[f"join_name-{n}"] = "This prefix is already used."
        if not parse_join_columns(join.on) or not all(parse_join_columns(join.on).values()):
            found[f"join_on-{n}"] = "Enter the join columns, such as customer = id."
        known.add(join.name)
    return found


def parse_join_columns(text: str) -> dict[str, str]:
    """Parse `our column = their column` pairs; a single name is the same on both sides."""
    found = {}
    for part in split_names(text):
        ours, equals, theirs = part.partition("=")
        found[ours.strip()] = theirs.strip() if equals else ours.strip()
    return found


def join_settings(settings: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the joins as they stand in settings."""
    some = settings.get("joins")
    return [each for each in some if isinstance(each, Mapping)] if isinstance(some, list) else []


def _format_columns(on: object) -> str:
    return ", ".join(f"{ours} = {theirs}" for ours, theirs in on.items()) if isinstance(on, Mapping) else ""


DEFINITION_KINDS = (
    (DefinitionType.SQL.value, "SQL query", "One SELECT in the storage's SQL dialect."),
    (DefinitionType.TABLE.value, "Table", "All rows of one table."),
    (DefinitionType.PATTERN.value, "Table pattern", "The union of all matching tables."),
)
SYNC_MODES = (
    ("full", "Full refresh", "Replaces all rows."),
    ("append", "Append", "Adds rows to the existing ones."),
    ("merge", "Upsert by key", "Updates rows with the same key, inserts the others."),
    ("mirror", "Mirror by key", "Upsert, and deletes rows whose key is no longer there."),
    ("incremental", "Incremental (cursor)", "Reads only rows after the last cursor value."),
)
_EMPTY_MESSAGES = {
    DefinitionType.SQL: "Enter a query.",
    DefinitionType.TABLE: "Select a table.",
    DefinitionType.PATTERN: "Enter a pattern, such as sales.orders_*.",
}


@dataclass(frozen=True, slots=True)
class DataMartForm:
    """The values of the data mart form."""

    storage: str = ""
    name: str = ""
    description: str = ""
    version: str = ""
    by: str = DefinitionType.SQL.value
    sql: str = ""
    table: str = ""
    pattern: str = ""
    mode: str = "full"
    keys: str = ""
    cursor: str = ""
    kept_as: str = ""
    joins: Sequence[JoinForm] = ()
    more_joins: bool = False
    """Whether there are joins that the user may not see."""

    @property
    def text(self) -> str:
        """The query, the table or the pattern."""
        return {
            DefinitionType.SQL: self.sql,
            DefinitionType.TABLE: self.table,
            DefinitionType.PATTERN: self.pattern,
        }.get(DefinitionType(self.by), "")

    @property
    def is_fed(self) -> bool:
        """Whether a connector feeds it. This form does not change that."""
        return self.by == DefinitionType.CONNECTOR

    @property
    def definition(self) -> tuple[object, ...]:
        """The definition of its rows, to be compared; without name and description."""
        said = (self.text.strip(), self.mode, split_names(self.keys), self.cursor, self.kept_as)
        return (self.storage, self.by, *said, *self.joins)

    def edges(self) -> EdgeTargets:
        """Return the storage, if it is set, and the joined data marts."""
        drawn: EdgeTargets = {"storage": self.storage} if self.storage else {}
        return {**drawn, "joins": list(dict.fromkeys(join.mart for join in self.joins))}

    def settings(
        self, before: Mapping[str, object] | None = None, kept: Sequence[Mapping[str, object]] = ()
    ) -> dict[str, object]:
        """Return the settings to save. Settings that the form does not have stay unchanged, and so do the `kept`
        joins.
        """
        was = dict(before or {})
        settings: dict[str, object] = {"mode": self.mode, "keys": split_names(self.keys)}
        if not self.is_fed:
            was = {name: value for name, value in was.items() if name not in (*DefinitionType, "joins", "reads")}
            settings |= {"by": self.by, self.by: self.text}
        settings["cursor"] = self.cursor if self.mode == "incremental" else ""
        settings["kept_as"] = self.kept_as
        settings["joins"] = [*kept, *(join.to_settings() for join in self.joins)]
        return {**was, **settings}

    def name_errors(self) -> dict[str, str]:
        """Return the errors of the name."""
        return {} if self.name else {"name": "Enter a name."}

    def errors(self, own: str = "") -> dict[str, str]:
        """Return the errors by field."""
        found = self.name_errors()
        if not self.is_fed and not self.text.strip():
            found[self.by] = _EMPTY_MESSAGES[DefinitionType(self.by)]
        if self.mode in {"merge", "mirror"} and not split_names(self.keys):
            found["keys"] = "Enter the key fields."
        if self.mode == "incremental" and not self.cursor:
            found["cursor"] = "Enter the cursor field."
        if self.kept_as and reads_from(self.by, self.text, self.kept_as):
            found["kept_as"] = "This is its source table. Choose another name."
        return found | join_errors(self.joins, own)


def parse_data_mart_form(form: FormData) -> DataMartForm:
    """Parse a submitted form."""

    def text(name: str, default: str = "") -> str:
        return str(form.get(name, default)).strip()

    by, mode = text("by"), text("mode")
    return DataMartForm(
        storage=text("storage"),
        name=text("name"),
        description=text("description"),
        version=text("version"),
        by=by if by in tuple(DefinitionType) else DefinitionType.SQL.value,
        sql=str(form.get("sql", "")).replace("\r\n", "\n").strip(),
        table=text("table"),
        pattern=text("pattern"),
        mode=mode if mode in set(SyncMode) else "full",
        keys=text("keys"),
        cursor=text("cursor"),
        kept_as=text("kept_as"),
        joins=parse_joins(form),
    )


def blank_data_mart_form(storage: str, table: str = "") -> DataMartForm:
    """Return an empty form for a storage and, optionally, a table."""
    return DataMartForm(storage, by=DefinitionType.TABLE.value if table else DefinitionType.SQL.value, table=table)


def data_mart_form_from_resource(ctx: RequestContext, found: ResourceView) -> DataMartForm:
    """Return the form for an existing data mart."""
    settings = found.settings or {}
    keys = settings.get("keys")
    some, more = visible_joins(ctx, settings)
    by, mode = str(settings.get("by", "")), str(settings.get("mode", ""))
    return DataMartForm(
        storage=next((end.uid for end in found.edges.get("storage", ())), ""),
        name=found.name,
        description=found.description,
        version=str(found.version),
        by=by if by in tuple(DefinitionType) else DefinitionType.SQL.value,
        sql=str(settings.get("sql", "")),
        table=str(settings.get("table", "")),
        pattern=str(settings.get("pattern", "")),
        mode=mode if mode in set(SyncMode) else "full",
        keys=", ".join(map(str, keys)) if isinstance(keys, list) else "",
        cursor=str(settings.get("cursor", "")),
        kept_as=str(settings.get("kept_as", "")),
        joins=some,
        more_joins=more,
    )
