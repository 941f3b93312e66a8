"""What the form of a data mart says, and what is kept of it: edges and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets, RequestContext
from lakehold.web.lakehouse.forms import parts
from lakehold.web.marts.data_marts import joins
from lakehold.web.marts.data_marts.joins import Join
from lakehold.workspaces.marts.definitions import REFRESH_MODES, DefinitionType, reads_from

BYS = (
    (DefinitionType.SQL.value, "A query", "One SELECT, in the SQL of the storage."),
    (DefinitionType.TABLE.value, "A table", "All rows of one table of the storage."),
    (DefinitionType.PATTERN.value, "A pattern", "All tables whose names fit it, one below the other."),
)
MODES_SAID = (
    ("full", "Are replaced", "All of them, each time."),
    ("append", "Stay", "What is drawn is added to them."),
    ("merge", "Are merged by key", "Those with the same key are replaced."),
    ("mirror", "Follow by key", "As merged; and those whose key does not come any more go."),
    ("incremental", "Stay, only new ones are drawn", "What lies behind the greatest value of a cursor so far."),
)
_EMPTY = {
    DefinitionType.SQL: "Write the query whose rows it has.",
    DefinitionType.TABLE: "Choose the table whose rows it has.",
    DefinitionType.PATTERN: "Write a pattern, such as sales.orders_*.",
}


@dataclass(frozen=True, slots=True)
class Filled:
    """The form as it is filled in."""

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
    joins: Sequence[Join] = ()
    more_joins: bool = False
    """Whether there are joins that whoever fills it in does not see."""

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
        """Whether a connector feeds it: that is not said by this form, and stays."""
        return self.by == DefinitionType.CONNECTOR

    @property
    def definition(self) -> tuple[object, ...]:
        """What its rows are, without what it is called."""
        said = (self.text.strip(), self.mode, parts(self.keys), self.cursor, self.kept_as)
        return (self.storage, self.by, *said, *self.joins)

    def edges(self) -> EdgeTargets:
        """Where it draws from, if that is said, and what is joined to it."""
        drawn: EdgeTargets = {"storage": self.storage} if self.storage else {}
        return {**drawn, "joins": list(dict.fromkeys(join.mart for join in self.joins))}

    def settings(
        self, before: Mapping[str, object] | None = None, kept: Sequence[Mapping[str, object]] = ()
    ) -> dict[str, object]:
        """What is kept of it. What the form does not ask for stays as it was; so do joins that are `kept`."""
        was = dict(before or {})
        told: dict[str, object] = {"mode": self.mode, "keys": parts(self.keys)}
        if not self.is_fed:
            was = {name: value for name, value in was.items() if name not in (*DefinitionType, "joins", "reads")}
            told |= {"by": self.by, self.by: self.text}
        told["cursor"] = self.cursor if self.mode == "incremental" else ""
        told["kept_as"] = self.kept_as
        told["joins"] = [*kept, *(join.told() for join in self.joins)]
        return {**was, **told}

    def name_errors(self) -> dict[str, str]:
        """What is wrong with what it is called."""
        return {} if self.name else {"name": "Give it a name."}

    def errors(self, own: str = "") -> dict[str, str]:
        """What is wrong with it, by field."""
        found = self.name_errors()
        if not self.is_fed and not self.text.strip():
            found[self.by] = _EMPTY[DefinitionType(self.by)]
        if self.mode in {"merge", "mirror"} and not parts(self.keys):
            found["keys"] = "Name the fields by which a row is known."
        if self.mode == "incremental" and not self.cursor:
            found["cursor"] = "Name the field by which new rows are told."
        if self.kept_as and reads_from(self.by, self.text, self.kept_as):
            found["kept_as"] = "It draws from that. Give the copy another name."
        return found | joins.errors(self.joins, own)


def sent(form: FormData) -> Filled:
    """What came in."""

    def text(name: str, default: str = "") -> str:
        return str(form.get(name, default)).strip()

    by, mode = text("by"), text("mode")
    return Filled(
        storage=text("storage"),
        name=text("name"),
        description=text("description"),
        version=text("version"),
        by=by if by in tuple(DefinitionType) else DefinitionType.SQL.value,
        sql=str(form.get("sql", "")).replace("\r\n", "\n").strip(),
        table=text("table"),
        pattern=text("pattern"),
        mode=mode if mode in REFRESH_MODES else "full",
        keys=text("keys"),
        cursor=text("cursor"),
        kept_as=text("kept_as"),
        joins=joins.sent(form),
    )


def blank(storage: str, table: str = "") -> Filled:
    """A form that nobody has filled in; the address may say what it is made of."""
    return Filled(storage, by=DefinitionType.TABLE.value if table else DefinitionType.SQL.value, table=table)


def present(ctx: RequestContext, found: ResourceView) -> Filled:
    """What a data mart says now."""
    told = found.settings or {}
    keys = told.get("keys")
    some, more = joins.present(ctx, told)
    by, mode = str(told.get("by", "")), str(told.get("mode", ""))
    return Filled(
        storage=next((end.uid for end in found.edges.get("storage", ())), ""),
        name=found.name,
        description=found.description,
        version=str(found.version),
        by=by if by in tuple(DefinitionType) else DefinitionType.SQL.value,
        sql=str(told.get("sql", "")),
        table=str(told.get("table", "")),
        pattern=str(told.get("pattern", "")),
        mode=mode if mode in REFRESH_MODES else "full",
        keys=", ".join(map(str, keys)) if isinstance(keys, list) else "",
        cursor=str(told.get("cursor", "")),
        kept_as=str(told.get("kept_as", "")),
        joins=some,
        more_joins=more,
    )
