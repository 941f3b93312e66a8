"""Pages of a data mart.

- `data_mart_form`: the values of the form, with the joined data marts
- `form_pages`: the pages of that form, and the test of a definition
- `connector_form`: the form of a data mart that a connector feeds, and its pages
- `data_mart_pages`: the page of a data mart, and its reports
- `schema_page`: its fields
- `quality_pages`: outcomes and form of its checks
"""
