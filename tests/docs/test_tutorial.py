"""The five-minute tutorial, line by line: what stands in it is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from os import environ
from pathlib import Path

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_line_of_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    steps = list(_steps(TUTORIAL.read_text(encoding="utf-8")))
    said = _run(tmp_path, [command for command, _ in steps])
    assert len(steps) == len(said) > 15
    for (command, expected_output), heard in zip(steps, said, strict=True):
        assert _fits(expected_output, heard), f"$ {command}\n--- shown\n{expected_output}\n--- heard\n{heard}"


def _steps(text: str) -> Iterator[tuple[str, str]]:
    """Each command, with what it prints."""
    for block in _BLOCK.finditer(text):
        for step in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
            command, _, expected_output = step.partition("\n")
            yield command, expected_output


def _run(folder: Path, commands: list[str]) -> list[str]:
    """All in one shell, as a person would type them; a line that cannot be mistaken stands between."""
    mark = "== next =="
    script = "\n".join(f"{command}\necho '{mark}'" for command in commands)
    path = f"{Path(sys.executable).parent}:{environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - the tutorial is our own
        ["/bin/sh", "-c", script],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder), "COLUMNS": "120", "NO_COLOR": "1", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split(f"{mark}\n")[:-1]


def _fits(expected_output: str, heard: str) -> bool:
    """Word by word, but for `…`, which stands for anything."""
    parts = (re.escape(part) for part in expected_output.split("…"))
    return re.fullmatch(".*".join(parts), heard, re.DOTALL) is not None
