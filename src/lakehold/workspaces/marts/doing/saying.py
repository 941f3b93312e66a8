"""What a report says of its rows, once for each run: whoever is told again is told the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from lakehold.connectors.destinations.delivery_folder import DeliveryFolder
from lakehold.directory.request_context import RequestContext
from lakehold.runs.runnable import StepContext
from lakehold.workspaces.marts import reporting
from lakehold.workspaces.marts.messages.first import MOST, First
from lakehold.workspaces.marts.messages.message import IN_CHAT, Message
from lakehold.workspaces.moving.sending import Said
from lakehold.workspaces.told import SettingsReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEPT = "said.json"


class Saying:
    """A report's message, before its rows are known."""

    def __init__(self, ctx: RequestContext, name: str, report: SettingsReader, to: str) -> None:
        self._name, self._day = name, reporting.today(ctx, report)
        template = report.text("message", "")
        self._message = Message(template or IN_CHAT) if template or to == "chat" else None
        self._to = to

    def said(self, rows: DataFrame, doing: StepContext) -> Said | None:
        """What is said of these rows; nothing where only the rows are sent."""
        if self._message is None or self._to not in {"chat", "mail"}:
            return None
        folder = DeliveryFolder(str(doing.kept))
        kept = folder.read_json(_KEPT)
        if kept is not None:
            return Said(**kept)
        said = self._written(self._message, rows)
        folder.write_json(_KEPT, asdict(said))
        return said

    def _written(self, message: Message, rows: DataFrame) -> Said:
        some = [tuple(row) for row in rows.limit(MOST + 1).collect()]
        # A mail's own file says how many there are; what is said alone says it itself.
        counts = message.counts or self._to == "chat"
        count = rows.count() if len(some) > MOST and counts else len(some)
        written = message.written(First(self._name, self._day, tuple(rows.columns), some, count))
        return Said(written.text, written.html, written.chat, count)
