"""Structured answers: a Python type as the JSON Schema that a model is given, and its JSON as a value of the type."""

from __future__ import annotations

import contextlib
import json
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from ..errors import InvalidDataError, preview

# The property that holds an answer which is no object, since servers take schemas of objects only.
WRAPPER = "value"
_FENCE = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_LIBRARIES_OF_FRAMES = ("pandas", "polars")


class AnswerMismatchError(Exception):
    """An answer does not fit; the text tells the model, line by line, what to change. It does not leave this layer."""


@dataclass(frozen=True)
class OutputType:
    """What an answer has to be.

    `schema` is the JSON Schema of an object. `name` is for people.
    """

    name: str
    schema: Mapping[str, Any]
    _wrapped: bool
    _adapter: Any
    _convert: Callable[[Any], Any]

    @classmethod
    def of(cls, annotation: Any) -> OutputType:
        """The output type that `annotation` describes.

        It may be whatever pydantic understands: a model, dataclass, TypedDict, union, list, Literal, plain type. A
        frame is described by its rows, as in `Annotated[pandas.DataFrame, Row]`.

        Raises `InvalidDataError` for what has no form in JSON.
        """
        from ..tools.adapters import adapter_of, schema_of

        name = annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)
        rows, frame = _rows_and_frame(annotation)
        wanted = annotation if frame is None else rows
        try:
            adapter, schema = adapter_of(wanted), dict(schema_of(wanted))
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise InvalidDataError(
                f"must be a type that can be written as JSON, such as a pydantic model, a dataclass or list[str], "
                f"not {name}. ({reason})",
                "output_type",
            ) from error
        convert = _unchanged if frame is None else _frame_maker(frame, adapter)
        is_object = schema.get("type") == "object"
        return cls(name, schema if is_object else _wrapped(schema), not is_object, adapter, convert)

    def of_text(self, text: str) -> Any:
        """The value that the text of an answer holds, which may stand in a fence or between other words."""
        return self.of_data(_json_in(text))

    def of_data(self, data: Any) -> Any:
        """The value of parsed JSON. Raises `AnswerMismatchError`."""
        from pydantic import ValidationError

        if self._wrapped and isinstance(data, Mapping) and list(data) == [WRAPPER]:
            data = data[WRAPPER]
        try:
            # As JSON, so that strict types accept dates, enums and the like too.
            return self._convert(self._adapter.validate_json(json.dumps(data)))
        except ValidationError as error:
            raise AnswerMismatchError("\n".join(_line(each) for each in error.errors(include_url=False))) from error
        except Exception as error:  # Validators are code of the user.
            raise AnswerMismatchError(f"{type(error).__name__}: {error}") from error


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs", None)
    wrapped = {"type": "object", "properties": {WRAPPER: schema}, "required": [WRAPPER], "additionalProperties": False}
    return {**wrapped, "$defs": definitions} if definitions else wrapped


def _unchanged(value: Any) -> Any:
    return value


# Frames ---------------------------------------------------------------------------------------------------------------


def is_frame(kind: Any) -> bool:
    """Whether `kind` is the DataFrame of pandas or polars, none of which is imported for this."""
    return getattr(kind, "__name__", "") == "DataFrame" and kind.__module__.partition(".")[0] in _LIBRARIES_OF_FRAMES


def _rows_and_frame(annotation: Any) -> tuple[Any, Any]:
    """`list[Row]` and the class of `Annotated[DataFrame, Row]`; None and None for any other annotation."""
    if is_frame(annotation):
        raise InvalidDataError(
            f"needs the type of a row too, as in Annotated[{annotation.__name__}, Row] with a model or dataclass Row",
            "output_type",
        )
    if get_origin(annotation) is Annotated:
        frame, row, *_ = get_args(annotation)
        if is_frame(frame):
            return types.GenericAlias(list, (row,)), frame
    return None, None


def _frame_maker(frame: Any, adapter: Any) -> Callable[[Any], Any]:
    schema = adapter.json_schema(mode="serialization", by_alias=False)
    row = schema["items"]
    row = schema["$defs"][row["$ref"].rpartition("/")[2]] if "$ref" in row else row
    columns = list(row.get("properties", ()))
    if not columns:
        raise InvalidDataError("needs rows with named fields: a model, dataclass or TypedDict", "output_type")

    def make(rows: Any) -> Any:
        records = adapter.dump_python(rows)
        return frame({name: [record.get(name) for record in records] for name in columns})

    return make


# Reading --------------------------------------------------------------------------------------------------------------


def _json_in(text: str) -> Any:
    """The JSON of an answer: all of it, a fence in it, or what stands between the outermost brackets."""
    candidates = [text, *_FENCE.findall(text)]
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if starts:
        candidates.append(text[min(starts) : max(text.rfind("}"), text.rfind("]")) + 1])
    for candidate in candidates:
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(candidate)
    raise AnswerMismatchError("The answer is not JSON." if text.strip() else "The answer is empty.")


def _line(error: Any) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"]).lstrip(".")
    received = "" if error["type"] == "missing" else f" (received {preview(repr(error['input']))})"
    return f"{place or 'The answer'}: {error['msg']}{received}"
