"""Runs of pipelines, background jobs, schedules and notifications.

A request only inserts a row in its own transaction: a run, a job, a mail in the outbox. A worker finds it and executes
it as a durable workflow whose id is made from it, so that it is executed once however often it is found, and continues
after a crash where it was. Interactive queries do not wait in a queue.

- `service`: start, stop, resume, retry, list and delete runs; their logs
- `runnable`: the interface of a kind that can be run, its steps and the options of a run
- `step_context`: what an executor is given for a step, and what it returns
- `run_table`: the tables of runs, their steps, outputs and logs, and the totals for metrics
- `run_plan`: the plan of a run, frozen when it begins
- `authors`: who last changed what a step executes, whose rights it needs too
- `cause`: why a run was started: by whom or what, after which run, by which schedule
- `queue`: which queued run starts next
- `scheduler`: schedules, triggers and periodic tasks
- `jobs`: background jobs of the platform, such as exports
- `stored_results`: results of queries that are read in pages
- `queries`: ad-hoc SQL queries and their history
- `sql_definitions`: queries in the settings of resources, analysed before they are saved
- `worker_client`: the HTTP client for a worker on this machine
- `worker_pool`: which worker is sent a query, and what happens when it is lost or held up
- `heartbeat`: which workers are alive
- `notifications`: mails and webhooks of ended runs
- `system_table_schemas`: the schemas of the system tables, and which of them a caller has
- `key_rotation`: encrypts and seals everything again with the newest key
"""
