"""What a request may ask for: the enums and `RequestConfig` (source: H UniConfig)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar

from .errors import InvalidDataError

E = TypeVar("E", bound="_Choice")


class _Choice(str, Enum):
    """An enum whose members are plain strings, read from any of the documents' spellings."""

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> _Choice | None:
        if not isinstance(value, str):
            return None
        word = value.strip().lower().replace("-", "_")
        for prefix in ("thinking_", "execution_", "queue_"):
            word = word.removeprefix(prefix)
        word = _SYNONYMS.get(cls.__name__, {}).get(word, word)
        return next((member for member in cls if member.value.replace("-", "_") == word), None)

    @classmethod
    def of(cls: type[E], value: str | E) -> E:
        """`value` as a member; an unknown word is an `InvalidDataError` that lists the known ones."""
        try:
            return cls(value)
        except ValueError:
            known = ", ".join(member.value for member in cls)
            raise InvalidDataError(f"{value!r} is no {cls.__name__}; choose one of {known}.") from None


class ThinkingLevel(_Choice):
    """How much a model may reason, in rising order. `none` is another word for `off`."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"
    NONE = "off"


class ToolExecutionMode(_Choice):
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


class QueueMode(_Choice):
    """How many queued messages a turn takes: the oldest one, or all."""

    ALL = "all"
    ONE_AT_A_TIME = "one-at-a-time"


class PromptCaching(_Choice):
    ENABLE = "enable"
    DISABLE = "disable"
    ENHANCE = "enhance"


class StopReason(_Choice):
    """Why a model stopped. Other words, such as `end_turn` and `tool_calls`, are read as one of these."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALL = "tool_call"
    ERROR = "error"
    ABORTED = "aborted"
    UNKNOWN = "unknown"

    @classmethod
    def read(cls, word: str | None) -> StopReason:
        """A member for any word from outside; one that nobody has heard of is `unknown`."""
        return _stop_reason(word)


@lru_cache
def _stop_reason(word: str | None) -> StopReason:
    try:
        return StopReason(word)
    except ValueError:
        return StopReason.UNKNOWN


_SYNONYMS: dict[str, dict[str, str]] = {
    "ThinkingLevel": {"none": "off"},
    "QueueMode": {"one": "one_at_a_time"},
    "StopReason": {
        "done": "stop",
        "end": "stop",
        "end_turn": "stop",
        "endturn": "stop",
        "stop_sequence": "stop",
        "completed": "stop",
        "tool_calls": "tool_call",
        "tool_use": "tool_call",
        "tooluse": "tool_call",
        "toolcall": "tool_call",
        "function_call": "tool_call",
        "max_tokens": "length",
        "cancelled": "aborted",
        "canceled": "aborted",
    },
}

# "auto", "required", "none", or the names of the tools that may be called.
ToolChoice = str | Sequence[str]


@dataclass(frozen=True)
class ToolSchema:
    """A tool as the model sees it; `parameters` is a JSON Schema of an object, or None."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ImageConfig:
    """The image to make: `aspect_ratio` such as `4:3`, `image_size` `1K` or `2K`."""

    aspect_ratio: str | None = None
    image_size: str | None = None


@dataclass(frozen=True)
class SpeakerConfig:
    """A voice, and in a dialogue the name of its speaker."""

    voice: str
    speaker: str | None = None


@dataclass(frozen=True)
class EmbeddingConfig:
    dimensions: int | None = None


@dataclass(frozen=True)
class RequestConfig:
    """What is asked of one request. Every field may be left out; None means that the server decides.

    `max_tokens` limits the answer; `tool_choice` is `auto`, `required`, `none` or a list of tool names;
    `response_schema` is the JSON Schema of the answer; `trace_id` is a stable name, never used as a path;
    `max_retry_delay` and `timeout` are seconds, the latter the longest silence of the server.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    tools: Any = None
    tool_choice: ToolChoice | None = None
    thinking_level: ThinkingLevel | None = None
    thinking_summary: bool | None = None
    system_prompt: str | None = None
    prompt_caching: PromptCaching | None = None
    image_config: ImageConfig | None = None
    tts_config: tuple[SpeakerConfig, ...] | None = None
    embedding_config: EmbeddingConfig | None = None
    trace_id: str | None = None
    response_schema: Mapping[str, Any] | None = None
    max_retries: int = 3
    max_retry_delay: float = 60.0
    timeout: float | None = 300.0

    def __post_init__(self) -> None:
        self._check_numbers()
        self._set("thinking_level", ThinkingLevel.of)
        self._set("prompt_caching", PromptCaching.of)
        self._set("image_config", lambda value: _read(ImageConfig, value))
        self._set("embedding_config", lambda value: _read(EmbeddingConfig, value))
        self._set("tts_config", lambda value: tuple(_read(SpeakerConfig, each) for each in value))
        self._set("tool_choice", _tool_choice)

    def _set(self, name: str, convert: Any) -> None:
        value = getattr(self, name)
        if value is not None:
            object.__setattr__(self, name, convert(value))

    def _check_numbers(self) -> None:
        for name in ("max_tokens", "max_retries"):
            value = getattr(self, name)
            least = 1 if name == "max_tokens" else 0
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise InvalidDataError(f"must be a whole number of at least {least}, not {value!r}", name)
        for name in ("temperature", "max_retry_delay", "timeout"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, (int, float)) or isinstance(value, bool) or value < 0):
                raise InvalidDataError(f"must be a number that is not negative, not {value!r}", name)

    def replace(self, **changes: Any) -> RequestConfig:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults, by name."""
        return {
            each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) != each.default
        }


def _read(kind: type[Any], value: Any) -> Any:
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise InvalidDataError(f"must be a {kind.__name__} or a mapping of its fields, not {value!r}")
    known = [each.name for each in fields(kind)]
    unknown = [name for name in value if name not in known]
    if unknown:
        raise InvalidDataError(f"{kind.__name__} has no {', '.join(unknown)}; it has {', '.join(known)}.")
    return kind(**value)


def _tool_choice(value: ToolChoice) -> ToolChoice:
    if not isinstance(value, str):
        return tuple(value)
    if value not in ("auto", "required", "none"):
        raise InvalidDataError(f"must be auto, required, none or a list of tool names, not {value!r}", "tool_choice")
    return value
