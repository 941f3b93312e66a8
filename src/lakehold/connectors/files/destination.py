"""Delivers rows as files into a folder of the platform.

A file is written under a temporary name in the hidden folder `.lakehold` and moved when it is complete, so that nobody
sees half of one. A receipt stays there: the same delivery, repeated, finds it and does nothing.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pyspark.sql import DataFrame

from lakehold.connectors.destinations import delivery_folder, file_formats
from lakehold.connectors.destinations.delivery import DeliveryRequest, DeliveryResult, Destination, mark_digest
from lakehold.connectors.destinations.delivery_folder import RowSpool
from lakehold.connectors.error_translation import translate_delivery_errors
from lakehold.connectors.files.settings import FileDestinationSettings, FileOptions, OutputKind
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.kit.errors import ConflictError, InvalidInputError, at_field
from lakehold.kit.ids import quote, valid_name
from lakehold.lake.folder_handle import FolderHandle, open_folder
from lakehold.lake.spark.jvm import move_to_session
from lakehold.lake.volumes import INTERNAL_FOLDER

_CHUNK_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class FileDestination:
    """A folder as a destination, and the format of its files."""

    folder: str
    """From the platform, never from a person."""
    name: str
    """Without its ending. A file of this name that is there is replaced."""
    format: file_formats.OutputFormat = field(default_factory=file_formats.CsvFormat)
    only_own: bool = False
    """Whether a file that is there and was not made so is left as it is."""
    root: Path | None = None
    """The folder below which no part of a path may be a link; without, the folder itself may not be one."""

    def check(self) -> None:
        """Refuse options that cannot be written."""
        with at_field("name"):
            name = valid_name(self.name, "name of a file")
        if name.startswith(".") or "/" in name or "\\" in name or name != name.strip():
            hint = "Leave slashes and leading dots out."
            raise InvalidInputError(f"A file cannot be called {quote(name)}.", hint, field="name")
        if isinstance(self.format, file_formats.CsvFormat):
            self.format.check()

    @property
    def file_name(self) -> str:
        """Name of the file in the folder."""
        return f"{self.name}.{self.format.ending}"

    def open(self, *inner: str, create: bool = False) -> AbstractContextManager[FolderHandle]:
        """Open the folder, or one inside of it, without following a link."""
        root = self.root or Path(self.folder).parent
        return open_folder(root, (*Path(self.folder).relative_to(root).parts, *inner), create=create)


def deliver_files(rows: DataFrame, how: FileDestination, mark: str) -> DeliveryResult:
    """Write the rows as one file, once for each mark."""
    how.check()
    file_formats.refuse_invalid_fields(rows)
    folder, key = Path(how.folder), mark_digest(mark, how.name, how.format.ending)
    receipt, partial = folder / INTERNAL_FOLDER / f"{key}.json", folder / INTERNAL_FOLDER / key
    with translate_delivery_errors(f"The file {quote(how.file_name)}"):
        with how.open(INTERNAL_FOLDER, create=True):
            pass  # Neither it nor a folder before it is a link, through which Spark would write somewhere else.
        if done := delivery_folder.read_json(receipt):
            return DeliveryResult(**{**done, "places": tuple(done["places"]), "again": True})
        if how.only_own:
            _claim_file(folder, how)
        delivery_folder.remove_folder(partial)
        partial.mkdir(parents=True)
        try:
            count, words = _write_partial(rows, how, partial)
            delivered = _publish(how, key, count, words)
            delivery_folder.write_json(receipt, asdict(delivered))
        finally:
            delivery_folder.remove_folder(partial)
    return delivered


def _claim_file(folder: Path, how: FileDestination) -> None:
    """Refuse to replace a file that was not made here. The claim is stored first, to be found again after a crash."""
    note = folder / INTERNAL_FOLDER / f"ours-{mark_digest(how.file_name)}.json"
    if note.exists():
        return
    if os.path.lexists(folder / how.file_name):
        message = f"There is a file {quote(how.file_name)} already, which was not created by Lakehold."
        raise ConflictError(message, "Rename one.", field="name")
    delivery_folder.write_json(note, {"file": how.file_name})


def _write_partial(rows: DataFrame, how: FileDestination, partial: Path) -> tuple[int, str]:
    """Write the file in the temporary folder; return the number of rows and a message."""
    if isinstance(how.format, file_formats.ExcelFormat):
        spool = RowSpool(partial / "spool")
        spool.fill(file_formats.to_flat_types(rows))
        return spool.count, how.format.write_workbook(spool, rows.columns, partial / how.file_name)
    spread = partial / "spread"
    # In a session of its own, whose zone is UTC whatever the rows' session has.
    own = move_to_session(rows.sparkSession.newSession(), rows)
    if isinstance(how.format, file_formats.ParquetFormat):
        own = own.coalesce(1)
    how.format.write_parts(own, spread)
    parts = delivery_folder.part_files(spread)
    return _join_parts(parts, how.format, partial / how.file_name, rows.columns), ""


def _join_parts(
    parts: list[Path],
    shape: file_formats.CsvFormat | file_formats.JsonLinesFormat | file_formats.ParquetFormat,
    to: Path,
    names: list[str],
) -> int:
    """Turn files that Spark has written into one that is delivered; return how many rows it has."""
    if isinstance(shape, file_formats.ParquetFormat):
        parts[0].replace(to)
        return delivery_folder.count_rows([to])
    csv = shape if isinstance(shape, file_formats.CsvFormat) else None
    total, csv_counter = 0, file_formats.CsvRowCounter()

    def chunks() -> Iterator[bytes]:
        nonlocal total
        if csv:
            yield csv.header_line(names)
        for part in parts:
            with part.open("rb") as source:
                while chunk := source.read(_CHUNK_SIZE):
                    total += csv_counter(chunk) if csv else chunk.count(b"\n")
                    yield chunk

    with to.open("wb") as target:
        target.writelines(csv.encode(chunks()) if csv else chunks())
    return total


def _publish(how: FileDestination, key: str, count: int, words: str) -> DeliveryResult:
    """Move the finished file to where it is visible."""
    with how.open(INTERNAL_FOLDER, key) as partial, how.open() as folder:
        written = partial.stat(how.file_name)
        folder.move_in(partial, how.file_name, how.file_name)
    place = Path(how.folder) / how.file_name
    return DeliveryResult(count, written.st_size if written else 0, (str(place),), words=words)


def open_destination(
    environment: ConnectorEnvironment, settings: FileDestinationSettings, request: DeliveryRequest
) -> Destination:
    """Open the volume for one file."""
    volume = environment.need_volume()
    file = replace(open_file(volume.folder, settings, request.table), root=volume.root)

    def check() -> str:
        file.check()
        return f"{file.file_name} can be written."

    def send(rows: DataFrame) -> DeliveryResult:
        done = deliver_files(rows, file, request.mark)
        # Its place is told within the volume, not on this machine.
        return replace(done, places=tuple(place.removeprefix(file.folder).lstrip("/") for place in done.places))

    return Destination(check, send)


def open_file(folder: Path, options: FileOptions, table: str = "") -> FileDestination:
    """Return the file that the options name, in a folder."""
    name = "-".join(filter(None, (options.name, table))) or "rows"
    formats: Mapping[OutputKind, file_formats.OutputFormat] = {
        "csv": file_formats.CsvFormat(delimiter=options.delimiter, header=options.header, encoding=options.encoding),
        "jsonl": file_formats.JsonLinesFormat(),
        "parquet": file_formats.ParquetFormat(),
        "xlsx": file_formats.ExcelFormat(),
    }
    return FileDestination(str(folder), name, formats[options.kind])
