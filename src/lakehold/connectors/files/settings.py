"""Settings of files: a folder of a volume to read from or to write to, and how a file is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Literal

from lakehold.connectors.settings import DestinationSettings, SourceSettings
from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.field_types import StreamField
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings_schema import SettingsRecord, Text


@dataclass(frozen=True, slots=True)
class FileSourceSettings(SourceSettings):
    """Files in a folder of a volume."""

    reads_volume: ClassVar[bool] = True

    connector: Literal["files"]
    volume: Text
    folder: str = ""
    """Subfolders are not read. Default: the top folder."""

    @property
    def volume_id(self) -> str:
        """The volume."""
        return self.volume


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
class FileFormat(SettingsRecord):
    """The format of a file to read: detected, and changed by users where the detection is wrong."""

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

    def validated(self) -> FileFormat:
        """Return the normalised format, or refuse it."""
        encoding = self.encoding.lower()
        if encoding not in ENCODINGS:
            message = f"Files in {self.encoding!r} cannot be read."
            raise InvalidInputError(message, f"Choose one of {', '.join(ENCODINGS)}.")
        if self.kind is not FileKind.SEPARATED and encoding != "utf-8":
            raise InvalidInputError(f"A file of kind {self.kind} is read as utf-8.", "Save it as utf-8.")
        signs = {"delimiter": self.delimiter, "quote": self.quote, "escape": self.escape}
        for name, sign in signs.items():
            if len(sign) > 1 or sign in {"\n", "\r"} or (name == "delimiter" and not sign):
                raise InvalidInputError(f"The {name} must be one character, not {sign!r}.")
        if self.delimiter in {self.quote, self.escape}:
            raise InvalidInputError("Delimiter and quote must differ.", "Choose another one.")
        fields = tuple(StreamField(field.name, field_types.valid_type(field.type)) for field in self.fields)
        return replace(self, encoding=encoding, fields=fields)

    def field_type(self, name: str) -> str:
        """Return the type of the field of this name; text if it is not listed."""
        lowered = name.lower()
        return next((field.type for field in self.fields if field.name.lower() == lowered), field_types.STRING)


OutputKind = Literal["csv", "jsonl", "parquet", "xlsx"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions(SettingsRecord):
    """The name and format of a file to write."""

    name: str = ""
    """Without its ending."""
    kind: OutputKind = "csv"
    delimiter: str = ","
    header: bool = True
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDestinationSettings(FileOptions, DestinationSettings):
    """Files in a folder of the platform."""

    writes_volume: ClassVar[bool] = True

    to: Literal["files"] = "files"
