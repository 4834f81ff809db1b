"""The tools `variables` and `inspect`: names, types, shapes and signatures, and never a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import agent_magic as am
from agent_magic.agent.policy import ApprovalRequest, Policy, hash_of_arguments
from agent_magic.messages import ToolCall
from agent_magic.notebook.namespace import Namespace
from agent_magic.notebook.namespace_tools import MAX_NAMES, inspect_text, namespace_tools, variables_text

from ..speed import cpu_seconds, fastest


def double(x: int, secret: Any = "hush") -> int:
    """Twice as much."""
    return 2 * x


class Shop:
    """A shop."""

    def __init__(self, name: str) -> None:
        self.name = name

    def open(self, hour: int = 9) -> None: ...


def space(**values: Any) -> Namespace:
    return Namespace(values, {})


def test_variables_tells_types_shapes_and_signatures() -> None:
    values = {
        "df": pd.DataFrame({"a": [1]}),
        "a": np.zeros((2, 3)),
        "n": 5,
        "f": double,
        "Shop": Shop,
        "_x": 1,
        "np": np,
    }
    assert variables_text(space(**values)).splitlines() == [
        "df: DataFrame 1 × 1",
        "a: ndarray 2 × 3 float64",
        "n: int",
        "f: function (x: 'int', secret: 'Any' = 'hush') -> 'int'",
        "Shop: class",
        "np: module",
    ]
    assert variables_text(space(**values), "d*") == "df: DataFrame 1 × 1"
    assert variables_text(space(**values), "z*") == "No name fits z*."
    assert variables_text(space()) == "The notebook has no variables yet."


def test_no_value_is_told() -> None:
    values = {"text": "SECRET", "number": 987654, "items": ["SECRET"], "table": pd.DataFrame({"a": ["SECRET"]})}
    told = variables_text(space(**values)) + "".join(inspect_text(space(**values), name) for name in values)
    assert "SECRET" not in told
    assert "987654" not in told


def test_inspect_tells_columns_keys_signatures_and_documentation() -> None:
    names = space(df=pd.DataFrame({"a": [1], "b": ["x"]}), d={"k": [1, 2], 3: 4}, f=double, Shop=Shop, many=[1, "a", 2])
    assert inspect_text(names, "df").splitlines()[:2] == ["df: DataFrame 1 × 2", "  a: int64"]
    assert inspect_text(names, "d").splitlines() == ["d: dict of 2", "  k: list of 2", "  <int>: int"]
    assert inspect_text(names, "f").endswith("-> 'int'\nTwice as much.")
    assert "  open(self, hour: 'int' = 9) -> 'None'" in inspect_text(names, "Shop")
    assert inspect_text(names, "many").splitlines()[1] == "  holds int, str of 1"
    assert inspect_text(names, "df.a").startswith("df.a: Series 1 int64")


def test_an_unknown_name_is_an_error_that_says_where_names_are_listed() -> None:
    with pytest.raises(LookupError, match=r"no nothing\. The tool variables lists"):
        inspect_text(space(), "nothing")
    with pytest.raises(LookupError):
        inspect_text(space(n=1), "n.nothing")


def test_ten_thousand_names_are_cheap_and_the_rest_is_counted() -> None:
    names = space(**{f"name_{number}": double for number in range(10_000)})
    assert fastest(lambda: cpu_seconds(lambda: variables_text(names)), 0.5) <= 0.5
    text = variables_text(names)
    assert text.count("\n") == MAX_NAMES
    assert "… 9,800 more; give a pattern" in text


def test_both_are_builtin_read_only_and_allowed_without_a_question() -> None:
    for tool in namespace_tools(space()):
        assert (tool.origin, tool.effect) == ("builtin", "read")
        call = ToolCall("1", tool.name, {})
        request = ApprovalRequest("1", call, {}, hash_of_arguments({}), tool)
        assert Policy.for_kernel().decide(request) == "allow"


def test_an_agent_can_call_both() -> None:
    calls = [am.ToolCall("1", "variables", {}), am.ToolCall("2", "inspect", {"name": "df"})]
    tools = namespace_tools(space(df=pd.DataFrame({"a": [1]})))
    agent = am.Agent(am.scripted(am.AssistantMessage(calls), "ok"), tools=tools)
    agent.run("hi")
    results = [message.text for message in agent.messages if message.role == "toolResult"]
    assert results == ["df: DataFrame 1 × 1", "df: DataFrame 1 × 1\n  a: int64"]
