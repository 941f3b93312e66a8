"""Locates Spark, Java, the extra jars and the class data archive on this machine, without importing PySpark.

Jars are resolved once, verified by checksum and cached for the user, so that a later start needs no network. The class
data archive (AppCDS) halves the start-up time; it is built in a process of its own. A JVM that it does not fit, of
another version or with other jars, ignores it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from lakehold.kit.errors import UnavailableError


@cache
def spark_home() -> Path:
    """Return the folder of the Spark distribution that PySpark brings."""
    found = find_spec("pyspark")
    assert found is not None  # noqa: S101 - a dependency
    assert found.origin is not None  # noqa: S101 - and no namespace
    return Path(found.origin).parent


def java_program() -> Path:
    """Return the path of the `java` program."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home) / "bin" / "java" if home else shutil.which("java")
    if not found:
        raise UnavailableError("There is no Java on this machine.", "Install Java 17, or set JAVA_HOME.")
    return Path(found).resolve()


_FETCH_TIMEOUT = 300
_PROGRAMS = "lakehold.lake.spark.setup_programs"


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar of one version, with its checksum."""

    group: str
    name: str
    version: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """Maven coordinate of the jar."""
        return f"{self.group}:{self.name}:{self.version}"

    @property
    def file(self) -> str:
        """File name of the jar in the cache."""
        return f"{self.name}-{self.version}.jar"


JARS = (
    Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.12.0",
        "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    ),
    Jar("org.xerial", "sqlite-jdbc", "3.50.3.0", "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08"),
    Jar("org.postgresql", "postgresql", "42.7.8", "2a32a9dcbc42d67a50ad3a0de5efd102c8d2be46720045f2cbd6689f160ab7c7"),
)


def jar_folder() -> Path:
    """Return the user's cache folder for jars."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lakehold" / "jars"


def resolve_jars(jars: Iterable[Jar] = JARS, folder: Path | None = None) -> list[Path]:
    """Return the paths of the jars, fetching those that are missing or have a wrong checksum."""
    place, required = folder or jar_folder(), list(jars)
    missing = [jar for jar in required if not _has_checksum(place / jar.file, jar)]
    if missing:
        place.mkdir(parents=True, exist_ok=True)
        _fetch(missing, place)
    return [place / jar.file for jar in required]


def _has_checksum(file: Path, jar: Jar) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == jar.sha256


def _fetch(jars: list[Jar], place: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: Spark resolves while it starts, and starts once in a process.
        command = [sys.executable, "-m", _PROGRAMS, "jars", folder, *(jar.coordinate for jar in jars)]
        done = subprocess.run(  # noqa: S603 - our own module, with coordinates from above
            command, capture_output=True, text=True, timeout=_FETCH_TIMEOUT, check=False
        )
        found = Path(folder) / "jars"
        for jar in jars:
            fetched = found / f"{jar.group}_{jar.file}"
            if not fetched.is_file():
                last_line = next((line.strip() for line in reversed(done.stderr.splitlines()) if line.strip()), "")
                message = f"Spark could not fetch {jar.coordinate}: {last_line or 'it said nothing'}."
                hint = f"Give this machine a way to Maven's central repository, or put {jar.file} into {place}."
                raise UnavailableError(message, hint)
            if not _has_checksum(fetched, jar):
                message = f"{jar.coordinate} has another checksum than it should have; it is not used."
                raise UnavailableError(message, "Find out who changed it before you go on.")
            # Under another name first: somebody who starts at the same time sees all of it or nothing.
            partial = place / f"{jar.file}.{os.getpid()}"
            shutil.move(fetched, partial)
            partial.replace(place / jar.file)


_ARCHIVE_TIMEOUT = 300
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""What keeps a JVM from talking about its archive."""


def archive_file(files: Sequence[Path]) -> Path:
    """Return the path of the class data archive for these jars, whether or not it exists."""
    parts = [version("pyspark"), str(spark_home()), str(java_program()), *map(str, files)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return jar_folder().parent / "archives" / f"{key}.jsa"


def build_archive() -> bool:
    """Build the archive unless it exists; return whether it was built."""
    file = archive_file(resolve_jars())
    if file.exists():
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}")
    try:
        # Others go first: nobody waits for this.
        command = ["nice", "-n", "19", sys.executable, "-m", _PROGRAMS, "archive", str(partial)]
        subprocess.run(command, check=True, capture_output=True, timeout=_ARCHIVE_TIMEOUT)  # noqa: S603 - our own module
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return True
