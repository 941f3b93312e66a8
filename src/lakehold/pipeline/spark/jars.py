"""The jars that Spark needs beside its own: resolved once, known by their checksums, and kept for the user.

A start takes them from there as plain files and needs no network.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lakehold.kit.errors import UnavailableError

_PATIENCE = 300
_RESOLVER = "lakehold.pipeline.spark.resolving"


@dataclass(frozen=True, slots=True)
class Jar:
    """One file of one version."""

    group: str
    name: str
    version: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """How Maven calls it."""
        return f"{self.group}:{self.name}:{self.version}"

    @property
    def file(self) -> str:
        """How it is called where it is kept."""
        return f"{self.name}-{self.version}.jar"


JARS = (
    Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.12.0",
        "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    ),
    Jar(
        "org.xerial",
        "sqlite-jdbc",
        "3.50.3.0",
        "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08",
    ),
    Jar(
        "org.postgresql",
        "postgresql",
        "42.7.8",
        "2a32a9dcbc42d67a50ad3a0de5efd102c8d2be46720045f2cbd6689f160ab7c7",
    ),
)


def kept() -> Path:
    """The user's folder for them."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lakehold" / "jars"


def files(jars: Iterable[Jar] = JARS, folder: Path | None = None) -> list[Path]:
    """Where they lie. What is missing there, or not what it should be, is fetched."""
    place, wanted = folder or kept(), list(jars)
    missing = [jar for jar in wanted if not _is_right(place / jar.file, jar)]
    if missing:
        place.mkdir(parents=True, exist_ok=True)
        _fetch(missing, place)
    return [place / jar.file for jar in wanted]


def _is_right(file: Path, jar: Jar) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == jar.sha256


def _fetch(jars: list[Jar], place: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: Spark resolves while it starts, and starts once in a process.
        command = [sys.executable, "-m", _RESOLVER, folder, *(jar.coordinate for jar in jars)]
        done = subprocess.run(  # noqa: S603 - our own module, with coordinates from above
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
        found = Path(folder) / "jars"
        for jar in jars:
            fetched = found / f"{jar.group}_{jar.file}"
            if not fetched.is_file():
                said = next((line.strip() for line in reversed(done.stderr.splitlines()) if line.strip()), "")
                raise UnavailableError(
                    f"Spark could not fetch {jar.coordinate}: {said or 'it said nothing'}.",
                    f"Give this machine a way to Maven's central repository, or put {jar.file} into {place}.",
                )
            if not _is_right(fetched, jar):
                raise UnavailableError(
                    f"{jar.coordinate} has another checksum than it should have; it is not used.",
                    "Find out who changed it before you go on.",
                )
            # Under another name first: somebody who starts at the same time sees all of it or nothing.
            rough = place / f"{jar.file}.{os.getpid()}"
            shutil.move(fetched, rough)
            rough.replace(place / jar.file)
