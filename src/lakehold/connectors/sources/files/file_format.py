"""The format of a file: kind, fields, encoding and delimiters; and its encoding and path as Spark takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.bad_rows import UNREADABLE
from lakehold.connectors.sources.connector import StreamField, parse_fields
from lakehold.kit.errors import InvalidInputError


class FileKind(StrEnum):
    """Kinds of files."""

    SEPARATED = "separated"
    """Values with a sign between them: CSV, TSV."""
    JSON = "json"
    """One array of objects, or one object."""
    LINES = "json_lines"
    """An object on each line."""
    PARQUET = "parquet"
    EXCEL = "excel"


ENCODINGS = ("utf-8", "windows-1252", "iso-8859-1", "utf-16", "utf-16le", "utf-16be")


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How a file is read: detected, shown to users, and changed by them where the detection is wrong."""

    kind: FileKind
    fields: tuple[StreamField, ...] = ()
    """Names and types. Fields that a file has beside these are read as text."""
    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    """Empty if nothing is quoted."""
    escape: str = '"'
    """What stands before a quote that is part of a value: another quote, or a backslash."""
    header: bool = True
    """Whether the first line or row has the names of the fields."""
    multiline: bool = False
    """Whether a quoted value may go over several lines. Such a file is read by one core."""
    sheet: str = ""
    """Of a workbook; the first one if it is not named."""
    notes: tuple[str, ...] = ()
    """What a person should know of the guess."""

    def to_json(self) -> dict[str, Any]:
        """Return the format as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> FileFormat:
        """Parse a format from JSON, or refuse it."""
        known = {**asdict(cls(FileKind.SEPARATED)), **values}
        unknown = set(values) - set(cls.__dataclass_fields__)
        if unknown or "kind" not in values:
            raise InvalidInputError(
                f"A file's format has no {', '.join(sorted(unknown)) or 'kind'}.", "Begin with what the guess says."
            )
        try:
            kind = FileKind(known["kind"])
        except ValueError:
            raise InvalidInputError(
                f"There is no kind of file {known['kind']!r}.", f"Choose one of {', '.join(FileKind)}."
            ) from None
        made = {**known, "kind": kind, "fields": parse_fields(known["fields"]), "notes": tuple(known["notes"])}
        return cls(**made).validated()

    def validated(self) -> FileFormat:
        """Return the normalised format, or refuse it."""
        encoding = self.encoding.lower()
        if encoding not in ENCODINGS:
            raise InvalidInputError(
                f"Files in {self.encoding!r} cannot be read.", f"Choose one of {', '.join(ENCODINGS)}."
            )
        if self.kind is not FileKind.SEPARATED and encoding != "utf-8":
            raise InvalidInputError(f"A file of kind {self.kind} is read as utf-8.", "Save it as utf-8.")
        signs = {"delimiter": self.delimiter, "quote": self.quote, "escape": self.escape}
        for name, sign in signs.items():
            if len(sign) > 1 or sign in {"\n", "\r"} or (name == "delimiter" and not sign):
                raise InvalidInputError(f"The {name} must be one character, not {sign!r}.")
        if self.delimiter in {self.quote, self.escape}:
            raise InvalidInputError("The delimiter cannot be the quote too.", "Choose another one.")
        fields = tuple(StreamField(field.name, field_types.valid_type(field.type)) for field in self.fields)
        return replace(self, encoding=encoding, fields=fields)

    def field_type(self, name: str) -> str:
        """Return the type of the field of this name; text if it is not listed."""
        lowered = name.lower()
        return next((field.type for field in self.fields if field.name.lower() == lowered), field_types.STRING)


LATIN_1 = "ISO-8859-1"
_BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
# Where the two differ; what is no sign in one of them is unreadable.
_NUMBERS = range(0x80, 0xA0)
_LATIN_1_CHARS = "".join(map(chr, _NUMBERS))
_WINDOWS_CHARS = "".join(bytes([number]).decode("windows-1252", errors="replace") for number in _NUMBERS)


def spark_encoding(encoding: str) -> str:
    """Return the encoding that Spark reads the file with."""
    return LATIN_1 if encoding == "windows-1252" else encoding.upper()


def correct_encoding(text: Column, encoding: str) -> Column:
    """Correct a text that Spark read with its nearest encoding."""
    return f.translate(text, _LATIN_1_CHARS, _WINDOWS_CHARS) if encoding == "windows-1252" else text


def decode_line(value: Column, encoding: str) -> Column:
    """Decode a line of bytes, without the byte order mark that the first one may have."""
    if encoding == "utf-8":
        return f.when(value.startswith(_BYTE_ORDER_MARK), f.substring(value, 2, 2**31 - 1)).otherwise(value)
    return correct_encoding(f.decode(value.cast("binary"), LATIN_1), encoding)


def has_bad_bytes(text: Column) -> Column:
    """Whether a text has replacement characters for undecodable bytes."""
    return text.contains(UNREADABLE)


_SIGNS = re.compile(r"([\\*?\[\]{}^])")


def spark_paths(files: list[str]) -> list[str]:
    """Return the files as paths for Spark, with wildcard characters escaped."""
    for file in files:
        name = Path(file).name
        if name.startswith(("_", ".")):
            # Spark would pass over it without a word.
            raise InvalidInputError(f"{name} is a hidden file.", "Give it a name that does not begin with _ or a dot.")
    return ["file:" + _SIGNS.sub(r"\\\1", file) for file in files]


def source_file_name() -> Column:
    """Return a column with the name of the file that a row comes from."""
    # Spark tells it as part of an address, in which a plus is one.
    return f.url_decode(f.replace(f.col("_metadata.file_name"), f.lit("+"), f.lit("%2B")))


def partition_by_file(spark: SparkSession, files: list[str]) -> DataFrame:
    """Return the paths of the files, each in a partition of its own."""
    made = spark.createDataFrame([(file,) for file in files], "path string")
    return made.repartition(max(1, len(files)))
