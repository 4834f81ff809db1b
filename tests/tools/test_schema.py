"""The schema of annotations, and how arguments are converted by them."""

import dataclasses
import datetime
import enum
import json
import typing
from typing import Annotated, Any, Literal

import jsonschema
import pydantic
import pytest
from pydantic import Field, TypeAdapter

from agent_magic.errors import ToolDefinitionError
from agent_magic.messages import ToolCall
from agent_magic.tools.function import tool
from agent_magic.tools.plain import plain_schema
from agent_magic.tools.validation import validate_tool_arguments

# The spellings that code older than Python 3.10 has.
OldOptional = typing.Optional
OldUnion = typing.Union

PLAIN = [
    Any,
    str,
    int,
    float,
    bool,
    type(None),
    list,
    dict,
    list[str],
    list[list[int]],
    list[Any],
    dict[str, int],
    dict[str, Any],
    dict[str, list[float]],
    OldOptional[int],
    OldOptional[list[str]],
    OldUnion[int, str],
    int | None,
    Literal["a"],
    Literal["a", "b"],
    Literal[1, 2],
    OldOptional[Literal["a", "b"]],
]


class Kind(str, enum.Enum):
    LINE = "line"
    BAR = "bar"


class Address(pydantic.BaseModel):
    """Where somebody lives."""

    street: str
    zip: int = Field(description="Postal code.")


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Movie(typing.TypedDict, total=False):
    title: typing.Required[str] if hasattr(typing, "Required") else str
    year: int


class Node(pydantic.BaseModel):
    value: int
    children: "list[Node]" = []


def properties(function):
    return tool(function).input_schema["properties"]


def validated(function, **arguments):
    made = tool(function)
    return validate_tool_arguments(made, ToolCall("1", made.name, arguments))


@pytest.mark.parametrize("annotation", PLAIN, ids=str)
def test_a_plain_annotation_has_the_schema_that_pydantic_gives_it(annotation):
    assert plain_schema(annotation) == TypeAdapter(annotation).json_schema()


@pytest.mark.parametrize(
    "annotation",
    [Kind, Address, tuple[int, str], set[int], datetime.date, Literal[1, "a"], dict[int, str], OldUnion[Kind, int]],
    ids=str,
)
def test_every_other_annotation_is_left_to_pydantic(annotation):
    assert plain_schema(annotation) is None


def test_the_schema_of_a_function_lists_what_is_required_and_forbids_the_rest():
    @tool
    def sales(region: str, year: int = 2025):
        """Monthly sales of a region.

        Args:
            region: Two-letter region code.
            year: Calendar year.
        """

    assert sales.description == "Monthly sales of a region."
    assert sales.input_schema == {
        "type": "object",
        "properties": {
            "region": {"type": "string", "description": "Two-letter region code."},
            "year": {"type": "integer", "description": "Calendar year.", "default": 2025},
        },
        "additionalProperties": False,
        "required": ["region"],
    }


def test_an_enum_shows_its_values_and_arrives_as_its_member():
    def plot(kind: Kind = Kind.LINE): ...

    assert properties(plot)["kind"]["enum"] == ["line", "bar"]
    assert properties(plot)["kind"]["default"] == "line"
    assert validated(plot, kind="bar") == {"kind": Kind.BAR}


def test_annotated_gives_a_description_as_text_or_by_field():
    def f(a: Annotated[str, "The a."], b: Annotated[int, Field(description="The b.", ge=1)]): ...

    assert properties(f) == {
        "a": {"type": "string", "description": "The a."},
        "b": {"type": "integer", "description": "The b.", "minimum": 1},
    }


def test_an_annotation_describes_before_the_docstring_does_and_that_before_a_class():
    def f(a: Annotated[str, "By annotation."], b: Address, c: Address):
        """Do it.

        Args:
            a: By docstring.
            b: By docstring.
        """

    assert [each["description"] for each in properties(f).values()] == [
        "By annotation.",
        "By docstring.",
        "Where somebody lives.",
    ]


def test_a_field_as_default_gives_its_limits_and_its_default():
    one, other = Field(3, ge=1, description="At least one."), Field(default_factory=lambda: [7])

    def f(a: int = one, b: list[int] = other):
        return a, b

    made = tool(f)
    assert made.input_schema["properties"]["a"] == {
        "type": "integer", "minimum": 1, "default": 3, "description": "At least one.",
    }  # fmt: skip
    assert "required" not in made.input_schema
    assert made.execute({}, None) == (3, [7])


def test_a_default_of_none_allows_null():
    nothing: Any = None

    def f(a: int = nothing): ...

    assert properties(f)["a"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert validated(f, a=None) == {"a": None}


def test_a_default_that_is_no_json_is_left_out():
    anything = object()

    def f(a: Any = anything, b: float = float("nan"), c: datetime.date = datetime.date(2025, 1, 2)): ...

    assert "default" not in properties(f)["a"]
    assert "default" not in properties(f)["b"]
    assert properties(f)["c"]["default"] == "2025-01-02"
    assert "required" not in tool(f).input_schema


def test_models_dataclasses_and_typed_dicts_arrive_as_what_they_are():
    def f(home: Address, point: Point, movie: Movie, movies: list[Movie]): ...

    got = validated(
        f, home={"street": "s", "zip": "1"}, point={"x": 1}, movie={"title": "t"}, movies=[{"title": "u", "year": "1"}]
    )
    assert got["home"] == Address(street="s", zip=1)
    assert got["point"] == Point(1.0, 0.0)
    assert got["movie"] == {"title": "t"}
    assert got["movies"] == [{"title": "u", "year": 1}]


def test_nested_definitions_stand_at_the_top_of_the_schema():
    def f(homes: list[Address], tree: Node, kinds: list[Kind]): ...

    schema = tool(f).input_schema
    assert set(schema["$defs"]) == {"Address", "Node", "Kind"}
    assert schema["properties"]["homes"]["items"] == {"$ref": "#/$defs/Address"}
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"homes": [], "tree": {"value": 1, "children": [{"value": 2}]}, "kinds": ["bar"]}, schema)


def test_two_classes_of_one_name_are_told_apart():
    def make(annotation):
        class Item(pydantic.BaseModel):
            value: annotation

        return Item

    first, second = make(int), make(str)

    def f(a: list[first], b: list[second]): ...

    schema = tool(f).input_schema
    assert len(schema["$defs"]) == 2
    jsonschema.validate({"a": [{"value": 1}], "b": [{"value": "x"}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"a": [{"value": "x"}], "b": [{"value": "x"}]}, schema)


def test_extra_keywords_are_allowed_and_converted_where_the_function_takes_them():
    def f(a: int, **others: float): ...

    assert tool(f).input_schema["additionalProperties"] == {"type": "number"}
    assert validated(f, a="1", b="2.5") == {"a": 1, "b": 2.5}


def test_an_annotation_without_a_json_form_says_what_to_take_instead():
    class Frame: ...

    def f(frame: Frame): ...

    with pytest.raises(ToolDefinitionError, match=r"'frame' of f .* cannot write as JSON. Take something"):
        tool(f)


def test_a_parameter_without_annotation_takes_anything():
    def f(a, b=1): ...

    assert properties(f) == {"a": {}, "b": {"default": 1}}
    assert validated(f, a=[1], b="x") == {"a": [1], "b": "x"}


def test_a_schema_is_json():
    def f(a: Kind | None = None, b: tuple[int, str] = (1, "a"), c: Literal[1, "x", None] = None): ...

    assert json.loads(json.dumps(tool(f).input_schema)) == tool(f).input_schema
