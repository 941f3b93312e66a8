"""What came of tests: as text in the manner of pytest, as JUnit XML, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from itertools import groupby

from lakehold.code import times
from lakehold.code.running import Outcome, Report

_SIGNS = {"passed": ".", "failed": "F", "error": "E"}
_WIDTH = 80


def text(report: Report) -> str:
    """For the terminal."""
    return "\n".join((*_progress(report), *_failures(report), _summary(report))) + "\n"


def _progress(report: Report) -> Iterator[str]:
    """A line of dots for each file."""
    for file, outcomes in groupby(report.outcomes, key=lambda outcome: outcome.case.place.file):
        signs = "".join(_SIGNS[outcome.result] for outcome in outcomes)
        for start in range(0, len(signs), _WIDTH):
            yield f"{file if not start else ' ' * len(file)} {signs[start : start + _WIDTH]}"


def _failures(report: Report) -> Iterator[str]:
    wrong = [outcome for outcome in report.outcomes if outcome.result != "passed"]
    if wrong:
        yield ""
    for outcome in wrong:
        yield f"{outcome.result.upper()} {outcome.case.place} {outcome.case.name}"
        yield from (f"    {line}" for line in _lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    """What was expected, and why it is not so."""
    if outcome.case.at is not None:
        yield f"at {times.told(outcome.case.at)}"
    for failure in outcome.failures:
        yield str(failure)
        yield from (f"    {line}" for line in failure.why)
    if outcome.error:
        yield outcome.error


def _summary(report: Report) -> str:
    counts = {"failed": report.count("failed"), "errors": report.count("error"), "passed": report.count("passed")}
    told = ", ".join(f"{number} {what}" for what, number in counts.items() if number) or "no tests"
    return f"\n{told} ({report.questions:,} questions) in {report.seconds:.2f}s"


def junit(report: Report) -> str:
    """For a build server."""
    failed, errors = report.count("failed"), report.count("error")
    head = (
        f'<testsuite name="lakehold" tests="{len(report.outcomes)}" failures="{failed}" errors="{errors}"'
        f' time="{report.seconds:.6f}">'
    )
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", head]
    for outcome in report.outcomes:
        lines.extend(_testcase(outcome))
    return "\n".join((*lines, "</testsuite>", "</testsuites>")) + "\n"


def _testcase(outcome: Outcome) -> Iterator[str]:
    case = outcome.case
    start = (
        f'<testcase classname="{_xml(case.place.file)}" name="{_xml(case.name)}" file="{_xml(case.place.file)}"'
        f' line="{case.place.line}" time="{outcome.seconds:.6f}"'
    )
    if outcome.result == "passed":
        yield f"{start}/>"
        return
    tag = "error" if outcome.error else "failure"
    first = outcome.error or str(outcome.failures[0])
    yield f"{start}>"
    yield f'<{tag} message="{_xml(first)}">{_xml(chr(10).join((str(case.place), *_lines(outcome))))}</{tag}>'
    yield "</testcase>"


def _xml(words: str) -> str:
    """What no XML may hold is shown as a question mark."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in words))


def as_json(report: Report) -> str:
    """For a program."""
    data = {
        "passed": report.count("passed"),
        "failed": report.count("failed"),
        "errors": report.count("error"),
        "questions": report.questions,
        "seconds": round(report.seconds, 6),
        "exit_code": report.exit_code,
        "tests": [_json(outcome) for outcome in report.outcomes],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _json(outcome: Outcome) -> dict[str, object]:
    case = outcome.case
    return {
        "name": case.name,
        "file": case.place.file,
        "line": case.place.line,
        "result": outcome.result,
        "questions": outcome.questions,
        "seconds": round(outcome.seconds, 6),
        "error": outcome.error,
        "failures": [
            {
                "who": failure.member,
                "action": failure.asked.action,
                "role": failure.asked.role,
                "on": failure.resource,
                "expected": failure.asked.allowed,
                "why": list(failure.why),
            }
            for failure in outcome.failures
        ],
    }
