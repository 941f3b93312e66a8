"""Rows as CSV: quotes doubled, lines ended by a newline, times to the microsecond with their zone."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import StringType

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.pipeline.connectors.outward.folder import Folder
from lakehold.pipeline.connectors.outward.plain import MOMENT, MOMENT_WITHOUT_ZONE, plain
from lakehold.pipeline.errors import DataError
from lakehold.pipeline.quoting import quoted

# With one of these a cell is a formula to some spreadsheet; the wide ones are typed in East Asia.
_FORMULA = "=+-@\t\r\n＝＋－＠"
_UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class Csv:
    """How the rows are written."""

    delimiter: str = ","
    header: bool = True
    encoding: str = _UTF8
    """As Python calls it; `utf-8-sig` is what Excel knows by itself."""
    null: str = ""
    """What stands for a value that is not there. An empty text is written as "" and so differs from nothing."""
    guarded: bool = True
    """Whether a text that a spreadsheet would run as a formula gets a ' before it."""

    ending = "csv"

    def check(self) -> None:
        """Refuse what cannot be written."""
        if len(self.delimiter) != 1 or self.delimiter in '"\r\n\0':
            raise InvalidInputError(
                f"{quote(self.delimiter)} cannot stand between fields.", "Use one character, such as a semicolon."
            )
        if any(letter in self.null for letter in f'{self.delimiter}"\r\n'):
            raise InvalidInputError(
                f"{quote(self.null)} cannot stand for nothing.", "Leave delimiters, quotes and line ends out of it."
            )
        try:
            known = codecs.lookup(self.encoding)
            known.incrementalencoder().encode("a")
        except (LookupError, TypeError, ValueError, AttributeError):
            raise InvalidInputError(
                f"{quote(self.encoding)} is no encoding of texts.", "Use utf-8, utf-8-sig, cp1252 or another one."
            ) from None

    def spread(self, rows: DataFrame, folder: Folder) -> None:
        """Let Spark write the rows in parts, without names and as UTF-8."""
        flat = plain(rows)
        texts = {field.name for field in flat.schema.fields if isinstance(field.dataType, StringType)}
        ready = flat.select(*(self._cell(name, name in texts).alias(name) for name in flat.columns))
        if len(ready.columns) == 1 and not self.null:
            # A line with nothing on it is no row to anybody.
            ready = ready.select(f.coalesce(f.col(quoted(ready.columns[0])).cast("string"), f.lit("")))
        ready.write.mode("overwrite").options(
            sep=self.delimiter,
            header="false",
            quote='"',
            escape='"',
            nullValue=self.null,
            emptyValue='""',
            timestampFormat=MOMENT,
            timestampNTZFormat=MOMENT_WITHOUT_ZONE,
            ignoreLeadingWhiteSpace="false",
            ignoreTrailingWhiteSpace="false",
            compression="none",
        ).csv(folder.address)

    def head(self, names: list[str]) -> bytes:
        """The first line, if there is one."""
        if not self.header:
            return b""
        line = io.StringIO()
        csv.writer(line, delimiter=self.delimiter, lineterminator="\n").writerow(map(self._name, names))
        return line.getvalue().encode()

    def encoded(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same text in the encoding that is wanted. What it cannot say is refused, not replaced."""
        if codecs.lookup(self.encoding).name == _UTF8:
            yield from chunks
            return
        decode, encode = codecs.getincrementaldecoder(_UTF8)(), codecs.getincrementalencoder(self.encoding)()
        try:
            for chunk in chunks:
                yield encode.encode(decode.decode(chunk))
            yield encode.encode(decode.decode(b"", final=True), final=True)
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise DataError(
                f"The encoding {self.encoding} has no {quote(letter)} (U+{ord(letter):04X}), and the rows have one.",
                "Choose utf-8, or replace it before.",
            ) from None

    def counter(self) -> Callable[[bytes], int]:
        """Counts the rows of a text that is given to it bit by bit."""
        return _Rows()

    def _cell(self, name: str, is_text: bool) -> Column:  # noqa: FBT001 - inner
        column = f.col(quoted(name))
        if not (self.guarded and is_text):
            return column
        risky = f.substring(column, 1, 1).isin(*_FORMULA)
        return f.when(risky, f.concat(f.lit("'"), column)).otherwise(column)

    def _name(self, name: str) -> str:
        return f"'{name}" if self.guarded and name[:1] in _FORMULA else name


class _Rows:
    """A row ends at a newline that does not stand between quotes."""

    def __init__(self) -> None:
        self._quotes = 0

    def __call__(self, chunk: bytes) -> int:
        letters = np.frombuffer(chunk, np.uint8)
        quotes = np.cumsum(letters == ord('"')) + self._quotes
        self._quotes = int(quotes[-1]) & 1 if len(chunk) else self._quotes
        return int(np.count_nonzero((letters == ord("\n")) & (quotes & 1 == 0)))
