"""Exports a tenant to files, and writes files to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lakehold.access.model.errors import SourceLocation
from lakehold.access.session import AccessSession
from lakehold.access_as_code import json_schema
from lakehold.access_as_code.desired_state import SUFFIXES, load_texts
from lakehold.access_as_code.file_layout import SCHEMA_FILE, FileLayout
from lakehold.access_as_code.metadata import EntryMetadata
from lakehold.access_as_code.parser import MappingNode, error_at, parse_document
from lakehold.access_as_code.tenant_state import load_current_state


def export_tenant(session: AccessSession, metadata: Mapping[str, EntryMetadata] | None = None) -> dict[str, str]:
    """Return the files of the whole tenant by name. The metadata is given by id."""
    state = load_current_state(session, metadata)
    files = FileLayout(state, session.at).files()
    return {**files, SCHEMA_FILE: json_schema.render_schema(state.policy)}


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """What became of a file: `written`, `removed`, or `kept` because it was right already."""

    file: str
    done: str


def write_files(folder: Path, files: Mapping[str, str]) -> list[WrittenFile]:
    """Bring a folder to these files. Tests in it stay: in their file, or alone if the file has gone."""
    folder.mkdir(parents=True, exist_ok=True)
    old_files = load_texts(folder)
    new_files = dict(files)
    for name, text in old_files.items():
        tests = _tests(text, name)
        if tests:
            new_files[name] = f"{files[name]}\n{tests}" if name in files else _tests_only(text, tests, name)
    return [*_write(folder, new_files), *_remove(folder, [name for name in old_files if name not in new_files])]


def _write(folder: Path, files: Mapping[str, str]) -> Iterator[WrittenFile]:
    for name, text in sorted(files.items()):
        file, data = _inside(folder, name), text.encode("utf-8")
        if file.is_file() and file.read_bytes() == data:
            yield WrittenFile(name, "kept")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        yield WrittenFile(name, "written")


def _remove(folder: Path, names: list[str]) -> Iterator[WrittenFile]:
    for name in names:
        (folder / name).unlink()
        yield WrittenFile(name, "removed")


def _inside(folder: Path, name: str) -> Path:
    """Return the path of this file, or refuse one outside the folder, because names may come from a server."""
    file = folder / name
    if file.suffix.lower() not in {*SUFFIXES, ".json"} or not file.resolve().is_relative_to(folder.resolve()):
        raise error_at(SourceLocation(name[:80], 1), "this is no name for a file of access as code.")
    return file


def _tests(text: str, name: str) -> str:
    """Return the text of the section `tests:` of a file."""
    document = parse_document(text, name)
    if "model" in document.entries or "tests" not in document.entries:
        return ""
    first, last = _lines_of_tests(document)
    return "\n".join(text.splitlines()[first:last]).rstrip() + "\n"


def _lines_of_tests(document: MappingNode) -> tuple[int, int]:
    key = document.entries["tests"][0]
    after = [other.place.line - 1 for other, _ in document.entries.values() if other.place.line > key.place.line]
    return key.place.line - 1, min(after, default=max(document.ends, key.place.line))


def _tests_only(text: str, tests: str, name: str) -> str:
    """Return what stays of a file that is no longer needed, which are its tests."""
    return text if set(parse_document(text, name).entries) == {"tests"} else tests
