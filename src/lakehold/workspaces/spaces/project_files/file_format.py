"""Reads and writes the file of a data project: its tasks with their settings, in which names stand for ids."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from lakehold.access.model.errors import SourceLocation
from lakehold.access_as_code.file_format import read_fields, read_mapping, read_text
from lakehold.access_as_code.parser import Node, error_at, parse_document
from lakehold.access_as_code.resources import to_json_value

MAX_LENGTH = 2_000_000
_FILE = "project.yaml"
_TASK_FIELDS = ("description", "settings")


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task in a file."""

    description: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    """As they are stored, with names in the place of ids."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A data project in a file."""

    name: str
    description: str
    tasks: Mapping[str, TaskEntry]


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def render(project: ProjectFile) -> str:
    """Return the text of a file."""
    tasks = {
        name: {**({"description": task.description} if task.description else {}), "settings": dict(task.settings)}
        for name, task in project.tasks.items()
    }
    described = {"description": project.description} if project.description else {}
    content = {"project": project.name, **described, "tasks": tasks}
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def parse(text: str) -> ProjectFile:
    """Return the project in a file, or raise an error that names the line."""
    document = parse_document(text, _FILE)
    fields = read_fields(document, "a project", ("project", "description", "tasks"))
    if "project" not in fields:
        raise error_at(SourceLocation(_FILE, 1), "`project:` is missing.", "Begin with `project:` and its name.")
    description = read_text(fields["description"], "description") if "description" in fields else ""
    tasks = read_mapping(fields["tasks"], "`tasks:`", may_be_empty=True).entries if "tasks" in fields else {}
    entries = {name: _task(node) for name, (_, node) in tasks.items()}
    return ProjectFile(read_text(fields["project"], "project"), description, entries)


def _task(node: Node) -> TaskEntry:
    fields = read_fields(node, "a task", _TASK_FIELDS)
    description = read_text(fields["description"], "description") if "description" in fields else ""
    if "settings" not in fields:
        return TaskEntry(description)
    read_mapping(fields["settings"], "`settings:`", may_be_empty=True)
    found = to_json_value(fields["settings"])
    return TaskEntry(description, found if isinstance(found, dict) else {})
