"""Every command of an earlier release is still there, with its arguments in their order and its options."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.main import get_command

from lakehold.cli import app

OLD = (Path(__file__).parent / "commands_6be130b.txt").read_text(encoding="utf-8").splitlines()


def test_the_list_is_whole() -> None:
    assert len(OLD) == 78


@pytest.mark.parametrize("line", OLD)
def test_a_command_of_an_earlier_release_is_there(line: str) -> None:
    words = line.split()
    command = get_command(app)
    for verb in (word for word in words if word.islower() and not word.startswith("--")):
        command = command.commands[verb]  # type: ignore[attr-defined]
    options = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options
    arguments = [str(param.name).upper() for param in command.params if param.param_type_name == "argument"]
    assert len([word for word in words if word.isupper()]) == len(arguments)
