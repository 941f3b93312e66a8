"""How Spark's JVM is started: what it is given, where it listens, and where it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakehold.lake.spark import runtime, setup_programs


class Started:
    """A process that is never started, with what it would be."""

    def __init__(self, command: list[str], **options: Any) -> None:  # noqa: ANN401 - as Popen has them
        self.command = command
        self.environment: dict[str, str] = options["env"]
        self.umask: int = options["umask"]

    def communicate(self) -> None:
        """End at once."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Started]:
    found: list[Started] = []

    def start(command: list[str], **options: Any) -> Started:  # noqa: ANN401 - as above
        found.append(Started(command, **options))
        return found[-1]

    monkeypatch.setattr(runtime, "Popen", start)
    monkeypatch.setattr(runtime, "resolve_jars", list)
    return found


def test_jars_are_fetched_by_a_jvm_that_is_started_like_any_other(
    started: list[Started], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "0.0.0.0")  # noqa: S104 - nobody listens there
    monkeypatch.setattr(runtime, "resolve_jars", lambda: pytest.fail("They are not there yet."))
    setup_programs.fetch_jars(str(tmp_path), "org.example:one:1.0")
    (found,) = started
    place = found.environment["TMPDIR"]
    assert found.environment["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert found.umask == 0o077
    assert Path(place).parent == tmp_path / "scratch"
    assert {
        "spark.driver.bindAddress=127.0.0.1",
        "spark.authenticate=true",
        f"spark.local.dir={place}",
        f"spark.jars.ivy={tmp_path}",
        "spark.jars.packages=org.example:one:1.0",
    } <= set(found.command)
