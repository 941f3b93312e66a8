"""Delivery of rows to a destination, from its settings and secrets; its progress and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lakehold.connectors.address_guard import resolve_host
from lakehold.connectors.destinations import chat, files, jdbc, mail, webhook
from lakehold.connectors.destinations.chat import ChatDestination
from lakehold.connectors.destinations.delivery import DeliveryProgress, DeliveryResult, ProgressStore
from lakehold.connectors.destinations.excel import ExcelFormat
from lakehold.connectors.destinations.file_formats import CsvFormat, JsonLinesFormat, OutputFormat, ParquetFormat
from lakehold.connectors.destinations.files import FileDestination
from lakehold.connectors.destinations.jdbc import DeliveryMode, JdbcDestination
from lakehold.connectors.destinations.mail import MailDestination
from lakehold.connectors.destinations.webhook import WebhookDestination
from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.kit.mail import SmtpServer
from lakehold.runs.runnable import StepContext, StepResult
from lakehold.workspaces.settings_reader import SettingsReader
from lakehold.workspaces.transfer.source import ConnectorFactory

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def delivery_result(step_ctx: StepContext, sent: DeliveryResult, **more: object) -> StepResult:
    """Log what was delivered and return it as the result of the step."""
    step_ctx.log(f"{sent.rows:,} rows delivered: {sent.said or ', '.join(sent.places)}")
    if sent.words:
        step_ctx.log(sent.words, "info" if sent.sure else "warning")
    return StepResult(sent.rows, sent.size, state={"places": list(sent.places), "sure": sent.sure, **more})


@dataclass(frozen=True, slots=True)
class StepDeliveryProgress:
    """The progress of a delivery, saved with its step."""

    step_ctx: StepContext

    def read(self) -> DeliveryProgress | None:
        """Return the progress, or None if the delivery was never begun."""
        saved: Mapping[str, Any] = self.step_ctx.load_progress()
        if not saved:
            return None
        return DeliveryProgress(**{**saved, "refused": tuple(saved["refused"])})

    def keep(self, reached: DeliveryProgress) -> None:
        """Save the progress."""
        self.step_ctx.save_progress(asdict(reached))


_DESTINATION_TYPES = ("files", "database", "webhook", "mail")
_MESSAGE_ONLY_TYPES = ("chat",)
"""Where words are sent alone."""
_PORTS = {"http": 80, "https": 443}
_FILE_FORMATS = ("csv", "jsonl", "parquet", "xlsx")


@dataclass(frozen=True, slots=True)
class DeliveryMessage:
    """The message that is sent with the rows."""

    text: str
    html: str
    chat: str
    rows: int


@dataclass(frozen=True, slots=True)
class TableDelivery:
    """One delivery of one table."""

    factory: ConnectorFactory
    reader: SettingsReader
    table: str
    """Its name, where there are several; each needs a name of its own there."""
    mark: str
    retained_folder: Path
    progress: ProgressStore | None
    """None where nothing is sent."""
    message: DeliveryMessage | None = None
    """None where rows are sent without words; or in other words than these."""
    allows_messages: bool = False
    """Whether words can be sent alone."""

    def check(self) -> str:
        """Test the destination without sending anything; return the finding as a message."""
        match self._destination_type:
            case "files":
                file = self._file(self._volume())
                file.check()
                return f"{file.file_name} can be written."
            case "database":
                jdbc.test_connection(self._jdbc())
                return "The database lets us in."
            case "webhook":
                return _check_address(self._webhook())
            case "chat":
                room = self._chat()
                room.check()
                return _check_address(room.webhook)
            case _:
                self._mail().check()
                self._file(self.retained_folder).check()
                self._post()
                return "Mails can be sent. None was."

    def send(self, rows: DataFrame) -> DeliveryResult:
        """Send the rows."""
        assert self.progress is not None  # noqa: S101 - what sends has one
        match self._destination_type:
            case "files":
                return self._relative_to_volume(files.deliver_files(rows, self._file(self._volume()), self.mark))
            case "database":
                return jdbc.deliver_rows(rows, self._jdbc(), self.mark)
            case "webhook":
                return webhook.deliver_batches(
                    rows, self._webhook(), self.mark, str(self.retained_folder), self.progress
                )
            case "chat":
                assert self.message is not None  # noqa: S101 - who speaks has words
                return chat.deliver_message(
                    self.message.chat, self.message.rows, self._chat(), self.mark, self.progress
                )
            case _:
                return mail.deliver_mail(
                    rows, self._mail(), self._file(self.retained_folder), self._post(), self.mark, self.progress
                )

    @property
    def _destination_type(self) -> str:
        return self.reader.one_of(
            "to", (*_DESTINATION_TYPES, *_MESSAGE_ONLY_TYPES) if self.allows_messages else _DESTINATION_TYPES, ""
        )

    def _volume(self) -> Path:
        volume = self.factory.volume
        if volume is None:
            raise InvalidInputError("The destination has no volume for its files.", "Let it write one volume.")
        return volume.folder

    def _relative_to_volume(self, done: DeliveryResult) -> DeliveryResult:
        """Replace paths on this machine by paths in the volume."""
        folder = str(self._volume())
        return replace(done, places=tuple(place.removeprefix(folder).lstrip("/") for place in done.places))

    def _file(self, folder: Path) -> FileDestination:
        name = "-".join(filter(None, (self.reader.text("name", ""), self.table))) or "rows"
        return FileDestination(str(folder), name, self._file_format())

    def _file_format(self) -> OutputFormat:
        reader = self.reader
        match reader.one_of("kind", _FILE_FORMATS, "csv"):
            case "csv":
                return CsvFormat(
                    delimiter=reader.text("delimiter", ","),
                    header=reader.flag("header", default=True),
                    encoding=reader.text("encoding", "utf-8"),
                )
            case "jsonl":
                return JsonLinesFormat()
            case "parquet":
                return ParquetFormat()
            case _:
                return ExcelFormat()

    def _jdbc(self) -> JdbcDestination:
        reader = self.reader
        return JdbcDestination(
            self.factory.create_database(reader),
            "_".join(filter(None, (reader.text("table", ""), self.table))) or "rows",
            reader.text("schema", ""),
            DeliveryMode(reader.one_of("mode", tuple(DeliveryMode), DeliveryMode.APPEND)),
            reader.texts("keys"),
        )

    def _webhook(self) -> WebhookDestination:
        return WebhookDestination(
            self.reader.text("address"),
            self.factory.secrets.get("secret", ""),
            self.reader.pairs("headers"),
            self.reader.count("batch", 500, least=1),
            private=self.factory.settings.private_addresses,
        )

    def _mail(self) -> MailDestination:
        return MailDestination(
            self.factory.settings.mail_from,
            self.reader.texts("receivers"),
            self.reader.text("subject"),
            self.message.text if self.message else self.reader.text("body", ""),
            self.message.html if self.message else "",
        )

    def _chat(self) -> ChatDestination:
        return ChatDestination(self.factory.secrets.get("address", ""), private=self.factory.settings.private_addresses)

    def _post(self) -> SmtpServer:
        url = self.factory.settings.smtp.get_secret_value()
        if not url:
            raise UnavailableError("No mails can be sent.", "Set LAKEHOLD_SMTP.")
        return SmtpServer.from_url(url)


def _check_address(hook: WebhookDestination) -> str:
    hook.check()
    parts = urlsplit(hook.url)
    resolve_host(parts.hostname or "", parts.port or _PORTS[parts.scheme], private=hook.private)
    return "The address can be found. Nothing was sent to it."
