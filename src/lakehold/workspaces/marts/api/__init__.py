"""REST endpoints that only marts have, beside those of every resource.

- `routers`: the list of these routers
- `storages`: test and probe storages; their tables and files
- `data_marts`: publish a data mart, preview its definition, outcomes of its checks
- `destinations`: the secret of a live destination, and files that reports have delivered
- `live_reports`: reports pulled by BI tools
- `reports`: previews of reports, and how often they were delivered and pulled
- `notifications`: who is notified of failed runs, broken checks and succeeded runs
"""
