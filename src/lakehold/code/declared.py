"""Files to a company: `read(folder)`, or `loads({name: text})` for files that are somewhere else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lakehold import workspaces
from lakehold.access.facts.view import ALL_MEMBERS
from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.loader import parse_model as model_of
from lakehold.access.model.policy import GROUP, MEMBER, TENANT, Policy, compile_policy
from lakehold.access.model.schema import AccessModel
from lakehold.code import cases, refs, sound, words
from lakehold.code.cases import Case
from lakehold.code.company import Company, Thing, shipped_sources
from lakehold.code.nodes import Node, Table, compose
from lakehold.code.problems import Problems, wrong
from lakehold.code.things import Things
from lakehold.kit.errors import InvalidInputError

SUFFIXES = {".yaml", ".yml"}


@dataclass(frozen=True, slots=True)
class Declared:
    """What files say."""

    company: Company
    tests: tuple[Case, ...]
    digest: str
    """Of all the files, to tell whether they have changed."""
    is_whole: bool
    """Whether they tell of a tenant, and so of all that is in it."""


def read(path: Path | str) -> Declared:
    """Read a folder with all that is in it, or one file."""
    return loads(texts(Path(path)))


def texts(path: Path) -> dict[str, str]:
    """The files by name, as they stand."""
    if path.is_dir():
        return {file.relative_to(path).as_posix(): _text(file, path) for file in _files(path)}
    if not path.exists():
        raise InvalidInputError(f"There is no file or folder {path.name!r}.", "Make one with `lakehold export`.")
    return {path.name: _text(path, path.parent)}


def _files(folder: Path) -> list[Path]:
    found = [
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in SUFFIXES
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    return sorted(found, key=lambda file: file.relative_to(folder).as_posix())


def _text(file: Path, folder: Path) -> str:
    name = file.relative_to(folder).as_posix()
    data = b""
    try:
        data = file.read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise wrong(SourceLocation(name, 1), f"it cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise wrong(SourceLocation(name, line), "this is not UTF-8.", "Save the file as UTF-8.") from error


def loads(files: Mapping[str, str]) -> Declared:
    """Read files that are given by name. Those that are not YAML by their name are left alone."""
    files = {name: text for name, text in files.items() if Path(name).suffix.lower() in SUFFIXES}
    problems = Problems()
    documents: dict[str, Table] = {}
    for name, text in files.items():
        with problems.caught():
            documents[name] = compose(text, name)
    problems.raise_any()
    models = _models(files, documents, problems)
    problems.raise_any()
    company = Company(_policy(models), {name: model.source for name, model in models.items()})
    tests = _sections(company, documents, problems)
    whole = refs.TENANT in company.things
    company.things.setdefault(refs.TENANT, Thing(refs.TENANT, TENANT, "Tenant"))
    if refs.ALL not in company.things:
        Things(company, problems).single(ALL_MEMBERS, refs.ALL, Table({}, SourceLocation("people.yaml", 1)))
    sound.check(company, problems)
    problems.raise_any()
    return Declared(company, tests, digest(files), whole)


def digest(files: Mapping[str, str]) -> str:
    """A number for the files that no others have."""
    summed = hashlib.sha256()
    for name, text in sorted(files.items()):
        for part in (name, text):
            data = part.encode("utf-8", "surrogatepass")
            summed.update(len(data).to_bytes(8, "big") + data)
    return summed.hexdigest()


# Models


def _models(files: Mapping[str, str], documents: Mapping[str, Table], problems: Problems) -> dict[str, AccessModel]:
    found: dict[str, AccessModel] = {}
    for name, document in documents.items():
        with problems.caught():
            for model in _models_in(name, files[name], document):
                if model.name in found:
                    first = found[model.name].place
                    raise wrong(model.place, f"the model {model.name!r} is there twice; first at {first}.")
                found[model.name] = model
    shipped = shipped_sources()
    return {name: model for name, model in found.items() if shipped.get(name) != model.source}


def _models_in(name: str, text: str, document: Table) -> Iterator[AccessModel]:
    """A file that is a model, or the texts in a section `models:`."""
    if "model" in document.entries:
        yield model_of(text, name)
    elif "models" in document.entries:
        for key, value in words.table(document.entries["models"][1], "models").entries.values():
            model = model_of(words.text(value, "a model"), f"{name}:{key.value}")
            if model.name != key.value:
                raise wrong(key.place, f"the model calls itself {model.name!r}.", "Call it the same here.")
            yield model


def _policy(models: Mapping[str, AccessModel]) -> Policy:
    if not models:
        return workspaces.policy()
    # Once more with their own names, for errors that point at the files.
    Policy([*(model for model in workspaces.models() if model.name not in models), *models.values()])
    return compile_policy(tuple(sorted({**shipped_sources(), **{m.name: m.source for m in models.values()}}.items())))


# Sections


def _sections(company: Company, documents: Mapping[str, Table], problems: Problems) -> tuple[Case, ...]:
    things = Things(company, problems)
    tests: list[Case] = []
    for document in documents.values():
        if "model" in document.entries:
            continue
        for name, (key, node) in document.entries.items():
            with problems.caught():
                if name == "tests":
                    tests += cases.read(node, problems)
                elif name not in words.SECTIONS:
                    hint = did_you_mean(name, words.SECTIONS)
                    raise wrong(key.place, f"there is no section {quote_excerpt(name)}.", hint)
                else:
                    _section(things, name, node)
    return tuple(tests)


def _section(things: Things, name: str, node: Node) -> None:
    match name:
        case "tenant":
            things.single(TENANT, refs.TENANT, node)
        case "all":
            things.single(ALL_MEMBERS, refs.ALL, node)
        case "members":
            things.section(MEMBER, node, name)
        case "groups":
            things.section(GROUP, node, name)
        case "workspaces":
            things.workspaces(node)
