"""Command line of the build: builds what is missing or stale; `lock` rewrites the npm lock file."""

import sys

from frontend import builder, node


def main(words: list[str]) -> None:
    """Run the command that the arguments name."""
    if words == ["lock"]:
        node.lock_packages(node.find_node())
    elif builder.build(for_tests="--tests" in words):
        print("built the web app's files")  # noqa: T201 - a command prints


if __name__ == "__main__":
    main(sys.argv[1:])
