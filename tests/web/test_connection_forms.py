"""What the form kit makes of submitted texts and of settings that were there before."""

from __future__ import annotations

import pytest
from starlette.datastructures import FormData

from lakehold.workspaces.lakehouse.pages.destination_pages import LakehouseDestinationFormPage
from lakehold.workspaces.lakehouse.pages.pipeline_form_pages import PipelineFormPage

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
