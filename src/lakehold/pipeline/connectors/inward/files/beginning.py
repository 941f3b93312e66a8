"""The beginning of a file: enough of it to see what it is, however long it is."""

from __future__ import annotations

import codecs
import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

from lakehold.kit.errors import NotFoundError, UnavailableError
from lakehold.pipeline.errors import DataError

SIZE = 1024 * 1024
_GZIP = b"\x1f\x8b"
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Beginning:
    """Some bytes of a file."""

    name: str
    data: bytes
    whole: bool
    """Whether that is all of it."""

    def encoding(self) -> str:
        """What the bytes seem to be; a refusal if they are no text."""
        for mark, found in _MARKS:
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
        """The bytes as text. What is no text in this encoding shows as such."""
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        return decoder.decode(self.data, final=self.whole).removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def beginning(path: str, size: int = SIZE) -> Beginning:
    """The first bytes of a file, unpacked if they are packed."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            packed = opened.read(len(_GZIP)) == _GZIP
            if packed != (file.suffix.lower() == ".gz"):
                _refuse_name(file.name, packed=packed)
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
    return Beginning(file.name, data[:size], whole=len(data) <= size)


def _refuse_name(name: str, *, packed: bool) -> None:
    # Spark goes by the name alone; an empty file that is called .gz is no gzip either.
    if packed:
        raise DataError(f"{name} is packed by gzip but not called so.", "Let its name end in .gz.")
    raise DataError(f"{name} is called .gz but is not packed by gzip.", "Take .gz off its name, or pack it.")
