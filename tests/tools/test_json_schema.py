import jsonschema
import pytest
from hypothesis import given, strategies

from agent_magic.tools.json_schema import check

OPEN = {"type": "object"}


def fit(value, schema):
    checked = check({"v": value}, {"type": "object", "properties": {"v": schema}})
    return checked.values["v"], list(checked.problems)


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("3", {"type": "integer"}, 3),
        ("3.0", {"type": "integer"}, 3),
        (3.0, {"type": "integer"}, 3),
        ("3.5", {"type": "number"}, 3.5),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ('["a"]', {"type": "array", "items": {"type": "string"}}, ["a"]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        (["1", 2], {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ("3", {"type": ["integer", "string"]}, "3"),
        ("3", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "3"),
        ("3", {"anyOf": [{"type": "null"}, {"type": "integer"}]}, 3),
        (None, {"type": ["null", "integer"]}, None),
        ("x", {}, "x"),
        ("x", True, "x"),
        ("x", {"type": "string", "format": "uri"}, "x"),
    ],
)
def test_what_fits_is_converted_only_where_it_must_be(value, schema, expected):
    got, problems = fit(value, schema)
    assert (got, type(got), problems) == (expected, type(expected), [])


@pytest.mark.parametrize(
    ("value", "schema", "problem"),
    [
        ("x", {"type": "integer"}, 'v: must be of type integer, not "x"'),
        (True, {"type": "integer"}, "v: must be of type integer, not true"),
        (1, {"type": "string"}, "v: must be of type string, not 1"),
        ("NaN", {"type": "number"}, 'v: must be of type number, not "NaN"'),
        (None, {"type": "integer"}, "v: must be of type integer, not null"),
        ("c", {"enum": ["a", "b"]}, 'v: must be one of "a", "b", not "c"'),
        (True, {"enum": [1]}, "v: must be one of 1, not true"),
        (2, {"const": 1}, "v: must be 1, not 2"),
        (2, {"minimum": 3}, "v: must be at least 3, not 2"),
        (4, {"exclusiveMaximum": 4}, "v: must be less than 4, not 4"),
        ("ab", {"minLength": 3}, 'v: must have at least 3 characters, not "ab"'),
        ("ab", {"pattern": "^b"}, 'v: must match ^b, not "ab"'),
        ([], {"minItems": 1}, "v: must have at least 1 items, not []"),
        ([1, "x"], {"items": {"type": "integer"}}, 'v[1]: must be of type integer, not "x"'),
        ({"a": 1}, {"required": ["b"]}, "v.b: is missing"),
        (
            {"colour": 1},
            {"properties": {"color": {}}, "additionalProperties": False},
            "v.colour: there is no such argument; did you mean color?",
        ),
        ({"a": "x"}, {"additionalProperties": {"type": "integer"}}, 'v.a: must be of type integer, not "x"'),
        ("x", False, "v: is not allowed"),
        (1, {"allOf": [{"minimum": 0}, {"minimum": 2}]}, "v: must be at least 2, not 1"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(value, schema, problem):
    assert fit(value, schema)[1] == [problem]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("ab", {"pattern": r"^\p{L}+$"}),
        ("12", {"pattern": r"^(?<digits>[0-9]+)$"}),
        (0.5, {"minimum": 0, "exclusiveMinimum": True}),
        (0, {"minimum": 0, "exclusiveMinimum": False}),
        (5, {"maximum": 10, "exclusiveMaximum": True}),
        (1, {"minimum": "0"}),
        ({}, {"required": True}),
        ("a", {"type": "file"}),
        ([1], {"type": "any"}),
        ("abc", {"enum": "abc"}),
        (None, {"type": "string", "nullable": True, "enum": ["a"]}),
        ({"x-a": 1}, {"patternProperties": {"^x-": {}}, "additionalProperties": False}),
        ({"x-a": 1}, {"patternProperties": {"^x-": {}}, "additionalProperties": {"type": "string"}}),
    ],
)
def test_a_rule_of_another_dialect_keeps_no_call_from_its_tool(value, schema):
    assert fit(value, schema) == (value, [])


def test_names_beside_the_patterns_stay_forbidden():
    schema = {"patternProperties": {"^x-": {}}, "additionalProperties": False}
    assert fit({"y": 1}, schema)[1] == ["v.y: there is no such argument; it takes none."]


def test_every_alternative_that_fails_says_why():
    assert fit("x", {"oneOf": [{"type": "integer"}, {"const": "y"}]})[1] == [
        "v: fits none of 2 alternatives",
        'v: must be of type integer, not "x"',
        'v: must be "y", not "x"',
    ]


def test_references_are_followed_also_in_a_circle():
    schema = {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["id"]}},
        "properties": {"root": {"$ref": "#/$defs/node"}},
    }
    assert check({"root": {"id": 1, "next": {}}}, schema).problems == ("root.next.id: is missing",)
    assert check({"a": 1}, {"properties": {"a": {"$ref": "#/properties/a"}}}).problems == ()
    assert check({"a": 1}, {"properties": {"a": {"$ref": "https://example.org/x.json"}}}).problems == ()


def test_unknown_arguments_pass_unless_the_schema_forbids_them():
    assert check({"a": 1}, OPEN).problems == ()
    assert check({"a": 1}, {"properties": {}, "additionalProperties": False}).problems == (
        "a: there is no such argument; it takes none.",
    )


values = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers(-5, 5) | strategies.sampled_from(["a", "b", "abc"]),
    lambda inner: (
        strategies.lists(inner, max_size=3)
        | strategies.dictionaries(strategies.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=6,
)
simple = strategies.fixed_dictionaries(
    {},
    optional={
        "type": strategies.sampled_from(["string", "integer", "null", "array", "object", ["integer", "null"]]),
        "enum": strategies.lists(values, min_size=1, max_size=3),
        "minimum": strategies.integers(-3, 3),
        "maxLength": strategies.integers(0, 3),
        "minItems": strategies.integers(0, 2),
        "required": strategies.sampled_from([["a"], ["b"], ["a", "b"]]),
        "additionalProperties": strategies.booleans(),
    },
)
schemas = strategies.recursive(
    simple,
    lambda inner: (
        strategies.fixed_dictionaries({"properties": strategies.fixed_dictionaries({"a": inner})})
        | strategies.fixed_dictionaries({"items": inner})
        | strategies.fixed_dictionaries({"anyOf": strategies.lists(inner, min_size=1, max_size=2)})
    ),
    max_leaves=4,
)


@given(values, schemas)
def test_a_value_that_needs_no_conversion_is_judged_as_a_full_validator_judges_it(value, schema):
    got, problems = fit(value, schema)
    assert (not problems) == jsonschema.Draft202012Validator(schema).is_valid(value)
    if not problems:
        assert got == value
