"""The Spark session of a worker: started when the first review needs it, and kept warm."""

from __future__ import annotations

import os
from threading import Lock

from pyspark.sql import SparkSession

_lock = Lock()
_started: list[SparkSession] = []


def session(master: str) -> SparkSession:
    """The one session of this process."""
    with _lock:
        if not _started:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            _started.append(
                SparkSession.builder.appName("lakehold")
                .master(master)
                .config("spark.ui.enabled", "false")
                .config("spark.ui.showConsoleProgress", "false")
                .config("spark.log.level", "ERROR")
                .getOrCreate()
            )
        return _started[0]


def stop() -> None:
    """End it, if it was ever started."""
    with _lock:
        while _started:
            _started.pop().stop()
