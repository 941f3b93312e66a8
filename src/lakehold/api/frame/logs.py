"""One line of JSON for each thing that happened. What a request says is never in it, only what it was.

The route is written as its template (`/api/v1/invites/{secret}`), never as the address that was asked for: a link's
secret is part of the address. Of an error only its type and where it was raised are told, never its words.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType

requests = logging.getLogger("lakehold.requests")
errors = logging.getLogger("lakehold.errors")

_FRAMES = 12


class Lines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        told.update(getattr(record, "told", {}))
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            told["raised_at"] = places(record.exc_info[2])
        return json.dumps(told, ensure_ascii=False, default=str)


def places(found: TracebackType | None) -> list[str]:
    """Where it was raised, innermost last."""
    frames = traceback.extract_tb(found)[-_FRAMES:]
    return [f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} {frame.name}" for frame in frames]


def install(level: int = logging.INFO) -> None:
    """Write the lines of the whole process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("lakehold").setLevel(level)
    logging.getLogger("uvicorn").setLevel(level)
    # It writes addresses as they were asked for.
    logging.getLogger("uvicorn.access").disabled = True
