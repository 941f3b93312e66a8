"""`python -m lakehold.web.build`: build what is missing or stale; with `lock`: write the lock of npm packages anew."""

from __future__ import annotations

import sys

from lakehold.web.build import making, node, packages


def main(words: list[str]) -> None:
    """Do what was asked."""
    if words == ["lock"]:
        packages.lock(node.any_node())
    elif making.build(for_tests="--tests" in words):
        print("built the web app's files")  # noqa: T201 - a command prints


if __name__ == "__main__":
    main(sys.argv[1:])
