"""`python -m lakehold.cli`: the same as `lakehold`, by the interpreter that is running."""

from lakehold.cli import app

if __name__ == "__main__":
    app(prog_name="lakehold")
