"""Delivers rows as files into a folder of the platform.

A file is written under a temporary name in the hidden folder `.lakehold` and moved when it is complete, so that nobody
sees half of one. A receipt stays there: the same delivery, repeated, finds it and does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from lakehold.connectors.destinations.delivery import DeliveryRequest, DeliveryResult, mark_digest
from lakehold.connectors.destinations.delivery_folder import DeliveryFolder, RowSpool
from lakehold.connectors.destinations.excel import ExcelFormat
from lakehold.connectors.destinations.file_formats import (
    CsvFormat,
    JsonLinesFormat,
    OutputFormat,
    ParquetFormat,
    refuse_invalid_fields,
    to_flat_types,
)
from lakehold.connectors.error_translation import translate_delivery_errors
from lakehold.connectors.files.settings import FileDestinationSettings, FileOptions
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.kit.errors import ConflictError, InvalidInputError, at_field
from lakehold.kit.ids import quote, valid_name
from lakehold.lake.spark.jvm import move_to_session

INTERNAL_FOLDER = ".lakehold"
"""The hidden folder: what is being made, and receipts."""
_CHUNK_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class FileDestination:
    """Where the rows go, and in which format."""

    folder: str
    """From the platform, never from a person."""
    name: str
    """Without its ending. A file of this name that is there is replaced."""
    format: OutputFormat = field(default_factory=CsvFormat)
    parts: bool = False
    """Whether it may be a folder with several files, as they come from Spark, instead of one file."""
    only_own: bool = False
    """Whether a file that is there and was not made so is left as it is."""

    def check(self) -> None:
        """Refuse options that cannot be written."""
        with at_field("name"):
            name = valid_name(self.name, "name of a file")
        if name.startswith(".") or "/" in name or "\\" in name or name != name.strip():
            raise InvalidInputError(
                f"A file cannot be called {quote(name)}.", "Leave slashes and leading dots out.", field="name"
            )
        if self.parts and isinstance(self.format, ExcelFormat):
            raise InvalidInputError(
                "A workbook is one file.", "Deliver it whole, or choose another kind of file.", field="kind"
            )
        if isinstance(self.format, (CsvFormat, ExcelFormat)):
            self.format.check()

    @property
    def file_name(self) -> str:
        """Name of the file in the folder."""
        return self.name if self.parts else f"{self.name}.{self.format.ending}"


def deliver_files(rows: DataFrame, how: FileDestination, mark: str) -> DeliveryResult:
    """Write the rows as one file or several, once for each mark."""
    how.check()
    refuse_invalid_fields(rows)
    folder, key = DeliveryFolder(how.folder), mark_digest(mark, how.name, how.format.ending)
    internal_folder = folder.subfolder(INTERNAL_FOLDER)
    with translate_delivery_errors(f"The file {quote(how.file_name)}"):
        if done := internal_folder.read_json(f"{key}.json"):
            return _result_of_receipt(done)
        if how.only_own:
            _claim_file(folder, internal_folder, how)
        partial = internal_folder.subfolder(key)
        partial.remove()
        partial.create()
        try:
            count, words = _write_partial(rows, how, partial)
            delivered = _publish(partial, folder, how, count, words)
            internal_folder.write_json(f"{key}.json", asdict(delivered))
        finally:
            partial.remove()
    return delivered


def _claim_file(folder: DeliveryFolder, internal_folder: DeliveryFolder, how: FileDestination) -> None:
    """Refuse to replace a file that was not made here. The claim is stored before the file is placed, so that it is
    found again after a crash.
    """
    note = f"ours-{mark_digest(how.file_name)}.json"
    if internal_folder.exists(note):
        return
    if folder.exists(how.file_name):
        raise ConflictError(
            f"There is a file {quote(how.file_name)} already, and it is not ours to replace.",
            "Rename one.",
            field="name",
        )
    internal_folder.write_json(note, {"file": how.file_name})


def _write_partial(rows: DataFrame, how: FileDestination, partial: DeliveryFolder) -> tuple[int, str]:
    """Write the files in the temporary folder; return the number of rows and a message."""
    if isinstance(how.format, ExcelFormat):
        spool = RowSpool(partial.subfolder("spool"))
        spool.fill(to_flat_types(rows))
        return spool.count, how.format.write_workbook(spool, rows.columns, partial, how.file_name)
    spread = partial.subfolder("spread")
    # In a session of its own, whose zone is UTC whatever the rows' session has.
    own = move_to_session(rows.sparkSession.newSession(), rows)
    if isinstance(how.format, ParquetFormat) and not how.parts:
        own = own.coalesce(1)
    how.format.write_parts(own, spread)
    return _assemble(spread, how, partial, rows.columns), ""


def _assemble(spread: DeliveryFolder, how: FileDestination, partial: DeliveryFolder, names: list[str]) -> int:
    """Turn what Spark has written into what is delivered, and count its rows."""
    parts, shape = spread.part_files(), how.format
    whole = partial.subfolder(how.file_name) if how.parts else partial
    groups = [[part] for part in parts] if how.parts else [parts]
    total = 0
    for number, group in enumerate(groups, start=1):
        name = f"part-{number:05}.{shape.ending}" if how.parts else how.file_name
        if isinstance(shape, ParquetFormat):
            spread.move(group[0], whole, name)
            total += RowSpool(whole).count_in_file(name)
        elif not isinstance(shape, ExcelFormat):
            total += _join_parts(spread, group, shape, whole, name, shape.header_line(names))
    return total


def _join_parts(  # noqa: PLR0917 - inner
    spread: DeliveryFolder,
    parts: list[str],
    shape: CsvFormat | JsonLinesFormat,
    to: DeliveryFolder,
    name: str,
    head: bytes,
) -> int:
    """Join several files into one; return how many rows it has."""
    counter, total = shape.row_counter(), 0

    def chunks() -> Iterator[bytes]:
        nonlocal total
        yield head
        for part in parts:
            with spread.open_reader(part) as source:
                while chunk := source.read(_CHUNK_SIZE):
                    total += counter(chunk)
                    yield chunk

    with to.open_writer(name) as target:
        for chunk in shape.encode(chunks()):
            target.write(chunk)
    return total


def _publish(
    partial: DeliveryFolder, folder: DeliveryFolder, how: FileDestination, count: int, words: str
) -> DeliveryResult:
    """Move the finished files to where they are visible."""
    if not how.parts:
        size = partial.size(how.file_name)
        partial.move(how.file_name, folder, how.file_name)
        return DeliveryResult(count, size, (folder.file_address(how.file_name),), words=words)
    made = partial.subfolder(how.file_name)
    names = made.part_files()
    size = sum(made.size(name) for name in names)
    if folder.exists(how.file_name):
        # A folder cannot take the place of another in one step: for a moment there is none.
        folder.move(how.file_name, partial, "before")
    partial.move(how.file_name, folder, how.file_name)
    there = folder.subfolder(how.file_name)
    return DeliveryResult(count, size, tuple(there.file_address(name) for name in names), words=words)


def _result_of_receipt(receipt: dict[str, Any]) -> DeliveryResult:
    return DeliveryResult(**{**receipt, "places": tuple(receipt["places"]), "again": True})


@dataclass(frozen=True, slots=True)
class FileDelivery:
    """The delivery of one table as a file in a volume."""

    file: FileDestination
    mark: str

    def check(self) -> str:
        """Return that the file can be written, or refuse."""
        self.file.check()
        return f"{self.file.file_name} can be written."

    def send(self, rows: DataFrame) -> DeliveryResult:
        """Write the file. Its place is told within the volume, not on this machine."""
        done = deliver_files(rows, self.file, self.mark)
        return replace(done, places=tuple(place.removeprefix(self.file.folder).lstrip("/") for place in done.places))


def open_destination(
    environment: ConnectorEnvironment, settings: FileDestinationSettings, request: DeliveryRequest
) -> FileDelivery:
    """Open the volume for one file."""
    return FileDelivery(open_file(environment.need_volume().folder, settings, request.table), request.mark)


def open_file(folder: Path, options: FileOptions, table: str = "") -> FileDestination:
    """Return the file that the options name, in a folder."""
    name = "-".join(filter(None, (options.name, table))) or "rows"
    return FileDestination(str(folder), name, _output_format(options))


def _output_format(options: FileOptions) -> OutputFormat:
    match options.kind:
        case "csv":
            return CsvFormat(delimiter=options.delimiter, header=options.header, encoding=options.encoding)
        case "jsonl":
            return JsonLinesFormat()
        case "parquet":
            return ParquetFormat()
        case "xlsx":
            return ExcelFormat()
