"""Files into a folder that the platform gives.

A file is made under a rough name in the hidden folder `.lakehold` and moved when it is whole, so that nobody sees half
of one. A receipt stays there: the same delivery, run again, finds it and does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.kit.ids import quote, valid_name
from lakehold.pipeline.connectors.outward.delivered import Delivered, digest
from lakehold.pipeline.connectors.outward.excel import Excel
from lakehold.pipeline.connectors.outward.folder import Folder
from lakehold.pipeline.connectors.outward.plain import checked, plain
from lakehold.pipeline.connectors.outward.separated import Csv
from lakehold.pipeline.connectors.outward.shapes import JsonLines, Parquet, Shape
from lakehold.pipeline.connectors.outward.spool import Spool
from lakehold.pipeline.connectors.outward.trouble import told
from lakehold.pipeline.spark.jvm import within

HOUSE = ".lakehold"
"""The hidden folder: what is being made, and receipts."""
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Files:
    """Where the rows go and what they become there."""

    folder: str
    """From the platform, never from a person."""
    name: str
    """Without its ending. A file of this name that is there is replaced."""
    shape: Shape = field(default_factory=Csv)
    parts: bool = False
    """Whether it may be a folder with several files, as they come from Spark, instead of one file."""
    ours: bool = False
    """Whether a file that is there and was not made so is left as it is."""

    def check(self) -> None:
        """Refuse what cannot be written."""
        name = valid_name(self.name, "name of a file")
        if name.startswith(".") or "/" in name or "\\" in name or name != name.strip():
            raise InvalidInputError(f"A file cannot be called {quote(name)}.", "Leave slashes and leading dots out.")
        if self.parts and isinstance(self.shape, Excel):
            raise InvalidInputError("A workbook is one file.", "Deliver it whole, or choose another kind of file.")
        if isinstance(self.shape, (Csv, Excel)):
            self.shape.check()

    @property
    def file(self) -> str:
        """What it is called in the folder."""
        return self.name if self.parts else f"{self.name}.{self.shape.ending}"


def deliver(rows: DataFrame, how: Files, mark: str) -> Delivered:
    """Write the rows as one file or as several, once for each mark."""
    how.check()
    checked(rows)
    folder, key = Folder(how.folder), digest(mark, how.name, how.shape.ending)
    platform = folder.sub(HOUSE)
    with told(f"The file {quote(how.file)}"):
        if done := platform.note(f"{key}.json"):
            return _receipt(done)
        if how.ours:
            _claim(folder, platform, how)
        rough = platform.sub(key)
        rough.remove()
        rough.make()
        try:
            count, words = _made(rows, how, rough)
            delivered = _placed(rough, folder, how, count, words)
            platform.keep(f"{key}.json", asdict(delivered))
        finally:
            rough.remove()
    return delivered


def _claim(folder: Folder, platform: Folder, how: Files) -> None:
    """A file that is there and was not made here is left alone. Noted before it is placed: whoever dies in between
    finds it again as ours.
    """
    note = f"ours-{digest(how.file)}.json"
    if platform.has(note):
        return
    if folder.has(how.file):
        raise ConflictError(f"There is a file {quote(how.file)} already, and it is not ours to replace.", "Rename one.")
    platform.keep(note, {"file": how.file})


def _made(rows: DataFrame, how: Files, rough: Folder) -> tuple[int, str]:
    """Write it in the rough: how many rows, and what is to be told."""
    if isinstance(how.shape, Excel):
        spool = Spool(rough.sub("spool"))
        spool.fill(plain(rows))
        return spool.count, how.shape.write(spool, rows.columns, rough, how.file)
    spread = rough.sub("spread")
    # In a session of its own, whose zone is UTC whatever the rows' session has.
    own = within(rows.sparkSession.newSession(), rows)
    if isinstance(how.shape, Parquet) and not how.parts:
        own = own.coalesce(1)
    how.shape.spread(own, spread)
    return _assembled(spread, how, rough, rows.columns), ""


def _assembled(spread: Folder, how: Files, rough: Folder, names: list[str]) -> int:
    """Turn what Spark has written into what is delivered, and count the rows in it."""
    parts, shape = spread.parts(), how.shape
    whole = rough.sub(how.file) if how.parts else rough
    groups = [[part] for part in parts] if how.parts else [parts]
    total = 0
    for number, group in enumerate(groups, start=1):
        name = f"part-{number:05}.{shape.ending}" if how.parts else how.file
        if isinstance(shape, Parquet):
            spread.move(group[0], whole, name)
            total += Spool(whole).count_in(name)
        elif not isinstance(shape, Excel):
            total += _join(spread, group, shape, whole, name, shape.head(names))
    return total


def _join(  # noqa: PLR0917 - inner
    spread: Folder, parts: list[str], shape: Csv | JsonLines, to: Folder, name: str, head: bytes
) -> int:
    """One file of several, and how many rows are in it."""
    counter, total = shape.counter(), 0

    def chunks() -> Iterator[bytes]:
        nonlocal total
        yield head
        for part in parts:
            with spread.reading(part) as source:
                while chunk := source.read(_AT_ONCE):
                    total += counter(chunk)
                    yield chunk

    with to.writing(name) as target:
        for chunk in shape.encoded(chunks()):
            target.write(chunk)
    return total


def _placed(rough: Folder, folder: Folder, how: Files, count: int, words: str) -> Delivered:
    """Move what was made to where it is seen."""
    if not how.parts:
        size = rough.size(how.file)
        rough.move(how.file, folder, how.file)
        return Delivered(count, size, (folder.place(how.file),), words=words)
    made = rough.sub(how.file)
    names = made.parts()
    size = sum(made.size(name) for name in names)
    if folder.has(how.file):
        # A folder cannot take the place of another in one step: for a moment there is none.
        folder.move(how.file, rough, "before")
    rough.move(how.file, folder, how.file)
    there = folder.sub(how.file)
    return Delivered(count, size, tuple(there.place(name) for name in names), words=words)


def _receipt(told_then: dict[str, Any]) -> Delivered:
    return Delivered(**{**told_then, "places": tuple(told_then["places"]), "again": True})
