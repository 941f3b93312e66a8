"""The search index of a published version: entities by id, and by words with typing errors.

A version's index is written beside the others and put in its place with one rename, so that a search sees a whole
version or the one before. It holds what a 360 page shows: golden records, and the source records behind them, which
only those read who may see records.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import tantivy

from lakehold.kit.errors import InvalidInputError

ENTITY, RECORD, MEMBER_OF, RETIRED = "entity", "record", "member_of", "retired"
WORDS, CONTENT = "words", "content"
MAX_QUERY, MAX_WORDS, MAX_HITS, MAX_OFFSET, MAX_RECORDS = 200, 12, 100, 10_000, 1_000
_ANALYZER = "entity_words"
_MAX_TOKEN = 60
_HEAP, _THREADS = 256 * 1024 * 1024, 2
_FUZZY_LENGTHS = ((8, 2), (3, 1))
"""From how many letters on how many typing errors are tolerated."""
_EXACT_BOOST, _PREFIX_BOOST = 4.0, 2.0
_OPEN_INDEXES = 32


@dataclass(frozen=True, slots=True)
class IndexedEntity:
    """An entity as the index holds it."""

    entity: str
    values: Mapping[str, str]
    """The golden record: values by attribute."""
    origins: Mapping[str, str]
    """The record that a value is from, by attribute; `override` for one that a curator has set."""
    records: int
    flags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """A source record as the index holds it."""

    record: str
    entity: str
    source: str
    key: str
    """The values of its key columns at the source."""
    recency: str | None
    values: Mapping[str, str]
    """As the source has them, by attribute."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An entity that was found, with how well it fits."""

    found: IndexedEntity
    score: float


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some of the entities that were found, the best first."""

    hits: Sequence[SearchHit]
    total: int


def build_index(
    folder: Path,
    entities: Iterable[IndexedEntity],
    records: Iterable[IndexedRecord] = (),
    retired: Iterable[tuple[str, Sequence[str]]] = (),
) -> int:
    """Write an index into a folder, in place of what is there, and return how many entities it has.

    Of retired entities it has the ids, with those that have their records now.
    """
    partial = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True, mode=0o700)
    index = _with_analyzer(tantivy.Index(_schema(), str(partial)))
    writer = index.writer(_HEAP, _THREADS)
    count = 0
    for each in entities:
        writer.add_document(_entity_document(each))
        count += 1
    for record in records:
        writer.add_document(_record_document(record))
    for uid, successors in retired:
        writer.add_document(tantivy.Document(retired=uid, content=json.dumps(list(successors)).encode()))
    writer.commit()
    writer.wait_merging_threads()
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return count


def _entity_document(each: IndexedEntity) -> tantivy.Document:
    content = {
        "values": dict(each.values),
        "origins": dict(each.origins),
        "records": each.records,
        "flags": list(each.flags),
    }
    words = [value for value in each.values.values() if value]
    return tantivy.Document(entity=each.entity, words=words, content=json.dumps(content).encode())


def _record_document(each: IndexedRecord) -> tantivy.Document:
    content = {"source": each.source, "key": each.key, "recency": each.recency, "values": dict(each.values)}
    return tantivy.Document(record=each.record, member_of=each.entity, content=json.dumps(content).encode())


class EntityIndex:
    """An index that is open for search."""

    def __init__(self, folder: Path) -> None:
        self._index = _with_analyzer(tantivy.Index.open(str(folder)))
        self._searcher = self._index.searcher()

    def get(self, entity: str) -> IndexedEntity | None:
        """Return an entity by its id; None if the version has none of this id."""
        return next((hit.found for hit in self._hits(self._term(ENTITY, entity), 1, 0).hits), None)

    def successors_of(self, entity: str) -> list[str] | None:
        """Return the entities that have the records of a retired one; None if no such id was ever retired."""
        found = self._searcher.search(self._term(RETIRED, entity), 1).hits
        return [str(each) for each in _content(self._searcher.doc(found[0][1]))] if found else None

    def records_of(self, entity: str, limit: int = MAX_RECORDS) -> list[IndexedRecord]:
        """Return the source records of an entity, ordered by source and key."""
        found = self._searcher.search(self._term(MEMBER_OF, entity), limit).hits
        return sorted((self._record(address) for _, address in found), key=lambda each: (each.source, each.key))

    def find_record(self, record: str) -> IndexedRecord | None:
        """Return a source record by its id; None if the version has none of this id."""
        found = self._searcher.search(self._term(RECORD, record), 1).hits
        return self._record(found[0][1]) if found else None

    def search(self, text: str, limit: int = 20, offset: int = 0) -> SearchPage:
        """Return the entities that have all words of a text, some of them misspelled; without a word, any."""
        if len(text) > MAX_QUERY:
            hint = f"Use {MAX_QUERY} characters at most."
            raise InvalidInputError(f"The search has {len(text):,} characters.", hint, field="q")
        if not 0 <= limit <= MAX_HITS or not 0 <= offset <= MAX_OFFSET:
            message = f"A page of results has {MAX_HITS} at most, and begins at {MAX_OFFSET:,} at most."
            raise InvalidInputError(message, "Search for more words.", field="limit")
        words = _analyzer().analyze(text)[:MAX_WORDS]
        if not words:
            return self._hits(tantivy.Query.exists_query(ENTITY), limit, offset)
        last = len(words) - 1
        parts = [(tantivy.Occur.Must, self._word(word, may_go_on=n == last)) for n, word in enumerate(words)]
        return self._hits(tantivy.Query.boolean_query(parts), limit, offset)

    def _word(self, word: str, *, may_go_on: bool) -> tantivy.Query:
        """Return the query of one word: as it is written, with typing errors, or the beginning of one."""
        schema, query = self._index.schema, tantivy.Query
        exact = query.boost_query(query.term_query(schema, WORDS, word), _EXACT_BOOST)
        ways = [exact]
        if may_go_on and len(word) > 1:
            begun = query.fuzzy_term_query(schema, WORDS, word, 0, prefix=True)
            ways.append(query.boost_query(begun, _PREFIX_BOOST))
        distance = next((errors for length, errors in _FUZZY_LENGTHS if len(word) >= length), 0)
        if distance:
            ways.append(query.fuzzy_term_query(schema, WORDS, word, distance))
        return query.boolean_query([(tantivy.Occur.Should, each) for each in ways])

    def _hits(self, query: tantivy.Query, limit: int, offset: int) -> SearchPage:
        found: Any = self._searcher.search(query, max(limit, 1), count=True, offset=offset)
        hits = [SearchHit(self._entity(address), float(score)) for score, address in found.hits[:limit]]
        return SearchPage(hits, found.count or 0)

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._index.schema, field, value)

    def _entity(self, address: tantivy.DocAddress) -> IndexedEntity:
        stored: Any = self._searcher.doc(address)
        return IndexedEntity(entity=stored.get_first(ENTITY), **_content(stored))

    def _record(self, address: tantivy.DocAddress) -> IndexedRecord:
        stored: Any = self._searcher.doc(address)
        ids = (stored.get_first(RECORD), stored.get_first(MEMBER_OF))
        return IndexedRecord(*ids, **_content(stored))


def _content(stored: Any) -> Any:  # noqa: ANN401 - as it was written
    return json.loads(bytes(stored.get_first(CONTENT)))


@lru_cache(_OPEN_INDEXES)
def _open(folder: Path, _inode: int) -> EntityIndex:
    return EntityIndex(folder)


def open_index(folder: Path) -> EntityIndex | None:
    """Return the index in a folder, opened once; None if there is none."""
    try:
        # One that was written anew in its place is another one.
        return _open(folder, folder.stat().st_ino)
    except FileNotFoundError:
        return None


def version_folder(data: Path, tenant: int, product: int, version: int) -> Path:
    """Return the folder of the index of a version."""
    return product_folder(data, tenant, product) / f"v{version}"


def product_folder(data: Path, tenant: int, product: int) -> Path:
    """Return the folder of all indexes of a data product."""
    return data / "entity-indexes" / f"t{tenant}" / f"p{product}"


def delete_other_indexes(data: Path, tenant: int, product: int, keep: Iterable[int]) -> None:
    """Delete the indexes of all versions of a data product but some."""
    kept = {version_folder(data, tenant, product, version) for version in keep}
    for folder in _folders(product_folder(data, tenant, product)):
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)


def _folders(parent: Path) -> Iterator[Path]:
    return (each for each in parent.iterdir() if each.is_dir()) if parent.is_dir() else iter(())


@lru_cache(1)
def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # Fast, so that all entities are found by having one.
    builder.add_text_field(ENTITY, stored=True, fast=True, tokenizer_name="raw", index_option="basic")
    for name in (RECORD, MEMBER_OF, RETIRED):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(WORDS, tokenizer_name=_ANALYZER, index_option="freq")
    builder.add_bytes_field(CONTENT, stored=True)
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    fold, lower, short = tantivy.Filter.ascii_fold(), tantivy.Filter.lowercase(), tantivy.Filter.remove_long(_MAX_TOKEN)
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    return builder.filter(short).filter(lower).filter(fold).build()


def _with_analyzer(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer(_ANALYZER, _analyzer())
    return index
