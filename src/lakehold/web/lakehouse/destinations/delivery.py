"""What the form of a destination says, and what is kept of it: edges, settings, and a secret apart from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.datastructures import FormData

from lakehold.catalog.shapes import Resource
from lakehold.directory.work import Targets
from lakehold.web.lakehouse.forms import parts, whole
from lakehold.web.lakehouse.sources import apis, databases

FILES, DATABASE, WEBHOOK, MAIL = "files", "database", "webhook", "mail"
WAYS = (
    (FILES, "A file", "In a volume of this lakehouse: CSV, Excel, Parquet or JSON.", "file"),
    (DATABASE, "A database", "Rows into a table of PostgreSQL, or of another database.", "database"),
    (WEBHOOK, "A webhook", "Batches of rows to an address, signed.", "globe"),
    (MAIL, "A mail", "A file to people, as an attachment.", "mail"),
)
SHAPES = (("csv", "CSV"), ("xlsx", "Excel"), ("parquet", "Parquet"), ("jsonl", "JSON lines"))
MODES = (
    ("append", "Stay", "New ones are added to them."),
    ("overwrite", "Are replaced", "All of them, each time."),
    ("upsert", "Are changed by key", "Those with the same key; others are added."),
)
_TEXTS = {
    FILES: ("volume", "file", "kind", "delimiter"),
    DATABASE: ("product", "host", "port", "database", "address", "driver", "user", "schema", "table", "mode", "keys"),
    WEBHOOK: ("address", "batch", "headers"),
    MAIL: ("receivers", "subject", "body", "file", "kind"),
}
_BATCH = 500
_SECRETS = {DATABASE: "password", WEBHOOK: "secret"}
_DEFAULTS = {
    FILES: {"kind": "csv", "delimiter": ","},
    DATABASE: {**databases.parts(""), "mode": "append"},
    WEBHOOK: {"batch": str(_BATCH)},
    MAIL: {"kind": "xlsx"},
}

_CHOSEN: Mapping[tuple[str, str], str] = {
    (FILES, "kind"): "csv",
    (MAIL, "kind"): "xlsx",
    (DATABASE, "mode"): "append",
}
"""What is meant where nothing was chosen."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The form as it is filled in."""

    to: str = ""
    name: str = ""
    description: str = ""
    reads: Sequence[str] = ()
    version: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    header: bool = True

    def text(self, name: str) -> str:
        """What a field says; empty if nothing."""
        return self.texts.get(name, "")

    @property
    def credential(self) -> str:
        """What its secret is called; empty if it has none."""
        return _SECRETS.get(self.to, "")

    @property
    def volume(self) -> str:
        """The volume that it writes; empty if it writes none."""
        return self.text("volume") if self.to == FILES else ""

    def edges(self) -> Targets:
        """What it reads, and the volume that it writes."""
        return {"reads": list(self.reads), "writes": [self.volume] if self.volume else []}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it beside the edges. What the form does not ask for stays as it was."""
        text = self.text
        match self.to:
            case "files":
                told: dict[str, object] = {"name": text("file"), "kind": text("kind")}
                told |= {"delimiter": text("delimiter"), "header": self.header} if text("kind") == "csv" else {}
            case "database":
                told = {"address": databases.address(self.texts), "keys": parts(text("keys"))}
                told |= {name: text(name) for name in ("user", "schema", "table", "mode")}
                told |= {"driver": text("driver")} if text("driver") else {}
            case "webhook":
                told = {"address": text("address"), "headers": apis.headers(text("headers"))}
                told["batch"] = whole(text("batch")) or _BATCH
            case _:
                told = {"receivers": parts(text("receivers")), "name": text("file"), "kind": text("kind")}
                told |= {"subject": text("subject"), "body": text("body")}
        return {**(before or {}), "to": self.to, **told}

    def errors(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        found: dict[str, str] = {} if self.name else {"name": "Give it a name."}
        if not self.reads:
            found["reads"] = "Choose at least one table that is sent."
        text = self.text
        match self.to:
            case "files":
                found |= {} if text("volume") else {"volume": "Choose the volume that the file goes into."}
            case "database":
                found |= databases.errors(self.texts)
                if text("mode") == "upsert" and not parts(text("keys")):
                    found["keys"] = "Name the fields by which a row is known."
            case "webhook":
                if not text("address").startswith(("http://", "https://")):
                    found["address"] = "Write an address that begins with https."
                if text("batch") and not whole(text("batch")):
                    found["batch"] = "Write a number from one on."
            case _:
                found |= {} if parts(text("receivers")) else {"receivers": "Name at least one receiver."}
                found |= {} if text("subject") else {"subject": "Write what the mail is about."}
        return found


def sent(form: FormData) -> Delivery:
    """What came in."""

    def text(name: str) -> str:
        value = str(form.get(name, ""))
        return value.replace("\r\n", "\n").strip() if name != "delimiter" else value or ","

    to = text("to")
    return Delivery(
        to if to in _TEXTS else "",
        text("name"),
        text("description"),
        [str(each) for each in form.getlist("reads") if each],
        text("version"),
        {name: text(name) or _CHOSEN.get((to, name), "") for name in _TEXTS.get(to, ())},
        header=bool(form.get("header")),
    )


def blank(to: str, reads: Sequence[str] = ()) -> Delivery:
    """A form that nobody has filled in."""
    return Delivery(to, reads=reads, texts=_DEFAULTS[to]) if to in _TEXTS else Delivery(reads=reads)


def present(found: Resource, to: str = "") -> Delivery:
    """What a destination says now. One that says nothing yet can be given a way."""
    told = found.settings or {}
    way = str(told.get("to", "")) or to
    known = way if way in _TEXTS else ""
    writes = [end.uid for end in found.edges.get("writes", ()) if end.kind == "lakehouse.volume"]
    given = {name: _said(told[name]) for name in _TEXTS.get(known, ()) if name in told}
    texts = {**_DEFAULTS.get(known, {}), **given, "volume": writes[0] if writes else ""}
    texts |= {"file": _said(told.get("name", ""))}
    if known == DATABASE:
        texts |= databases.parts(str(told.get("address", "")))
    reads = [end.uid for end in found.edges.get("reads", ())]
    header = told.get("header") is not False
    return Delivery(known, found.name, found.description, reads, str(found.version), texts, header)


def _said(value: object) -> str:
    """A setting as one writes it."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {each}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
