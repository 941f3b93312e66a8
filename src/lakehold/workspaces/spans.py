"""A part of what a run does: from here to there."""

from __future__ import annotations

from lakehold.kit.errors import InvalidInputError
from lakehold.runs.runnable import RunOptions


def whole(wanted: RunOptions, word: str) -> None:
    """Refuse a part of what is done as a whole each time."""
    if wanted.span is not None:
        raise InvalidInputError(
            f"A {word} is not run over a span.",
            "Backfill a source that is read by a cursor, or a query that names one; then run this.",
        )
