"""AuthZEN Authorization API 1.0 under `/access/v1`: any application can use Lakehold as its decision point.

As the standard demands, unknown fields are ignored, and an invalid request answers 400.

- `evaluations`: the entities, one evaluation or many, and `/.well-known/authzen-configuration`
- `searches`: subject, resource and action search
"""
