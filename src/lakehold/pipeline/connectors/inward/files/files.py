"""Files as a source: each file or sheet is a stream, or all files together are one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from lakehold.kit.errors import NotFoundError
from lakehold.pipeline.connectors.inward import records
from lakehold.pipeline.connectors.inward.connector import Field, Incoming, Sample, Since, Stream, Value, chosen
from lakehold.pipeline.connectors.inward.cursors import after
from lakehold.pipeline.connectors.inward.files import arrays, encodings, excel, multiline, separated, table
from lakehold.pipeline.connectors.inward.files.beginning import beginning
from lakehold.pipeline.connectors.inward.files.guessing import guess, some_objects, typed
from lakehold.pipeline.connectors.inward.files.headers import headers
from lakehold.pipeline.connectors.inward.files.paths import addresses
from lakehold.pipeline.connectors.inward.files.paths import name as file_name
from lakehold.pipeline.connectors.inward.files.shape import FileFormat, Kind
from lakehold.pipeline.connectors.inward.trouble import told
from lakehold.pipeline.errors import DataError

_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@dataclass(frozen=True, slots=True)
class Files:
    """Files of the platform's own: their paths never come from a person."""

    paths: tuple[str, ...] = ()
    folder: str = ""
    """Instead of paths: all files in it, not those in folders below."""
    together: str = ""
    """What the one stream of all files is called, whose fields go by their names; empty if each is a stream."""
    formats: Mapping[str, FileFormat] = field(default_factory=dict)
    """How streams are to be read, where the guess is not to be taken."""

    @property
    def veil(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def streams(self) -> list[Stream]:
        """One for each file and each sheet, or one for all."""
        return [Stream(name, self.formats[name].fields if name in self.formats else None) for name in self._by_stream()]

    def check(self) -> None:
        """Look at the beginning of each."""
        for name in self._by_stream():
            self.format_of(name)

    def format_of(self, stream: str) -> FileFormat:
        """How the stream is read: as it was set, or as it is guessed."""
        files, sheet = chosen(self._by_stream(), stream)
        if stream in self.formats:
            shape = self.formats[stream].checked()
            return replace(shape, sheet=shape.sheet or sheet)
        if sheet:
            return excel.guess(files[0], sheet)
        return guess(_first_with_anything(files))

    def sample(self, stream: str, limit: int) -> Sample:
        """Fields and rows from the beginning of the first file."""
        files, _ = chosen(self._by_stream(), stream)
        shape, first = self.format_of(stream), _first_with_anything(files)
        if not shape.fields:
            shape = replace(shape, fields=typed(first, shape))
        rows = _some(first, shape, limit)
        return Sample(shape.fields, tuple(rows), shape.notes)

    def read(self, spark: SparkSession, stream: str, since: Since | None = None) -> Incoming:
        """The rows of all files of the stream."""
        files, _ = chosen(self._by_stream(), stream)
        shape = self.format_of(stream)
        with told(stream):
            found = _incoming(spark, files, shape)
            return replace(found, rows=after(found.rows, since), total=found.total if since is None else None)

    def _by_stream(self) -> dict[str, tuple[list[str], str]]:
        files = self._files()
        if self.together:
            return {self.together: (files, "")}
        found: dict[str, tuple[list[str], str]] = {}
        for file in files:
            name = Path(file).name
            sheets = excel.sheets(file) if name.lower().endswith(_WORKBOOKS) else []
            for sheet in sheets if len(sheets) > 1 else [""]:
                found[f"{name}/{sheet}" if sheet else name] = ([file], sheet)
        return found

    def _files(self) -> list[str]:
        if not self.folder:
            return sorted(self.paths)
        folder = Path(self.folder)
        if not folder.is_dir():
            raise NotFoundError(f"There is no folder {folder.name}.", "It may have been deleted.")
        return sorted(str(each) for each in folder.iterdir() if each.is_file())


def _incoming(spark: SparkSession, files: list[str], shape: FileFormat) -> Incoming:
    match shape.kind:
        case Kind.SEPARATED:
            by_header = headers(files, shape)
            if not by_header:
                raise DataError("All files are empty.", "Add one with at least the names of its fields.")
            reading = multiline.incoming if shape.multiline else separated.incoming
            return reading(spark, by_header, shape)
        case Kind.LINES:
            texts = spark.read.text(addresses(files)).select(
                encodings.line(f.col("value"), shape.encoding).alias("raw"),
                file_name().alias("place"),
            )
            texts = texts.filter(f.trim("raw") != "")
            return replace(records.incoming(texts, shape.fields), total=texts.count)
        case Kind.JSON:
            texts = records.kept(arrays.texts(spark, files))
            return replace(records.incoming(texts, shape.fields), total=texts.count, kept=(texts,))
        case Kind.EXCEL:
            texts = records.kept(excel.texts(spark, files, shape))
            return replace(records.incoming(texts, shape.fields), total=texts.count, kept=(texts,))
        case Kind.PARQUET:
            return Incoming(spark.read.option("mergeSchema", value=True).parquet(*addresses(files)))


def _some(path: str, shape: FileFormat, limit: int) -> list[tuple[Value, ...]]:
    match shape.kind:
        case Kind.EXCEL:
            return excel.some(path, shape, limit)
        case Kind.PARQUET:
            batch = next(pq.ParquetFile(path).iter_batches(batch_size=limit), None)
            return [] if batch is None else [_shown(row, shape.fields) for row in batch.to_pylist()]
        case Kind.SEPARATED:
            start = beginning(path)
            text = start.text(shape.encoding)
            rows = table.rows_of(text, shape.delimiter, shape.quote, shape.escape, whole=start.whole)
            return [tuple(value or None for value in row) for row in rows[int(shape.header) :][:limit]]
        case _:
            start = beginning(path)
            found = some_objects(start, start.text(shape.encoding), shape.kind)
            return [_shown(row, shape.fields) for row in islice(found, limit)]


def _shown(row: Mapping[str, object], fields: tuple[Field, ...]) -> tuple[Value, ...]:
    return tuple(records.shown(row.get(each.name)) for each in fields)


def _first_with_anything(files: list[str]) -> str:
    if not files:
        raise DataError("There are no files.", "Upload one.")
    return next((file for file in files if not Path(file).is_file() or Path(file).stat().st_size), files[0])
