"""Log lines in JSON. They never contain what a request sent.

The route is logged as its template (`/api/v1/invites/{secret}`), never as the actual path, because the secret of a
link is part of the path. Of an error only its type and traceback locations are logged, never its message.
"""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

request_log = logging.getLogger("lakehold.requests")
error_log = logging.getLogger("lakehold.errors")

_MAX_FRAMES = 12


class JsonLineFormatter(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        entry.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[0] is not None:
            entry["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-_MAX_FRAMES:]
            entry["raised_at"] = [
                f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} {frame.name}" for frame in frames
            ]
        return json.dumps(entry, ensure_ascii=False, default=str)


def configure_logging(level: int = logging.INFO) -> None:
    """Write the log of the whole process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLineFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("lakehold").setLevel(level)
    logging.getLogger("uvicorn").setLevel(level)
    # It logs URLs as they were requested.
    logging.getLogger("uvicorn.access").disabled = True
