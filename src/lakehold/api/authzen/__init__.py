"""AuthZEN Authorization API 1.0 under `/access/v1`: any application can use Lakehold as its decision point.

- `entities`: subjects, resources, actions and contexts, as the standard has them
- `deciding`: one evaluation: what its words mean here, and the decision
- `evaluations`: one evaluation, or many with their three semantics
- `searches`: which subjects, resources or actions
- `metadata`: where everything is: `/.well-known/authzen-configuration`

As the standard asks, unknown fields are ignored, and a request that cannot be used answers 400.
"""
