"""Forms and schemas of settings: a form stores nothing that its schema does not have, and offers what it allows."""

from __future__ import annotations

from typing import Any

import pytest

from lakehold.connectors.form_fields import FieldList, FormField, all_fields, schema_fields
from lakehold.web.connections.form import FormDesign
from lakehold.workspaces.lakehouse.pages import pipeline_form_pages
from lakehold.workspaces.lakehouse.pages.destination_pages import LakehouseDestinationFormPage
from lakehold.workspaces.lakehouse.pages.sources.setup_pages import SourceFormPage
from lakehold.workspaces.lakehouse.settings import DESTINATION as LAKEHOUSE_DESTINATION
from lakehold.workspaces.lakehouse.settings import SOURCE
from lakehold.workspaces.marts.pages.data_marts import form_pages, quality_pages
from lakehold.workspaces.marts.pages.destination_pages import MartDestinationFormPage
from lakehold.workspaces.marts.pages.reports import report_form
from lakehold.workspaces.marts.pages.storage_pages import StorageFormPage
from lakehold.workspaces.marts.report_settings import ReportSettings
from lakehold.workspaces.marts.settings import DATA_MART, DESTINATION, FEEDS, STORAGE, MartSettings, QualityCheck

(MART,) = DATA_MART.records.values()
DESIGNS: dict[str, tuple[FormDesign, dict[str, Any]]] = {
    "source": (SourceFormPage.design, dict(SOURCE.records)),
    "lakehouse destination": (LakehouseDestinationFormPage.design, dict(LAKEHOUSE_DESTINATION.records)),
    "pipeline": (pipeline_form_pages.PipelineFormPage.design, dict(pipeline_form_pages.RECORDS)),
    "storage": (StorageFormPage.design, dict(STORAGE.records)),
    "destination": (MartDestinationFormPage.design, dict(DESTINATION.records)),
    "data mart": (form_pages.ConnectorFormPage.design, dict.fromkeys(FEEDS, MART)),
    "definition": (form_pages.DefinitionFormPage.design, dict.fromkeys(("storage", "connector"), MartSettings)),
    "check": (quality_pages.DESIGN, {"check": QualityCheck}),
    "report": (report_form.DESIGN, {"report": ReportSettings}),
}
CASES = [(name, word) for name, (design, _) in DESIGNS.items() for word in design.types]


def stored(design: FormDesign, word: str) -> list[tuple[str, FormField]]:
    """The fields that are stored, by the path of their setting."""
    rows = [row for card in design.types[word].cards for row in card.rows]
    listed = [(f"{row.setting}.", each) for row in rows if isinstance(row, FieldList) for each in row.fields]
    own = [("", each) for each in all_fields(rows)]
    return [(prefix + each.path, each) for prefix, each in (*own, *listed) if each.path]


def test_all_types_have_forms() -> None:
    for design, records in DESIGNS.values():
        assert set(design.types) == set(records)


@pytest.mark.parametrize(("name", "word"), CASES)
def test_what_a_form_stores_is_in_the_schema_of_its_settings(name: str, word: str) -> None:
    design, records = DESIGNS[name]
    known = schema_fields(records[word])
    for path, each in stored(design, word):
        assert path in known, each.name
        assert each.label, path
        options = {option[0] for option in each.options if option[0]}
        if each.value != "flag" and "options" in known[path]:
            # A data mart that a connector feeds has a form of its own.
            elsewhere = {"connector"} if path == "by" else set()
            assert options | elsewhere == {option[0] for option in known[path]["options"]}, path


@pytest.mark.parametrize("name", ["source", "lakehouse destination", "destination"])
def test_a_setting_is_on_the_form_or_left_out_on_purpose(name: str) -> None:
    design, records = DESIGNS[name]
    for word, record in records.items():
        on_form = {path for path, _ in stored(design, word)}
        simple = {path for path in schema_fields(record) if "." not in path}
        assert simple - on_form == {design.choice, *design.types[word].fields.excluded}, word
