"""Gateways: processes near the data that dial out to the platform and stream tables to it as Arrow record batches.

On the side of the platform:

- `tables`: the tables of gateways, registration codes, work orders and log lines
- `registration`: registration codes, and how a gateway is registered, rotates its keys and is revoked
- `status`: what a gateway reports: state, throughput, log
- `work_orders`: what a gateway is asked for; placed, watched and cancelled by whoever needs the rows
- `call_rate`: how often a gateway may call
- `spool`: the folder in which the parts of a table arrive
- `dispatch`: the calls of gateways: they take their work orders, and finish them
- `flight_server`: the Arrow Flight server that gateways dial
- `endpoint`: its port, its TLS certificate, and the service of the worker that runs it
- `local_gateway`: registers a gateway on the platform's own machine, as the demo's

On both sides:

- `key_pairs`: the keys of a gateway, the tokens that it signs, and secrets encrypted for it

On the side of the gateway, without Spark and without the database of the platform:

- `agent`: the process `lakehold gateway run`
- `commands`: the command `lakehold gateway`
"""
