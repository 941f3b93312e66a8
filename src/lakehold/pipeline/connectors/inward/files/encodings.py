"""Text in other encodings than utf-8: Spark knows few of them, so what Windows writes is made from a near one."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from lakehold.pipeline.connectors.inward.reasons import UNREADABLE

NEAR = "ISO-8859-1"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
# Where the two differ; what is no sign in one of them is unreadable.
_NUMBERS = range(0x80, 0xA0)
_ONE = "".join(map(chr, _NUMBERS))
_OTHER = "".join(bytes([number]).decode("windows-1252", errors="replace") for number in _NUMBERS)


def spark_name(encoding: str) -> str:
    """The encoding that Spark is told of."""
    return NEAR if encoding == "windows-1252" else encoding.upper()


def corrected(text: Column, encoding: str) -> Column:
    """A text that Spark read by the name above, as it was meant."""
    return f.translate(text, _ONE, _OTHER) if encoding == "windows-1252" else text


def line(value: Column, encoding: str) -> Column:
    """A line of bytes as text, without the mark that the first one may begin with."""
    if encoding == "utf-8":
        return f.when(value.startswith(_MARK), f.substring(value, 2, 2**31 - 1)).otherwise(value)
    return corrected(f.decode(value.cast("binary"), NEAR), encoding)


def unreadable(text: Column) -> Column:
    """Whether a text has a sign that stands for bytes that are none."""
    return text.contains(UNREADABLE)
