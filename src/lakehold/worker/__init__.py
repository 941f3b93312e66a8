"""The worker: the process that executes runs and jobs and owns Spark.

Nothing but the CLI imports it; the server reaches a worker over HTTP.

- `process`: the worker process: claims work, sends heartbeats, takes over from dead workers; the query worker
- `server`: the HTTP server of a worker: queries, probes, connection tests, and the catalog for its own Spark
- `spark_session`: the Spark session, queries and tables of a process, started lazily
- `workflows`: durable workflows on DBOS: a mail, a job, a run, a periodic task
- `run_executor`: begins a run, executes its steps as they were planned then, ends it
- `system_tables`: permissions, runs and the audit log as tables for SQL
"""
