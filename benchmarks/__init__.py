"""What is claimed about speed, with the peers beside it in one run: `python -m benchmarks [part …]`.

- `figures`: what a figure is, how it is sampled, when its bar is held
- `report`: figures as a table and as JSON
- `facts`, `databases`, `postgres`: the company that is measured, in SQLite and PostgreSQL
- `questions`: what is asked about it
- `peers`, `oso_listing`: casbin, cedarpy and oso answering the same
- `floor`: SQLite alone answering the same
- `access_bench`: all figures of the access engine, from `check_bench`, `listing_bench`, `explain_bench`, `index_bench`
  and `growth_bench`
"""
