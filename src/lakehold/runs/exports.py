"""The audit log as a file of JSON lines, oldest first, each with its number and hash."""

from __future__ import annotations

from pathlib import Path

from lakehold.runs import kinds
from lakehold.runs.making import Making

_TOLD_EVERY = 50_000


def make(making: Making) -> tuple[Path, int]:
    """Write what was asked for; the file, and how many lines it has."""
    with making.rough() as rough, making.platform.read(making.caller) as ctx:
        file, lines = rough / "audit.jsonl", 0
        with file.open("w", encoding="utf-8") as out:
            for line in ctx.audit.export(kinds.filter_of(making.asked)):
                out.write(line + "\n")
                lines += 1
                if lines % _TOLD_EVERY == 0:
                    making.tell(50, f"{lines:,} lines")
        return making.finish(file), lines
