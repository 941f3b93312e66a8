"""Rows that were cut say so in the body, in each format: headers are lost in files and pipes."""

import asyncio
import json
from contextlib import nullcontext

import pyarrow as pa
import pytest

from lakehold.api.lake.queries import CSV, JSON, stream_query
from lakehold.runs.worker_client import ARROW_MEDIA_TYPE, CountedBatches, QueryRows

NEXT = "/next?cursor=2"


def stream(accept: str, *, complete: bool, next_page: str = "") -> bytes:
    rows = pa.table({"id": [1, 2]}).to_reader()
    response = stream_query(nullcontext(QueryRows(CountedBatches(rows), complete, next_page)), accept)
    assert response.headers["x-lakehold-complete"] == str(complete).lower()

    async def read() -> bytes:
        return b"".join([bytes(part) async for part in response.body_iterator])  # type: ignore[arg-type]

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("complete", "next_page", "note"),
    [(True, "", {}), (False, "", {}), (False, NEXT, {"next": NEXT})],
)
def test_json(complete: bool, next_page: str, note: dict[str, str]) -> None:
    found = json.loads(stream(JSON, complete=complete, next_page=next_page))
    expected = {"fields": [{"name": "id", "type": "int64"}], "complete": complete, "rows": [[1], [2]]}
    assert found == {**expected, **note}


@pytest.mark.parametrize(
    ("complete", "next_page", "last"),
    [(True, "", ""), (False, "", "# There are more rows.\n"), (False, NEXT, f"# There are more rows: {NEXT}\n")],
)
def test_csv(complete: bool, next_page: str, last: str) -> None:
    assert stream(CSV, complete=complete, next_page=next_page).decode() == f"id\n1\n2\n{last}"


@pytest.mark.parametrize(
    ("complete", "next_page", "metadata"),
    [(True, "", None), (False, "", {b"lakehold.complete": b"false"}), (False, NEXT, {b"lakehold.next": NEXT.encode()})],
)
def test_arrow(complete: bool, next_page: str, metadata: dict[bytes, bytes] | None) -> None:
    found = pa.ipc.open_stream(stream(ARROW_MEDIA_TYPE, complete=complete, next_page=next_page)).read_all()
    assert (found.schema.metadata, found.column("id").to_pylist()) == (metadata, [1, 2])
