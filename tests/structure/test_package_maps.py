"""The docstring of each package is its map: it names every module and sub-package, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "lakehold"
PACKAGES = [file.parent for file in sorted(SOURCE.rglob("__init__.py")) if "versions" not in file.parts]
ENTRY = re.compile(r"^- ((?:`[a-z_0-9]+`(?:, )?)+):", re.MULTILINE)


def named(package: Path) -> list[str]:
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    return [name for entry in ENTRY.findall(docstring) for name in re.findall(r"`([a-z_0-9]+)`", entry)]


def there(package: Path) -> set[str]:
    modules = {file.stem for file in package.glob("*.py")}
    folders = {folder.name for folder in package.iterdir() if (folder / "__init__.py").is_file()}
    return {name for name in modules | folders if not name.startswith("_")}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE.parent)))
def test_the_map_of_a_package_is_true(package: Path) -> None:
    names = named(package)
    assert len(names) == len(set(names))
    assert set(names) == there(package)
