"""What the form of a destination says, and what is kept of it: settings, and a secret apart from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets
from lakehold.web.connections import delivery_form as way
from lakehold.web.connections.delivery_form import (
    CHAT,
    DATABASE,
    DELIVERY_ICONS,
    DELIVERY_LABELS,
    FILES,
    LIVE,
    MAIL,
    WEBHOOK,
    DeliveryForm,
)

_ABOUT = {
    FILES: "CSV, Excel, Parquet or JSON lines, to be downloaded from its page.",
    MAIL: "What a report says, and a file with its rows, to people.",
    CHAT: "A message to a channel of Slack, or of what understands the same.",
    WEBHOOK: "Batches of rows to an address, signed.",
    DATABASE: "Rows into a table of PostgreSQL, or of another database.",
    LIVE: "Nothing is sent: BI tools pull the rows, with a secret of its own.",
}
WAYS = tuple((word, DELIVERY_LABELS[word], about, DELIVERY_ICONS[word]) for word, about in _ABOUT.items())
_KEPT = frozenset(
    {"to", "name", "kind", "delimiter", "header", "address", "keys", "user", "schema", "table", "mode", "driver"}
    | {"headers", "batch", "receivers", "subject", "body"}
)
"""What the form knows; anything else stays as it was."""


@dataclass(frozen=True, slots=True)
class Destination(DeliveryForm):
    """The form as it is filled in."""

    name: str = ""
    description: str = ""
    version: str = ""

    @staticmethod
    def edges() -> EdgeTargets:
        """It lies in its project, and leads nowhere else."""
        return {}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it. What says nothing is left to each report."""
        stays = {name: value for name, value in (before or {}).items() if name not in _KEPT}
        return {
            **stays,
            **{name: value for name, value in self.delivery_settings().items() if value not in ("", [], {})},
        }

    def errors(self, *, has_secret: bool) -> dict[str, str]:
        """What is wrong with it, by field."""
        found: dict[str, str] = {} if self.name else {"name": "Give it a name."}
        if self.to == DATABASE and not self.text("table"):
            found["table"] = "Name the table that its rows go into."
        if self.to == CHAT and not has_secret:
            found["secret"] = "Paste the address that the chat gave you."  # noqa: S105 - words
        return {**found, **self.delivery_errors()}


def sent(form: FormData) -> Destination:
    """What came in."""
    name, description, version = (str(form.get(each, "")).strip() for each in ("name", "description", "version"))
    return _with(way.parse_delivery_form(form), name, description.replace("\r\n", "\n"), version)


def blank(to: str) -> Destination:
    """A form that nobody has filled in."""
    return _with(way.blank_delivery_form(to))


def present(found: ResourceView, to: str = "") -> Destination:
    """What a destination says now. One that says nothing yet can be given a way."""
    return _with(
        way.delivery_form_of_settings(found.settings or {}, to), found.name, found.description, str(found.version)
    )


def _with(filled: DeliveryForm, name: str = "", description: str = "", version: str = "") -> Destination:
    return Destination(filled.to, filled.texts, filled.header, name, description, version)
