"""The first bytes of a file, and what they tell: encoding, delimiter, quote, and whether there is a header."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lakehold.connectors.sources import field_types
from lakehold.connectors.sources.bad_rows import csv_reader
from lakehold.kit.errors import NotFoundError, UnavailableError
from lakehold.lake.errors import DataError

HEAD_SIZE = 1024 * 1024
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class FileHead:
    """The first bytes of a file."""

    name: str
    data: bytes
    whole: bool
    """Whether that is all of it."""

    def encoding(self) -> str:
        """Return the detected encoding; refuse bytes that are no text."""
        for mark, found in _BYTE_ORDER_MARKS:
            if self.data.startswith(mark):
                return found
        if b"\0" in self.data:
            even, odd = self.data[0::2].count(0), self.data[1::2].count(0)
            if max(even, odd) < len(self.data) / 8:
                raise DataError(f"{self.name} is no text.", "Choose a CSV, JSON, Parquet or Excel file.")
            return "utf-16be" if even > odd else "utf-16le"
        try:
            codecs.getincrementaldecoder("utf-8")().decode(self.data, final=self.whole)
        except UnicodeDecodeError:
            return "windows-1252"
        return "utf-8"

    def text(self, encoding: str) -> str:
        """Decode the bytes, with replacement characters for undecodable ones."""
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        return decoder.decode(self.data, final=self.whole).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def read_head(path: str, size: int = HEAD_SIZE) -> FileHead:
    """Return the first bytes of a file, decompressed if it is gzip."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            packed = opened.read(len(_GZIP)) == _GZIP
            if packed != (file.suffix.lower() == ".gz"):
                _refuse_wrong_suffix(file.name, packed=packed)
            opened.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=opened) as unpacked:
                    data = unpacked.read(size + 1)
            else:
                data = opened.read(size + 1)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {file.name}.", "It may have been deleted; upload it again.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{file.name} is damaged: it cannot be unpacked.", "Pack it again and upload it.") from error
    except OSError as error:
        raise UnavailableError(f"{file.name} cannot be read: {error.strerror or 'no reason is known'}.") from error
    return FileHead(file.name, data[:size], whole=len(data) <= size)


def _refuse_wrong_suffix(name: str, *, packed: bool) -> None:
    # Spark goes by the name alone; an empty file that is called .gz is no gzip either.
    if packed:
        raise DataError(f"{name} is packed by gzip but not called so.", "Let its name end in .gz.")
    raise DataError(f"{name} is called .gz but is not packed by gzip.", "Take .gz off its name, or pack it.")


_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 500


def detect_delimiter(text: str, quote: str, escape: str) -> str:
    """Return the most likely delimiter: the one that gives most lines the same number of values, and several."""
    return max(_DELIMITERS, key=lambda sign: _score_delimiter(text, sign, quote, escape))


def detect_quote(text: str) -> str:
    """Return the quote character of the values."""
    if '"' in text:
        return '"'
    signs = re.escape("".join(_DELIMITERS))
    single = re.findall(rf"(?:^|[{signs}])'[^'\n]*'(?=[{signs}]|$)", text, re.MULTILINE)
    return "'" if len(single) > 1 else '"'


def detect_escape(text: str, quote: str) -> str:
    """Return the character that escapes a quote inside a value."""
    return "\\" if f"\\{quote}" in text and quote * 2 not in text else quote


def parse_rows(text: str, delimiter: str, quote: str, escape: str, *, whole: bool) -> list[list[str]]:
    """Return the rows, without the last one if it is incomplete. Empty lines are skipped."""
    try:
        # Over single lines, so that a quote that is never closed does not swallow the rest for nothing.
        found = list(csv_reader(text.splitlines(keepends=True), delimiter, quote, escape))
    except csv.Error as error:
        raise DataError(f"The values cannot be told apart: {error}.", "Check quote and delimiter.") from error
    rows = [row for row in found if row]
    return rows if whole else rows[:-1]


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row looks like names: not empty, and without numbers, times or booleans."""
    return any(rows[0]) and all(field_types.infer_from_texts([value]) == field_types.STRING for value in rows[0])


def common_width(rows: Sequence[Sequence[str]]) -> int:
    """Return how many values most rows have."""
    return Counter(len(row) for row in rows).most_common(1)[0][0]


def _score_delimiter(text: str, sign: str, quote: str, escape: str) -> tuple[float, int]:
    lines = text.splitlines(keepends=True)[:_SAMPLE_LINES]
    try:
        rows = [row for row in csv_reader(lines, sign, quote, escape) if row]
    except csv.Error:
        return (0.0, 0)
    if not rows:
        return (0.0, 0)
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    return (count / len(rows) if width > 1 else 0.0, width)
