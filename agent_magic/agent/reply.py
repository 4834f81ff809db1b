"""What a run came to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..config import StopReason, _Choice as Choice
from ..messages import AssistantMessage, ToolCall
from ..usage import Usage

# The tool whose arguments are a structured answer.
FINAL_ANSWER = "final_answer"
# The type of the message that sends an answer back which does not fit.
CORRECTION = "correction"


class StopCause(Choice):
    """Why a run ended."""

    COMPLETED = "completed"
    LENGTH = "length"
    TERMINATED = "terminated"
    MAX_TURNS = "max_turns"
    HOOK = "hook"
    BUDGET_EXCEEDED = "budget_exceeded"
    ABORTED = "aborted"
    ERROR = "error"


@dataclass(frozen=True)
class Reply:
    """The outcome of one run.

    `messages` are all messages of the run, the prompts included; `usage` adds up what the servers reported, and
    its cost is None where a price or a count is unknown. `value` is the structured answer, None without one.
    `notes` tell what was changed on the way, such as a default parameter that the model does not take.
    """

    messages: tuple[Any, ...] = ()
    usage: Usage = field(default_factory=Usage)
    value: Any = None
    stop_cause: StopCause = StopCause.COMPLETED
    notes: tuple[str, ...] = ()

    @property
    def message(self) -> AssistantMessage | None:
        """The last answer of the model, None when there was none."""
        return next((each for each in reversed(self.messages) if isinstance(each, AssistantMessage)), None)

    @property
    def text(self) -> str:
        """The text of the last answer; the JSON of a structured answer that came as the arguments of a call."""
        if self.message is None:
            return ""
        given = [call for call in self.message.all_tool_calls if call.name == FINAL_ANSWER]
        if not given:
            return self.message.text
        return given[-1].arguments_error or json.dumps(given[-1].arguments, ensure_ascii=False)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All calls of the run, in order."""
        return tuple(
            call for each in self.messages if isinstance(each, AssistantMessage) for call in each.all_tool_calls
        )

    @property
    def cost(self) -> Decimal | None:
        """US dollars, None where unknown."""
        return None if self.usage.cost is None else self.usage.cost.total

    @property
    def stop_reason(self) -> StopReason:
        """Why the model stopped in its last answer."""
        return self.message.stop_reason if self.message else StopReason.UNKNOWN

    def __str__(self) -> str:
        return self.text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text)
