"""Good rows and bad ones, told apart in one reading of their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from lakehold.pipeline.connectors.inward.reasons import KEPT, LONGEST

MALFORMED = "_lakehold_malformed"
"""Where Spark's parsers put the text that they could not read."""
OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
_PARSED, _NUMBER, _BAD = "_lakehold_parsed", "_lakehold_number", "_lakehold_bad"


def readable(text: Column) -> Column:
    """Whether a text can be parsed at all; a parser is not given others."""
    # Its bytes are known, its characters would have to be counted.
    return (f.octet_length(text) <= LONGEST) & f.is_valid_utf8(text)


def told_apart(
    texts: DataFrame,
    parsed: Column,
    bad: Column,
    good: Callable[[Column], Sequence[Column]],
    reason: Callable[[str, int], str],
) -> tuple[DataFrame, DataFrame]:
    """The good rows, and the bad ones with reason and text, of texts with the columns `raw` and `place`.

    What is bad is told of `what_was_parsed`; a text that is not readable is parsed as nothing, and nothing is bad.
    """
    both = (
        texts.select("raw", "place", parsed.alias(_PARSED), f.monotonically_increasing_id().alias(_NUMBER))
        # The number keeps the choice of rows behind the parser: before it, each text would be parsed twice.
        .select("*", f.coalesce(bad, f.lit(True)).alias(_BAD))
    )
    here = f.col(_NUMBER) >= 0
    rows = both.filter(~f.col(_BAD) & here).select(*good(f.col(_PARSED)))
    return rows, _with_reason(both.filter(f.col(_BAD) & here), reason)


def what_was_parsed() -> Column:
    """What the parser made of a text."""
    return f.col(_PARSED)


def explained(reason: Callable[[str, int], str]) -> Callable[..., Column]:
    """The reason as Spark asks for it, of a text and its length: beside Spark, and once for each."""
    asked = f.udf(reason, "string", useArrow=False)
    return asked.asNondeterministic()


def _with_reason(rows: DataFrame, reason: Callable[[str, int], str]) -> DataFrame:
    text = f.make_valid_utf8("raw")
    # A text of ordinary length is looked at as a whole; of a very long one it is enough to know that it is.
    whole = f.when(f.octet_length("raw") <= LONGEST, text).otherwise(f.substring(text, 1, KEPT))
    said = explained(reason)(whole, f.octet_length("raw"))
    cut = f.when(f.length(text) > KEPT, f.concat(f.substring(text, 1, KEPT), f.lit("…"))).otherwise(text)
    return rows.select(said.alias("reason"), cut.alias("raw"), "place")
