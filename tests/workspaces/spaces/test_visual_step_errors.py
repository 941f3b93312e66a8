"""Visual steps that cannot be used: refused without Spark, with the step and the setting named."""

from __future__ import annotations

import pytest

from lakehold.workspaces.spaces.tasks.visual_steps.compiler import compile_steps
from tests.workspaces.spaces.step_chains import CHAIN, NAMES, SCHEMAS, Settings, columns, compiled, condition, refusal

COUNT = {"function": "count"}
GONE: dict[str, tuple[Settings, str]] = {
    "select": ({"columns": ["day", "amout"]}, "columns"),
    "rename": ({"columns": {"amout": "price"}}, "columns"),
    "filter": (
        {"conditions": [{"column": "id", "value": "1"}, {"column": "amout", "value": "1"}]},
        "conditions.1.column",
    ),
    "derive": ({"name": "x", "expression": "round(amout, 2)"}, "expression"),
    "join": ({"input": "landing.customers", "keys": {"amout": "customer"}, "prefix": "c_"}, "keys"),
    "aggregate": ({"group_by": ["day"], "measures": [{"function": "sum", "column": "amout"}]}, "measures.0.column"),
    "pivot": ({"column": "amout", "values": ["1"], "measure": COUNT}, "column"),
    "deduplicate": ({"keys": ["id"], "order_by": ["amout"]}, "order_by"),
}


@pytest.mark.parametrize("kind", GONE)
@pytest.mark.parametrize("number", [1, 3])
def test_a_column_that_is_gone_is_refused_with_the_step_named(kind: str, number: int) -> None:
    settings, field = GONE[kind]
    earlier: list[Settings] = [{"step": "deduplicate"}, {"step": "select", "columns": NAMES}]
    before = earlier[: number - 1]
    chain = compiled(*before, {"step": kind, "label": "Clean up", **settings}, {"step": "deduplicate"})
    assert len(chain.results) == number
    error = refusal(*before, {"step": kind, "label": "Clean up", **settings})
    where = "There is" if number > 1 else "The input 'landing.orders' has"
    assert error.message == f"Step {number} ({kind} 'Clean up'): {where} no column 'amout'."
    assert (error.hint, error.field) == ("Did you mean 'amount'?", f"steps.{number - 1}.{field}")
    assert chain.problem is not None
    assert str(chain.problem) == str(error)


def test_a_column_that_an_earlier_step_drops_is_gone() -> None:
    error = refusal({"step": "select", "columns": ["id", "day"]}, condition("status"))
    assert error.message == "Step 2 (filter): There is no column 'status'."
    assert error.hint == "There are: id, day."


@pytest.mark.parametrize("missing", ["unknown", "landing.order"])
def test_an_input_that_is_gone_is_refused_with_the_step_named(missing: str) -> None:
    for step in ({"step": "union", "input": missing}, {"step": "join", "input": missing, "keys": {"id": "id"}}):
        error = refusal({"step": "deduplicate"}, step)
        assert error.message == f"Step 2 ({step['step']}): The task has no input '{missing}'."
        assert error.field == "steps.1.input"
    first = compile_steps(missing, (), SCHEMAS).problem
    assert first is not None
    assert (first.message, first.field) == (f"The task has no input '{missing}'.", "from")


@pytest.mark.parametrize(
    ("step", "field", "message"),
    [
        ({"step": "select", "columns": ["id", "ID"]}, "columns", "Two columns would be called 'id'."),
        ({"step": "rename", "columns": {"id": "Day"}}, "columns", "Two columns would be called 'day'."),
        ({"step": "rename", "columns": {"id": "a", "ID": "b"}}, "columns", "A column gets two names."),
        (
            {"step": "join", "input": "landing.customers", "keys": {"customer": "customer"}},
            "prefix",
            "Both sides have a column 'status'.",
        ),
        (
            {"step": "join", "input": "landing.customers", "keys": {"status": "customer"}, "prefix": "c_"},
            "keys",
            "'status' is string, and 'customer' of the input is long.",
        ),
        (
            {"step": "join", "input": "landing.customers", "keys": {"id": "customr"}},
            "keys",
            "The input 'landing.customers' has no column 'customr'.",
        ),
        (
            {"step": "aggregate", "group_by": ["id"], "measures": [{"function": "count", "name": "ID"}]},
            "measures",
            "Two columns would be called 'ID'.",
        ),
        (
            {"step": "aggregate", "measures": [{"function": "sum", "column": "status"}]},
            "measures.0.column",
            "The sum of 'status' cannot be computed: it is string.",
        ),
        (
            {"step": "pivot", "group_by": ["id"], "column": "status", "values": ["Id"], "measure": COUNT},
            "values",
            "Two columns would be called 'Id'.",
        ),
        (
            {"step": "pivot", "column": "id", "values": ["one"], "measure": COUNT},
            "values",
            "'one' is not a number.",
        ),
        (
            {"step": "union", "input": "landing.customers"},
            "fill_missing",
            "The input 'landing.customers' has no column 'id'.",
        ),
        (
            {"step": "union", "input": "landing.customers", "by_name": False},
            "by_name",
            "The input has 3 columns, and there are 5.",
        ),
        (condition("day", ">", value="soon"), "conditions.0.value", "'soon' is not a date."),
        (condition("id", "in", values=["1", "x"]), "conditions.0.values", "'x' is not a number."),
        (
            condition("id", "contains", value="1"),
            "conditions.0.operator",
            "'id' is long, so that `contains` does not apply.",
        ),
    ],
)
def test_what_does_not_fit_is_refused(step: Settings, field: str, message: str) -> None:
    error = refusal(step)
    assert (error.message, error.field) == (f"Step 1 ({step['step']}): {message}", f"steps.0.{field}")


@pytest.mark.parametrize(
    ("step", "field"),
    [
        ({"step": "select", "columns": []}, "columns"),
        ({"step": "select"}, "columns"),
        ({"step": "filter", "conditions": [{"column": "id"}]}, "conditions.0.value"),
        ({"step": "filter", "conditions": [{"column": "id", "operator": "in"}]}, "conditions.0.values"),
        (condition("id", value="1"), "conditions.0.value"),
        (condition("id", "=", value="1", values=["1"]), "conditions.0.values"),
        ({"step": "derive", "name": "x", "expression": " "}, "expression"),
        ({"step": "derive", "name": "x", "expression": "1", "type": "money"}, "type"),
        ({"step": "derive", "name": "x", "expression": "1", "type": "decimal(39, 2)"}, "type"),
        ({"step": "join", "input": "x", "keys": {}}, "keys"),
        ({"step": "join", "input": "x", "kind": "cross", "keys": {"id": "id"}}, "kind"),
        ({"step": "aggregate"}, "measures"),
        ({"step": "aggregate", "measures": [{"function": "sum"}]}, "measures.0.column"),
        ({"step": "union", "input": "x", "by_name": False, "fill_missing": True}, "fill_missing"),
        ({"step": "pivot", "column": "id", "values": [], "measure": COUNT}, "values"),
        ({"step": "deduplicate", "order_by": ["id"]}, "keys"),
        ({"step": "sort"}, "step"),
        ({"columns": ["id"]}, "step"),
        ({"step": "select", "columns": ["id"], "limit": 5}, "limit"),
    ],
)
def test_settings_that_no_step_can_have_are_refused(step: Settings, field: str) -> None:
    (problem,) = CHAIN.problems({"steps": [{"step": "deduplicate"}, step]})
    assert problem.field == f"steps.1.{field}"


def test_an_input_with_two_columns_of_one_name_is_refused() -> None:
    problem = compiled(schemas={"orders": columns(id="long", ID="long")}).problem
    assert problem is not None
    assert problem.hint == "Rename one of them in orders."
