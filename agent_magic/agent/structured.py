"""The structured answer of one run: how it is asked for, and what came of it.

Where the API holds answers to a JSON Schema, the answer is text that fits it. Else the model gives it as the arguments
of a tool, `final_answer`. An answer that does not fit goes back to the model once, with what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..config import RequestConfig, StopReason
from ..errors import InvalidDataError, UnsupportedParameterError
from ..messages import AssistantMessage, CustomMessage, ToolResultMessage
from ..models import Model
from ..providers.apis import adapter_for
from ..tools.tool import AgentTool, Arguments, ToolContext
from .output_type import AnswerMismatchError, OutputType
from .reply import CORRECTION, FINAL_ANSWER

REPAIRS = 1
_DESCRIPTION = "Give the final answer. Call this once, when all else is done, and write nothing beside it."
_CUT = "The answer was cut off by its output limit. Raise max_tokens."


class StructuredAnswer:
    """What a run makes of `wanted`: `value`, or a `fault` that says why there is none; None is neither yet."""

    def __init__(
        self,
        wanted: OutputType,
        model: Model,
        defaults: RequestConfig,
        given: Mapping[str, Any],
        tools: Mapping[str, AgentTool],
    ) -> None:
        """`given` are the fields of `RequestConfig` that were asked for in this run, `defaults` those of the agent.

        Raises `UnsupportedParameterError` for a model that cannot make answers up, `InvalidDataError` for a
        `response_schema` beside the type.
        """
        if given.get("response_schema") is not None:
            raise InvalidDataError("says what output_type says too; leave one of them out", "response_schema")
        self.wanted = wanted
        self.value: Any = None
        self.fault: str | None = None
        self._repairs = REPAIRS
        self._advice: CustomMessage | None = None
        self._values: dict[str, Any] = {}
        asked = {**given, "response_schema": wanted.schema, "tools": tuple(tools.values()) or None}
        reasons = _refused(model, defaults.replace(**asked))
        self.is_native = "response_schema" not in reasons
        if not self.is_native and model.api == "demo":
            raise UnsupportedParameterError(
                f"{model.label} does not offer output_type: {reasons['response_schema']}. Choose a language model."
            )
        self.settings = {"response_schema": wanted.schema} if self.is_native else _settings(model, defaults, given)
        self._tool = None if self.is_native else _FinalAnswer(wanted, self._values)

    def with_tool(self, tools: Mapping[str, AgentTool]) -> Mapping[str, AgentTool]:
        """`tools`, and the one that takes the answer where there is need of it."""
        if self._tool is None:
            return tools
        if FINAL_ANSWER in tools:
            raise InvalidDataError(f"A tool is named {FINAL_ANSWER}, which output_type needs; rename yours.")
        return {**tools, FINAL_ANSWER: self._tool}

    def judge(self, answer: AssistantMessage, results: Sequence[ToolResultMessage]) -> bool | None:
        """Whether the model has to be asked again (True), is done (False), or still works at it (None)."""
        given = [result for result in results if self._tool is not None and result.tool_name == FINAL_ANSWER]
        if given:
            self._judge_result(given[-1])
        elif answer.all_tool_calls:
            return None
        else:
            self._judge_text(answer)
        if self.fault is None or self._repairs == 0 or self.fault == _CUT:
            return False
        self._repairs -= 1
        if not given:
            # No message of the user: views, undo and retry tell the two apart.
            self._advice = CustomMessage(CORRECTION, self._what_is_wrong())
        return True

    def take_advice(self) -> list[CustomMessage]:
        """What the model has to be told about its last answer; given once."""
        advice, self._advice = self._advice, None
        return [] if advice is None else [advice]

    def _judge_result(self, result: ToolResultMessage) -> None:
        # A hook may have made a result of its own.
        if result.is_error or result.tool_call_id not in self._values:
            self.value, self.fault = None, result.text
        else:
            self.value, self.fault = self._values[result.tool_call_id], None

    def _judge_text(self, answer: AssistantMessage) -> None:
        try:
            self.value, self.fault = self.wanted.of_text(answer.text), None
        except AnswerMismatchError as error:
            self.value, self.fault = None, _CUT if answer.stop_reason is StopReason.LENGTH else str(error)

    def _what_is_wrong(self) -> str:
        if self._tool is not None:
            return f"Give the answer by calling the tool {FINAL_ANSWER}. As text it does not fit:\n{self.fault}"
        schema = json.dumps(self.wanted.schema, ensure_ascii=False)
        return f"The answer does not fit:\n{self.fault}\nAnswer again, with nothing but JSON of this schema:\n{schema}"


class _FinalAnswer(AgentTool):
    """The tool whose arguments are the answer; `values` gets its value by the id of the call."""

    def __init__(self, wanted: OutputType, values: dict[str, Any]) -> None:
        async def take(arguments: dict[str, Any], context: ToolContext) -> str:
            values[context.tool_call_id] = wanted.of_data(arguments)
            return "This is the final answer."

        vars(self).update(_wanted=wanted)
        super().__init__(FINAL_ANSWER, _DESCRIPTION, wanted.schema, take, effect="read", origin="builtin")

    def convert(self, arguments: dict[str, Any]) -> Arguments:
        try:
            vars(self)["_wanted"].of_data(arguments)
        except AnswerMismatchError as error:
            return Arguments(arguments, tuple(str(error).split("\n")))
        return Arguments(arguments)


def _refused(model: Model, config: RequestConfig) -> Mapping[str, str]:
    return adapter_for(model).unsupported(model, config)


def _settings(model: Model, defaults: RequestConfig, given: Mapping[str, Any]) -> dict[str, Any]:
    """A `tool_choice` that leads to the tool, if the model takes one."""
    config = defaults.replace(**given)
    choice = config.tool_choice
    if choice == "none":
        return {"tool_choice": (FINAL_ANSWER,)}
    if choice is not None and not isinstance(choice, str):
        return {"tool_choice": (*choice, FINAL_ANSWER)}
    required = config.replace(tool_choice="required")
    return {} if choice is not None or "tool_choice" in _refused(model, required) else {"tool_choice": "required"}
