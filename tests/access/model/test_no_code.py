"""Nothing in a model is Python: what reads models has no way to run anything, and runs nothing."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

import lakehold.access.model
from lakehold.access.model.errors import ModelError
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import Policy
from lakehold.workspaces import models

LOADER = sorted(Path(lakehold.access.model.__file__).parent.glob("*.py"))
ROOT = Path(lakehold.access.model.__file__).parents[2]
SHIPPED = sorted([*ROOT.glob("directory/model.yaml"), *ROOT.glob("workspaces/*/model.yaml")])

RUNNING = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "globals",
    "locals",
    "vars",
    "getattr",
    "setattr",
    "delattr",
    "open",
}
RUNNING_MODULES = {
    "importlib",
    "os",
    "subprocess",
    "runpy",
    "ctypes",
    "pickle",
    "marshal",
    "shelve",
    "code",
    "builtins",
    "sys",
}
EVENTS = {
    "compile",
    "exec",
    "import",
    "os.system",
    "subprocess.Popen",
    "os.exec",
    "os.posix_spawn",
    "open",
    "socket.connect",
}

_seen: list[str] = []
_listening = False


def _hook(event: str, _args: tuple[object, ...]) -> None:
    if _listening and event in EVENTS:
        _seen.append(event)


# A hook cannot be taken away again, only be silent.
sys.addaudithook(_hook)


@contextmanager
def audited() -> Iterator[list[str]]:
    """Everything that the interpreter compiles, runs, imports or opens in the meantime."""
    global _listening  # noqa: PLW0603 - a hook has no other way to know
    _seen.clear()
    _listening = True
    try:
        yield _seen
    finally:
        _listening = False


def test_all_five_are_looked_at() -> None:
    assert [path.parent.name for path in SHIPPED] == ["directory", "lakehouse", "marts", "products", "spaces"]


@pytest.mark.parametrize("path", LOADER, ids=lambda path: path.name)
def test_the_loader_has_no_way_to_run_a_text(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    modules = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    modules |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    # The one getattr asks a YAML event for its tag, by a name that stands in the code.
    assert called & RUNNING <= ({"getattr"} if path.name == "yaml_nodes.py" else set())
    assert not modules & RUNNING_MODULES


def test_yaml_is_only_composed() -> None:
    """From yaml come node types, errors and the safe loader's scanner; never anything that constructs."""
    used = {name for path in LOADER for name in re.findall(r"\byaml\.(\w+)", path.read_text(encoding="utf-8"))}
    nodes = {"Node", "MappingNode", "SequenceNode", "ScalarNode", "CollectionNode"}
    assert used == nodes | {"MarkedYAMLError", "SafeLoader", "reader"}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_shipped_models_have_no_tags_and_only_texts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tags = [event.tag for event in yaml.parse(text) if getattr(event, "tag", None)]
    assert tags == []
    # Whatever a model says is made of names, brackets and the words of the language.
    assert all(re.fullmatch(r"[a-z0-9_ .,()=]+", clause) for clause in clauses(text))


def clauses(text: str) -> list[str]:
    """Every expression in a model."""
    found: list[str] = []
    for kind in parse_model(text).kinds.values():
        found += [clause.text for clause in kind.define.values()]
        found += [c.text for rule in (*kind.allow, *kind.gates) for c in (rule.who, rule.when) if c]
        found += [c.text for role in kind.roles.values() for c in (role.derived, role.when, role.given_with) if c]
    return found


def test_loading_runs_nothing() -> None:
    texts = [model.source for model in models()]
    Policy([parse_model(text) for text in texts])
    with audited() as events:
        Policy([parse_model(text) for text in texts])
    assert events == []


PYTHON = [
    "__import__('os').system('exit 1')",
    "eval('1')",
    "().__class__.__bases__",
    "${jndi:x}",
    "{{ 7 * 7 }}",
    "`ls`",
    "$(ls)",
    "f'{1}'",
    "%(x)s",
]


@pytest.mark.parametrize("code", PYTHON)
def test_code_in_an_expression_is_refused_and_not_run(code: str) -> None:
    quoted = code.replace("'", "''")
    text = f"model: m\nkinds:\n  a:\n    define:\n      d: '{quoted}'\n"
    with pytest.raises(ModelError):
        parse_model(text)
    with audited() as events, pytest.raises(ModelError, match=r"^model\.yaml:5: in "):
        parse_model(text)
    assert events == []


def test_the_audit_sees_what_is_run() -> None:
    with audited() as events:
        eval("1 + 1")  # noqa: S307 - to know that the tests above would notice
    assert "compile" in events
