"""How a destination sends rows, from what is written in its settings and the secrets that are kept apart from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lakehold.connectors.address_guard import resolve_host
from lakehold.connectors.destinations import chat, files, jdbc, mail, webhook
from lakehold.connectors.destinations.chat import ChatDestination
from lakehold.connectors.destinations.delivery import DeliveryResult, ProgressStore
from lakehold.connectors.destinations.excel import ExcelFormat
from lakehold.connectors.destinations.file_formats import CsvFormat, JsonLinesFormat, OutputFormat, ParquetFormat
from lakehold.connectors.destinations.files import FileDestination
from lakehold.connectors.destinations.jdbc import DeliveryMode, JdbcDestination
from lakehold.connectors.destinations.mail import MailDestination
from lakehold.connectors.destinations.webhook import WebhookDestination
from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.kit.mail import SmtpServer
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import SettingsReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WAYS = ("files", "database", "webhook", "mail")
_SAID = ("chat",)
"""Where words are sent alone."""
_PORTS = {"http": 80, "https": 443}
_SHAPES = ("csv", "jsonl", "parquet", "xlsx")


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of the rows."""

    text: str
    html: str
    chat: str
    rows: int


@dataclass(frozen=True, slots=True)
class Sending:
    """One delivery of one table."""

    connecting: Connecting
    told: SettingsReader
    table: str
    """Its name, where there are several; each needs a name of its own there."""
    mark: str
    kept: Path
    progress: ProgressStore | None
    """None where nothing is sent."""
    said: Said | None = None
    """None where rows are sent without words; or in other words than these."""
    speaks: bool = False
    """Whether words can be sent alone."""

    def try_out(self) -> str:
        """Go as far as one can without sending anything: what was found, in words."""
        match self._way:
            case "files":
                file = self._file(self._volume())
                file.check()
                return f"{file.file_name} can be written."
            case "database":
                jdbc.test_connection(self._jdbc())
                return "The database lets us in."
            case "webhook":
                return _found(self._webhook())
            case "chat":
                room = self._chat()
                room.check()
                return _found(room.webhook)
            case _:
                self._mail().check()
                self._file(self.kept).check()
                self._post()
                return "Mails can be sent. None was."

    def send(self, rows: DataFrame) -> DeliveryResult:
        """Send the rows."""
        assert self.progress is not None  # noqa: S101 - what sends has one
        match self._way:
            case "files":
                return self._placed(files.deliver_files(rows, self._file(self._volume()), self.mark))
            case "database":
                return jdbc.deliver_rows(rows, self._jdbc(), self.mark)
            case "webhook":
                return webhook.deliver_batches(rows, self._webhook(), self.mark, str(self.kept), self.progress)
            case "chat":
                assert self.said is not None  # noqa: S101 - who speaks has words
                return chat.deliver_message(self.said.chat, self.said.rows, self._chat(), self.mark, self.progress)
            case _:
                return mail.deliver_mail(
                    rows, self._mail(), self._file(self.kept), self._post(), self.mark, self.progress
                )

    @property
    def _way(self) -> str:
        return self.told.one_of("to", (*_WAYS, *_SAID) if self.speaks else _WAYS, "")

    def _volume(self) -> Path:
        volume = self.connecting.volume
        if volume is None:
            raise InvalidInputError("The destination has no volume for its files.", "Let it write one volume.")
        return volume.folder

    def _placed(self, done: DeliveryResult) -> DeliveryResult:
        """Where in the volume, not where on this machine."""
        folder = str(self._volume())
        return replace(done, places=tuple(place.removeprefix(folder).lstrip("/") for place in done.places))

    def _file(self, folder: Path) -> FileDestination:
        name = "-".join(filter(None, (self.told.text("name", ""), self.table))) or "rows"
        return FileDestination(str(folder), name, self._shape())

    def _shape(self) -> OutputFormat:
        told = self.told
        match told.one_of("kind", _SHAPES, "csv"):
            case "csv":
                return CsvFormat(
                    delimiter=told.text("delimiter", ","),
                    header=told.flag("header", default=True),
                    encoding=told.text("encoding", "utf-8"),
                )
            case "jsonl":
                return JsonLinesFormat()
            case "parquet":
                return ParquetFormat()
            case _:
                return ExcelFormat()

    def _jdbc(self) -> JdbcDestination:
        told = self.told
        return JdbcDestination(
            self.connecting.database(told),
            "_".join(filter(None, (told.text("table", ""), self.table))) or "rows",
            told.text("schema", ""),
            DeliveryMode(told.one_of("mode", tuple(DeliveryMode), DeliveryMode.APPEND)),
            told.texts("keys"),
        )

    def _webhook(self) -> WebhookDestination:
        return WebhookDestination(
            self.told.text("address"),
            self.connecting.secrets.get("secret", ""),
            self.told.pairs("headers"),
            self.told.count("batch", 500, least=1),
            private=self.connecting.settings.private_addresses,
        )

    def _mail(self) -> MailDestination:
        return MailDestination(
            self.connecting.settings.mail_from,
            self.told.texts("receivers"),
            self.told.text("subject"),
            self.said.text if self.said else self.told.text("body", ""),
            self.said.html if self.said else "",
        )

    def _chat(self) -> ChatDestination:
        return ChatDestination(
            self.connecting.secrets.get("address", ""), private=self.connecting.settings.private_addresses
        )

    def _post(self) -> SmtpServer:
        url = self.connecting.settings.smtp.get_secret_value()
        if not url:
            raise UnavailableError("No mails can be sent.", "Set LAKEHOLD_SMTP.")
        return SmtpServer.from_url(url)


def _found(hook: WebhookDestination) -> str:
    hook.check()
    parts = urlsplit(hook.url)
    resolve_host(parts.hostname or "", parts.port or _PORTS[parts.scheme], private=hook.private)
    return "The address can be found. Nothing was sent to it."
