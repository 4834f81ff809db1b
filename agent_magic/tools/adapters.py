"""pydantic: the schema of any annotation, and the conversion of arguments. Loaded when it is first needed."""

from __future__ import annotations

import functools
import sys
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from ..errors import preview
from .json_schema import shown, unknown_argument
from .parameters import Signature
from .schema import undescribable
from .tool import Arguments


class _Untitled(GenerateJsonSchema):
    """A title that only repeats the name of a field tells a model nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def adapter_of(annotation: Any) -> TypeAdapter[Any]:
    """The adapter of an annotation, made once; pydantic's own exceptions pass."""
    try:
        return _adapter(annotation)
    except TypeError:  # Not hashable, such as Annotated with a list.
        return _adapter.__wrapped__(annotation)


@functools.lru_cache(maxsize=1024)
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    if sys.version_info < (3, 12):
        from .typed_dicts import readable

        annotation = readable(annotation)
    return TypeAdapter(annotation)


def schema_of(annotation: Any) -> dict[str, Any]:
    """The JSON Schema of an annotation, to be copied before it is changed; pydantic's own exceptions pass."""
    try:
        return _schema(annotation)
    except TypeError:
        return _schema.__wrapped__(annotation)


@functools.lru_cache(maxsize=1024)
def _schema(annotation: Any) -> dict[str, Any]:
    return adapter_of(annotation).json_schema(schema_generator=_Untitled)


def schemas_of(annotations: dict[str, Any], tool_name: str) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The schemas of the parameters with these annotations, by name, and their common definitions."""
    schemas: dict[str, dict[str, Any]] = {}
    definitions: dict[str, Any] = {}
    for name, annotation in annotations.items():
        try:
            schema = dict(schema_of(annotation))
        except Exception as error:
            raise undescribable(tool_name, name, annotation, str(error).partition("\n")[0]) from error
        own = schema.pop("$defs", {})
        if any(definitions.get(key, each) != each for key, each in own.items()):
            return _told_apart(annotations)
        definitions.update(own)
        schemas[name] = schema
    return schemas, definitions


def _told_apart(annotations: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """As `schemas_of`, where different classes share a name and pydantic must find longer ones."""
    found, common = TypeAdapter.json_schemas(
        [(name, "validation", adapter_of(annotation)) for name, annotation in annotations.items()],
        schema_generator=_Untitled,
    )
    return {name: dict(schema) for (name, _), schema in found.items()}, common.get("$defs", {})


def convert(signature: Signature, arguments: dict[str, Any]) -> Arguments:
    """The arguments as the annotations want them, and every problem found on the way."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in arguments.items():
        parameter = signature.parameters.get(name)
        if parameter is None and (signature.extra is None or name in signature.context_names):
            problems.append(unknown_argument(name, list(signature.parameters)))
            continue
        annotation = signature.extra if parameter is None else parameter.annotation
        try:
            values[name] = _converted(adapter_of(annotation), value)
        except ValidationError as error:
            problems += [_line(name, each) for each in error.errors(include_url=False)]
        except Exception as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
    return Arguments(values, tuple(problems))


def _converted(adapter: TypeAdapter[Any], value: Any) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        # Models sometimes write a list or an object as the text of one.
        if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
            raise
        try:
            return adapter.validate_json(value)
        except ValidationError:
            pass
        raise


def _line(name: str, error: Any) -> str:
    place = name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"])
    received = "" if error["type"] == "missing" else f" (received {preview(shown(error['input']))})"
    return f"{place}: {error['msg']}{received}"
