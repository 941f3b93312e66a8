"""`lakehold --help` comes at once, knows everything, and everything in it is documented."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lakehold.cli import app
from lakehold.cli.errors import ExitCode, exit_code_for_status
from lakehold.cli.output import FLAGS, VALUES, move_options_first

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
HEAVY = ("pyspark", "pyarrow", "fastapi", "uvicorn", "starlette", "sqlalchemy", "alembic", "pydantic", "dbos", "httpx")


def commands() -> Iterator[tuple[str, ...]]:
    """Every verb with the words before it."""

    def inside(command: object, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        found = getattr(command, "commands", None)
        if found is None:
            yield words
            return
        for name, inner in found.items():
            yield from inside(inner, (*words, name))

    return inside(get_command(app), ())


def test_help_loads_nothing_that_only_a_verb_needs() -> None:
    text = (
        "import sys\n"
        "from lakehold.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stderr.strip() == "[]"
    assert "check" in done.stdout


def test_a_server_never_loads_spark() -> None:
    text = (
        "import sys\n"
        "import lakehold.cli.server_process, lakehold.api.routers, lakehold.worker.process\n"
        "print([name for name in ('pyspark', 'py4j', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_verb_has_help_and_is_documented(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*words, "--help"])
    assert done.exit_code == 0
    assert "Usage:" in done.output
    assert f"`lakehold {' '.join(words)}" in PAGE, f"docs/reference/cli.md does not name `lakehold {' '.join(words)}`."


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_option_of_a_verb_is_documented(words: tuple[str, ...]) -> None:
    command = get_command(app)
    for word in words:
        command = command.commands[word]  # type: ignore[attr-defined]
    options = {
        name for param in command.params if not getattr(param, "hidden", False) for name in param.opts if "--" in name
    }
    line = next((line for line in PAGE.splitlines() if f"`lakehold {' '.join(words)}" in line), "")
    assert not [name for name in sorted(options - {"--help"}) if name not in line]


def test_options_that_every_verb_has_are_documented() -> None:
    assert not [name for name in sorted(FLAGS | VALUES) if f"`{name}" not in PAGE]


def test_every_exit_code_is_documented() -> None:
    documented = dict(re.findall(r"^\| (\d) \| `(\w+)` \|", PAGE, re.MULTILINE))
    assert documented == {str(code.value): code.name for code in ExitCode}


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, ExitCode.FORBIDDEN),
        (403, ExitCode.FORBIDDEN),
        (404, ExitCode.NOT_FOUND),
        (409, ExitCode.CONFLICT),
        (412, ExitCode.CONFLICT),
        (422, ExitCode.USAGE),
        (500, ExitCode.FAILED),
    ],
)
def test_the_same_refusal_has_the_same_exit_code(status: int, code: ExitCode) -> None:
    assert exit_code_for_status(status) is code


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("check a b c --json", "--json check a b c"),
        ("check --as bob a --tenant=x b c", "--as bob --tenant=x check a b c"),
        ("can me --kind x -- --json", "can me --kind x -- --json"),
        ("check a --url", "--url check a"),
    ],
)
def test_options_of_every_verb_may_stand_anywhere(words: str, first: str) -> None:
    assert move_options_first(words.split()) == first.split()


def test_a_shell_can_complete_verbs() -> None:
    done = CliRunner().invoke(
        app,
        [],
        env={"_LAKEHOLD_COMPLETE": "complete_bash", "COMP_WORDS": "lakehold aud", "COMP_CWORD": "1"},
        prog_name="lakehold",
    )
    assert "audit" in done.output
