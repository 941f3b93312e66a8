"""Encodings and paths of files as Spark takes them."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from lakehold.connectors.sources.bad_rows import UNREADABLE
from lakehold.kit.errors import InvalidInputError

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
