"""How Spark's JVM is started: what it is given, where it listens, and where it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakehold.kit.settings import load_settings
from lakehold.lake.spark import runtime, setup_programs
from lakehold.lake.spark.runtime import SparkOptions

SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET")
CLUSTER = {"HADOOP_CREDSTORE_PASSWORD", "KUBECONFIG"}
OTHERS = (*CLUSTER, "AWS_REGION", "AZURE_TENANT_ID", "GOOGLE_APPLICATION_CREDENTIALS")


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
    for name in (*SECRETS, *OTHERS):
        monkeypatch.setenv(name, f"value of {name}")
    return found


@pytest.mark.parametrize(
    ("warehouse", "spark", "given"),
    [
        ("", "local[2]", set()),
        ("/srv/warehouse", "local[2]", set()),
        ("file:///srv/warehouse", "local[2]", set()),
        ("/srv/warehouse", "yarn", CLUSTER),
        ("s3a://shop/rows", "local[2]", CLUSTER | {"AWS_REGION", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}),
        ("abfss://rows@shop.example", "local[2]", CLUSTER | {"AZURE_TENANT_ID", "AZURE_CLIENT_SECRET"}),
        ("gs://shop/rows", "local[2]", CLUSTER | {"GOOGLE_APPLICATION_CREDENTIALS"}),
    ],
)
def test_java_gets_the_variables_of_its_store_and_cluster_and_their_secrets_as_settings(
    warehouse: str, spark: str, given: set[str], started: list[Started], tmp_path: Path
) -> None:
    options = SparkOptions.from_settings(load_settings(data=tmp_path, warehouse=warehouse, spark=spark))
    runtime.launch(options)
    assert started[0].environment.keys() & {*SECRETS, *OTHERS} == given - {*SECRETS}
    assert set(options.secrets().values()) == {f"value of {name}" for name in given & {*SECRETS}}
    assert "value of" not in " ".join(started[0].command)


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
