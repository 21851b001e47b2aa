"""The command `gotmpl2jinja`: arguments, files and exit codes, nothing that the library doesn't do.

Exit codes: 0 done, 1 errors in an input, 2 wrong use. Results go to stdout or files, all else to stderr.
"""

from __future__ import annotations

import errno
import sys
from typing import Any

import click

from transpiler.cli.convert import convert
from transpiler.cli.streams import WrongUse, give_up, say

__all__ = ["main"]

_INTERRUPTED = 130


class _Commands(click.Group):
    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run; where the standard output can't be written to, that is an error as elsewhere."""
        try:
            if sys.stdout is None:
                raise OSError(errno.EBADF, "it is closed")
            return super().main(*arguments, **settings)
        except OSError as error:
            say(f"Error: standard output: {error.strerror}")
            if sys.stdout is not None:
                give_up(sys.stdout)
            sys.exit(WrongUse.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C ends it without a word, with the exit code that shells expect."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(_INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="gotmpl2jinja", message="%(prog)s %(version)s")
def main() -> None:
    """From Ollama's Go chat templates to Jinja chat templates that render the same text."""


main.add_command(convert)


@main.command("explain")
@click.argument("code", required=False)
def explain_command(code: str | None) -> None:
    """Say what the CODE of a diagnostic means, or list all codes."""
    from transpiler.explain import REGISTRY, explain, listing, near

    if code is None:
        click.echo(listing(), nl=False)
    elif code.upper() in REGISTRY:
        click.echo(explain(code.upper()), nl=False)
    else:
        others = ", ".join(near(code))
        meant = f" Perhaps {others}." if others else ""
        raise WrongUse(f"there is no code {code}.{meant} `gotmpl2jinja explain` lists all.")


@main.command("list")
@click.option("--store", metavar="PATH", help="The store's folder.  [default: $OLLAMA_MODELS, else Ollama's own]")
def list_command(store: str | None) -> None:
    """List the models of the local Ollama store, and what makes their prompts."""
    from transpiler.cli.listing import listing

    click.echo(listing(store), nl=False)
