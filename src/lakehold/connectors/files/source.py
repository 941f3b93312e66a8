"""Source connector for files: each file or sheet is a stream, or all files together are one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from lakehold.connectors.error_translation import translate_source_errors
from lakehold.connectors.files import csv_files, excel, format_detection, json_array
from lakehold.connectors.files.settings import FileFormat, FileKind, FileSourceSettings
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.sources import row_parsing, source
from lakehold.connectors.sources.field_types import StreamField
from lakehold.connectors.sources.source import Value
from lakehold.lake.errors import DataError
from lakehold.lake.folder_handle import refuse_links

_WORKBOOK_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@dataclass(frozen=True, slots=True)
class FileSource(source.SourceConnector):
    """Files as a source. The paths come from the platform, never from a member."""

    paths: tuple[str, ...]
    together: str = ""
    """What the one stream of all files is called, whose fields go by their names; empty if each is a stream."""
    formats: Mapping[str, FileFormat] = field(default_factory=dict)
    """How streams are to be read, where the guess is not to be taken."""
    root: Path | None = None
    """The folder below which no part of a path may be a link."""

    def streams(self) -> list[source.SourceStream]:
        """Return one stream for each file and sheet, or one for all."""
        return [
            source.SourceStream(name, self.formats[name].fields if name in self.formats else None)
            for name in self._files_by_stream()
        ]

    def check(self) -> None:
        """Detect the format of each file."""
        for name in self._files_by_stream():
            self.stream_format(name)

    def stream_format(self, stream: str) -> FileFormat:
        """Return the format of a stream, as set or as detected."""
        files, sheet = source.get_stream(self._files_by_stream(), stream)
        if stream in self.formats:
            shape = self.formats[stream].validated()
            return replace(shape, sheet=shape.sheet or sheet)
        if sheet:
            return excel.detect_sheet_format(files[0], sheet)
        return format_detection.detect_format(_first_nonempty(files))

    def sample(self, stream: str, limit: int) -> source.StreamSample:
        """Return fields and first rows of the first file."""
        files, _ = source.get_stream(self._files_by_stream(), stream)
        shape, first = self.stream_format(stream), _first_nonempty(files)
        if not shape.fields:
            shape = replace(shape, fields=format_detection.detect_fields(first, shape))
        rows = _sample_file(first, shape, limit)
        return source.StreamSample(shape.fields, tuple(rows), shape.notes)

    def read(self, spark: SparkSession, stream: str, since: source.ReadSpan | None = None) -> source.IncomingRows:
        """Read the rows of all files of the stream."""
        files, _ = source.get_stream(self._files_by_stream(), stream)
        shape = self.stream_format(stream)
        with translate_source_errors(stream):
            found = _read_files(spark, files, shape)
            rows = source.filter_span(found.rows, since)
            return replace(found, rows=rows, total=found.total if since is None else None)

    def _files_by_stream(self) -> dict[str, tuple[list[str], str]]:
        files = sorted(self.paths)
        self._refuse_links()
        if self.together:
            return {self.together: (files, "")}
        found: dict[str, tuple[list[str], str]] = {}
        for file in files:
            name = Path(file).name
            sheets = excel.list_sheets(file) if name.lower().endswith(_WORKBOOK_SUFFIXES) else []
            for sheet in sheets if len(sheets) > 1 else [""]:
                found[f"{name}/{sheet}" if sheet else name] = ([file], sheet)
        return found

    def _refuse_links(self) -> None:
        """Check the files again just before they are opened: readers and Spark open them by their paths."""
        if self.root is None:
            return
        for file in self.paths:
            try:
                refuse_links(self.root, Path(file))
            except OSError:
                name = Path(file).name
                raise DataError(f"The file {name} is not there any more.", "Check the files of the volume.") from None


def _read_files(spark: SparkSession, files: list[str], shape: FileFormat) -> source.IncomingRows:
    match shape.kind:
        case FileKind.SEPARATED:
            return csv_files.read_csv(spark, files, shape)
        case FileKind.LINES:
            texts = csv_files.read_lines(spark, files, shape)
            return replace(row_parsing.parse_records(texts, shape.fields), total=texts.count)
        case FileKind.JSON | FileKind.EXCEL:
            is_excel = shape.kind is FileKind.EXCEL
            read_file = partial(excel.read_file, shape=shape) if is_excel else json_array.read_array
            texts = row_parsing.cache_on_disk(json_array.read_in_tasks(spark, files, read_file))
            return replace(row_parsing.parse_records(texts, shape.fields), total=texts.count, kept=(texts,))
        case FileKind.PARQUET:
            paths = csv_files.spark_paths(files)
            return source.IncomingRows(spark.read.option("mergeSchema", value=True).parquet(*paths))


def _sample_file(path: str, shape: FileFormat, limit: int) -> list[tuple[Value, ...]]:
    match shape.kind:
        case FileKind.EXCEL:
            return excel.sample_rows(path, shape, limit)
        case FileKind.PARQUET:
            batch = next(pq.ParquetFile(path).iter_batches(batch_size=limit), None)
            return [] if batch is None else [_sample_row(row, shape.fields) for row in batch.to_pylist()]
        case FileKind.SEPARATED:
            start = format_detection.read_head(path)
            text = start.text(shape.encoding)
            rows = format_detection.parse_rows(text, shape.delimiter, shape.quote, shape.escape, whole=start.whole)
            return [tuple(value or None for value in row) for row in rows[int(shape.header) :][:limit]]
        case _:
            start = format_detection.read_head(path)
            found = format_detection.sample_objects(start, start.text(shape.encoding), shape.kind)
            return [_sample_row(row, shape.fields) for row in islice(found, limit)]


def _sample_row(row: Mapping[str, object], fields: tuple[StreamField, ...]) -> tuple[Value, ...]:
    return tuple(row_parsing.sample_value(row.get(each.name)) for each in fields)


def _first_nonempty(files: list[str]) -> str:
    if not files:
        raise DataError("There are no files.", "Upload one.")
    return next((file for file in files if not Path(file).is_file() or Path(file).stat().st_size), files[0])


def open_source(
    environment: ConnectorEnvironment, settings: FileSourceSettings, stream: source.StreamOptions | None
) -> FileSource:
    """Open the files that the settings name."""
    return open_folder(environment, settings.folder, stream)


def open_folder(
    environment: ConnectorEnvironment, folder: str, stream: source.StreamOptions | None = None
) -> FileSource:
    """Open the files of a folder of the volume; a stream with a star in its name is all files that match it."""
    volume = environment.need_volume()
    files = (file for file in volume.list_folder(folder) if not file.is_folder)
    paths = {file.name: str(volume.path_on_disk(file.path)) for file in files}
    formats = {stream.name: stream.format.validated()} if stream and stream.format else {}
    if stream is None or "*" not in stream.name:
        return FileSource(tuple(paths.values()), formats=formats, root=volume.root)
    fitting = tuple(path for name, path in paths.items() if fnmatchcase(name, stream.name))
    return FileSource(fitting, together=stream.name, formats=formats, root=volume.root)
