"""`python -m benchmarks [part …]`: measure, print, write JSON; exit with 1 when a bar is missed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import (
    access_bench,
    api_bench,
    cdc_bench,
    code_bench,
    marts_bench,
    match_quality_bench,
    pipeline_bench,
    report,
    spaces_bench,
    start_bench,
    web_bench,
)
from benchmarks.figures import Result

PARTS: dict[str, Callable[[Callable[[str], None]], Iterator[list[Result]]]] = {
    "access": access_bench.run,
    "api": api_bench.run,
    "cdc": cdc_bench.run,
    "code": code_bench.run,
    "marts": marts_bench.run,
    "pipeline": pipeline_bench.run,
    "products": match_quality_bench.run,
    "spaces": spaces_bench.run,
    "start": start_bench.run,
    "web": web_bench.run,
}


def main() -> int:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure speed beside peers.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; all by default")
    parser.add_argument("--out", type=Path, help="where the JSON goes; bench-<part>.json by default")
    given = parser.parse_args()
    missed = 0
    for part in given.parts or PARTS:
        results: list[Result] = []
        for section in PARTS[part](_say):
            report.show(section, report.console())
            results += section
        report.write(results, given.out or Path(f"bench-{part}.json"))
        missed += sum(result.held is False for result in results)
    print(f"{missed} missed" if missed else "every bar held")
    return 1 if missed else 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
