"""Rows as the caller wants them: JSON, CSV or an Arrow stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

from fastapi.responses import StreamingResponse

from lakehold.lake import row_formats
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows, RecordBatches

JSON, CSV = "application/json", "text/csv"


def written(batches: RecordBatches, accept: str, *, complete: bool) -> tuple[str, Iterator[bytes]]:
    """The kind that was asked for, and the rows bit by bit; JSON if none of the three was."""
    if ARROW_MEDIA_TYPE in accept:
        return ARROW_MEDIA_TYPE, row_formats.as_arrow(batches.schema, batches)
    if CSV in accept:
        return CSV, row_formats.as_csv(batches.schema, batches)
    return JSON, _as_json(batches, complete=complete)


def streamed(found: QueryRows, accept: str, stack: ExitStack | None = None, **headers: str) -> StreamingResponse:
    """The answer, bit by bit. What the rows come from is let go behind the last."""
    kind, parts = written(found.batches, accept, complete=found.complete)
    told = {"X-Lakehold-Complete": str(found.complete).lower(), **headers}
    return StreamingResponse(_closing(stack, parts) if stack else parts, media_type=kind, headers=told)


def _closing(stack: ExitStack, parts: Iterator[bytes]) -> Iterator[bytes]:
    with stack:
        yield from parts


def _as_json(batches: RecordBatches, *, complete: bool) -> Iterator[bytes]:
    head = json.dumps({"fields": row_formats.describe_fields(batches.schema), "complete": complete}, ensure_ascii=False)
    yield f'{head[:-1]}, "rows": ['.encode()
    between = ""
    for batch in batches:
        some = ", ".join(json.dumps(row, ensure_ascii=False) for row in row_formats.rows_as_lists([batch]))
        if some:
            yield f"{between}{some}".encode()
            between = ", "
    yield b"]}"
