"""The search index of a published version: entities by id, and by words with typing errors.

A version's index is written beside the others and put in its place with one rename, so that a search sees a whole
version or the one before. It holds what a 360 page shows to everyone who sees it, and no source record.
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

ENTITY, WORDS, CONTENT = "entity", "words", "content"
MAX_QUERY, MAX_WORDS, MAX_HITS, MAX_OFFSET = 200, 12, 100, 10_000
_ANALYZER = "entity_words"
_MAX_TOKEN = 60
_HEAP = 256 * 1024 * 1024
_FUZZY_LENGTHS = ((8, 2), (4, 1))
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
    """The id of the source that a value is from, by attribute; `override` for one that a curator has set."""
    records: int
    flags: Sequence[str] = ()


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


def build_index(folder: Path, entities: Iterable[IndexedEntity]) -> int:
    """Write an index into a folder, in place of what is there, and return how many entities it has."""
    partial = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True, mode=0o700)
    index = _with_analyzer(tantivy.Index(_schema(), str(partial)))
    writer = index.writer(_HEAP, 1)
    count = 0
    for each in entities:
        writer.add_document(_document(each))
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return count


def _document(each: IndexedEntity) -> tantivy.Document:
    content = {
        "values": dict(each.values),
        "origins": dict(each.origins),
        "records": each.records,
        "flags": list(each.flags),
    }
    return tantivy.Document(
        entity=each.entity,
        words=[value for value in each.values.values() if value],
        content=json.dumps(content).encode(),
    )


class EntityIndex:
    """An index that is open for search."""

    def __init__(self, folder: Path) -> None:
        self._index = _with_analyzer(tantivy.Index.open(str(folder)))
        self._searcher = self._index.searcher()

    def get(self, entity: str) -> IndexedEntity | None:
        """Return an entity by its id; None if the version has none of this id."""
        query = tantivy.Query.term_query(self._index.schema, ENTITY, entity)
        return next((hit.found for hit in self._hits(query, 1, 0).hits), None)

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
            return self._hits(tantivy.Query.all_query(), limit, offset)
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
        found = self._searcher.search(query, max(limit, 1), count=True, offset=offset)
        hits = [SearchHit(self._entity(address), float(score)) for score, address in found.hits[:limit]]
        return SearchPage(hits, found.count or 0)

    def _entity(self, address: tantivy.DocAddress) -> IndexedEntity:
        stored: Any = self._searcher.doc(address)
        return IndexedEntity(entity=stored.get_first(ENTITY), **json.loads(bytes(stored.get_first(CONTENT))))


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
    builder.add_text_field(ENTITY, stored=True, tokenizer_name="raw", index_option="basic")
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
