"""What the form of a destination says, and what is kept of it: edges, settings, and a secret apart from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.datastructures import FormData

from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.request_context import EdgeTargets
from lakehold.web.connections import delivery_form as way
from lakehold.web.connections.delivery_form import (
    DATABASE,
    DELIVERY_ICONS,
    DELIVERY_LABELS,
    FILES,
    MAIL,
    WEBHOOK,
    DeliveryForm,
)

_ABOUT = {
    FILES: "In a volume of this lakehouse: CSV, Excel, Parquet or JSON.",
    DATABASE: "Rows into a table of PostgreSQL, or of another database.",
    WEBHOOK: "Batches of rows to an address, signed.",
    MAIL: "A file to people, as an attachment.",
}
WAYS = tuple((word, DELIVERY_LABELS[word], about, DELIVERY_ICONS[word]) for word, about in _ABOUT.items())


@dataclass(frozen=True, slots=True)
class Delivery(DeliveryForm):
    """The form as it is filled in."""

    name: str = ""
    description: str = ""
    reads: Sequence[str] = ()
    version: str = ""

    @property
    def volume(self) -> str:
        """The volume that it writes; empty if it writes none."""
        return self.text("volume") if self.to == FILES else ""

    def edges(self) -> EdgeTargets:
        """What it reads, and the volume that it writes."""
        return {"reads": list(self.reads), "writes": [self.volume] if self.volume else []}

    def settings(self, before: Mapping[str, object] | None = None) -> dict[str, object]:
        """What is kept of it beside the edges. What the form does not ask for stays as it was."""
        return {**(before or {}), **self.delivery_settings()}

    def errors(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        found: dict[str, str] = {} if self.name else {"name": "Give it a name."}
        if not self.reads:
            found["reads"] = "Choose at least one table that is sent."
        if self.to == FILES and not self.volume:
            found["volume"] = "Choose the volume that the file goes into."
        if self.to == MAIL and not self.text("subject"):
            found["subject"] = "Write what the mail is about."
        return {**found, **self.delivery_errors()}


def sent(form: FormData) -> Delivery:
    """What came in."""
    name, description, version = (str(form.get(each, "")).strip() for each in ("name", "description", "version"))
    reads = [str(each) for each in form.getlist("reads") if each]
    return _with(way.parse_delivery_form(form), name, description.replace("\r\n", "\n"), reads, version)


def blank(to: str, reads: Sequence[str] = ()) -> Delivery:
    """A form that nobody has filled in."""
    return _with(way.blank_delivery_form(to), reads=reads)


def present(found: ResourceView, to: str = "") -> Delivery:
    """What a destination says now. One that says nothing yet can be given a way."""
    filled = way.delivery_form_of_settings(found.settings or {}, to)
    writes = [end.uid for end in found.edges.get("writes", ()) if end.kind == "lakehouse.volume"]
    filled = replace(filled, texts={**filled.texts, "volume": writes[0] if writes else ""})
    reads = [end.uid for end in found.edges.get("reads", ())]
    return _with(filled, found.name, found.description, reads, str(found.version))


def _with(
    filled: DeliveryForm, name: str = "", description: str = "", reads: Sequence[str] = (), version: str = ""
) -> Delivery:
    to = filled.to if filled.to in _ABOUT else ""
    return Delivery(to, filled.texts, filled.header, name, description, reads, version)
