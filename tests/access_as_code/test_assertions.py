"""Assertions in files: asked of the files alone and of a tenant, and told in three ways."""

from __future__ import annotations

from textwrap import dedent
from xml.etree import ElementTree as ET

import pytest

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Grant
from lakehold.access_as_code import AssertionReport, assertion_report, parse_files, run_files, run_session
from lakehold.demo import company
from lakehold.kit.errors import InvalidInputError

PASSING = """\
tests:
  - name: Analysts read what is shaped
    who: analysts
    can: [see, read]
    cannot: [edit, delete]
    on: [sales_by_day, sales_by_store]
  - {who: [bella, boris], can: use, cannot: edit, on: daily_sales}
  - {who: mona, can: give editor, cannot: give manager, on: orders}
  - {who: tara, can: invite technical_user, cannot: invite admin, on: sales}
  - {who: /all, can: see, on: /}
  - {who: adam, can: see_settings, on: /}
"""
FAILING = """\
tests:
  - name: Erik only reads
    who: erik
    cannot: edit
    on: orders
  - name: Bella edits targets
    who: bella
    can: edit
    on: store_targets
    at: 2030-01-01
  - {who: bellla, can: edit, on: store_targets}
  - {who: bella, can: edit, on: store_target}
  - {who: bella, can: edti, on: store_targets}
  - {who: orders, can: edit, on: orders}
  - {who: mona, can: give manager, cannot: give editor, on: orders}
  - {who: otto, can: run, on: copy_erp}
"""


def report(files: dict[str, str], tests: str) -> AssertionReport:
    return run_files(parse_files({**files, "tests.yaml": tests}))


def test_against_files_and_against_the_tenant(access: AccessEngine, files: dict[str, str]) -> None:
    declared = parse_files({**files, "tests.yaml": PASSING})
    alone = run_files(declared)
    with access.read(company.TENANT) as session:
        there = run_session(declared, session)
    for found in (alone, there):
        assert [outcome.result for outcome in found.results] == ["passed"] * 6
        assert found.questions == 3 * 4 * 2 + 2 * 2 + 2 + 2 + len(company.PEOPLE) + 1
        assert found.exit_code == 0


def test_both_say_the_same_of_what_is_wrong(access: AccessEngine, files: dict[str, str]) -> None:
    declared = parse_files({**files, "tests.yaml": FAILING})
    alone = run_files(declared)
    with access.read(company.TENANT) as session:
        there = run_session(declared, session)
    results = [outcome.result for outcome in alone.results]
    assert results == ["failed", "failed", "error", "error", "error", "error", "failed", "failed"]
    for one, other in zip(alone.results, there.results, strict=True):
        assert (one.result, one.error, one.questions) == (other.result, other.error, other.questions)
        assert [str(failure) for failure in one.failures] == [str(failure) for failure in other.failures]
        assert [len(failure.why) for failure in one.failures] == [len(failure.why) for failure in other.failures]
    assert alone.exit_code == 1


def test_told_as_text(files: dict[str, str]) -> None:
    output = assertion_report.render_text(report(files, FAILING))
    assert output.splitlines()[0] == "tests.yaml FFEEEEFF"
    for expected in (
        "FAILED tests.yaml:2 Erik only reads",
        "    erik may edit orders, expected not to be allowed",
        "        by: editor  (lakehouse/model.yaml:",
        "            Editor on layer Clean for group Engineers",
        "FAILED tests.yaml:6 Bella edits targets",
        "    at 2030-01-01",
        "    bella may not edit store_targets, expected to be allowed",
        "        would allow it: Technical User on project Sales marts for member Bella, Business User (by member ",
        "ERROR tests.yaml:11 bellla can edit on store_targets",
        "    There is nothing called 'bellla'. Did you mean 'bella'?",
        "    There is nothing called 'store_target'. Did you mean 'store_targets'?",
        "    marts.data_mart has no action 'edti'. Did you mean 'edit'?",
        "    'orders' is a lakehouse.table. Name members and groups.",
        "    mona may not give manager orders, expected to be allowed",
        "    mona may give editor orders, expected not to be allowed",
        "        by: who may give Editor",
        "        stopped by: owner_context  (spaces/model.yaml:",
        "4 failed, 4 errors (",
    ):
        assert expected in output, output


def test_told_as_junit(files: dict[str, str]) -> None:
    (suite,) = ET.fromstring(assertion_report.render_junit(report(files, FAILING)))  # noqa: S314 - our own text
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("8", "4", "4")
    first = suite[0]
    assert (first.get("file"), first.get("line"), first.get("name")) == ("tests.yaml", "2", "Erik only reads")
    assert first[0].get("message") == "erik may edit orders, expected not to be allowed"
    assert "Editor on layer Clean" in str(first[0].text)
    assert [case[0].tag for case in suite] == ["failure", "failure", *["error"] * 4, "failure", "failure"]
    passed = ET.fromstring(assertion_report.render_junit(report(files, PASSING)))  # noqa: S314 - as above
    assert not list(passed[0][0])


def test_told_as_json(files: dict[str, str]) -> None:
    output = assertion_report.to_json(report(files, FAILING))
    assert (output["passed"], output["failed"], output["errors"], output["exit_code"]) == (0, 4, 4, 1)
    assert output["tests"][0]["failures"][0]["who"] == "erik"
    assert output["tests"][2]["error"].startswith("There is nothing called")


def test_at_which_time(access: AccessEngine, files: dict[str, str]) -> None:
    files["workspaces/store-lake.yaml"] = files["workspaces/store-lake.yaml"].replace(
        "          viewer: ana\n", "          viewer: [ana, {who: nils, from: 2030-01-01, until: 2031-01-01}]\n"
    )
    tests = """\
        tests:
          - {who: nils, cannot: read, on: orders}
          - {who: nils, can: read, on: orders, at: 2030-06-01}
          - {who: nils, cannot: read, on: orders, at: "2031-01-01T00:00:00Z"}
    """
    declared = parse_files({**files, "tests.yaml": dedent(tests)})
    assert run_files(declared, at=access.clock()).exit_code == 0
    with access.write(company.TENANT) as session:
        since, until = (1_893_456_000_000_000, 1_924_992_000_000_000)
        session.store.add(Grant("nils", "viewer", "clean"), since=since, until=until)
        assert run_session(declared, session).exit_code == 0


def test_no_tests(files: dict[str, str]) -> None:
    found = run_files(parse_files(files))
    assert found.exit_code == 5
    assert assertion_report.render_text(found).startswith("\nno tests (0 questions) in ")


def test_a_test_of_nobody(files: dict[str, str]) -> None:
    files["people.yaml"] += "  nobody: {}\n"
    (outcome,) = report(files, "tests: [{who: nobody, cannot: read, on: orders}]").results
    assert outcome.error == "Nobody is in 'nobody'. A test needs at least one member."


WRONG = {
    "tests: [{can: see, on: x}]": "`who:` is missing in a test",
    "tests: [{who: x, can: see}]": "`on:` is missing in a test",
    "tests: [{who: x, on: y}]": "a test needs `can:` or `cannot:`",
    "tests: [{who: x, on: y, may: see}]": "'may' is not known in a test. Known here: at, can, cannot, name, on, who.",
    "tests: [{who: [], on: y, can: see}]": "`who:` is empty",
    "tests: [{who: x, on: y, can: see, cannot: see}]": "this test says both can and cannot of 'see'",
    "tests: [{who: x, on: y, can: give}]": "'give' needs a role",
    "tests: [{who: x, on: y, can: edit viewer}]": "'edit' takes no role",
    "tests: [{who: x, on: y, can: see, at: noon}]": "'noon' is not a valid time",
    "tests: [see]": "a test is a mapping of names",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_test(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_files({"tests.yaml": text})
    assert str(caught.value).startswith("tests.yaml:1: ")
    assert WRONG[text] in str(caught.value)
