"""What the form kit makes of submitted texts and of settings that were there before."""

from __future__ import annotations

import pytest
from starlette.datastructures import FormData

from lakehold.workspaces.lakehouse.pages.destination_pages import LakehouseDestinationFormPage
from lakehold.workspaces.lakehouse.pages.pipeline_form_pages import PipelineFormPage
from lakehold.workspaces.marts.pages.data_marts.form_pages import DefinitionFormPage
from lakehold.workspaces.marts.pages.data_marts.quality_pages import DESIGN as CHECKS
from lakehold.workspaces.marts.pages.destination_pages import MartDestinationFormPage

FILE = {"to": "files", "name": "Orders", "volume": "exports", "file": "orders", "kind": "csv"}


@pytest.mark.parametrize(("sent", "on"), [({"header": "1"}, True), ({"header": "on"}, True), ({}, False)])
def test_a_switch_is_on_whatever_text_it_is_sent_with(sent: dict[str, str], on: bool) -> None:
    filled = LakehouseDestinationFormPage.design.parse(FormData({**FILE, **sent}))
    assert filled.settings()["header"] is on


def test_settings_that_the_form_does_not_have_stay() -> None:
    before = {"sql": "SELECT 1", "owner_team": "sales"}
    filled = PipelineFormPage.design.parse(FormData({"name": "Tool"}), before, "integration")
    assert {**before, **filled.settings()} == filled.settings()


def test_settings_of_the_type_that_it_had_go() -> None:
    before = {"to": "webhook", "address": "https://127.0.0.1/rows", "batch": 100}
    settings = LakehouseDestinationFormPage.design.parse(FormData(FILE), before).settings()
    assert settings["to"] == "files"
    assert not {"address", "batch"} & settings.keys()


def test_a_list_that_may_be_empty_has_records_of_which_anything_is_filled_in() -> None:
    design, sent = DefinitionFormPage.design, FormData({"name": "Orders", "by": "table", "table": "clean.orders"})
    assert design.parse(sent, word="storage").errors(has_secret=False) == {}
    joins = [("join_mart", "returns"), ("join_name", ""), ("join_on", "id =")]
    empty = [("join_mart", ""), ("join_name", ""), ("join_on", "")]
    filled = design.parse(FormData([*sent.items(), *empty, *joins]), word="storage")
    assert len(filled.lists["joins"]) == 1
    assert set(filled.errors(has_secret=False)) == {"join_name-0", "join_on-0"}


def test_pairs_are_of_two_names_or_of_the_same() -> None:
    joins = {"join_mart": "returns", "join_name": "returned", "join_on": "id, store = shop"}
    filled = DefinitionFormPage.design.parse(FormData({"name": "Orders", "sql": "SELECT 1", **joins}), word="storage")
    assert filled.errors(has_secret=False) == {}
    join = {"mart": "returns", "name": "returned", "on": {"id": "id", "store": "shop"}}
    assert filled.settings()["joins"] == [join]


def test_a_wrong_option_is_answered_with_the_labels_unless_they_are_sentences() -> None:
    errors = CHECKS.parse(FormData({"check": "nothing"}), word="check").errors(has_secret=False)
    assert errors["check"] == "Select an option."
    storage = MartDestinationFormPage.design.parse(FormData({"to": "files", "name": "Orders", "kind": "nothing"}))
    assert storage.errors(has_secret=False)["kind"].startswith("Select CSV, ")
