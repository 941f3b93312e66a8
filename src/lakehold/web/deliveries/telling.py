"""Where something sends to, in words and without its secret."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.web.deliveries.filled import Filled
from lakehold.web.deliveries.ways import MODES, SHAPES
from lakehold.web.lakehouse.forms import parts

Facts = list[tuple[str, str]]


def place(filled: Filled, settings: Mapping[str, object], *, volume: str | None = None) -> Facts:
    """Facts of it. `volume` is the name of the one that its files go into, where it is one of many."""
    text, shapes = filled.text, dict(SHAPES)
    match filled.to:
        case "files":
            within = [] if volume is None else [("Volume", volume)]
            return [*within, ("Name", text("file")), ("Format", shapes.get(text("kind"), text("kind")))]
        case "database":
            modes = {word: label for word, label, _ in MODES}
            table = ".".join(filter(None, (text("schema"), text("table"))))
            where = [("Address", str(settings.get("address", ""))), ("User name", text("user")), ("Table", table)]
            keys = [("Keys", ", ".join(parts(text("keys"))))] if text("keys") else []
            return [*where, ("Rows that are there", modes.get(text("mode"), text("mode"))), *keys]
        case "webhook":
            # What stands behind the path may be a secret.
            address = text("address").partition("?")[0]
            return [("Address", address), ("At once", f"{text('batch')} rows")]
        case "mail":
            file = f"{text('file') or 'rows'}.{text('kind')}"
            return [("Receivers", text("receivers")), ("Subject", text("subject")), ("Attached", file)]
        case _:
            return []
