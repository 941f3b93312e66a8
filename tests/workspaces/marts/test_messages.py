"""What a report says: values stay values, whatever is in them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.marts.messages import DEFAULT_TEMPLATE, MessageData, MessageTemplate

ROWS = [("Kiosk <Nord>", Decimal("12.50"), date(2026, 11, 1)), ("Markt", Decimal("25.00"), None)]
FIRST = MessageData("Sales", "2026-11-16", ("shop", "amount", "sold"), ROWS, 2)


def test_a_message_is_said_as_text_as_html_and_in_a_chat() -> None:
    said = MessageTemplate("# {{ name }}, {{day}}\n\n**{{ shop }}** sold {{ amount }} in {{ rows }} rows").render(FIRST)
    assert said.text == "# Sales, 2026-11-16\n\n**Kiosk <Nord>** sold 12.50 in 2 rows"
    assert "<h1>Sales, 2026-11-16</h1>" in said.html
    assert "<p><strong>Kiosk &lt;Nord&gt;</strong> sold 12.50 in 2 rows</p>" in said.html
    assert said.chat == "*Sales, 2026-11-16*\n\n*Kiosk &lt;Nord&gt;* sold 12.50 in 2 rows"


@pytest.mark.parametrize(
    "value",
    [
        "<script>alert(1)</script>",
        "[free money](https://localhost)",
        "<https://localhost|free money>",
        "<!channel>",
        "@channel",
        "**big**",
        '" onclick="x',
        "{{ amount }}",
        "\ue0000\ue001",
        "`code`",
        "a\n\n# title",
    ],
)
def test_nothing_in_a_value_is_read_as_anything_else(value: str) -> None:
    first = MessageData("n", "d", ("v", "amount"), [(value, 7)], 1)
    said = MessageTemplate("Said: {{ v }}\n\n{{ table }}\n\n{{ chart v amount }}").render(first)
    body = said.html.partition("<body>")[2]
    for sign in ("<script", "<a ", "<strong>", "<h1>", 'onclick="x'):
        assert sign not in body
    for sign in ("<!", "<http", "](", "@channel"):
        assert sign not in said.chat.partition("```")[0]
    assert "<" not in said.chat
    assert "alert(7)" not in said.text
    assert "Said: 7" not in said.text


def test_a_value_in_an_address_stays_a_part_of_it() -> None:
    first = MessageData("n", "d", ("id",), [('1"/../x y&z|<b>',)], 1)
    said = MessageTemplate("[open](https://localhost/orders/{{ id }})").render(first)
    there = "https://localhost/orders/1%22%2F..%2Fx%20y%26z%7C%3Cb%3E"
    assert f'<a href="{there}">open</a>' in said.html
    assert said.chat == f"<{there}|open>"


def test_a_table_stands_in_columns_and_tells_what_it_leaves_out() -> None:
    said = MessageTemplate("{{ table }}").render(MessageData("n", "d", FIRST.columns, ROWS, 1_234))
    assert said.text.splitlines() == [
        "shop          amount  sold",
        "Kiosk <Nord>   12.50  2026-11-01",
        "Markt          25.00",
        "… and 1,232 more rows",
    ]
    assert said.chat.splitlines()[0] == "```"
    assert "Kiosk &lt;Nord&gt;" in said.chat
    assert said.html.count("<tr>") == 3
    assert "<p><table" not in said.html
    wide = MessageData("n", "d", tuple(f"c{number}" for number in range(15)), [tuple(range(15))], 1)
    assert MessageTemplate("{{ table }}").render(wide).text.splitlines()[-1] == "… and 3 more columns"


def test_a_chart_draws_each_row_as_a_bar() -> None:
    rows = [("up", 10), ("half", 5.0), ("down", Decimal(-10)), ("none", None)]
    said = MessageTemplate("{{ chart what 'how much' }}").render(MessageData("n", "d", ("what", "how much"), rows, 4))
    assert said.text.splitlines() == [
        f"up    {'█' * 24} 10",
        f"half  {'█' * 12} 5.0",
        f"down  {'░' * 24} -10",
        "none",
    ]
    assert "width:50%" in said.html


def test_what_cannot_be_drawn_is_told() -> None:
    with pytest.raises(InvalidInputError, match="'shop': it is not a number"):
        MessageTemplate("{{ chart sold shop }}").render(FIRST)
    with pytest.raises(InvalidInputError, match="cannot be drawn"):
        MessageTemplate("{{ chart shop }}").check(FIRST.columns)
    with pytest.raises(InvalidInputError, match="cannot be drawn"):
        MessageTemplate('{{ chart "shop amount }}').check(FIRST.columns)


@pytest.mark.parametrize("template", ["{{ salary }}", "{{ chart shop salary }}", "{{ column salary }}", "{{ }}"])
def test_a_name_that_is_not_there_is_told_with_those_that_are(template: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        MessageTemplate(template).check(FIRST.columns)
    assert "shop, amount, sold" in str(refused.value)
    assert "rows, day, name, table" in str(refused.value)


def test_a_column_with_the_name_of_something_else_can_be_meant() -> None:
    first = MessageData("Sales", "2026-11-16", ("day",), [("Monday",)], 1)
    assert MessageTemplate("{{ day }}: {{ column day }}").render(first).text == "2026-11-16: Monday"


def test_without_rows_there_is_something_to_say_too() -> None:
    said = MessageTemplate(f"{DEFAULT_TEMPLATE}{{{{ chart shop amount }}}}{{{{ shop }}}}").render(
        MessageData("Sales", "d", FIRST.columns)
    )
    assert said.text == "**Sales**: 0 rows\n\nNo rows.No rows."
    assert (
        MessageTemplate("{{ rows }}").render(MessageData("n", "d", (), [], 100, complete=False)).text == "more than 100"
    )


def test_a_message_has_an_end() -> None:
    with pytest.raises(InvalidInputError, match="20,001 characters"):
        MessageTemplate("x" * 20_001).check(())
