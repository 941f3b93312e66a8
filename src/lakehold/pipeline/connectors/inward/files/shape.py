"""What kind of file it is, and how it is to be read: guessed, shown, and changed where the guess is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from lakehold.kit.errors import InvalidInputError
from lakehold.pipeline.connectors.inward import kinds
from lakehold.pipeline.connectors.inward.connector import Field, fields_of


class Kind(StrEnum):
    """The kinds of files."""

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
    """How a file is to be read."""

    kind: Kind
    fields: tuple[Field, ...] = ()
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

    def told(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> FileFormat:
        """From what JSON has, refused if it cannot be."""
        known = {**asdict(cls(Kind.SEPARATED)), **told}
        unknown = set(told) - set(cls.__dataclass_fields__)
        if unknown or "kind" not in told:
            raise InvalidInputError(
                f"A file's format has no {', '.join(sorted(unknown)) or 'kind'}.", "Begin with what the guess says."
            )
        try:
            kind = Kind(known["kind"])
        except ValueError:
            raise InvalidInputError(
                f"There is no kind of file {known['kind']!r}.", f"Choose one of {', '.join(Kind)}."
            ) from None
        made = {**known, "kind": kind, "fields": fields_of(known["fields"]), "notes": tuple(known["notes"])}
        return cls(**made).checked()

    def checked(self) -> FileFormat:
        """Itself, if it can be."""
        encoding = self.encoding.lower()
        if encoding not in ENCODINGS:
            raise InvalidInputError(
                f"Files in {self.encoding!r} cannot be read.", f"Choose one of {', '.join(ENCODINGS)}."
            )
        if self.kind is not Kind.SEPARATED and encoding != "utf-8":
            raise InvalidInputError(f"A file of kind {self.kind} is read as utf-8.", "Save it as utf-8.")
        signs = {"delimiter": self.delimiter, "quote": self.quote, "escape": self.escape}
        for name, sign in signs.items():
            if len(sign) > 1 or sign in {"\n", "\r"} or (name == "delimiter" and not sign):
                raise InvalidInputError(f"The {name} must be one character, not {sign!r}.")
        if self.delimiter in {self.quote, self.escape}:
            raise InvalidInputError("The delimiter cannot be the quote too.", "Choose another one.")
        fields = tuple(Field(field.name, kinds.checked(field.type)) for field in self.fields)
        return replace(self, encoding=encoding, fields=fields)

    def type_of(self, name: str) -> str:
        """The type of a field of this name; text if nobody said anything else."""
        wanted = name.lower()
        return next((field.type for field in self.fields if field.name.lower() == wanted), kinds.TEXT)
