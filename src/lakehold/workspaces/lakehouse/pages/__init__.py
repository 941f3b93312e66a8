"""Pages of a lakehouse beside those that all workspaces share.

- `page_frame`: access checks that the pages share
- `overview`: a lakehouse at a glance
- `data_browser`: layers, tables and volumes; search; deleted tables
- `table_pages`: snapshots and writing runs of a table; maintenance and rollback
- `sql`: the SQL editor, the history of queries, and saved queries
- `pipeline_list`: the pipelines as a list and as a graph
- `pipeline_graph`: the links between pipelines and tables
- `pipeline_kinds`: the kinds that move data
- `pipeline_page`: the overview of a pipeline
- `pipeline_form_pages`: the forms of queries, histories, notebooks and integrations
- `table_options`: the tables and layers that forms offer
- `backfill`: run a past range again
- `integration_page`: the page of an integration and its tokens
- `destination_pages`: form, connection test and page of a destination
- `sources`: set-up, streams, preview and page of a source
- `routers`: the routers, in the order in which they are matched
"""
