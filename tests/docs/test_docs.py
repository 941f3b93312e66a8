"""The documentation is true: its examples run, it names all that there is, and it points at nothing that is not."""

from __future__ import annotations

import importlib
import io
import pkgutil
import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import yaml
from rich.console import Console

import lakehold
from lakehold import cli, workspaces
from lakehold.access.model import loader, syntax, yaml_nodes
from lakehold.access.model.documentation import to_markdown
from lakehold.cli import tour
from lakehold.kit.errors import LakeholdError
from lakehold.workspaces.spaces.settings import CONNECTION, TASK

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"

_LEFT_BEHIND = {
    ".git",
    ".venv",
    ".hypothesis",
    "__pycache__",
    "dist",
    "build",
    "spark-warehouse",
    "metastore_db",
    "static",
    "lakehold-demo",
    "lakehold-data",
}
_FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TEST = re.compile(r"`(?P<file>[\w/]*\btest_\w+\.py)(?:::(?P<name>\w+))?`")
_LINK = re.compile(r"\]\((?P<target>[^)\s#]+)(?:#[^)]*)?\)")

# The patterns are written so that they do not match themselves.
_UNWANTED = {
    # A namespace of the web's own standards looks like an address and is none.
    "an address of some host": re.compile(
        r"https?://(?!127\.0\.0\.1|localhost|\[::1\]|www\.w3\.org/|json-schema\.org/)\w"
    ),
    "the address of an index": re.compile(
        r"--(?:extra-)?index-url|--find-link[s]|(?:PIP|UV)_\w*(?:INDEX|FIND_LINKS)|\[\[tool\.uv\.index"
        r"|https?://\S+/simple\b"
    ),
    "a path of one machine": re.compile(r"(?<![\w.~-])(?:/(?:home|Users|root|work|tmp|mnt|opt)/\w|[A-Z]:\\\\?Users)"),
}


def markdown() -> list[Path]:
    return sorted(path for path in kept() if path.suffix == ".md")


def kept() -> Iterator[Path]:
    """The files of the repository, without what tools leave behind."""
    todo = [ROOT]
    while todo:
        for path in todo.pop().iterdir():
            if path.name in _LEFT_BEHIND or path.name.endswith(("_cache", ".egg-info")):
                continue
            if path.is_dir():
                todo.append(path)
            else:
                yield path


def texts(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    for path in paths:
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def blocks(path: Path, language: str) -> Iterator[tuple[int, str]]:
    """The blocks in a language, each with the number of lines before it. `python no-run` is another language."""
    text = path.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        if found["language"].strip() == language:
            yield text.count("\n", 0, found.start("text")), found["text"]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def run_examples(page: Path) -> None:
    """All of them, one after the other, in one module."""
    found = list(blocks(page, "python"))
    assert found
    names: dict[str, object] = {"__name__": page.stem}
    for before, source in found:
        # As many lines before it as in the page, so that an error points at the page's line.
        exec(compile("\n" * before + source, named(page), "exec"), names)  # noqa: S102 - our own pages


# Examples


# The tutorial is a shell's, and has a test of its own.
@pytest.mark.parametrize("page", [page for page in markdown() if any(blocks(page, "python"))], ids=named)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run_examples(page)


@pytest.mark.parametrize("page", markdown(), ids=named)
def test_examples_in_yaml_can_be_read(page: Path) -> None:
    for _, text in blocks(page, "yaml"):
        assert isinstance(yaml.safe_load(text), dict)


@pytest.mark.parametrize("page", [page for page in markdown() if any(blocks(page, "yaml"))], ids=named)
def test_settings_of_data_spaces_in_yaml_can_be_saved(page: Path) -> None:
    for _, text in blocks(page, "yaml"):
        shown = yaml.safe_load(text)
        if shown.get("type") in TASK.records:
            assert not TASK.problems(shown)
        if shown.get("connector") in CONNECTION.records:
            assert not CONNECTION.problems(shown)


def test_the_concept_page_shows_what_the_tour_prints() -> None:
    out = io.StringIO()
    tour.run_tour(Console(file=out, width=80), "")
    printed = iter([line.rstrip() for line in out.getvalue().splitlines()])
    ((_, excerpt),) = blocks(DOCS / "concepts" / "access-model.md", "text")
    for line in excerpt.splitlines():
        assert line == "…" or line in printed, f"The tour does not print this, or not in this order: {line}"


# Everything is named


def _errors() -> Iterator[type[LakeholdError]]:
    for module in pkgutil.walk_packages(lakehold.__path__, "lakehold."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)
    todo: list[type[LakeholdError]] = [LakeholdError]
    while todo:
        error = todo.pop()
        yield error
        todo.extend(found for found in error.__subclasses__() if found.__module__.startswith("lakehold."))


def test_every_error_code_is_documented() -> None:
    text = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    for error in _errors():
        line = f"| `{error.code}` | {error.status} | `{error.__name__}` |"
        assert line in text, f"docs/reference/errors.md: there is no line that begins with {line}"


def test_every_narrower_error_code_is_documented() -> None:
    text = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    for file in Path(lakehold.__path__[0]).rglob("*.py"):
        for error, code in re.findall(r'\b(\w+Error)\([^()]*\bcode="(\w+)"', file.read_text(encoding="utf-8")):
            assert re.search(rf"^\| `{code}` \| \d+ \| `{error}` \|", text, re.MULTILINE), f"{code} of {error}"


def test_every_command_is_documented() -> None:
    text = "".join(text for _, text in texts([README, *DOCS.rglob("*.md")]))
    for command in cli.app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "").replace("_", "-")
        assert re.search(rf"`lakehold {name}[` ]", text), f"README.md and docs do not name `lakehold {name}`"


class _Keywords(loader._ModelReader):
    """Reads models as usual, and notes every keyword that it would understand."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.known: set[str] = set()

    def _fields(self, node: yaml.Node, what: str, known: Iterable[str]) -> dict[str, yaml.Node]:
        listed = list(known)
        self.known.update(listed)
        return super()._fields(node, what, listed)


def test_every_keyword_of_the_model_language_is_documented() -> None:
    reader = _Keywords("model.yaml")
    for model in workspaces.models():
        reader.model(yaml_nodes.compose_yaml(model.source, "model.yaml"), model.source)
    assert {"model", "in", "last_stays", "also_after", "values", "who", "for"} <= reader.known
    words = reader.known | syntax.KEYWORDS | yaml_nodes._RESERVED | loader._VERBS | {"person", "anyone"}
    text = (DOCS / "reference" / "models.md").read_text(encoding="utf-8")
    assert not [word for word in sorted(words) if f"`{word}`" not in text]


def test_every_dependency_has_its_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    expected = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(entry for extra in project["project"]["optional-dependencies"].values() for entry in extra),
        *(entry for group in project["dependency-groups"].values() for entry in group),
    ]
    lines = (DOCS / "decisions" / "dependencies.md").read_text(encoding="utf-8").splitlines()
    documented = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert documented == {re.split(r"[\s\[<>=!~;]", entry, maxsplit=1)[0] for entry in expected}


def test_the_index_names_every_page() -> None:
    index = DOCS / "README.md"
    linked = {(DOCS / found["target"]).resolve() for found in _LINK.finditer(index.read_text(encoding="utf-8"))}
    assert not [named(page) for page in sorted(DOCS.rglob("*.md")) if page not in linked and page != index]


@pytest.mark.parametrize("page", sorted((DOCS / "decisions").glob("*.md")), ids=named)
def test_every_decision_has_its_status_and_date(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.search(r"^Status: \w.* Date: \d{4}-\d\d-\d\d\.$", text, re.MULTILINE)


# Nothing is stale


def test_access_tables_are_those_of_the_models() -> None:
    folder = DOCS / "access"
    written = {page.name: page.read_text(encoding="utf-8") for page in folder.glob("*.md")}
    expected = {f"{model.name}.md": to_markdown(model, workspaces.policy()) for model in workspaces.models()}
    assert written.keys() == expected.keys(), "Run `make docs`, and remove pages of models that are gone."
    stale = [name for name, text in expected.items() if written[name] != text]
    assert not stale, f"Run `make docs`: {', '.join(stale)} in docs/access no longer say what the models say."


@pytest.mark.parametrize("page", markdown(), ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for found in _LINK.finditer(text):
        target = found["target"]
        if "://" not in target:
            assert (page.parent / target).exists(), f"{named(page)} points at {target}, which is not there"


def test_tests_that_are_named_exist() -> None:
    """They are named from the root of the repository; on a page among the tests, also from a folder that it is in."""
    found = [(page, each) for page in markdown() for each in _TEST.finditer(page.read_text(encoding="utf-8"))]
    assert len(found) > 50
    missing = [
        f"{each.group()} in {named(page)}"
        for page, each in found
        if not any(
            _defines(folder / each["file"], each["name"])
            for folder in (ROOT, *page.parents)
            if folder == ROOT or folder.is_relative_to(ROOT / "tests")
        )
    ]
    assert not missing, f"The documentation names tests that are not there: {', '.join(missing)}"


def _defines(path: Path, name: str | None) -> bool:
    return path.exists() and (name is None or f"\ndef {name}(" in path.read_text(encoding="utf-8"))


# Nothing of the machine that it was written on


@pytest.mark.parametrize("what", _UNWANTED)
def test_no_file_names(what: str) -> None:
    found = [
        f"{named(path)}:{text.count(chr(10), 0, match.start()) + 1}"
        for path, text in texts(kept())
        for match in _UNWANTED[what].finditer(text)
    ]
    assert not found, f"{what}: {', '.join(found)}"
