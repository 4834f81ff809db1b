"""Structured answers: read, repaired once, and never lost."""

from __future__ import annotations

import asyncio
import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pandas as pd
import polars as pl
import pydantic
import pytest
from typing_extensions import TypedDict

import agent_magic as am
from agent_magic.agent.output_type import OutputType
from agent_magic.providers import apis, scripted as scripted_api


class Person(pydantic.BaseModel):
    """Somebody."""

    name: str
    age: int = pydantic.Field(ge=0)


@dataclass
class Point:
    x: float
    y: float = 0.0


class Place(TypedDict):
    city: str


class Node(pydantic.BaseModel):
    name: str
    children: list[Node] = []


class Colour(Enum):
    RED = "red"


class Strict(pydantic.BaseModel, strict=True):
    day: datetime.date


ADA = '{"name": "Ada", "age": 36}'
BAD = '{"name": "Ada", "age": -1}'


def unwrapped(value: str) -> str:
    return json.dumps({"value": json.loads(value)})


@pytest.fixture
def called() -> Iterator[Any]:
    """`called(*answers)` is a scripted model whose API holds no answer to a schema."""

    class Api:
        stream = staticmethod(scripted_api.stream)

        @staticmethod
        def unsupported(model: am.Model, config: am.RequestConfig) -> dict[str, str]:
            return {"response_schema": "no"} if config.response_schema is not None else {}

    am.register_api("scripted-calls", Api)
    yield lambda *answers: am.scripted(*answers).replace(api="scripted-calls")
    del apis._registered["scripted-calls"]


def final(call_id: str = "f", /, **arguments: Any) -> am.ToolCall:
    return am.ToolCall(call_id, "final_answer", arguments)


TYPES = [
    (Person, ADA, Person(name="Ada", age=36)),
    (Point, '{"x": 1}', Point(1.0)),
    (Place, '{"city": "Oslo"}', {"city": "Oslo"}),
    (Node, unwrapped('{"name": "a", "children": [{"name": "b"}]}'), Node(name="a", children=[Node(name="b")])),
    (list[Person], unwrapped(f"[{ADA}]"), [Person(name="Ada", age=36)]),
    (Person | Point, unwrapped('{"x": 2, "y": 3}'), Point(2.0, 3.0)),
    (Person | None, unwrapped("null"), None),
    (Literal["yes", "no"], unwrapped('"no"'), "no"),
    (Colour, unwrapped('"red"'), Colour.RED),
    (int, unwrapped("3"), 3),
    (float, "3.5", 3.5),
    (bool, unwrapped("false"), False),
    (str, unwrapped('"hi"'), "hi"),
    (dict[str, int], '{"value": 1}', {"value": 1}),
    (set[int], unwrapped("[1, 1]"), {1}),
    (Strict, '{"day": "2026-01-02"}', Strict(day=datetime.date(2026, 1, 2))),
    (Annotated[int, pydantic.Field(gt=2)], unwrapped("3"), 3),
]


@pytest.mark.parametrize(("kind", "text", "value"), TYPES, ids=[str(each[0]) for each in TYPES])
def test_an_answer_becomes_a_value_of_its_type(kind: Any, text: str, value: Any) -> None:
    model = am.scripted(text)
    reply = am.Agent(model).run("go", output_type=kind)
    assert reply.value == value
    assert type(reply.value) is type(value)
    assert reply.text == text
    schema = model.requests[0].config.response_schema
    assert schema is not None
    assert schema["type"] == "object"


@pytest.mark.parametrize(
    "text", [ADA, f"```json\n{ADA}\n```", f"Here it is:\n\n```\n{ADA}\n```\nAs you asked.", f"It is {ADA}."]
)
def test_json_is_found_in_a_fence_or_between_words(text: str) -> None:
    reply = am.Agent(am.scripted(text)).run("go", output_type=Person)
    assert reply.value == Person(name="Ada", age=36)
    assert reply.text == text


ROWS = '{"value": [{"name": "Ada", "age": 36}, {"name": "Alan", "age": 41}]}'


def test_a_frame_is_described_by_its_rows() -> None:
    reply = am.Agent(am.scripted(ROWS)).run("go", output_type=Annotated[pd.DataFrame, Person])
    pd.testing.assert_frame_equal(reply.value, pd.DataFrame({"name": ["Ada", "Alan"], "age": [36, 41]}))
    reply = am.Agent(am.scripted(ROWS)).run("go", output_type=Annotated[pl.DataFrame, Person])
    assert reply.value.equals(pl.DataFrame({"name": ["Ada", "Alan"], "age": [36, 41]}))


@pytest.mark.parametrize("row", [Person, Point, Place])
def test_a_frame_without_rows_has_its_columns(row: Any) -> None:
    value = am.Agent(am.scripted('{"value": []}')).run("go", output_type=Annotated[pd.DataFrame, row]).value
    assert list(value.columns) == list(row.__annotations__)
    assert len(value) == 0


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (pd.DataFrame, r"Annotated\[DataFrame, Row\]"),
        (Annotated[pd.DataFrame, int], "named fields"),
        (object(), "written as JSON"),
        (dict[str, pd.Series], "written as JSON"),
    ],
)
def test_a_type_without_a_form_in_json_is_refused_before_anything_is_sent(kind: Any, says: str) -> None:
    model = am.scripted(ADA)
    with pytest.raises(am.InvalidDataError, match=says):
        am.Agent(model).run("go", output_type=kind)
    assert model.requests == ()


def test_an_answer_that_does_not_fit_is_repaired_once_with_what_is_wrong() -> None:
    model = am.scripted(BAD, ADA)
    agent = am.Agent(model)
    reply = agent.run("go", output_type=Person)
    assert reply.value == Person(name="Ada", age=36)
    assert [message.role for message in reply.messages] == ["user", "assistant", "custom", "assistant"]
    assert model.requests[1].context.messages[-1].role == "user"
    told = reply.messages[2].text
    assert "age: Input should be greater than or equal to 0 (received -1)" in told
    assert json.loads(told.rpartition("\n")[2]) == model.requests[0].config.response_schema


@pytest.mark.parametrize("first", [BAD, "no JSON at all", "[" * 100_000])
def test_after_the_repair_the_error_holds_the_reply_with_all_that_came(first: str) -> None:
    agent = am.Agent(am.scripted(first, "I cannot."))
    with pytest.raises(am.OutputTypeError, match="does not fit Person: The answer is not JSON") as caught:
        agent.run("go", output_type=Person)
    reply = caught.value.reply
    assert reply.text == "I cannot."
    assert reply.messages[1].text == first
    assert reply.value is None
    assert reply.usage.total_tokens > 0
    assert agent.messages == list(reply.messages)


def test_an_answer_cut_off_by_its_limit_is_not_asked_for_again() -> None:
    model = am.scripted(am.AssistantMessage('{"name": "A', stop_reason="length"), ADA)
    with pytest.raises(am.OutputTypeError, match="max_tokens") as caught:
        am.Agent(model).run("go", output_type=Person)
    assert len(model.requests) == 1
    assert caught.value.reply.text == '{"name": "A'


def test_a_validator_of_the_user_may_raise_anything() -> None:
    class Odd(pydantic.BaseModel):
        name: str

        @pydantic.field_validator("name")
        @classmethod
        def check(cls, value: str) -> str:
            if value == "x":
                raise KeyError(value)
            return value

    assert am.Agent(am.scripted('{"name": "x"}', '{"name": "y"}')).run("go", output_type=Odd).value.name == "y"


def test_tools_come_first_and_the_answer_after_them() -> None:
    def age(name: str) -> int:
        """The age of somebody."""
        return 36

    model = am.scripted(am.ToolCall("1", "age", {"name": "Ada"}), ADA)
    reply = am.Agent(model, [age]).run("go", output_type=Person)
    assert reply.value == Person(name="Ada", age=36)
    assert [message.role for message in reply.messages] == ["user", "assistant", "toolResult", "assistant"]


# By a call -----------------------------------------------------------------------------------------------------------


def test_where_the_api_has_no_schema_the_answer_is_a_call(called: Any) -> None:
    model = called(final(name="Ada", age=36))
    reply = am.Agent(model).run("go", output_type=Person)
    assert reply.value == Person(name="Ada", age=36)
    assert json.loads(reply.text) == json.loads(ADA)
    assert reply.stop_cause is am.StopCause.COMPLETED
    request = model.requests[0]
    assert list(request.context.tools) == ["final_answer"]
    assert request.config.tool_choice == "required"
    assert request.config.response_schema is None


def test_the_next_run_has_no_final_answer_to_give(called: Any) -> None:
    model = called(final(name="Ada", age=36), "hello")
    agent = am.Agent(model)
    agent.run("go", output_type=Person)
    assert agent.run("and now?").text == "hello"
    assert not model.requests[1].context.tools


def test_a_call_that_does_not_fit_is_repaired_once(called: Any) -> None:
    reply = am.Agent(called(final("1", name="Ada"), final("2", name="Ada", age=36))).run("go", output_type=Person)
    assert reply.value == Person(name="Ada", age=36)
    assert "age" in reply.messages[2].text
    with pytest.raises(am.OutputTypeError, match="age") as caught:
        am.Agent(called(final("1", name="Ada"), final("2", age=36, name=4), "x")).run("go", output_type=Person)
    assert json.loads(caught.value.reply.text) == {"age": 36, "name": 4}


def test_a_text_in_place_of_the_call_is_read_or_sent_back(called: Any) -> None:
    assert am.Agent(called(ADA)).run("go", output_type=Person).value.age == 36
    reply = am.Agent(called("She is 36.", final(name="Ada", age=36))).run("go", output_type=Person)
    assert reply.value.age == 36
    assert "final_answer" in reply.messages[2].text


def test_other_tools_and_the_final_answer_work_in_one_loop(called: Any) -> None:
    def age(name: str) -> int:
        """The age of somebody."""
        return 36

    model = called(am.ToolCall("1", "age", {"name": "Ada"}), [am.ToolCall("2", "age", {"name": "B"}), final(x=1)])
    reply = am.Agent(model, [age], tool_choice=["age"]).run("go", output_type=Point)
    assert reply.value == Point(1.0)
    assert model.requests[0].config.tool_choice == ("age", "final_answer")
    assert [message.role for message in reply.messages[-2:]] == ["toolResult", "toolResult"]


def test_the_policy_decides_about_the_final_answer_as_about_any_call(called: Any) -> None:
    seen: list[str] = []
    agent = am.Agent(called(final(x=1)), before_tool_call=lambda call, arguments, context: seen.append(call.name))
    assert agent.run("go", output_type=Point).value == Point(1.0)
    assert seen == ["final_answer"]


def test_a_tool_of_that_name_is_told_apart(called: Any) -> None:
    def final_answer() -> None:
        """Mine."""

    with pytest.raises(am.AgentMagicError, match="rename yours"):
        am.Agent(called("x"), [final_answer]).run("go", output_type=Point)


# Limits --------------------------------------------------------------------------------------------------------------


def test_demo_says_that_it_cannot() -> None:
    with pytest.raises(am.UnsupportedParameterError, match="Choose a language model"):
        am.Agent("demo").run("go", output_type=Person)


def test_a_schema_beside_the_type_is_an_error() -> None:
    with pytest.raises(am.InvalidDataError, match="leave one of them out"):
        am.Agent(am.scripted(ADA)).run("go", output_type=Person, response_schema={"type": "object"})


def test_gemini_before_3_takes_a_call_where_there_are_tools() -> None:
    tools = [am.ToolSchema("f")]
    config = am.RequestConfig(response_schema={"type": "object"}, tools=tools)
    for name, offered in (("gemini-2.5-flash", False), ("gemini-3.5-flash", True)):
        model = am.Model(name, "gemini")
        assert ("response_schema" not in apis.adapter_for(model).unsupported(model, config)) is offered
        assert not apis.adapter_for(model).unsupported(model, config.replace(tools=None))


def test_an_aborted_run_has_no_value_and_no_further_error() -> None:
    async def work() -> am.Reply:
        agent = am.Agent(am.scripted(BAD, am.Delay(10)))
        running = asyncio.ensure_future(agent.prompt("go", output_type=Person))
        while len(agent.messages) < 3:
            await asyncio.sleep(0.01)
        agent.abort()
        return await running

    reply = asyncio.run(work())
    assert reply.stop_cause is am.StopCause.ABORTED
    assert reply.value is None


def test_a_limit_of_turns_before_the_repair_is_told_with_the_fault() -> None:
    with pytest.raises(am.OutputTypeError) as caught:
        am.Agent(am.scripted(BAD, ADA)).run("go", output_type=Person, max_turns=1)
    assert caught.value.reply.text == BAD


def test_a_message_that_was_queued_is_answered_before_the_end() -> None:
    agent = am.Agent(am.scripted('{"x": 1}', '{"x": 2}'))
    agent.follow_up("and with two?")
    assert agent.run("go", output_type=Point).value == Point(2.0)


def test_schemas_are_made_of_objects_with_definitions_on_top() -> None:
    schema = OutputType.of(list[Node]).schema
    assert set(schema["$defs"]) == {"Node"}
    assert list(schema["properties"]) == ["value"]
