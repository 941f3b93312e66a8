"""What a form says of one way of sending, and what is kept of it. Its secret is apart from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import FormData

from lakehold.web.deliveries.ways import BATCH, CHOSEN, DATABASE, DEFAULTS, SECRETS, TEXTS
from lakehold.web.lakehouse.forms import parts, whole
from lakehold.web.lakehouse.sources import apis, databases


@dataclass(frozen=True, slots=True)
class Filled:
    """The part of a form that says how something is sent."""

    to: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    header: bool = True

    def text(self, name: str) -> str:
        """What a field says; empty if nothing."""
        return self.texts.get(name, "")

    @property
    def credential(self) -> str:
        """What its secret is called; empty if it has none."""
        return SECRETS.get(self.to, "")

    def told(self) -> dict[str, object]:
        """What is kept of it."""
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
                told["batch"] = whole(text("batch")) or BATCH
            case "mail":
                told = {"receivers": parts(text("receivers")), "name": text("file"), "kind": text("kind")}
                told |= {"subject": text("subject"), "body": text("body")}
            case _:
                told = {}
        return {"to": self.to, **told}

    def wrong(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        text = self.text
        found: dict[str, str] = {}
        match self.to:
            case "database":
                found |= databases.errors(self.texts)
                if text("mode") == "upsert" and not parts(text("keys")):
                    found["keys"] = "Name the fields by which a row is known."
            case "webhook":
                if not text("address").startswith(("http://", "https://")):
                    found["address"] = "Write an address that begins with https."
                if text("batch") and not whole(text("batch")):
                    found["batch"] = "Write a number from one on."
            case "mail":
                found |= {} if parts(text("receivers")) else {"receivers": "Name at least one receiver."}
        return found


def sent(form: FormData) -> Filled:
    """What came in."""

    def text(name: str) -> str:
        value = str(form.get(name, ""))
        return value.replace("\r\n", "\n").strip() if name != "delimiter" else value or ","

    to = text("to")
    texts = {name: text(name) or CHOSEN.get((to, name), "") for name in TEXTS.get(to, ())}
    return Filled(to if to in TEXTS else "", texts, header=bool(form.get("header")))


def blank(to: str) -> Filled:
    """One that nobody has filled in."""
    return Filled(to, DEFAULTS[to]) if to in TEXTS else Filled()


def present(told: Mapping[str, object], to: str = "") -> Filled:
    """What settings say now. If they say nothing yet, a way can be given."""
    way = str(told.get("to", "")) or to
    if way not in TEXTS:
        return Filled()
    given = {name: _said(told[name]) for name in TEXTS[way] if name in told}
    texts = {**DEFAULTS[way], **given, "file": _said(told.get("name", ""))}
    if way == DATABASE:
        texts |= databases.parts(str(told.get("address", "")))
    return Filled(way, texts, header=told.get("header") is not False)


def _said(value: object) -> str:
    """A setting as one writes it."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {each}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
