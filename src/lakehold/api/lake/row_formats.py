"""Converts rows to JSON, CSV or an Arrow stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

from fastapi.responses import StreamingResponse

from lakehold.lake import row_formats
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, QueryRows, RecordBatches

JSON, CSV = "application/json", "text/csv"


def encode_rows(batches: RecordBatches, accept: str, *, complete: bool) -> tuple[str, Iterator[bytes]]:
    """Return the media type to use, and the rows in chunks; JSON if none of the three is accepted."""
    if ARROW_MEDIA_TYPE in accept:
        return ARROW_MEDIA_TYPE, row_formats.as_arrow(batches.schema, batches)
    if CSV in accept:
        return CSV, row_formats.as_csv(batches.schema, batches)
    return JSON, _as_json(batches, complete=complete)


def stream_rows(found: QueryRows, accept: str, stack: ExitStack | None = None, **headers: str) -> StreamingResponse:
    """Return a streaming response of the rows. `stack` is closed after the last one."""
    kind, parts = encode_rows(found.batches, accept, complete=found.complete)
    all_headers = {"X-Lakehold-Complete": str(found.complete).lower(), **headers}
    return StreamingResponse(_close_after(stack, parts) if stack else parts, media_type=kind, headers=all_headers)


def _close_after(stack: ExitStack, parts: Iterator[bytes]) -> Iterator[bytes]:
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
