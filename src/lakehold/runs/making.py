"""What a job is made with: the installation, what was asked for, and a file that is there whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.runs import book


@dataclass(frozen=True, slots=True)
class Making:
    """One try of one job."""

    platform: Platform
    row: book.JobRow
    folder: Path

    @property
    def asked(self) -> Mapping[str, object]:
        """What is wanted."""
        found: Mapping[str, object] = json.loads(self.row.wanted)
        return found

    @property
    def caller(self) -> Caller:
        """As whom it runs."""
        return book.caller_of(self.row)

    def tell(self, progress: int, doing: str) -> None:
        """Write down how far it is."""
        with self.platform.database.write() as transaction:
            book.move(transaction, self.row.id, {"progress": progress, "doing": doing})

    @contextmanager
    def rough(self) -> Iterator[Path]:
        """An empty folder to work in. What an earlier try left there is gone."""
        rough = self.folder / f"{self.row.id}.rough"
        shutil.rmtree(rough, ignore_errors=True)
        rough.mkdir()
        try:
            yield rough
        finally:
            shutil.rmtree(rough, ignore_errors=True)

    def finish(self, made: Path) -> Path:
        """Put a file into its place."""
        return made.replace(self.folder / f"{self.row.id}{made.suffix}")
