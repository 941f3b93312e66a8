"""Prints a tour of the access engine, on the demo company."""

from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.tree import Tree

from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import Reason
from lakehold.access.decisions.what_if import AccessEffects
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.descriptions import describe_fact
from lakehold.access.facts.records import Add, Attribute, Draft, Grant
from lakehold.access.facts.view import FactView
from lakehold.access.session import AccessSession
from lakehold.demo import company
from lakehold.kit.database import Database
from lakehold.workspaces import registry


def run_tour(console: Console, url: str) -> None:
    """Load the company, then print each of the five questions. Without a URL everything is deleted afterwards."""
    with TemporaryDirectory() as folder:
        database = Database(url or f"sqlite:///{Path(folder) / 'demo.sqlite'}")
        try:
            database.migrate()
            access = AccessEngine(database, names=registry.unique_names())
            if not company.is_loaded(access):
                with console.status("Loading Corner & Main …"):
                    company.load(access)
            with access.read(company.TENANT) as session:
                _print_tour(console, session)
        finally:
            database.close()


def _print_tour(console: Console, session: AccessSession) -> None:
    view = session.evaluator.view
    resources = sum(len(view.by_kind.get(kind) or ()) for kind in view.policy.kinds)
    console.print(
        Panel(
            f"[bold]Corner & Main[/bold], a small retailer: {len(view.members)} people, {resources} resources in four"
            " ways of working, and one engine that decides about all of them.",
            border_style="cyan",
        )
    )
    _check(console, session)
    _list(console, session)
    _who(console, session)
    _explain(console, session)
    _what_if(console, session)
    console.print(
        "\nRead on: [cyan]docs/access/[/cyan] has every rule as a table,"
        " [cyan]docs/reference/access-engine.md[/cyan] the API."
    )


def _heading(console: Console, title: str, text: str) -> None:
    console.print(f"\n[bold cyan]{title}[/bold cyan]  {text}")


def _check(console: Console, session: AccessSession) -> None:
    _heading(console, "check", "May this person do this? In microseconds, in the process.")
    table = Table("who", "action", "what", "answer", show_edge=False, pad_edge=False)
    for who, action, what in (
        ("tara", "edit", "daily_sales"),
        ("bella", "use", "daily_sales"),
        ("bella", "edit", "daily_sales"),
        ("boris", "run", "returns_watch"),
        ("erik", "edit", "make_orders"),
        ("erik", "edit", "day_totals"),
        ("otto", "run", "land_tills"),
        ("otto", "run", "copy_erp"),
        ("carla", "curate", "customer"),
    ):
        answer = session.check(who, action, what)
        table.add_row(company.PEOPLE[who], action, what, "[green]yes[/green]" if answer else "[red]no[/red]")
    console.print(table)
    draft = Draft("marts.report", {"data_mart": "daily_sales", "destination": "finance_table"})
    may_create = "yes" if session.check("bella", "create", draft) else "no"
    given = "yes" if session.check("mona", "give", "orders", role="manager") else "no"
    console.print(f"May Bella create a report on daily_sales to finance_table? {may_create}.", highlight=False)
    console.print(f"May Mona, Manager of the clean layer, give Manager on orders? {given}.", highlight=False)


def _list(console: Console, session: AccessSession) -> None:
    _heading(console, "list", "All that somebody may see: one SQL statement, paged, sorted and searched.")
    for who in ("ana", "erik", "nils"):
        page = session.list(who, "see", "lakehouse.table", limit=8)
        names = ", ".join(found.name for found in page.items) + (" …" if page.after else "")
        console.print(f"tables that [bold]{company.PEOPLE[who]}[/bold] sees: {names or 'none'}", highlight=False)


def _who(console: Console, session: AccessSession) -> None:
    _heading(console, "who", "All that may do something: the same rules from the other side.")
    for action, what in (("read", "salaries"), ("edit", "margins"), ("run", "land_web")):
        names = ", ".join(company.PEOPLE[uid] for uid in session.who(action, what))
        console.print(f"[bold]{action} {what}[/bold]: {names}", highlight=False)


def _explain(console: Console, session: AccessSession) -> None:
    _heading(console, "explain", "Why: every path that held; for a denial the nearest ways, and who could open them.")
    view = session.evaluator.view
    for who, action, what, viewer in (
        ("erik", "edit", "orders", "erik"),
        ("bella", "edit", "store_targets", "bella"),
        ("otto", "run", "copy_erp", "adam"),
    ):
        console.print(explanation_tree(view, session.explain(who, action, what, viewer=viewer)), highlight=False)


def explanation_tree(view: FactView, explanation: Explanation) -> Tree:
    """Return an explanation as a tree to print."""
    answer = "[green]may[/green]" if explanation.allowed else "[red]may not[/red]"
    name = view.names.get(view.resource(explanation.member)) or explanation.member
    tree = Tree(f"[bold]{escape(name)}[/bold] {answer} {explanation.action} {explanation.resource}")
    for path in (*explanation.paths, *(gate for gate in explanation.gates if not gate.held)):
        branch = tree.add(f"{_mark(path.held)} [cyan]{escape(path.rule)}[/cyan]  [dim]{path.place}[/dim]")
        if explanation.allowed or path in explanation.gates:
            _branch(view, branch, path.reason)
    for way in explanation.ways:
        facts = tree.add("[yellow]would do[/yellow]")
        for needed in way.needed:
            people = [view.names.get(view.resource(giver)) or giver for giver in needed.givers]
            more = f" and {needed.more_givers} more" if needed.more_givers else ""
            given = f"granted by {', '.join(people)}{more}" if people else "nobody can grant it"
            facts.add(escape(f"{describe_fact(view, needed.fact)}: {given}"))
    return tree


def _branch(view: FactView, tree: Tree, reason: Reason) -> None:
    inner = tree.add(f"{_mark(reason.held)} {escape(reason.text)}")
    for fact in reason.facts:
        inner.add(f"[dim]{escape(describe_fact(view, fact))}[/dim]")
    for part in reason.parts:
        _branch(view, inner, part)


def _mark(held: bool) -> str:  # noqa: FBT001 - a mark for yes or no
    return "[green]✓[/green]" if held else "[red]✗[/red]"


def _what_if(console: Console, session: AccessSession) -> None:
    _heading(console, "what-if", "Who would gain and lose what, without changing anything.")
    for text, change in (
        ("Analysts become Viewers of the clean layer", Add(Grant("analysts", "viewer", "clean"))),
        (
            "Daily sales is no longer shared for reporting",
            Add(Attribute("daily_sales", "shared_for_reporting", "false")),
        ),
    ):
        console.print(effects_table(text, session.what_if([change])))


def effects_table(title: str, effects: AccessEffects) -> Table:
    """Return the effects of a change as a table to print."""
    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for column in ("", "action", "on", "members", "resources"):
        table.add_column(column, justify="right" if column in {"members", "resources"} else "left")
    for group in effects.groups:
        sign = "[green]gain[/green]" if group.gained else "[red]lose[/red]"
        table.add_row(sign, group.action, group.kind, str(group.members), str(group.resources))
    return table
