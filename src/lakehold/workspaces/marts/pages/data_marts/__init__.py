"""Pages of a data mart.

- `form_pages`: the forms of a definition on a storage, with the joined data marts, and of a connector
- `data_mart_pages`: the page of a data mart, and its reports
- `schema_page`: its fields
- `quality_pages`: outcomes and form of its checks
"""
