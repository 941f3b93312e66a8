"""The context of one attempt of a job: its options, its progress, and its output file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.runs.jobs import table


@dataclass(frozen=True, slots=True)
class JobContext:
    """One attempt of one job."""

    platform: Platform
    row: table.JobRow
    folder: Path

    @property
    def options(self) -> Mapping[str, object]:
        """The options of the job."""
        found: Mapping[str, object] = json.loads(self.row.wanted)
        return found

    @property
    def caller(self) -> Caller:
        """The caller that the job runs as."""
        return table.load_caller(self.row)

    def report_progress(self, progress: int, activity: str) -> None:
        """Store the progress of the job and what it is doing."""
        with self.platform.database.write() as transaction:
            table.update_job(transaction, self.row.id, {"progress": progress, "doing": activity})

    @contextmanager
    def temporary_folder(self) -> Iterator[Path]:
        """Yield an empty temporary folder, without what an earlier attempt left there."""
        folder = self.folder / f"{self.row.id}.rough"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish_file(self, made: Path) -> Path:
        """Move a finished file to its final place."""
        return made.replace(self.folder / f"{self.row.id}{made.suffix}")
