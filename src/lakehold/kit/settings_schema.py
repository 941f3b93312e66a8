"""Schemas of the settings of resources: frozen dataclasses that are validated from JSON.

A schema is a dataclass derived from `SettingsRecord`, or a union of several that are told apart by one setting. What a
type alone cannot say is checked in `__post_init__`, which raises `InvalidSettingError` with the setting's name.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, make_dataclass
from functools import reduce
from operator import or_
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, get_origin, get_type_hints

from pydantic import AfterValidator, ConfigDict, Discriminator, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote

if TYPE_CHECKING:
    from lakehold.kit.network_policy import NetworkTarget

T = TypeVar("T")


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
_ADAPTERS_LOCK = Lock()


def adapter_of(record: type[T]) -> TypeAdapter[T]:
    """Return what validates a record, built once, and one at a time: its docstrings are parsed from the source, and
    threads that parse at the same moment break each other (CPython 3.11).
    """
    with _ADAPTERS_LOCK:
        if record not in _ADAPTERS:
            _ADAPTERS[record] = TypeAdapter(record)
        return _ADAPTERS[record]


class InvalidSettingError(InvalidInputError, ValueError):
    """A setting that cannot be used. As a ValueError it is collected with where in the settings it was found."""


class SettingsRecord:
    """The base of all settings: a misspelled setting is an error, not ignored."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    def network_targets(self, secrets: Mapping[str, str]) -> "Iterable[NetworkTarget]":  # noqa: ARG002 - overridden
        """Return the hosts and mail domains that they lead to, some of which may be secrets."""
        return ()


def _refuse_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "blank")
    return text


Text = Annotated[str, AfterValidator(_refuse_blank)]
"""A text that must be there."""
TableName = Annotated[str, StringConstraints(pattern=r"^([a-z][a-z0-9_]{0,62})?$")]
"""The name of a table that is to be created; empty if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSettings(SettingsRecord):
    """The settings of a kind that has none of its own."""


@dataclass(frozen=True, slots=True)
class SettingReference:
    """Another resource that a setting names by its id."""

    field: str
    kind: str
    """The kind that it must be of, by its full id."""
    uid: str
    edge: str = ""
    """The edge that follows the setting, so that rights count it; empty if none does."""


class SettingsSchema(Generic[T]):
    """Validates the settings of one kind of resource."""

    def __init__(
        self,
        label: str,
        record: type[SettingsRecord] | Mapping[str, type[SettingsRecord]],
        *,
        tag: str = "",
        common: type[SettingsRecord] | None = None,
        managed: Sequence[str] = (),
        local: Sequence[str] = (),
        parts: Sequence[str] = (),
        needed: Sequence[str] = (),
        references: Callable[[T], Iterable[SettingReference]] | None = None,
        edges: Sequence[str] = (),
    ) -> None:
        self.label = label
        self._edges = tuple(edges)
        self.records = record if isinstance(record, Mapping) else {"": record}
        """The records of all variants, by what the setting `tag` says."""
        self.managed = tuple(managed)
        """Settings that only the platform changes, by actions of their own."""
        self.local = frozenset(local)
        """Managed settings that are true of the tables of this tenant alone: files of a tenant do not have them."""
        self.parts = tuple(parts)
        """Settings, edges and attributes with an author of their own; the others that say what runs have one together.

        What a part says is no reason to answer for what is read by the others.
        """
        self._references = references
        # Texts that must be there, if the variant has them.
        self._needed = tuple(needed)
        union = reduce(or_, self.records.values())
        tagged: Any = Annotated[union, Discriminator(tag)] if tag else union
        self._adapter: TypeAdapter[T] = TypeAdapter(tagged)
        # Settings that several kinds have, and that are read on their own.
        self._common = TypeAdapter(common) if common else None
        self._common_names = frozenset(getattr(common, "__dataclass_fields__", ()))

    def parse(self, settings: Mapping[str, object]) -> T:
        """Return the validated settings, or raise an error that names the setting."""
        try:
            return self._validate(settings)
        except ValidationError as error:
            raise _describe(error.errors()[0], settings, self.label) from None

    def is_draft(self, settings: Mapping[str, object]) -> bool:
        """Return whether nothing of the kind's own is set yet."""
        return not set(self.own(settings)) - set(self.managed)

    def problems(self, settings: Mapping[str, object]) -> list[InvalidSettingError]:
        """Return everything that is wrong with the settings."""
        try:
            if self._common is not None:
                _validate(self._common, {name: settings[name] for name in self._common_names if name in settings})
            if not self.is_draft(settings):
                self._validate(settings)
        except ValidationError as error:
            return [_describe(each, settings, self.label) for each in error.errors()]
        return []

    def check(self, settings: Mapping[str, object]) -> None:
        """Refuse settings that cannot be used; a draft may be completed later."""
        for problem in self.problems(settings):
            raise problem

    def references(self, settings: Mapping[str, object]) -> list[SettingReference]:
        """Return the resources that settings name; none for a draft, or for settings that cannot be used."""
        if self._references is None or self.is_draft(settings) or self.problems(settings):
            return []
        return list(self._references(self.parse(settings)))

    def changed_parts(self, before: Mapping[str, object], after: Mapping[str, object]) -> frozenset[str]:
        """Return the parts in which settings differ by more than how they are written; the empty text for the rest."""
        one, other = self._values(before), self._values(after)
        if one is None or other is None:
            one, other = before, after
        names = {name for name in {*one, *other} if one.get(name) != other.get(name)}
        return frozenset(map(self.part_of, names - {*self.managed}))

    def part_of(self, name: str) -> str:
        """Return the part that a setting, an edge or an attribute belongs to."""
        return name if name in self.parts or name in self._common_names else ""

    def edges(self, settings: Mapping[str, object]) -> dict[str, list[str]]:
        """Return the ends of the edges that follow the settings; no edge of settings that cannot be used."""
        if self.problems(settings):
            return {}
        found: dict[str, list[str]] = {edge: [] for edge in self._edges}
        for each in self.references(settings):
            if each.edge:
                found[each.edge].append(each.uid)
        return found

    def network_targets(self, settings: Mapping[str, object], secrets: Mapping[str, str]) -> "list[NetworkTarget]":
        """Return the hosts and mail domains that settings lead to; none for settings that cannot be used."""
        if self.problems(settings):
            return []
        return [target for record in self._records(settings) for target in record.network_targets(secrets)]

    def json_schema(self, ref_template: str = "#/$defs/{model}") -> dict[str, Any]:
        """Return the JSON schema of the kind's own settings."""
        return self._adapter.json_schema(ref_template=ref_template)

    def _validate(self, settings: Mapping[str, object]) -> T:
        found = _validate(self._adapter, self.own(settings))
        for name in self._needed:
            if not getattr(found, name, name).strip():
                line = {"type": "missing", "loc": (name,), "input": settings}
                raise ValidationError.from_exception_data(self.label, [line])  # type: ignore[list-item]
        return found

    def _values(self, settings: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return settings by name, equal for all that mean the same; None if they cannot be used."""
        if self.problems(settings):
            return None
        return {each.name: getattr(record, each.name) for record in self._records(settings) for each in fields(record)}

    def _records(self, settings: Mapping[str, object]) -> list[Any]:
        """Return valid settings as records: those that all kinds of the workspace have, and its own."""
        common = {name: settings[name] for name in self._common_names if settings.get(name) is not None}
        records: list[Any] = [_validate(self._common, common)] if self._common else []
        return records if self.is_draft(settings) else [*records, self._validate(settings)]

    def own(self, settings: Mapping[str, object]) -> dict[str, object]:
        """Return the settings without those that all kinds of the workspace have."""
        return {name: value for name, value in settings.items() if name not in self._common_names}


def extend_record(
    record: type[SettingsRecord], variants: Mapping[str, type[SettingsRecord]], tag: str
) -> type[SettingsRecord]:
    """Return the record with the settings of all variants beside its own, none of which must be set.

    The setting `tag` says whose settings count.
    """
    added: dict[str, tuple[Any, Any]] = {tag: (Literal[(*variants, "")], field(default=""))}
    for word, variant in variants.items():
        types = get_type_hints(variant, include_extras=True)
        for each in fields(variant):  # type: ignore[arg-type]
            if each.name == tag:
                continue
            if each.name in record.__dataclass_fields__:  # type: ignore[attr-defined]
                message = f"The setting {each.name} of {word} has the name of another one beside it."
                raise InvalidInputError(message, "Rename it.", field=each.name)
            found, default = _as_optional(types[each.name], each)
            before, known = added.get(each.name, (found, default))
            if before != found or (known.default, known.default_factory) != (default.default, default.default_factory):
                # Which one it is depends on the variant.
                found, default = before | found | None, field(default=None)
            added[each.name] = (found, default)
    described = [(name, found, default) for name, (found, default) in added.items()]
    merged = make_dataclass(record.__name__, described, bases=(record,), frozen=True, slots=True, kw_only=True)
    # There its docstrings are.
    merged.__module__ = record.__module__
    return merged


def is_required(each: Field[Any]) -> bool:
    """Return whether a setting has no default."""
    return each.default is MISSING and each.default_factory is MISSING


def _as_optional(found: Any, each: Field[Any]) -> tuple[Any, Any]:  # noqa: ANN401 - a type
    """Return type and default of a setting that need not be set."""
    if not is_required(each):
        return found, field(default=each.default, default_factory=each.default_factory)
    is_text = found is str or (get_origin(found) is Annotated and found.__origin__ is str)
    return (str, field(default="")) if is_text else (found | None, field(default=None))


def _validate(adapter: TypeAdapter[T], settings: Mapping[str, object]) -> T:
    # As JSON, whose types are compared strictly: "5" is no number, and a list may be a tuple.
    return adapter.validate_json(json.dumps(_without_null(settings)), strict=True)


def _without_null(value: object) -> object:
    """Return the settings without those that are null, which is as good as not set."""
    if isinstance(value, Mapping):
        return {name: _without_null(each) for name, each in value.items() if each is not None}
    return [_without_null(each) for each in value] if isinstance(value, list | tuple) else value


def _describe(error: ErrorDetails, settings: Mapping[str, object], label: str) -> InvalidSettingError:
    """Return an error of validation in words that name the setting."""
    context = error.get("ctx", {})
    own = context.get("error")
    path = _path(error["loc"], settings, of_record=own is not None)
    if isinstance(own, InvalidSettingError):
        return InvalidSettingError(own.message, own.hint, field=".".join(filter(None, (*path, own.field))))
    if error["type"].startswith("union_tag"):
        path = [*path, str(context["discriminator"]).strip("'")]
    name = path[-1] if path else "setting"
    owner = f"{'.'.join(path[:-1])} of the {label}" if len(path) > 1 else label
    return InvalidSettingError(*_wording(error, name, owner), field=".".join(path))


def _wording(error: ErrorDetails, name: str, owner: str) -> tuple[str, str]:
    """Return message and hint of an error of validation."""
    context, value = error.get("ctx", {}), error["input"]
    match error["type"]:
        case "missing" | "blank" | "union_tag_not_found":
            return f"The {owner} has no {name}.", f"Set {name} in its settings."
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"The {owner} has no setting {quote(name)}.", "Look for a spelling mistake, or leave it out."
        case "string_type":
            return f"The {name} of the {owner} must be a text.", f'Write "{name}": "…".'
        case "bool_type":
            return f"The {name} of the {owner} must be true or false.", f'Write "{name}": true.'
        case "literal_error" | "enum" | "union_tag_invalid":
            expected = str(context.get("expected", context.get("expected_tags", ""))).replace("'", "")
            given = value.get(name) if isinstance(value, Mapping) else value
            return f"The {name} of the {owner} cannot be {quote(str(given))}.", f"Use {expected}."
        case "tuple_type" | "list_type":
            return f"The {name} of the {owner} must be a list.", f'Write "{name}": [].'
        case "dict_type" | "dataclass_type" | "dataclass_exact_type" | "model_attributes_type":
            return f"The {name} of the {owner} must be a mapping.", f'Write "{name}": {{}}.'
        case "int_type" | "int_from_float" | "int_parsing":
            return f"The {name} of the {owner} must be a whole number.", "Write one."
        case "float_type" | "float_parsing":
            return f"The {name} of the {owner} must be a number.", "Write one."
        case "greater_than_equal":
            return f"The {name} of the {owner} must be at least {context['ge']}.", "Write one."
        case "less_than_equal":
            return f"The {name} of the {owner} must be at most {context['le']}.", "Write one."
        case "string_pattern_mismatch":
            return (
                f"The {name} of the {owner} cannot be {quote(str(value))}.",
                "Use small letters, digits and _, with a letter first, 63 at most.",
            )
    return f"The {name} of the {owner} is not valid: {error['msg']}.", "Correct it."


def _path(location: Sequence[int | str], settings: Mapping[str, object], *, of_record: bool) -> list[str]:
    """Return the path of a setting, without the names of the variants that pydantic puts between."""
    found: list[str] = []
    value: object = settings
    for n, part in enumerate(location):
        may_be_variant = isinstance(part, str) and (n < len(location) - 1 or of_record)
        if may_be_variant and isinstance(value, Mapping) and (part in value.values() or part not in value):
            continue
        found.append(str(part))
        if isinstance(value, Mapping):
            value = value.get(str(part))
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
    return found
