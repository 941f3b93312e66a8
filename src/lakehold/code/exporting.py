"""A tenant to files, and files to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lakehold.access.model.errors import SourceLocation
from lakehold.access.session import AccessSession
from lakehold.code import schema
from lakehold.code.declared import SUFFIXES, texts
from lakehold.code.layout import SCHEMA_FILE, Layout
from lakehold.code.nodes import Table, compose
from lakehold.code.present import present
from lakehold.code.problems import wrong
from lakehold.code.told import Told


def export(session: AccessSession, told: Mapping[str, Told] | None = None) -> dict[str, str]:
    """The files that tell all of the tenant, by name. What is told beside the facts is given by id."""
    company = present(session, told)
    files = Layout(company, session.at).files()
    return {**files, SCHEMA_FILE: schema.text(company.policy)}


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a file: `written`, `removed`, or `kept` because it was right already."""

    file: str
    done: str


def write(folder: Path, files: Mapping[str, str]) -> list[Written]:
    """Bring a folder to these files. Tests that stand in it stay: in their file, or alone if the file has gone."""
    folder.mkdir(parents=True, exist_ok=True)
    there = texts(folder)
    wanted = dict(files)
    for name, text in there.items():
        tests = _tests(text, name)
        if tests:
            wanted[name] = f"{files[name]}\n{tests}" if name in files else _alone(text, tests, name)
    return [*_write(folder, wanted), *_remove(folder, [name for name in there if name not in wanted])]


def _write(folder: Path, files: Mapping[str, str]) -> Iterator[Written]:
    for name, text in sorted(files.items()):
        file, data = _inside(folder, name), text.encode("utf-8")
        if file.is_file() and file.read_bytes() == data:
            yield Written(name, "kept")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        yield Written(name, "written")


def _remove(folder: Path, names: list[str]) -> Iterator[Written]:
    for name in names:
        (folder / name).unlink()
        yield Written(name, "removed")


def _inside(folder: Path, name: str) -> Path:
    """The file of this name, which must lie in the folder: names may come from a server."""
    file = folder / name
    if file.suffix.lower() not in {*SUFFIXES, ".json"} or not file.resolve().is_relative_to(folder.resolve()):
        raise wrong(SourceLocation(name[:80], 1), "this is no name for a file of access as code.")
    return file


def _tests(text: str, name: str) -> str:
    """The section `tests:` of a file, letter by letter."""
    document = compose(text, name)
    if "model" in document.entries or "tests" not in document.entries:
        return ""
    first, last = _lines_of_tests(document)
    return "\n".join(text.splitlines()[first:last]).rstrip() + "\n"


def _lines_of_tests(document: Table) -> tuple[int, int]:
    key = document.entries["tests"][0]
    after = [other.place.line - 1 for other, _ in document.entries.values() if other.place.line > key.place.line]
    return key.place.line - 1, min(after, default=max(document.ends, key.place.line))


def _alone(text: str, tests: str, name: str) -> str:
    """What is left of a file that the company has no use for: its tests. One that never held more stays as it is."""
    return text if set(compose(text, name).entries) == {"tests"} else tests
