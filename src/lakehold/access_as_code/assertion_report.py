"""Reports of assertion runs, as text in the manner of pytest, as JUnit XML, and as JSON."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any
from xml.etree import ElementTree as ET

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
    suites = ET.Element("testsuites")
    counts = {"tests": len(report.results), "failures": report.count("failed"), "errors": report.count("error")}
    suite = _add_element(suites, "testsuite", name="lakehold", **counts, time=f"{report.seconds:.6f}")
    for result in report.results:
        assertion, place = result.assertion, result.assertion.place
        names = {"classname": place.file, "name": assertion.name, "file": place.file, "line": place.line}
        case = _add_element(suite, "testcase", **names, time=f"{result.seconds:.6f}")
        if result.result != "passed":
            message = result.error or str(result.failures[0])
            problem = _add_element(case, "error" if result.error else "failure", message=message)
            problem.text = _printable("\n".join((str(place), *_lines(result))))
    ET.indent(suites, "")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, "unicode")}\n'


def _add_element(parent: ET.Element, tag: str, **attributes: object) -> ET.Element:
    values = {name: _printable(str(value)) for name, value in attributes.items()}
    return ET.SubElement(parent, tag, values)


def _printable(words: str) -> str:
    """Return the text with question marks for characters that XML cannot hold."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in words)


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
