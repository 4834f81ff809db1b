import datetime

import pydantic
import pytest

from agent_magic.errors import ToolValidationError
from agent_magic.messages import ToolCall
from agent_magic.tools.function import tool
from agent_magic.tools.tool import AgentTool
from agent_magic.tools.validation import validate_required_args, validate_tool_arguments


class Filter(pydantic.BaseModel):
    column: str
    limit: int = 10


@tool
def query(region: str, year: int = 2025, day: datetime.date | None = None, filters: list[Filter] = ()):
    """Query."""


def validate(made, arguments):
    return validate_tool_arguments(made, ToolCall("1", made.name, arguments))


def error(made, arguments):
    with pytest.raises(ToolValidationError) as caught:
        validate(made, arguments)
    return str(caught.value)


def hand_made(schema=None, **options):
    return AgentTool(
        "made", "", schema or {"type": "object", "properties": {}}, lambda arguments, context: 1, **options
    )


def test_missing_arguments_are_named_in_the_words_of_the_document():
    schema = {"required": ["a", "b", "c"]}
    assert validate_required_args({"b": None}, schema) == "Missing required arguments: a, c"
    assert validate_required_args({"a": 1, "b": 1, "c": 1}, schema) is None
    assert validate_required_args({}, {}) is None


def test_arguments_are_converted_and_the_call_stays_as_it_is():
    call = ToolCall("1", "query", {"region": "EU", "year": "2024", "day": "2024-02-29", "filters": [{"column": "a"}]})
    assert validate_tool_arguments(query, call) == {
        "region": "EU",
        "year": 2024,
        "day": datetime.date(2024, 2, 29),
        "filters": [Filter(column="a")],
    }
    assert call.arguments["filters"] == [{"column": "a"}]


def test_a_tool_that_changes_its_arguments_does_not_change_the_call():
    def f(anything: dict): ...

    call = ToolCall("1", "f", {"anything": {"list": [1]}})
    validate_tool_arguments(tool(f), call)["anything"]["list"].append(2)
    assert call.arguments == {"anything": {"list": [1]}}


def test_converted_arguments_are_valid_again():
    once = validate(query, {"region": "EU", "day": "2024-02-29", "filters": [{"column": "a"}]})
    assert validate(query, once) == once


def test_a_list_or_object_written_as_text_is_read():
    assert validate(query, {"region": "EU", "filters": '[{"column": "a", "limit": "3"}]'})["filters"] == [
        Filter(column="a", limit=3)
    ]


def test_a_text_that_looks_like_json_stays_a_text_where_one_is_wanted():
    assert validate(query, {"region": '["EU"]'}) == {"region": '["EU"]'}


def test_the_error_opens_with_what_is_missing_and_lists_every_problem_and_what_was_received():
    assert error(query, {"regoin": "EU", "year": "soon", "filters": [{"limit": "x"}], "zzz": 1}) == (
        "Missing required arguments: region\n"
        "- regoin: there is no such argument; did you mean region?\n"
        '- year: Input should be a valid integer, unable to parse string as an integer (received "soon")\n'
        "- filters[0].column: Field required\n"
        '- filters[0].limit: Input should be a valid integer, unable to parse string as an integer (received "x")\n'
        "- zzz: there is no such argument; there are region, year, day, filters.\n"
        "Received arguments:\n"
        "{\n"
        '  "regoin": "EU",\n'
        '  "year": "soon",\n'
        '  "filters": [\n'
        "    {\n"
        '      "limit": "x"\n'
        "    }\n"
        "  ],\n"
        '  "zzz": 1\n'
        "}"
    )


def test_without_missing_arguments_the_error_names_the_tool():
    assert error(query, {"region": 3}).startswith("The arguments do not fit the tool 'query':\n- region: ")


def test_the_received_arguments_are_capped():
    text = error(query, {"region": "x" * 100_000, "zzz": 1})
    assert len(text) < 2_500
    assert "characters left out]" in text


def test_a_validation_error_is_a_value_error():
    with pytest.raises(ValueError, match="Missing"):
        validate(query, {})


def test_the_context_is_no_argument_that_a_model_may_give():
    from agent_magic.tools.tool import ToolContext

    @tool
    def f(context: ToolContext, **others): ...

    assert "context: there is no such argument" in error(f, {"context": 1})


def test_the_own_check_of_a_tool_goes_before_the_default_and_opens_the_error():
    seen = []

    def check(arguments):
        seen.append(arguments)
        return "Give a or b." if not arguments else None

    made = hand_made({"type": "object", "properties": {"a": {"type": "integer"}}}, validate_required_args=check)
    assert error(made, {}).startswith("Give a or b.\n")
    assert validate(made, {"a": "1"}) == {"a": 1}
    assert seen == [{}, {"a": "1"}]


def test_arguments_are_prepared_before_they_are_checked_and_a_fault_there_is_told():
    def prepare(arguments):
        return {"a": arguments.pop("old")}

    made = hand_made({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, prepare_arguments=prepare)
    call = ToolCall("1", "made", {"old": 5})
    assert validate_tool_arguments(made, call) == {"a": 5}
    assert call.arguments == {"old": 5}
    assert "could not be prepared for the tool 'made': 'old'" in error(made, {"new": 5})


def test_a_call_whose_arguments_did_not_parse_is_refused_with_the_fault():
    with pytest.raises(ToolValidationError, match="cut off"):
        validate_tool_arguments(query, ToolCall("1", "query", {}, "cut off"))


def test_a_validator_of_the_user_that_fails_otherwise_is_a_problem():
    class Odd(pydantic.BaseModel):
        value: int

        @pydantic.field_validator("value")
        @classmethod
        def look(cls, value):
            raise KeyError("missing")

    def f(odd: Odd): ...

    assert "- odd: KeyError: 'missing'" in error(tool(f), {"odd": {"value": 1}})


def test_a_broken_schema_is_a_validation_error():
    assert "input schema of the tool 'made' is broken" in error(hand_made({"properties": ["a"]}), {"a": 1})
