"""Reports of assertion runs, as text in the manner of pytest, as JUnit XML, and as JSON."""

from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import Any

from lakehold.access_as_code import file_format
from lakehold.access_as_code.assertion_runner import AssertionReport, AssertionResult

_SIGNS = {"passed": ".", "failed": "F", "error": "E"}
_WIDTH = 80


def render_all(report: AssertionReport) -> dict[str, Any]:
    """Return the report in all its forms, as the REST API has it."""
    return {
        "passed": report.exit_code == 0,
        "tests": len(report.results),
        "text": render_text(report),
        "junit": render_junit(report),
        "report": to_json(report),
    }


def render_text(report: AssertionReport) -> str:
    """Return the report for a terminal."""
    return "\n".join((*_progress(report), *_failures(report), _summary(report))) + "\n"


def _progress(report: AssertionReport) -> Iterator[str]:
    """Yield a line of dots for each file."""
    for file, results in groupby(report.results, key=lambda result: result.assertion.place.file):
        signs = "".join(_SIGNS[result.result] for result in results)
        for start in range(0, len(signs), _WIDTH):
            yield f"{file if not start else ' ' * len(file)} {signs[start : start + _WIDTH]}"


def _failures(report: AssertionReport) -> Iterator[str]:
    wrong = [result for result in report.results if result.result != "passed"]
    if wrong:
        yield ""
    for result in wrong:
        yield f"{result.result.upper()} {result.assertion.place} {result.assertion.name}"
        yield from (f"    {line}" for line in _lines(result))


def _lines(result: AssertionResult) -> Iterator[str]:
    """Yield the lines of a failure: what was expected, and why it does not hold."""
    if result.assertion.at is not None:
        yield f"at {file_format.format_moment(result.assertion.at)}"
    for failure in result.failures:
        yield str(failure)
        yield from (f"    {line}" for line in failure.why)
    if result.error:
        yield result.error


def _summary(report: AssertionReport) -> str:
    counts = {"failed": report.count("failed"), "errors": report.count("error"), "passed": report.count("passed")}
    summary = ", ".join(f"{number} {what}" for what, number in counts.items() if number) or "no tests"
    return f"\n{summary} ({report.questions:,} questions) in {report.seconds:.2f}s"


def render_junit(report: AssertionReport) -> str:
    """Return the report as JUnit XML."""
    failed, errors = report.count("failed"), report.count("error")
    head = (
        f'<testsuite name="lakehold" tests="{len(report.results)}" failures="{failed}" errors="{errors}"'
        f' time="{report.seconds:.6f}">'
    )
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", head]
    for result in report.results:
        lines.extend(_testcase(result))
    return "\n".join((*lines, "</testsuite>", "</testsuites>")) + "\n"


def _testcase(result: AssertionResult) -> Iterator[str]:
    assertion = result.assertion
    start = (
        f'<testcase classname="{_xml(assertion.place.file)}" name="{_xml(assertion.name)}"'
        f' file="{_xml(assertion.place.file)}" line="{assertion.place.line}" time="{result.seconds:.6f}"'
    )
    if result.result == "passed":
        yield f"{start}/>"
        return
    tag = "error" if result.error else "failure"
    first = result.error or str(result.failures[0])
    yield f"{start}>"
    yield f'<{tag} message="{_xml(first)}">{_xml(chr(10).join((str(assertion.place), *_lines(result))))}</{tag}>'
    yield "</testcase>"


def _xml(words: str) -> str:
    """Escape the text, with question marks for characters that XML cannot hold."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in words))


def to_json(report: AssertionReport) -> dict[str, Any]:
    """Return the report as a JSON object."""
    return {
        "passed": report.count("passed"),
        "failed": report.count("failed"),
        "errors": report.count("error"),
        "questions": report.questions,
        "seconds": round(report.seconds, 6),
        "exit_code": report.exit_code,
        "tests": [_json(result) for result in report.results],
    }


def _json(result: AssertionResult) -> dict[str, object]:
    assertion = result.assertion
    return {
        "name": assertion.name,
        "file": assertion.place.file,
        "line": assertion.place.line,
        "result": result.result,
        "questions": result.questions,
        "seconds": round(result.seconds, 6),
        "error": result.error,
        "failures": [
            {
                "who": failure.member,
                "action": failure.expectation.action,
                "role": failure.expectation.role,
                "on": failure.resource,
                "expected": failure.expectation.allowed,
                "why": list(failure.why),
            }
            for failure in result.failures
        ],
    }
