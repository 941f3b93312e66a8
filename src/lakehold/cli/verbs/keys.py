"""key: the key outside the database, with which secrets are encrypted and the audit log is sealed."""

from __future__ import annotations

import typer

from lakehold.cli import errors, everywhere

verbs = typer.Typer(no_args_is_help=True, help="The key that encrypts secrets and seals the audit log.")


@verbs.command()
def new() -> None:
    """Print a key that nobody has yet, for LAKEHOLD_KEY."""
    from lakehold.kit.keys import generate_key  # noqa: PLC0415 - loaded by this verb only

    typer.echo(generate_key())


@verbs.command()
def rotate() -> None:
    """Begin to use a new key. The older ones stay, to read what they wrote.

    Works on this machine's data folder. Restart servers and workers afterwards, then run `lakehold key finish`.
    """
    with errors.told():
        from lakehold.kit import (
            keys,  # noqa: PLC0415 - as above
            settings,  # noqa: PLC0415 - as above
        )
        from lakehold.kit.errors import ConflictError  # noqa: PLC0415

        read = settings.load_settings()
        if read.key.get_secret_value():
            raise ConflictError(
                "The key is given by LAKEHOLD_KEY.", "Put a new one (`lakehold key new`) and a comma before it there."
            )
        keys.rotate_key_file(read.data / "key")
        typer.echo("There is a new key. Restart servers and workers, then run `lakehold key finish`.")


@verbs.command()
def finish(ctx: typer.Context) -> None:
    """Write every secret and seal anew with the newest key, and drop the older ones."""
    as_json = everywhere.said(ctx).json
    with errors.told(as_json=as_json):
        from lakehold.directory.platform import Platform  # noqa: PLC0415 - as above
        from lakehold.kit import (
            keys,  # noqa: PLC0415
            settings,  # noqa: PLC0415
        )
        from lakehold.runs import key_rotation  # noqa: PLC0415

        read = settings.load_settings()
        platform = Platform(read)
        try:
            platform.database.migrate()
            key_rotation.rotate_keys(platform, lambda what, count: typer.echo(f"{what}: {count:,}", err=True))
        finally:
            platform.close()
        if read.key.get_secret_value():
            typer.echo("Everything is written with the first key of LAKEHOLD_KEY; the others can go.")
        else:
            keys.drop_old_keys(read.data / "key")
            typer.echo("Everything is written with the newest key; the older ones are gone.")


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.add_typer(verbs, name="key", rich_help_panel="Running it")
