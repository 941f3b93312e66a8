"""Reads files into the desired state: `read_files(folder)`, or `parse_files({name: text})` for files from elsewhere."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from lakehold import workspaces
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant, mentioned_ids
from lakehold.access.model.errors import SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import MEMBER, TENANT, Policy, compile_policy
from lakehold.access.model.schema import AccessModel
from lakehold.access_as_code import assertions, file_format, tenant_state
from lakehold.access_as_code.assertions import Assertion
from lakehold.access_as_code.parser import MappingNode, ProblemList, error_at, parse_document
from lakehold.access_as_code.resources import ResourceReader
from lakehold.access_as_code.tenant_state import ResourceEntry, Slot, TenantState, TimedFact
from lakehold.kit.errors import InvalidInputError

SUFFIXES = {".yaml", ".yml"}
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class DesiredState:
    """The state and the tests that files declare."""

    state: TenantState
    tests: tuple[Assertion, ...]
    digest: str
    """Of all the files, to tell whether they have changed."""
    is_whole: bool
    """Whether they tell of a tenant, and so of all that is in it."""


def read_files(path: Path | str) -> DesiredState:
    """Read a folder with all that is in it, or one file."""
    return parse_files(load_texts(Path(path)))


def load_texts(path: Path) -> dict[str, str]:
    """Return the texts of the files by name."""
    if not path.exists():
        raise InvalidInputError(f"There is no file or folder {path.name!r}.", "Create one with `lakehold export`.")
    if not path.is_dir():
        return {path.name: _text(path, path.name)}
    files = (file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    paths = (file.relative_to(path) for file in files)
    names = sorted(name.as_posix() for name in paths if not any(part.startswith(".") for part in name.parts))
    return {name: _text(path / name, name) for name in names}


def _text(file: Path, name: str) -> str:
    data = b""
    try:
        data = file.read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise error_at(SourceLocation(name, 1), f"it cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise error_at(SourceLocation(name, line), "this is not UTF-8.", "Save the file as UTF-8.") from error


def parse_files(files: Mapping[str, str]) -> DesiredState:
    """Parse files that are given by name. Those without a YAML suffix are ignored."""
    files = {name: text for name, text in files.items() if Path(name).suffix.lower() in SUFFIXES}
    problems = ProblemList()
    documents: dict[str, MappingNode] = {}
    for name, text in files.items():
        with problems.collect():
            documents[name] = parse_document(text, name)
    problems.raise_any()
    models = _models(files, documents, problems)
    problems.raise_any()
    state = TenantState(_policy(models), {name: model.source for name, model in models.items()})
    tests = _sections(state, documents, problems)
    whole = file_format.TENANT_REF in state.entries
    state.entries.setdefault(file_format.TENANT_REF, ResourceEntry(file_format.TENANT_REF, TENANT, "Tenant"))
    if file_format.ALL_REF not in state.entries:
        ResourceReader(state, problems).read_section("all", MappingNode({}, SourceLocation("people.yaml", 1)))
    _validate(state, problems)
    problems.raise_any()
    return DesiredState(state, tests, files_digest(files), whole)


def files_digest(files: Mapping[str, str]) -> str:
    """Return a digest of the files."""
    summed = hashlib.sha256()
    for name, text in sorted(files.items()):
        for part in (name, text):
            data = part.encode("utf-8", "surrogatepass")
            summed.update(len(data).to_bytes(8, "big") + data)
    return summed.hexdigest()


def _models(
    files: Mapping[str, str], documents: Mapping[str, MappingNode], problems: ProblemList
) -> dict[str, AccessModel]:
    found: dict[str, AccessModel] = {}
    for name, document in documents.items():
        with problems.collect():
            for model in _models_in(name, files[name], document):
                if model.name in found:
                    first = found[model.name].place
                    raise error_at(model.place, f"the model {model.name!r} is defined twice; first at {first}.")
                found[model.name] = model
    shipped = workspaces.policy().sources
    return {name: model for name, model in found.items() if shipped.get(name) != model.source}


def _models_in(name: str, text: str, document: MappingNode) -> Iterator[AccessModel]:
    """Yield the model that a file is, or those in its section `models:`."""
    if "model" in document.entries:
        yield parse_model(text, name)
    elif "models" in document.entries:
        for key, value in file_format.read_mapping(document.entries["models"][1], "models").entries.values():
            model = parse_model(file_format.read_text(value, "a model"), f"{name}:{key.value}")
            if model.name != key.value:
                raise error_at(key.place, f"the model's own name is {model.name!r}.", "Use the same name here.")
            yield model


def _policy(models: Mapping[str, AccessModel]) -> Policy:
    if not models:
        return workspaces.policy()
    # Once more with their own names, for errors that point at the files.
    Policy([*(model for model in workspaces.models() if model.name not in models), *models.values()])
    sources = {**workspaces.policy().sources, **{model.name: model.source for model in models.values()}}
    return compile_policy(tuple(sorted(sources.items())))


def _sections(state: TenantState, documents: Mapping[str, MappingNode], problems: ProblemList) -> tuple[Assertion, ...]:
    reader = ResourceReader(state, problems)
    tests: list[Assertion] = []
    for document in documents.values():
        if "model" in document.entries:
            continue
        for name, (key, node) in document.entries.items():
            with problems.collect():
                if name == "tests":
                    tests += assertions.read_assertions(node, problems)
                elif name not in file_format.SECTIONS:
                    hint = did_you_mean(name, file_format.SECTIONS)
                    raise error_at(key.place, f"there is no section {quote_excerpt(name)}.", hint)
                else:
                    reader.read_section(name, node)
    return tuple(tests)


def _validate(state: TenantState, problems: ProblemList) -> None:
    """Add unknown ids, impossible ends, overlapping facts and cycles to the problems."""
    good: list[TimedFact] = []
    for timed in state.facts:
        with problems.collect():
            _refuse_unknown(state, timed)
            good.append(timed)
    _refuse_overlaps(state, good, problems)
    _refuse_unknown_in_schedules(state, problems)
    edges: dict[str, list[TimedFact]] = {}
    for timed in good:
        if isinstance(timed.fact, Edge):
            edges.setdefault(timed.fact.name, []).append(timed)
    for same_name in edges.values():
        with problems.collect():
            # Cycles begin when an edge does.
            for at in sorted({timed.span.begin for timed in same_name}):
                _refuse_cycle([timed for timed in same_name if timed.span.covers(at)])


def _refuse_unknown(state: TenantState, timed: TimedFact) -> None:
    entries, place = state.entries, timed.place
    match timed.fact:
        case Grant(subject, role, resource):
            holder = _need_known(entries, subject, "member or group", place, tenant_state.SUBJECTS)
            declared = state.policy.kinds[entries[resource].kind].schema.roles[role]
            if declared.person_only and holder.kind != MEMBER:
                message = f"{role} is held by a person, and {quote_excerpt(subject)} is a group."
                raise error_at(place, message, "Name members.")
        case Attribute(_, _, _, member):
            if member is not None:
                _need_known(entries, member, "member", place, (MEMBER,))
        case Edge(name, source, target):
            _need_known(entries, source, "member", place, None)
            kind = state.policy.kinds[entries[source].kind]
            if name not in kind.schema.edges:
                raise error_at(
                    place, f"{quote_excerpt(source)} is a {kind.id}, and cannot be in a group.", "Name members."
                )
            _need_known(entries, target, f"{name} of a {kind.id}", place, kind.steps[name].kinds)


def _refuse_unknown_in_schedules(state: TenantState, problems: ProblemList) -> None:
    known = {file_format.unescape_ref(ref): entry.kind for ref, entry in state.entries.items()}
    for ref, metadata in state.metadata.items():
        place = state.entries[ref].place
        for trigger, schedule in metadata.schedules.items():
            ends = [(end, "resource") for end in file_format.schedule_of(schedule).after]
            starter = schedule.get("starter")
            for end, what in [*ends, *([(str(starter), "member")] if starter else [])]:
                if end not in known or (what == "member" and known[end] != MEMBER):
                    message = f"there is no {what} {quote_excerpt(end)} in these files, which {trigger} names."
                    problems.add(place, message, "Declare it, or remove it here.")


def _need_known(
    entries: Mapping[str, ResourceEntry], ref: str, what: str, place: SourceLocation, kinds: tuple[str, ...] | None
) -> ResourceEntry:
    found = entries.get(ref)
    if found is None:
        near = [other for other, entry in entries.items() if kinds is None or entry.kind in kinds]
        hint = did_you_mean(ref, near, "" if len(near) <= _MOST_NAMED else "Declare it, or remove it here.")
        raise error_at(place, f"there is no {what} {quote_excerpt(ref)} in these files.", hint)
    if kinds is not None and found.kind not in kinds:
        raise error_at(place, f"{quote_excerpt(ref)} is a {found.kind}.", f"It has to be a {' or '.join(kinds)}.")
    return found


def _refuse_overlaps(state: TenantState, facts: Iterable[TimedFact], problems: ProblemList) -> None:
    slots: dict[Slot, list[TimedFact]] = {}
    for timed in facts:
        slot = tenant_state.slot_of(state.policy, state.entries, timed.fact)
        if slot is not None:
            slots.setdefault(slot, []).append(timed)
    for line in slots.values():
        for before, after in pairwise(sorted(line, key=lambda timed: timed.span.begin)):
            if after.span.begin < before.span.end:
                _add_overlap(before, after, problems)


def _add_overlap(before: TimedFact, after: TimedFact, problems: ProblemList) -> None:
    line = before.place.line
    if before.fact == after.fact:
        message = f"{_describe(after.fact)} appears twice for the same time; first in line {line}."
        problems.add(after.place, message, "Keep one of them.")
    else:
        message = (
            f"{_describe(after.fact)}: another one holds at the same time in line {line}, and there can be only one."
        )
        problems.add(after.place, message, "Keep one of them, or let one end with `until:` before the other begins.")


def _describe(fact: Fact) -> str:
    match fact:
        case Grant(subject, role, resource):
            return f"{role} of {quote_excerpt(resource)} for {quote_excerpt(subject)}"
        case Edge(name, source, target):
            return f"{name} of {quote_excerpt(source)} to {quote_excerpt(target)}"
        case Attribute(resource, name, value, _):
            return f"{name} {value} of {quote_excerpt(resource)}"


def _refuse_cycle(edges: list[TimedFact]) -> None:
    ahead: dict[str, dict[str, TimedFact]] = {}
    for timed in edges:
        source, target = mentioned_ids(timed.fact)
        ahead.setdefault(source, {})[target] = timed
    try:
        TopologicalSorter(ahead).prepare()
    except CycleError as error:
        # There each one stands before those that point at it.
        circle: list[str] = error.args[1][::-1]
        message = f"{' → '.join(map(quote_excerpt, circle[:8]))}: this is a cycle."
        raise error_at(ahead[circle[-2]][circle[-1]].place, message, "Remove one of the edges.") from None
