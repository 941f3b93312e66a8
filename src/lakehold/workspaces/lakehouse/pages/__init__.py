"""Pages of a lakehouse beside those that all workspaces share.

- `overview`: a lakehouse at a glance
- `data_browser`: layers, tables and volumes; search; deleted tables
- `pipeline_list`: the pipelines as a list and as a graph
- `pipeline_form_pages`: forms of queries, histories, notebooks and integrations
- `backfill`: run a past range again
- `integration_page`: the page of an integration and its tokens
- `destination_pages`: form, connection test and page of a destination
- `sources`: set-up, streams, preview and page of a source
- `routers`: the routers, in the order in which they are matched
"""
