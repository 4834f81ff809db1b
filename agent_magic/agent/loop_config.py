"""How an agent's loop behaves, and what its hooks take and give (source: Y SP-021, A AgentLoopConfig)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ..config import QueueMode, RequestConfig, ToolExecutionMode
from ..errors import AgentMagicError, InvalidDataError
from ..messages import AgentContext, AssistantMessage, ToolResultMessage
from ..models import Model

if TYPE_CHECKING:
    from .budget import Budget
    from .policy import Policy

Hook = Callable[..., Any]


@dataclass(frozen=True)
class Block:
    """Given back by `before_tool_call` to keep a call from running; the model reads `reason`."""

    reason: str = "The call was blocked."
    terminate: bool = False


@dataclass(frozen=True)
class Turn:
    """A turn as hooks see it.

    `message` and `tool_results` are those of the turn that ended, None and empty before the first. `number` counts
    from 1. `error` is the error that ended the turn, given to `prepare_next_turn` after a context overflow.
    """

    context: AgentContext
    message: AssistantMessage | None
    tool_results: tuple[ToolResultMessage, ...]
    number: int
    error: AgentMagicError | None = None


@dataclass(frozen=True)
class TurnUpdate:
    """Given back by `prepare_next_turn`: what the rest of the run uses instead. None leaves a thing as it is."""

    messages: Iterable[Any] | None = None
    model: Model | None = None
    config: RequestConfig | None = None


@dataclass(frozen=True)
class AgentLoopConfig:
    """Hooks and limits of a run. Hooks may be plain or async functions.

    - `before_tool_call(call, arguments, context)` gives None, new arguments (a dict, validated again) or a `Block`;
    - `after_tool_call(call, result, context)` gives None or another `AgentToolResult`;
    - `transform_context(messages, signal)` gives the messages of one request; the history stays as it is;
    - `convert_to_llm(messages)` gives user, assistant and tool result messages;
    - `prepare_next_turn(turn)` gives None or a `TurnUpdate`; called before every request, and once after an overflow;
    - `should_stop_after_turn(turn)` gives True to end the run;
    - `get_api_key(provider)` gives a key or None; called before every request.

    `max_parallel` limits how many tools run at once, `max_turns` how many answers a run may have (None: no limit).
    """

    before_tool_call: Hook | None = None
    after_tool_call: Hook | None = None
    transform_context: Hook | None = None
    convert_to_llm: Hook | None = None
    prepare_next_turn: Hook | None = None
    should_stop_after_turn: Hook | None = None
    get_api_key: Hook | None = None
    tool_execution: ToolExecutionMode = ToolExecutionMode.PARALLEL
    max_parallel: int = 32
    max_turns: int | None = 50
    steering_mode: QueueMode = QueueMode.ONE_AT_A_TIME
    follow_up_mode: QueueMode = QueueMode.ONE_AT_A_TIME
    budget: Budget | None = None
    policy: Policy | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool_execution", ToolExecutionMode.of(self.tool_execution))
        object.__setattr__(self, "steering_mode", QueueMode.of(self.steering_mode))
        object.__setattr__(self, "follow_up_mode", QueueMode.of(self.follow_up_mode))
        for name in ("max_parallel", "max_turns"):
            value = getattr(self, name)
            if value is None and name == "max_turns":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidDataError(f"must be a whole number of at least 1, not {value!r}", name)
        for name in HOOK_NAMES:
            hook = getattr(self, name)
            if hook is not None and not callable(hook):
                raise InvalidDataError(f"must be a function, not {type(hook).__name__}", name)

    def replace(self, **changes: Any) -> AgentLoopConfig:
        """A copy with some fields changed."""
        return replace(self, **changes)


HOOK_NAMES = (
    "before_tool_call",
    "after_tool_call",
    "transform_context",
    "convert_to_llm",
    "prepare_next_turn",
    "should_stop_after_turn",
    "get_api_key",
)
LOOP_NAMES = frozenset(each.name for each in fields(AgentLoopConfig))
# The agent has a system prompt and tools of its own, so those two of RequestConfig stay empty.
REQUEST_NAMES = frozenset(each.name for each in fields(RequestConfig)) - {"system_prompt", "tools"}


# The queues outlive a run, so their modes are the agent's and not a run's.
OVERRIDABLE = (LOOP_NAMES | REQUEST_NAMES) - {"steering_mode", "follow_up_mode"}


def split_config(
    given: Mapping[str, Any], taken_by: str, known: Set[str], also: Iterable[str] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments as those of `AgentLoopConfig` and those of `RequestConfig`.

    A word that is not `known` is a `TypeError` that names near matches, as Python's own would.
    """
    for name in given:
        if name not in known:
            near = get_close_matches(name, [*known, *also], n=2)
            advice = f" Did you mean {' or '.join(near)}?" if near else ""
            raise TypeError(f"{taken_by}() got an unexpected keyword argument {name!r}.{advice}")
    return (
        {name: value for name, value in given.items() if name in LOOP_NAMES},
        {name: value for name, value in given.items() if name in REQUEST_NAMES},
    )
