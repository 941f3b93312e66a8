"""Settings come from the environment, and each of them is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakehold.kit import settings
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")


def test_every_setting_is_documented_with_its_default() -> None:
    documented = dict(re.findall(r"^\| `LAKEHOLD_(\w+)` \| (.+?) \|", PAGE, re.MULTILINE))
    assert documented.keys() == {name.upper() for name in Settings.model_fields}
    for name, field in Settings.model_fields.items():
        default = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
        # What is empty or a secret is told in words.
        if default and "*" not in default.replace("local[*]", ""):
            assert documented[name.upper()] == f"`{default}`", name


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOLD_PORT", "9000")
    monkeypatch.setenv("LAKEHOLD_ADDRESS", "http://127.0.0.1/hold/")
    assert settings.load_settings().port == 9000
    assert settings.load_settings().base_url == "http://127.0.0.1/hold"


@pytest.mark.parametrize(("name", "value"), [("PORT", "many"), ("PORT", "70000"), ("SESSION_DAYS", "0")])
def test_what_cannot_be_used_is_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"LAKEHOLD_{name}", value)
    with pytest.raises(InvalidInputError, match=f"LAKEHOLD_{name}"):
        settings.load_settings()


EARLIER = """
    data=d database=sqlite:///d key=k host=::1 port=1 address=http://localhost smtp=smtp://h mail_from=a@b
    session_days=1 invite_days=1 link_minutes=1 worker_silence=2 spark=local[1] spark_memory=2g warehouse=w volumes=v
    upload_megabytes=1 private_addresses=true databases=jdbc:mysql://localhost:3306 drivers=j runs_at_once=1
    queries_at_once=1 query_seconds=1 query_rows=1 query_megabytes=1 query_patience=1 snapshot_days=1
    dropped_days=1 result_days=1 trusted_proxies=p
"""
"""The settings of commit 6be130b, each with a value that is not its default."""


@pytest.mark.parametrize("setting", EARLIER.split())
def test_a_setting_of_an_earlier_release_is_read(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, value = setting.partition("=")
    before = settings.load_settings().environment()
    monkeypatch.setenv(f"LAKEHOLD_{name.upper()}", value)
    after = settings.load_settings().environment()
    assert {changed for changed in after if after[changed] != before[changed]} == {f"LAKEHOLD_{name.upper()}"}
    assert after[f"LAKEHOLD_{name.upper()}"].lower() == value
