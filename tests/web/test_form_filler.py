"""A rendered page is filled with the values of a form that was sent before."""

from __future__ import annotations

from collections import Counter

import pytest

from lakehold.web.form_filler import FormFiller
from tests.web.crawler.forms import forms_in

TEXTS = """<main id="content"><form method="post" action="/take">
<input type="hidden" name="csrf_token" value="fresh">
<input name="name" value="was" required>
<textarea name="about">
was</textarea><input type="hidden" name="version" value="7">
<button name="do" value="save">Save</button></form></main>"""
CHOICES = """<main><form method="post" action="/take"><select name="one">
<option value="a" selected>A</option><option value="b">B</option>
</select><select name="many" multiple><option value="x" selected>X</option><option value="y">Y</option>
<option value="z">Z</option></select><input type="radio" name="size" value="s" checked>
<input type="radio" name="size" value="m"><input type="checkbox" name="on" checked>
<input type="checkbox" name="tag" value="1"><input type="checkbox" name="tag" value="2" checked>
</form></main>"""
ROWS = """<main><form method="post" action="/remove"><input type="hidden" name="id" value="1"><input name="why"></form>
<form method="post" action="/remove"><input type="hidden" name="id" value="2"><input name="why"></form></main>"""
APART = """<main><input type="checkbox" name="rows" value="1" form="decide">
<input type="checkbox" name="rows" value="2" form="decide">
<form method="post" id="decide" action="/decide"><input name="note"></form></main>"""
ELSEWHERE = """<main><details><summary>More</summary><form method="post" action="/run"><textarea name="sql"></textarea>
<button formaction="/save#top">Save</button></form></details></main>"""
LISTS = """<main><form method="post" action="/take">
<input name="each" value=""><input name="each" value=""></form></main>"""


def fill(html: str, *fields: tuple[str, str], action: str = "/take") -> FormFiller:
    return FormFiller(html, action, fields)


def values(html: str, *fields: tuple[str, str], action: str = "/take") -> Counter[tuple[str, str]]:
    """What a browser would send of the filled page."""
    page = fill(html, *fields, action=action).to_html("")
    return Counter(each for form in forms_in(page, "/") for each in form.fields if each[0] != "do")


def test_texts_are_filled_as_they_were_sent_and_the_token_stays() -> None:
    sent = [
        ("csrf_token", "old"),
        ("name", 'Q&A "<b>"'),
        ("about", "\n</textarea><script>"),
        ("version", "5"),
        ("do", "save"),
    ]
    page = fill(TEXTS, *sent).to_html("")
    assert 'value="Q&amp;A &quot;&lt;b&gt;&quot;"' in page
    assert "<script>" not in page
    assert 'value="fresh"' in page
    assert 'name="version" value="5"' in page
    assert fill(TEXTS, *sent).unplaced == []


def test_a_field_that_was_emptied_is_empty() -> None:
    assert values(TEXTS, ("name", ""), ("about", ""))["name", ""] == 1


def test_choices_and_boxes_are_as_they_were_sent() -> None:
    found = values(CHOICES, ("one", "b"), ("many", "y"), ("many", "z"), ("size", "m"), ("tag", "1"))
    assert found == Counter([("one", "b"), ("many", "y"), ("many", "z"), ("size", "m"), ("tag", "1")])


def test_of_forms_with_one_address_the_one_with_the_hidden_value_is_filled() -> None:
    page = fill(ROWS, ("id", "2"), ("why", "old"), action="/remove").to_html("[notice]")
    assert page.index('value="1"') < page.index("[notice]") < page.index('value="2"') < page.index('value="old"')


def test_fields_outside_of_their_form_are_filled() -> None:
    page = fill(APART, ("rows", "2"), ("note", "x"), action="/decide").to_html("")
    assert 'value="2" form="decide" checked>' in page
    assert page.count("checked") == 1


def test_a_form_is_found_by_the_address_of_its_button_and_unfolded() -> None:
    page = fill(ELSEWHERE, ("sql", "SELECT 1"), action="/save").to_html("")
    assert "<details open>" in page
    assert "SELECT 1" in page


def test_a_form_that_was_a_step_further_fills_the_one_with_its_fields() -> None:
    filler = fill(ELSEWHERE, ("sql", "SELECT 1"), ("name", "Mine"), ("secret", "x"), action="/save-as")
    assert "SELECT 1" in filler.to_html("")
    assert filler.unplaced == [("name", "Mine")]


def test_fields_of_one_name_are_filled_in_their_order() -> None:
    page = fill(LISTS, ("each", "first"), ("each", "second")).to_html("")
    assert page.index("first") < page.index("second")


@pytest.mark.parametrize("type_", ["password", "file"])
def test_passwords_and_files_are_not_filled(type_: str) -> None:
    filler = fill(
        f'<main><form method="post" action="/take"><input type="{type_}" name="it"></form></main>', ("it", "hidden one")
    )
    assert "hidden one" not in filler.to_html("")
    assert filler.unplaced == []
    assert filler.asks_password is (type_ == "password")


def test_a_page_without_the_form_says_what_could_not_be_filled_in() -> None:
    filler = fill("<main><p>Gone.</p></main>", ("name", "Mine"), ("secret", "x"))
    assert filler.to_html("[notice]") == "<main>[notice]<p>Gone.</p></main>"
    assert filler.unplaced == [("name", "Mine")]
