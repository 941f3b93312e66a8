"""Standardises the values of records, so that those that mean the same are written the same.

Pure functions: a raw text, its type and the country of its source give the value that people see, and the parts that
matching compares. What cannot be standardised is None, and remains raw.

- `standardiser`: standardises a text by the type of its attribute
- `standard_value`: a standardised value with its parts
- `texts`: cleans and folds texts
- `person_names`: full, given and family names
- `nicknames`: the names that short forms stand for
- `company_names`: names of companies, and legal forms
- `phones`: phone numbers
- `emails`: e-mail addresses
- `dates`: dates, with and without day
- `addresses`: streets, cities, postcodes and regions
- `countries`: countries, and how dates and numbers are written there
- `codes`: identifiers, numbers, categories and plain texts
"""
