"""The inputs of a transform task as its queries see them: names, columns, and a session that has nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake import readable_tables, table_views
from lakehold.lake.errors import QueryError, RefusedQueryError
from lakehold.lake.readable_tables import LAKE_CATALOG
from lakehold.workspaces.spaces.executors.input_rows import load_schema
from lakehold.workspaces.spaces.tasks.visual_steps.columns import StepColumn, quote_part
from lakehold.workspaces.spaces.tasks.visual_steps.compiler import CompiledChain, compile_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from lakehold.directory.caller import Caller
    from lakehold.directory.platform import Platform
    from lakehold.worker.spark_session import SparkRuntime
    from lakehold.workspaces.spaces.tasks.transform import TransformDataset

_QUERY_SECONDS = 24 * 3600
_PATH_SEPARATOR = "\x1f"
"""Between the names of a path, as the catalog takes one for a warehouse."""


@dataclass(frozen=True)
class InputSession:
    """The inputs of a task. The caller runs it; their own rights to data do not count."""

    platform: Platform
    runtime: SparkRuntime
    caller: Caller
    place: tuple[str, ...]
    """The names of the space and the project, in which names of queries are looked up."""
    inputs: tuple[str, ...]
    """The datasets that queries may read."""
    task: str
    action: str
    """What the caller does with the task: the audit log says so of a refused query."""

    def rows(self, text: str, *, seconds: int = _QUERY_SECONDS) -> DataFrame:
        """Return the rows of a query."""
        return self.analyse(text, seconds=seconds)[0]

    def analyse(self, text: str, *, seconds: int = _QUERY_SECONDS) -> tuple[DataFrame, frozenset[str]]:
        """Return the rows of a query, and the ids of the datasets that it reads."""
        caller = replace(self.caller, inputs=frozenset(self.inputs))
        where = _PATH_SEPARATOR.join(self.place)
        try:
            return self.runtime.queries.analyse(caller, where, text, seconds=seconds)
        except RefusedQueryError as error:
            self.platform.audit_refusal(self.caller, self.action, self.task, error.message)
            raise
        except QueryError:
            self._refuse_closed()
            raise

    def _refuse_closed(self) -> None:
        """Refuse registered inputs that are closed: to queries they do not exist, which tells nobody why."""
        with self.platform.read(self.caller) as ctx:
            for uid in self.inputs:
                readable_tables.source_table(ctx, uid)

    def query_of(self, item: TransformDataset) -> str:
        """Return the query of a dataset: its SQL, or that of its steps."""
        return item.sql or self.chain_of(item).check().sql

    def chain_of(self, item: TransformDataset) -> CompiledChain:
        """Return the steps of a dataset with their queries and columns."""
        chain = compile_steps(item.start, item.steps, self._columns)
        if chain.problem is not None and chain.problem.field == "from":
            found = InvalidSettingError(chain.problem.message, chain.problem.hint, field="start")
            return replace(chain, problem=found)
        return chain

    @cached_property
    def _columns(self) -> Mapping[str, Sequence[StepColumn]]:
        """The columns of all inputs that have a table, by the names that queries call them by."""
        with self.platform.read(self.caller) as ctx:
            named = {
                self._name(readable_tables.name_path(ctx.view, uid)): table_views.view_of(ctx, uid)
                for uid in self.inputs
            }
        schemas = {name: load_schema(self.runtime.tables, view) for name, view in named.items()}
        return {
            name: [StepColumn(each.name, each.dataType.simpleString()) for each in schema.fields]
            for name, schema in schemas.items()
            if schema is not None
        }

    def _name(self, path: Sequence[str]) -> str:
        """Return a name from the project on; in full for a dataset of another project."""
        depth = len(self.place)
        here = tuple(path[:depth]) == self.place
        return ".".join(map(quote_part, path[depth:] if here else (LAKE_CATALOG, *path)))
