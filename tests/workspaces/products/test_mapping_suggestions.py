"""Columns are suggested for attributes by their names and values."""

from __future__ import annotations

import pytest

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.column_names import column_words, type_by_name
from lakehold.workspaces.products.mapping_suggestions import suggest_attributes, suggest_mapping
from lakehold.workspaces.products.profiles import ColumnProfile, SourceProfile
from lakehold.workspaces.products.settings import DataProductSettings, ProductAttribute
from lakehold.workspaces.products.templates import load_templates
from lakehold.workspaces.products.type_inference import infer_type

EMAIL, PHONE, DATE, TEXT = AttributeType.EMAIL, AttributeType.PHONE, AttributeType.DATE, AttributeType.TEXT
NUMBER, CATEGORY = AttributeType.NUMBER, AttributeType.CATEGORY


def source(**columns: AttributeType | None) -> SourceProfile:
    return SourceProfile(10, tuple(column(name, values) for name, values in columns.items()))


def column(name: str, values: AttributeType | None) -> ColumnProfile:
    filled = 0 if values is None else 10
    return ColumnProfile(name=name, data_type="string", rows=10, nulls=10 - filled, distinct=filled, value_type=values)


def mapped(template: str, profile: SourceProfile) -> dict[str, str]:
    found = suggest_mapping(load_templates()[template].settings.attributes, profile)
    return {each.attribute: each.column for each in found}


@pytest.mark.parametrize(
    "columns",
    [
        {
            "customer_id": NUMBER,
            "first_name": TEXT,
            "last_name": TEXT,
            "dob": DATE,
            "e_mail": EMAIL,
            "mobile_phone": PHONE,
            "address_line_1": TEXT,
            "zip": NUMBER,
            "town": TEXT,
            "country_code": CATEGORY,
        },
        {
            "KundenNr": NUMBER,
            "Vorname": TEXT,
            "Nachname": TEXT,
            "Geburtsdatum": DATE,
            "Mailadresse": EMAIL,
            "Telefon": PHONE,
            "Strasse": TEXT,
            "PLZ": NUMBER,
            "Wohnort": TEXT,
            "Land": CATEGORY,
        },
        {
            "numero_client": NUMBER,
            "prenom": TEXT,
            "nomDeFamille": TEXT,
            "date_de_naissance": DATE,
            "courriel": EMAIL,
            "telephone_portable": PHONE,
            "rue": TEXT,
            "code_postal": NUMBER,
            "ville": TEXT,
            "pays": CATEGORY,
        },
        {
            "id": NUMBER,
            "nombre": TEXT,
            "apellidos": TEXT,
            "fecha_nacimiento": DATE,
            "correo": EMAIL,
            "movil": PHONE,
            "calle": TEXT,
            "codigo_postal": NUMBER,
            "ciudad": TEXT,
            "pais": CATEGORY,
        },
    ],
    ids=["english", "german", "french", "spanish"],
)
def test_a_list_of_people_is_mapped_in_many_languages(columns: dict[str, AttributeType]) -> None:
    _, given, family, born, email, phone, street, postcode, city, country = columns
    assert mapped("person", source(**columns)) == {
        "given_name": given,
        "family_name": family,
        "birth_date": born,
        "email": email,
        "phone": phone,
        "street": street,
        "postcode": postcode,
        "city": city,
        "country": country,
    }


def test_values_suggest_a_column_whose_name_says_nothing() -> None:
    (found,) = suggest_mapping((ProductAttribute(name="email", type=EMAIL),), source(x1=TEXT, x2=EMAIL))
    assert (found.column, found.reason) == ("x2", "Its values look like the type email.")


def test_values_speak_against_a_name() -> None:
    attributes = (ProductAttribute(name="email", type=EMAIL),)
    assert not suggest_mapping(attributes, source(email=PHONE))
    assert not suggest_mapping(attributes, source(email=CATEGORY))
    (empty,) = suggest_mapping(attributes, source(email=None))
    assert empty.reason == "The names are alike. It has no values."


def test_each_column_is_taken_once_and_the_best_first() -> None:
    attributes = (ProductAttribute(name="phone", type=PHONE), ProductAttribute(name="mobile", type=PHONE))
    found = suggest_mapping(attributes, source(mobile=PHONE))
    assert [(each.attribute, each.column, each.score) for each in found] == [("mobile", "mobile", 1.0)]
    both = suggest_mapping(attributes, source(mobile=PHONE, tel=PHONE))
    assert [(each.attribute, each.column) for each in both] == [("phone", "tel"), ("mobile", "mobile")]


def test_nothing_is_suggested_for_what_has_nothing_in_common() -> None:
    assert mapped("person", source(foo=TEXT, bar=CATEGORY, baz=NUMBER)) == {}
    assert mapped("person", SourceProfile()) == {}


def test_a_schema_of_ones_own_is_suggested() -> None:
    odd = ["id", "ID", "1st Name", "entity", "名前", "", "x" * 300, "a__b", "source_key", "🙂"]
    profile = SourceProfile(10, tuple(infer_type(column(name, None), {}) for name in odd))
    found = suggest_attributes(profile)
    assert [each.column for each in found] == odd
    DataProductSettings(attributes=tuple(each.attribute for each in found))
    names = [each.attribute.name for each in found]
    assert names[:4] == ["id", "id_2", "a_1st_name", "entity_2"]
    assert len(set(names)) == len(names)


def test_a_key_of_one_source_is_not_compared() -> None:
    key = ColumnProfile(
        name="customer_no",
        data_type="string",
        rows=5,
        distinct=5,
        is_unique=True,
        attribute_type=AttributeType.IDENTIFIER,
    )
    tax = ColumnProfile(
        name="tax_id", data_type="string", rows=5, nulls=1, distinct=3, attribute_type=AttributeType.IDENTIFIER
    )
    found = suggest_attributes(SourceProfile(5, (key, tax)))
    assert [each.attribute.matched for each in found] == [False, True]


def test_names_are_read_in_words() -> None:
    assert column_words("customerFirstName") == column_words("CUSTOMER_FIRST_NAME") == ("customer", "first", "name")
    assert column_words("Straße/Nr.") == ("strasse", "nr")
    assert type_by_name("Kunden-E-Mail")[0] is EMAIL
    assert type_by_name("foo") == (None, 0.0)
