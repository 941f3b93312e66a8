"""Packages with a descriptor: those in a folder of the platform, and those that an environment variable adds."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote


def load_descriptors(registry: str, module: str, variable: str, noun: str) -> dict[str, tuple[str, Any]]:
    """Return packages and their descriptors by name.

    They have a module of this name with the descriptor, and lie in the folder of the registry's file, or the variable
    names them.
    """
    folder = Path(registry).parent
    shipped = [f"lakehold.{folder.name}.{file.parent.name}" for file in folder.glob(f"*/{module}.py")]
    added = [package.strip() for package in os.environ.get(variable, "").split(",") if package.strip()]
    found: dict[str, tuple[str, Any]] = {}
    for package in (*shipped, *added):
        try:
            descriptor = getattr(import_module(f"{package}.{module}"), module.upper())
        except (ImportError, AttributeError) as error:
            hint = f"Name packages in {variable} that have a module `{module}` with a {module.upper()} in it."
            raise InvalidInputError(f"{package} is not a {module} package: {error}.", hint) from error
        if found.setdefault(descriptor.name, (package, descriptor))[0] != package:
            message = f"{package} is the second {noun} that is called {quote(descriptor.name)}."
            raise InvalidInputError(message, f"Rename it, or take the package out of {variable}.")
    return {name: found[name] for name in sorted(found)}
