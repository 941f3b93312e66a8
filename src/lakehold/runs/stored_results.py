"""Results of queries that are stored by a worker and read in pages: all pages of one result are of one moment.

They are Arrow files in the data folder, each with a note of what it belongs to, and are deleted when nobody has read
them for an hour.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakehold.directory.platform import Platform
from lakehold.kit.errors import ConflictError
from lakehold.kit.settings import Settings
from lakehold.runs.worker_client import CountedBatches, QueryRows

MAX_BYTES = 2_000_000_000
"""The size of a result at most."""
RETENTION_SECONDS = 3600
_NAME = re.compile(r"[0-9a-f]{32}")
_ANY = "0" * 32
_OWNER_ONLY = 0o700


def result_file(settings: Settings, name: str) -> Path:
    """Return the file of a stored result, in a folder that only the platform's user reads."""
    if not _NAME.fullmatch(name):
        raise _expired_error()
    folder = settings.data / "pulls"
    folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
    return folder / f"{name}.arrow"


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A stored result."""

    file: Path
    about: Mapping[str, Any]
    """What it belongs to."""

    @contextmanager
    def open_page(self, start: int, count: int) -> Iterator[QueryRows]:
        """Open so many rows from a place on. A result whose last row is among them is deleted afterwards."""
        try:
            os.utime(self.file)
        except FileNotFoundError:
            raise _expired_error() from None
        with pa.memory_map(str(self.file)) as source:
            reader = pa.ipc.open_file(source)
            page = _Page(reader, start, start + count)
            complete = start + count >= sum(reader.get_batch(n).num_rows for n in range(reader.num_record_batches))
            yield QueryRows(CountedBatches(page), complete)
        if complete and not start:
            # Nobody was told of more pages.
            delete(self.file)


@dataclass(frozen=True, slots=True)
class _Page:
    reader: pa.ipc.RecordBatchFileReader
    start: int
    end: int

    @property
    def schema(self) -> pa.Schema:
        return self.reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        here = 0
        for number in range(self.reader.num_record_batches):
            batch = self.reader.get_batch(number)
            first, last = max(self.start - here, 0), min(self.end - here, batch.num_rows)
            if first < last:
                yield batch.slice(first, last - first)
            here += batch.num_rows


def annotate(settings: Settings, name: str, about: Mapping[str, Any]) -> StoredResult:
    """Store what a new result belongs to, and return it."""
    file = result_file(settings, name)
    file.with_suffix(".json").write_text(json.dumps(dict(about)))
    return StoredResult(file, about)


def load(settings: Settings, name: str) -> StoredResult:
    """Return a stored result; refused if it is gone."""
    file = result_file(settings, name)
    try:
        about = json.loads(file.with_suffix(".json").read_text())
    except FileNotFoundError:
        raise _expired_error() from None
    return StoredResult(file, about)


def make_room(settings: Settings, owner: str, most: int) -> None:
    """Delete the results of an owner that were unused longest, if it has more than so many."""
    own: list[tuple[float, Path]] = []
    for note in result_file(settings, _ANY).parent.glob("*.json"):
        # Another process may be deleting it.
        with suppress(FileNotFoundError):
            if json.loads(note.read_text())["owner"] == owner:
                file = note.with_suffix(".arrow")
                own.append((file.stat().st_mtime, file))
    for _, file in sorted(own)[:-most]:
        delete(file)


def delete(file: Path) -> None:
    """Delete a result. Who reads it at this moment reads on."""
    for each in (file.with_suffix(".json"), file):
        with suppress(FileNotFoundError):
            each.unlink()


def delete_unused(platform: Platform) -> int:
    """Delete the results that nobody has read for an hour; return how many."""
    before, count = time.time() - RETENTION_SECONDS, 0
    for file in result_file(platform.settings, _ANY).parent.glob("*.arrow*"):
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < before:
                delete(file)
                count += 1
    return count


def _expired_error() -> ConflictError:
    return ConflictError("The rows of this pull are gone.", "Start again from its first page.")
