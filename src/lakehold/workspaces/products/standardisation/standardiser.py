"""Standardises texts by the type of their attribute."""

from collections.abc import Callable, Mapping

from lakehold.workspaces.products.attribute_types import AttributeType
from lakehold.workspaces.products.standardisation import (
    addresses,
    codes,
    company_names,
    countries,
    dates,
    emails,
    person_names,
    phones,
)
from lakehold.workspaces.products.standardisation.standard_value import StandardValue
from lakehold.workspaces.products.standardisation.texts import MAX_LENGTH, clean_text, is_blank, is_placeholder

_BY_TYPE: Mapping[AttributeType, Callable[[str, str], StandardValue | None]] = {
    AttributeType.TEXT: codes.standardise_text,
    AttributeType.FULL_NAME: person_names.standardise_full_name,
    AttributeType.GIVEN_NAME: person_names.standardise_given_name,
    AttributeType.FAMILY_NAME: person_names.standardise_family_name,
    AttributeType.COMPANY_NAME: company_names.standardise_company_name,
    AttributeType.EMAIL: emails.standardise_email,
    AttributeType.PHONE: phones.standardise_phone,
    AttributeType.DATE: dates.standardise_date,
    AttributeType.STREET: addresses.standardise_street,
    AttributeType.CITY: addresses.standardise_city,
    AttributeType.POSTCODE: addresses.standardise_postcode,
    AttributeType.REGION: addresses.standardise_region,
    AttributeType.COUNTRY: countries.standardise_country,
    AttributeType.IDENTIFIER: codes.standardise_identifier,
    AttributeType.NUMBER: codes.standardise_number,
    AttributeType.CATEGORY: codes.standardise_category,
}
_PERSON_NAMES = frozenset({AttributeType.FULL_NAME, AttributeType.GIVEN_NAME, AttributeType.FAMILY_NAME})


def standardise(attribute: AttributeType, raw: str | None, country: str = "") -> StandardValue | None:
    """Return what a raw text becomes as an attribute of this type; None if it is blank or cannot be one.

    A standardised value becomes itself.
    """
    if raw is None:
        return None
    if len(raw) > MAX_LENGTH and attribute is not AttributeType.TEXT:
        return None
    text = clean_text(raw)
    if is_blank(text) or is_placeholder(text, for_names=attribute in _PERSON_NAMES):
        return None
    found = _BY_TYPE[attribute](text, country)
    return found if found and found.value else None
