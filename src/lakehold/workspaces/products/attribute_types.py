"""The types of a data product's attributes, and the columns that standardisation makes of a value of each.

For an attribute `name`, the record table has `name` (the standardised value, as it is shown), `name__raw` (as the
source has it) and one text column for each part, such as `name__key`, which only matching compares. What cannot be
standardised, such as a phone number without enough digits, is NULL and remains in the raw column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

RAW = "raw"


class AttributeType(StrEnum):
    """The type of an attribute: how its values are standardised, compared and consolidated."""

    TEXT = "text"
    FULL_NAME = "full name"
    GIVEN_NAME = "given name"
    FAMILY_NAME = "family name"
    COMPANY_NAME = "company name"
    EMAIL = "email"
    PHONE = "phone"
    DATE = "date"
    STREET = "street"
    CITY = "city"
    POSTCODE = "postcode"
    REGION = "region"
    COUNTRY = "country"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class AttributeParts:
    """The parts of a type: the suffixes of the columns that matching compares, each with its content."""

    label: str
    parts: Mapping[str, str]


PARTS: Mapping[AttributeType, AttributeParts] = {
    AttributeType.TEXT: AttributeParts("Text", {"key": "folded: small letters and digits, one space between words"}),
    AttributeType.FULL_NAME: AttributeParts(
        "Full name",
        {
            "key": "folded given and family names",
            "given": "the first given name, folded",
            "family": "the family name, folded, without particles",
            "nick": "the given name that the first given name is a short form of, or itself",
        },
    ),
    AttributeType.GIVEN_NAME: AttributeParts(
        "Given name", {"key": "the first given name, folded", "nick": "the name that it is a short form of, or itself"}
    ),
    AttributeType.FAMILY_NAME: AttributeParts("Family name", {"key": "folded, without particles"}),
    AttributeType.COMPANY_NAME: AttributeParts(
        "Company name",
        {
            "key": "folded, without legal form and filling words",
            "form": "the legal form, such as gmbh or ltd",
            "sorted": "the words of the key in alphabetical order",
            "first": "the first word of the key",
        },
    ),
    AttributeType.EMAIL: AttributeParts(
        "E-mail", {"key": "small letters, without tags behind +", "user": "before the @", "domain": "behind the @"}
    ),
    AttributeType.PHONE: AttributeParts("Phone", {"key": "in E.164", "tail": "the last seven digits"}),
    AttributeType.DATE: AttributeParts("Date", {"key": "year-month-day", "year": "four digits"}),
    AttributeType.STREET: AttributeParts(
        "Street", {"key": "folded, abbreviations written out, without the number", "number": "the house number"}
    ),
    AttributeType.CITY: AttributeParts("City", {"key": "folded"}),
    AttributeType.POSTCODE: AttributeParts("Postcode", {"key": "capital letters and digits, without spaces"}),
    AttributeType.REGION: AttributeParts("Region", {"key": "folded"}),
    AttributeType.COUNTRY: AttributeParts("Country", {"key": "two capital letters (ISO 3166)"}),
    AttributeType.IDENTIFIER: AttributeParts("Identifier", {"key": "capital letters and digits only"}),
    AttributeType.NUMBER: AttributeParts("Number", {"key": "a decimal number in its shortest form"}),
    AttributeType.CATEGORY: AttributeParts("Category", {"key": "folded"}),
}


def part_column(attribute: str, part: str) -> str:
    """Return the name of the column of an attribute's part."""
    return f"{attribute}__{part}"
