"""Marts: projects of storages, data marts, destinations, reports, triggers and runs.

The rights are in model.yaml: three project roles, owners, two sharing toggles, contexts.

- `workspace`: the descriptor
- `settings`, `report_settings`: the settings schemas of storages, data marts and destinations, and of reports
- `checks`: results of data quality checks
- `storages`: the settings and the tables of a storage; files
- `mart_probe`: probes of storages, connectors and destinations, and who may run them
- `report_query`: the query of a report as SQL
- `reports`: the columns that a report can use, its query for the caller, and the preview of its message
- `messages`: the template of a report's message, with tables and charts
- `insights`: usage of reports
- `lineage`: where rows come from, and where they go
- `live`, `live_pages`: destinations from which BI tools pull reports, and the pages of a pull
- `notifications`: who is notified of runs and checks
- `pipelines`: what can be run, data marts and reports, and its steps
- `executors`: executes the steps; only a worker imports it
- `pages`: the pages of a project
- `api`: the REST endpoints of a project
"""
