"""The classes of Spark as the JVM had them once, so that a start takes half as long.

The archive is made in a process of its own and kept for the user beside the jars. A JVM to which it does not fit, of
another version or with other jars, leaves it alone.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from lakehold.pipeline.spark import homes, jars

_PATIENCE = 300
_MAKER = "lakehold.pipeline.spark.archiving"
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def kept(files: Sequence[Path]) -> Path:
    """Where the one with these jars lies, once it is made."""
    told = [homes.spark_version(), str(homes.spark()), str(homes.java()), *map(str, files)]
    key = hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
    return jars.kept().parent / "archives" / f"{key}.jsa"


def options(file: Path) -> str:
    """What a JVM is told that starts with it. If it is not there, nothing is said and nothing happens."""
    return f"-XX:SharedArchiveFile={file} {_QUIET}"


def options_to_make(file: Path) -> str:
    """What a JVM is told that makes it when it ends."""
    return f"-XX:ArchiveClassesAtExit={file} {_QUIET}"


def class_path(files: Iterable[Path]) -> str:
    """Only what the JVM finds by itself gets into an archive; what Spark adds later does not."""
    return os.pathsep.join(map(str, files))


def make() -> bool:
    """Make it, unless it is there; whether it had to be made."""
    file = kept(jars.files())
    if file.exists():
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    rough = file.with_suffix(f".{os.getpid()}")
    try:
        # Others go first: nobody waits for this.
        command = ["nice", "-n", "19", sys.executable, "-m", _MAKER, str(rough)]
        subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)  # noqa: S603 - our own module
        rough.replace(file)
    finally:
        rough.unlink(missing_ok=True)
    return True
