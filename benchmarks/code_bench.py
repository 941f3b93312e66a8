"""Access as code: reading a folder of files, and evaluating a thousand assertions in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import yaml

from benchmarks.figures import Figure, Result, Sample, measure
from lakehold.access_as_code import parser, read_files, run_files

ASSERTIONS = 1_000
MOST = 2.0
_MEMBERS, _GROUPS, _LAYERS, _TABLES = 200, 20, 10, 100
_RUN = (
    "import sys; from lakehold.access_as_code import read_files, run_files;"
    " sys.exit(run_files(read_files(sys.argv[1])).exit_code)"
)
_PARSE = (
    "import sys, yaml, pathlib\n"
    "for file in pathlib.Path(sys.argv[1]).rglob('*.yaml'):\n"
    "    for event in yaml.parse(file.read_text(encoding='utf-8'), Loader=yaml.CSafeLoader): pass"
)
_NOTE = (
    f"Access as code: {_MEMBERS} members, {_GROUPS} groups, {_LAYERS * _TABLES:,} tables and {ASSERTIONS:,} assertions;"
    " the floor only parses the same YAML."
)


def run(say: Callable[[str], None]) -> Iterator[list[Result]]:
    """Measure in one process, and including the start of a process."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files().items():
            (folder / file).write_text(text, encoding="utf-8")
        report = run_files(read_files(folder))
        assert report.exit_code == 0
        assert report.questions == ASSERTIONS
        yield measure(list(_figures(folder)), say)


def _figures(folder: Path) -> Iterator[Figure]:
    yield Figure(
        "test 1,000 assertions, files read and asked",
        _timed_sample(lambda: run_files(read_files(folder))),
        floor={"parse the YAML": _timed_sample(lambda: _parse_folder(folder))},
        most=MOST,
        note=_NOTE,
    )
    yield Figure(
        "the same in a process of its own",
        _timed_sample(lambda: _process(_RUN, folder)),
        floor={"start Python, parse the YAML": _timed_sample(lambda: _process(_PARSE, folder))},
        most=MOST,
        note=_NOTE,
    )


def _timed_sample(ctx: Callable[[], object]) -> Sample:
    def sample() -> float:
        start = perf_counter()
        ctx()
        return perf_counter() - start

    return sample


def _parse_folder(folder: Path) -> None:
    for file in folder.rglob("*.yaml"):
        for _ in yaml.parse(file.read_text(encoding="utf-8"), Loader=parser.LOADER):
            pass


def _process(code: str, folder: Path) -> None:
    """Run code in a process with compiled bytecode, as installed."""
    compiled = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / ".compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, env=compiled)  # noqa: S603 - our own text


def files() -> dict[str, str]:
    """Return the files of a company and its assertions."""
    return {
        "tenant.yaml": "tenant: {name: Acme, owner: m0}\n",
        "people.yaml": "\n".join(_people()) + "\n",
        "lake.yaml": "\n".join(_lake()) + "\n",
        "tests.yaml": "\n".join(_tests()) + "\n",
    }


def _people() -> Iterator[str]:
    yield "members:"
    yield from (f'  m{number}: {{name: "Member {number}"}}' for number in range(_MEMBERS))
    yield "groups:"
    for group in range(_GROUPS):
        yield f"  g{group}: {{members: [{', '.join(f'm{n}' for n in range(_MEMBERS) if n % _GROUPS == group)}]}}"


def _lake() -> Iterator[str]:
    yield "workspaces:\n  lake:\n    kind: lakehouse.lakehouse"
    yield f"    member: [{', '.join(f'g{group}' for group in range(_GROUPS))}]"
    yield "    holds:\n      layer:"
    for layer in range(_LAYERS):
        yield f"        layer{layer}:\n          editor: g{layer}\n          viewer: [g{layer + _LAYERS}, m{layer}]"
        yield "          holds:\n            table:"
        yield from (f"              t{layer}_{table}: {{}}" for table in range(_TABLES))


def _tests() -> Iterator[str]:
    """Editors of a layer edit its tables; viewers do not."""
    yield "tests:"
    for number in range(ASSERTIONS):
        layer, table = number % _LAYERS, number // _LAYERS % _TABLES
        edits = number % 3 > 0
        member = (layer if edits else layer + _LAYERS) + _GROUPS * (number % (_MEMBERS // _GROUPS - 1) + 1)
        yield f"  - name: table {table} of layer {layer}, assertion {number}"
        yield f"    who: m{member}\n    {'can' if edits else 'cannot'}: edit\n    on: t{layer}_{table}"
