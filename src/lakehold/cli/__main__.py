"""`python -m lakehold.cli`: the same as `lakehold`, by the interpreter that is running."""

from lakehold.cli import app

app(prog_name="lakehold")
