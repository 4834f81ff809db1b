"""Tools in writing, for models whose template has no place for them, held to the form by a grammar.

The system prompt tells of the tools, an answer may end with one call as text, and results come back as text. The
grammar, which llama.cpp applies while the model writes, lets nothing follow `<tool_call>` but the name of a tool and
arguments that fit its schema. `WrittenCalls` makes calls of the text again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..config import RequestConfig, StopReason
from ..errors import ToolCallArgumentParseError
from ..events import StreamEvent, StreamItem, TextDelta, delta_event
from ..messages import AssistantMessage, Context, Message, TextContent, ToolCall, ToolResultMessage, UserMessage
from ..models import Model
from .json_text import to_json_bytes
from .offered_tools import names_in
from .openai_chat_request import tool_declaration
from .placeholders import NO_OUTPUT
from .tool_call_assembly import CallInProgress, ToolCallAssembly

OPENING, CLOSING = "<tool_call>", "</tool_call>"
_HEAD = re.compile(r'\s*\{\s*"name":\s*"((?:[^"\\]|\\.)*)",\s*"arguments":\s*')
# Without blanks between the parts, of which small models write endlessly; what a grammar cannot check is passed over.
_STRICT = {"whitespace_flexible": False, "lenient": True}
_RULES = """\
You can call these functions, each described by one line of JSON:
{tools}
{when} write the call as the end of your answer, in exactly this form:
<tool_call>{{"name": "NAME", "arguments": {{"PARAMETER": VALUE}}}}</tool_call>
Take the values from the user's message. The result comes back between <tool_response> and </tool_response>; then \
answer the user with it."""


@dataclass(frozen=True)
class Written:
    """A request without tools that means the same, and the grammar of its answer, empty where any will do."""

    context: Context
    config: RequestConfig
    grammar: str

    def model(self, model: Model) -> Model:
        """`model`, whose server is given the grammar."""
        extra = {**model.compat.get("extra_body", {}), **({"grammar": self.grammar} if self.grammar else {})}
        return model.replace(compat={**model.compat, "extra_body": extra})


def in_writing(context: Context, config: RequestConfig) -> Written:
    """The request with its tools, calls, results and the schema of its answer in writing."""
    tools = _offered(context.tools or {}, config.tool_choice)
    must_call = bool(tools) and config.tool_choice not in (None, "auto")
    schema = None if must_call else config.response_schema
    prompt = [context.system_prompt]
    if tools:
        lines = "\n".join(_json(tool_declaration(tool)["function"]) for tool in tools.values())
        when = "Call one now:" if must_call else "Where one helps,"
        prompt.append(_RULES.format(tools=lines, when=when))
    if schema is not None:
        prompt.append(f"Answer with JSON alone that fits this schema:\n{_json(schema)}")
    # A call is copied from the user's words, where chance does harm.
    temperature = 0.0 if tools and config.temperature is None else config.temperature
    return Written(
        Context("\n\n".join(filter(None, prompt)), _messages(context.messages), {}),
        config.replace(tool_choice=None, response_schema=None, temperature=temperature),
        _grammar(tools, schema, must_call),
    )


def _offered(tools: Mapping[str, Any], choice: Any) -> Mapping[str, Any]:
    if choice == "none":
        return {}
    names = names_in(choice, tools)
    return tools if names is None else {name: tools[name] for name in names}


def _grammar(tools: Mapping[str, Any], schema: Mapping[str, Any] | None, must_call: bool) -> str:
    """The answers that are allowed, as llama.cpp's LLGuidance reads it; empty where all are."""
    if not tools and schema is None:
        return ""
    calls = []
    for tool in tools.values():
        head = _json(f'{{"name": {_json(tool.name)}, "arguments": ')
        calls.append(f"{head} %json {_strict(tool_declaration(tool)['function']['parameters'])}")
    answer = "TEXT" if schema is None else f"%json {_strict(schema)}"
    # A lazy rule ends with the first opening, after which there is no way but a call.
    before = f'before: "{OPENING}"' if must_call or schema is not None else f'before[lazy]: TEXT "{OPENING}"'
    rules = [
        "%llguidance {}",
        f"start: {'call' if must_call else 'call | answer' if tools else 'answer'}",
        *([] if must_call else [f"answer: {answer}"]),
        *([f"call: before ({' | '.join(calls)})", before] if calls else []),
        "TEXT: /(.|\\n)*/",
    ]
    return "\n".join(rules)


def _strict(schema: Mapping[str, Any]) -> str:
    return _json({**schema, "x-guidance": _STRICT})


def _json(value: Any) -> str:
    return to_json_bytes(value).decode()


# The history ---------------------------------------------------------------------------------------------------------


def _messages(messages: Iterable[Message]) -> list[Message]:
    """The history in text of two speakers who take turns, which every template knows."""
    written: list[Message] = []
    for message in messages:
        new = _message(message)
        last = written[-1] if written else None
        if isinstance(new, UserMessage) and isinstance(last, UserMessage):
            written[-1] = UserMessage([*last.content, TextContent("\n\n"), *new.content])
        elif isinstance(new, AssistantMessage) and isinstance(last, AssistantMessage):
            written[-1] = AssistantMessage(f"{last.text}\n\n{new.text}")
        else:
            written.append(new)
    return written


def _message(message: Message) -> UserMessage | AssistantMessage:
    if isinstance(message, UserMessage):
        return message
    if isinstance(message, ToolResultMessage):
        return UserMessage(f"<tool_response>\n{message.text or NO_OUTPUT}\n</tool_response>")
    calls = [
        f'{OPENING}{{"name": {_json(block.name)}, "arguments": {_json(block.arguments)}}}{CLOSING}'
        for block in message.content
        if isinstance(block, ToolCall)
    ]
    return AssistantMessage("\n".join(filter(None, (message.text, *calls))))


# The answer ----------------------------------------------------------------------------------------------------------


class WrittenCalls:
    """Makes a call of the text that stands for one, while it comes. What follows the call is dropped.

    `failure` is set at the end where the arguments are no JSON object.
    """

    def __init__(self) -> None:
        self.failure: ToolCallArgumentParseError | None = None
        self._next = 0
        self._assembly = ToolCallAssembly("local", self._new_index)
        self._held = ""
        self._index = 0
        self._reads: Callable[[], list[StreamItem]] = self._read_text
        self._call: CallInProgress | None = None
        self._end = _ObjectEnd()

    def read(self, batch: list[StreamEvent]) -> list[StreamEvent]:
        """The events to pass on for those of one read."""
        events: list[StreamEvent] = []
        for event in batch:
            if event.event_type == "stop":
                truncated = event.finish_reason is StopReason.LENGTH
                items = [*self._left(), *self._assembly.finish(truncated)]
                events += [delta_event(*items)] if items else []
                events.append(event)
                self.failure = None if truncated else self._assembly.error()
                continue
            items = [each for item in event.items for each in self._item(item)]
            if items:
                events.append(replace(event, items=tuple(items)))
        return events

    def _new_index(self) -> int:
        self._next += 1
        return self._next - 1

    def _item(self, item: StreamItem) -> list[StreamItem]:
        self._next = max(self._next, item.index + 1)
        if not isinstance(item, TextDelta):
            return [item]
        self._held += item.text
        self._index = item.index
        return self._reads()

    def _read_text(self) -> list[StreamItem]:
        """Pass text on up to the opening of a call; what may become one is held back."""
        before, opening, after = self._held.partition(OPENING)
        if opening:
            self._held, self._reads = after, self._read_head
            return [*self._text(before.rstrip()), *self._read_head()]
        kept = next((n for n in range(min(len(OPENING) - 1, len(before)), 0, -1) if before.endswith(OPENING[:n])), 0)
        self._held = before[len(before) - kept :]
        return self._text(before[: len(before) - kept])

    def _read_head(self) -> list[StreamItem]:
        head = _HEAD.match(self._held)
        if head is None:
            return []
        self._held, self._reads = self._held[head.end() :], self._read_arguments
        self._call = self._assembly.open()
        items = [*self._assembly.identify(self._call, head[1]), *self._assembly.make_up_id(self._call)]
        return items + self._read_arguments()

    def _read_arguments(self) -> list[StreamItem]:
        text, self._held = self._end.upto(self._held), ""
        return list(self._assembly.add_arguments(self._call, text)) if self._call is not None else []

    def _left(self) -> list[StreamItem]:
        """What is still held at the end: the start of a call that did not become one is text."""
        if self._call is not None:
            return []
        opening = OPENING if self._reads == self._read_head else ""
        return self._text(opening + self._held)

    def _text(self, text: str) -> list[StreamItem]:
        return [TextDelta(self._index, text)] if text else []


class _ObjectEnd:
    """Finds where the first JSON object of a text ends, which comes in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._ended = self._in_text = self._escaped = False

    def upto(self, piece: str) -> str:
        """The part of `piece` that still belongs to the object."""
        for place, letter in enumerate(piece):
            if self._ended:
                return piece[:place]
            if self._escaped:
                self._escaped = False
            elif self._in_text:
                self._escaped = letter == "\\"
                self._in_text = letter != '"'
            elif letter == '"':
                self._in_text = True
            elif letter in "{[":
                self._depth += 1
            elif letter in "}]":
                self._depth -= 1
                self._ended = self._depth <= 0
        return piece
