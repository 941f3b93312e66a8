"""The form fields of a delivery method: file, database, webhook, mail, chat or live.

The destinations of all workspaces use them: they parse the form, turn it into settings and back, describe where it
delivers to, and name the fields of its settings. The secret is kept apart from the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import FormData

from lakehold.web.connections import connector_fields
from lakehold.web.form_values import parse_integer, split_names

FILES, DATABASE, WEBHOOK, MAIL = "files", "database", "webhook", "mail"
CHAT, LIVE = "chat", "live"
DELIVERY_LABELS = {
    FILES: "File",
    DATABASE: "Database",
    WEBHOOK: "Webhook",
    MAIL: "Mail",
    CHAT: "Chat",
    LIVE: "Live",
}
DELIVERY_ICONS = {
    FILES: "file",
    DATABASE: "database",
    WEBHOOK: "globe",
    MAIL: "mail",
    CHAT: "message-square",
    LIVE: "activity",
}
FILE_FORMATS = (("csv", "CSV"), ("xlsx", "Excel"), ("parquet", "Parquet"), ("jsonl", "JSON lines"))
WRITE_MODES = (
    ("append", "Append", "Adds rows to the existing ones."),
    ("overwrite", "Full refresh", "Replaces all rows."),
    ("upsert", "Upsert by key", "Updates rows with the same key, inserts the others."),
)
FORM_FIELDS = {
    FILES: ("volume", "file", "kind", "delimiter"),
    DATABASE: ("product", "host", "port", "database", "address", "driver", "user", "schema", "table", "mode", "keys"),
    WEBHOOK: ("address", "batch", "headers"),
    MAIL: ("receivers", "subject", "body", "file", "kind"),
    CHAT: (),
    LIVE: (),
}
"""What a form asks for each."""
SECRET_NAMES = {DATABASE: "password", WEBHOOK: "secret", CHAT: "address"}
"""What the secret of each is called, where it has one that is filled in."""
DEFAULT_BATCH = 500
FORM_DEFAULTS = {
    FILES: {"kind": "csv", "delimiter": ","},
    DATABASE: {**connector_fields.split_database_address(""), "mode": "append"},
    WEBHOOK: {"batch": str(DEFAULT_BATCH)},
    MAIL: {"kind": "xlsx"},
    CHAT: {},
    LIVE: {},
}
DEFAULT_CHOICES = {(FILES, "kind"): "csv", (MAIL, "kind"): "xlsx", (DATABASE, "mode"): "append"}
"""What is meant where nothing was chosen."""


@dataclass(frozen=True, slots=True)
class DeliveryForm:
    """The values of the form fields that say how and where a destination delivers."""

    to: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    header: bool = True

    def text(self, name: str) -> str:
        """Return the value of a text field; empty if it has none."""
        return self.texts.get(name, "")

    @property
    def credential(self) -> str:
        """The name of its secret; empty if it has none."""
        return SECRET_NAMES.get(self.to, "")

    @property
    def fields(self) -> Mapping[str, str]:
        """The form fields by setting."""
        secret = {self.credential: "secret"} if self.credential else {}
        if self.to == DATABASE:
            shown = ("schema", "table", "mode", "keys")
            return {**connector_fields.database_fields(self.texts), **{name: name for name in shown}}
        return {**{name: name for name in FORM_FIELDS.get(self.to, ())}, "name": "file", **secret}

    def delivery_settings(self) -> dict[str, object]:
        """Return the settings that the form stands for, without the secret."""
        text = self.text
        match self.to:
            case "files":
                settings: dict[str, object] = {"name": text("file"), "kind": text("kind")}
                settings |= {"delimiter": text("delimiter"), "header": self.header} if text("kind") == "csv" else {}
            case "database":
                settings = {"address": connector_fields.database_address(self.texts), "keys": split_names(text("keys"))}
                settings |= {name: text(name) for name in ("user", "schema", "table", "mode")}
                settings |= {"driver": text("driver")} if text("driver") else {}
            case "webhook":
                settings = {"address": text("address"), "headers": connector_fields.parse_headers(text("headers"))}
                settings["batch"] = parse_integer(text("batch")) or DEFAULT_BATCH
            case "mail":
                settings = {"receivers": split_names(text("receivers")), "name": text("file"), "kind": text("kind")}
                settings |= {"subject": text("subject"), "body": text("body")}
            case _:
                settings = {}
        return {"to": self.to, **settings}

    def delivery_errors(self) -> dict[str, str]:
        """Return the validation errors by field."""
        text = self.text
        found: dict[str, str] = {}
        match self.to:
            case "database":
                found |= connector_fields.database_errors(self.texts)
                if text("mode") == "upsert" and not split_names(text("keys")):
                    found["keys"] = "Enter the key fields."
            case "webhook":
                if not text("address").startswith(("http://", "https://")):
                    found["address"] = "Enter a URL that starts with https."
                if text("batch") and not parse_integer(text("batch")):
                    found["batch"] = "Enter a number of 1 or more."
            case "mail":
                found |= {} if split_names(text("receivers")) else {"receivers": "Enter at least one receiver."}
        return found


def parse_delivery_form(form: FormData) -> DeliveryForm:
    """Parse a submitted form."""

    def text(name: str) -> str:
        value = str(form.get(name, ""))
        return value.replace("\r\n", "\n").strip() if name != "delimiter" else value or ","

    to = text("to")
    texts = {name: text(name) or DEFAULT_CHOICES.get((to, name), "") for name in FORM_FIELDS.get(to, ())}
    return DeliveryForm(to if to in FORM_FIELDS else "", texts, header=bool(form.get("header")))


def blank_delivery_form(to: str) -> DeliveryForm:
    """Return an empty form with the defaults of a delivery method."""
    return DeliveryForm(to, FORM_DEFAULTS[to]) if to in FORM_FIELDS else DeliveryForm()


def delivery_form_of_settings(settings: Mapping[str, object], to: str = "") -> DeliveryForm:
    """Return the form values of stored settings. `to` is the delivery method where the settings name none."""
    way = str(settings.get("to", "")) or to
    if way not in FORM_FIELDS:
        return DeliveryForm()
    given = {name: _setting_text(settings[name]) for name in FORM_FIELDS[way] if name in settings}
    texts = {**FORM_DEFAULTS[way], **given, "file": _setting_text(settings.get("name", ""))}
    if way == DATABASE:
        texts |= connector_fields.split_database_address(str(settings.get("address", "")))
    return DeliveryForm(way, texts, header=settings.get("header") is not False)


def _setting_text(value: object) -> str:
    """Format a setting as the text of a form field."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {each}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


LabelledValues = list[tuple[str, str]]


def describe_target(
    filled: DeliveryForm, settings: Mapping[str, object], *, volume: str | None = None
) -> LabelledValues:
    """Describe where it delivers to, without its secret. `volume` is the name of the volume of its files, if any."""
    text, shapes = filled.text, dict(FILE_FORMATS)
    match filled.to:
        case "files":
            within = [] if volume is None else [("Volume", volume)]
            return [*within, ("Name", text("file")), ("Format", shapes.get(text("kind"), text("kind")))]
        case "database":
            modes = {word: label for word, label, _ in WRITE_MODES}
            table = ".".join(filter(None, (text("schema"), text("table"))))
            where = [("Address", str(settings.get("address", ""))), ("User name", text("user")), ("Table", table)]
            keys = [("Keys", ", ".join(split_names(text("keys"))))] if text("keys") else []
            return [*where, ("Write mode", modes.get(text("mode"), text("mode"))), *keys]
        case "webhook":
            # What stands behind the path may be a secret.
            address = text("address").partition("?")[0]
            return [("Address", address), ("Batch size", f"{text('batch')} rows")]
        case "mail":
            file = f"{text('file') or 'rows'}.{text('kind')}"
            return [("Receivers", text("receivers")), ("Subject", text("subject")), ("Attachment", file)]
        case _:
            return []
