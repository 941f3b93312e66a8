"""The spool: the parts of a table that a gateway has sent, as Parquet files in a folder of their work order.

A part appears at once, with the offset up to which it leads and the process that has sent it in its metadata: what is
acknowledged and what is there are the same, whatever is killed in between.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from lakehold.kit.errors import ConflictError, UnavailableError

_METADATA = b"lakehold"
_OWNER_ONLY = 0o700


class PartsDifferError(Exception):
    """A part has other columns than those before: the table was altered after these had been sent."""


@dataclass(frozen=True, slots=True)
class SpoolState:
    """The part of a table that has arrived."""

    parts: int
    offset: Sequence[str | None]
    """The key of the last row; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Spool:
    """The parts of one work order."""

    folder: Path

    def state(self) -> SpoolState:
        """Return how many parts there are, and how far they lead."""
        count = len(self._files())
        return SpoolState(count, self._metadata(count)["offset"] if count else [])

    def totals(self) -> tuple[int, int]:
        """Return the number of rows, and the size of the files."""
        files = self._files()
        return sum(pq.read_metadata(each).num_rows for each in files), sum(each.stat().st_size for each in files)

    def add(
        self, part: int, schema: pa.Schema, batches: Iterable[pa.RecordBatch], offset: Sequence[object], instance: str
    ) -> bool:
        """Store a part, and return whether it was not there. It has to follow the last one, or be that one again."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=_OWNER_ONLY)
        fresh = self.folder / f"{uuid4().hex}.new"
        metadata = {_METADATA: json.dumps({"offset": list(offset), "instance": instance})}
        try:
            with fresh.open("wb") as out:
                with pq.ParquetWriter(out, schema.with_metadata(metadata), use_dictionary=False) as writer:
                    for batch in batches:
                        writer.write_batch(batch.replace_schema_metadata(metadata))
                out.flush()
                os.fsync(out.fileno())
            self._need_same_columns(fresh, part)
            return self._link(fresh, part, instance)
        finally:
            fresh.unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete all parts."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def hold(self, parts: int) -> Iterator[None]:
        """Keep the parts from being cleaned up inside, or refuse if they have been."""
        gone = UnavailableError("The rows that the gateway had sent were cleaned up.", "Run it again.")
        try:
            folder = os.open(self.folder, os.O_RDONLY)
        except FileNotFoundError:
            raise gone from None
        try:
            fcntl.flock(folder, fcntl.LOCK_SH)
            if len(self._files()) != parts:
                raise gone
            yield
        finally:
            os.close(folder)

    def clean_up(self) -> None:
        """Delete all parts, unless somebody holds them."""
        with suppress(FileNotFoundError, BlockingIOError):
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.clear()
            finally:
                os.close(folder)

    def _need_same_columns(self, fresh: Path, part: int) -> None:
        before = self._file(part - 1)
        if before.exists() and not pq.read_schema(before).equals(pq.read_schema(fresh)):
            raise PartsDifferError

    def _link(self, fresh: Path, part: int, instance: str) -> bool:
        count = len(self._files())
        if part == count + 1:
            try:
                os.link(fresh, self._file(part))
            except FileExistsError:
                count = part
            else:
                return True
        # The answer was lost, and the same process sends it again.
        if 1 <= part <= count and self._metadata(part)["instance"] == instance:
            return False
        raise ConflictError(f"Part {part} does not follow part {count}.", "Take the work order again.")

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _file(self, part: int) -> Path:
        return self.folder / f"part-{part:08}.parquet"

    def _metadata(self, part: int) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads((pq.read_schema(self._file(part)).metadata or {})[_METADATA])
        return found
