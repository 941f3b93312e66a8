from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakehold.cli import app


def test_the_tour_walks_through_the_five_questions() -> None:
    result = CliRunner().invoke(app, ["tour"])
    assert result.exit_code == 0, result.output
    for title in ("check", "list", "who", "explain", "what-if"):
        assert f"\n{title}  " in result.output
    assert "granted by" in result.output


def test_the_company_can_be_kept_and_shown_again(tmp_path: Path) -> None:
    file = tmp_path / "demo.sqlite"
    first, second = (CliRunner().invoke(app, ["tour", "--database", f"sqlite:///{file}"]) for _ in range(2))
    assert first.exit_code == second.exit_code == 0, first.output
    assert first.output == second.output
    assert file.stat().st_size > 0


@pytest.mark.parametrize(
    ("url", "words", "code"),
    [("mysql://somewhere/x", "not supported", 2), ("sqlite:////no/such/folder/x", "cannot be", 6)],
)
def test_a_database_that_cannot_be_used_is_told_in_a_sentence(url: str, words: str, code: int) -> None:
    result = CliRunner().invoke(app, ["tour", "--database", url])
    assert result.exit_code == code
    assert words in result.output
    assert "Traceback" not in result.output


def test_docs_writes_a_page_for_each_model(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["docs", "--folder", str(tmp_path / "access")])
    assert result.exit_code == 0, result.output
    assert {page.stem for page in (tmp_path / "access").iterdir()} == {
        "tenant",
        "marts",
        "lakehouse",
        "spaces",
        "products",
    }
    assert CliRunner().invoke(app, ["docs", "--folder", str(tmp_path / "access")]).output == ""
