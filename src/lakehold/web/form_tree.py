"""Forms whose fields are named by the paths of settings, such as `datasets.0.keys`: parsed to nested texts, and the
buttons that add, remove and move the records of lists.
"""

from typing import Any

from starlette.datastructures import FormData

from lakehold.kit.errors import InvalidInputError
from lakehold.web.form_values import parse_integer

Texts = dict[str, Any]
"""Texts by name; lists of them by the name of the list."""
MAX_RECORDS = 500
_MAX_DEPTH = 10


def parse_texts(sent: FormData) -> Texts:
    """Return the submitted fields as nested texts. What was sent several times, or to `name[]`, is a list of texts."""
    root: dict[str, Any] = {}
    for name in dict.fromkeys(sent):
        values = [str(each).replace("\r\n", "\n") for each in sent.getlist(name)]
        _put(root, name.removesuffix("[]").split("."), values if name.endswith("[]") else values[-1])
    found = _with_lists(root)
    return found if isinstance(found, dict) else {}


def _put(root: dict[str, Any], path: list[str], value: object) -> None:
    here = root
    if len(path) > _MAX_DEPTH:
        return
    for part in path[:-1]:
        below = here.setdefault(part, {})
        if not isinstance(below, dict):
            return
        here = below
    here.setdefault(path[-1], value)


def _with_lists(value: object) -> object:
    """Return nested texts in which what has numbers for names is a list, in their order."""
    if not isinstance(value, dict):
        return value
    parts = {name: _with_lists(each) for name, each in value.items()}
    numbers = {name: parse_integer(name) for name in parts}
    if parts and None not in numbers.values():
        return [parts[name] for name in sorted(parts, key=lambda name: numbers[name] or 0)][:MAX_RECORDS]
    return parts


def records(texts: Texts, name: str) -> list[Texts]:
    """Return the records of a list; none if it has none."""
    found = texts.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def find_parent(root: Texts, path: str) -> tuple[Texts, str]:
    """Return the record that has the list or record at a path, and its name there; refuse a path that leads nowhere."""
    *parts, last = path.split(".")
    here: Any = root
    for part in parts:
        if isinstance(here, list) and (place := parse_integer(part)) is not None and place < len(here):
            here = here[place]
        elif isinstance(here, dict) and part in here:
            here = here[part]
        else:
            raise InvalidInputError("The form has changed meanwhile.", "Reload the page.")
    if not isinstance(here, dict):
        raise InvalidInputError("The form has changed meanwhile.", "Reload the page.")
    return here, last


def add_record(root: Texts, path: str, record: Texts) -> None:
    """Add a record at the end of a list."""
    parent, name = find_parent(root, path)
    parent[name] = [*records(parent, name), record][:MAX_RECORDS]


def change_list(root: Texts, do: str, path: str) -> None:
    """Remove the record at a path from its list, or move it up or down."""
    at, _, number = path.rpartition(".")
    parent, name = find_parent(root, at)
    found, place = records(parent, name), parse_integer(number)
    if place is None or place >= len(found):
        raise InvalidInputError("The form has changed meanwhile.", "Reload the page.")
    record = found.pop(place)
    if do != "remove":
        found.insert(max(place - 1, 0) if do == "up" else place + 1, record)
    parent[name] = found
