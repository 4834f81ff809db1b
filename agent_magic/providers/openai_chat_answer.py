"""Reads the answer of a Chat Completions server, tolerantly: any server may show any of the known deviations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..config import StopReason
from ..errors import ContentFilterError, ProviderError, ServerError
from ..events import InlineDataItem, PartialToolCall, StreamItem, TextDelta, ThinkingDelta
from ..models import Model
from ..usage import Usage
from .handoff import clean_text
from .json_text import NotJSONError
from .openai_chat_calls import ChatCalls
from .openai_chat_usage import UsageCount
from .payloads import PayloadReader
from .provider_errors import ended_early, interrupted, stream_error, tells_error, where
from .sse import DONE
from .think_tags import ThinkTags

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_CUT = {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "context_length_exceeded"}
_FILTERED = {"content_filter", "content-filter", "sensitive", "safety", "blocked", "refusal", "recitation"}
_FAILED = {"error", "insufficient_system_resource", "network_error", "server_error", "abort", "aborted", "cancelled"}


class ChatAnswer:
    """One answer while it is read. `failure` is set as soon as the server, or the end, says that it failed."""

    def __init__(self, model: Model, url: str) -> None:
        self.failure: ProviderError | None = None
        self._model, self._url = model, url
        self._items: list[StreamItem] = []
        self._blocks = 0
        self._kind = ""
        self._index = 0
        self._tags = ThinkTags()
        self._payloads = PayloadReader()
        self._calls = ChatCalls(self._new_block)
        self._usage = UsageCount()
        self._finish = ""
        self._done = False
        self._seen: set[str] = set()
        self._refusal: list[str] = []
        self._reasoning_field = ""
        self._details: list[dict[str, Any]] = []

    @property
    def is_complete(self) -> bool:
        """Whether the server has said that the answer is at its end."""
        return bool(self._finish) or self._done

    @property
    def stop_reason(self) -> StopReason:
        return StopReason.LENGTH if self._finish in _CUT else StopReason.read(self._finish)

    def usage(self) -> Usage | None:
        return self._usage.usage()

    def read(self, payloads: list[bytes]) -> list[StreamItem]:
        """The items of these payloads. What comes after a failure, or after the end marker, does not count."""
        self._items = []
        for payload in payloads:
            if self._done and payload.startswith(DONE):
                continue
            if payload.startswith(DONE):
                self._done = True
                continue
            try:
                for chunk in self._payloads.values(payload):
                    if not self._read_plain(chunk):
                        self._read_chunk(chunk)
                    if self.failure is not None:
                        break
            except NotJSONError:
                self.failure = interrupted(self._model, self._url, "The server sent something that is not JSON.")
            if self.failure is not None:
                break
        return self._items

    def end(self, broken: ProviderError | None) -> list[StreamItem]:
        """The items that were held back, once nothing more comes; then `failure` and `stop_reason` are final."""
        self._items = []
        for is_thinking, text in self._tags.flush():
            self._put(is_thinking, text)
        self._put(self._kind == "thinking", self._payloads.left_at(self._kind))
        self._end_details()
        self.failure = self.failure or broken or self._failed_end()
        if self.failure is None:
            self._items += self._calls.finish(self.stop_reason is StopReason.LENGTH)
            if self.stop_reason is not StopReason.LENGTH:
                self.failure = self._calls.error()
        return self._items

    def _failed_end(self) -> ProviderError | None:
        place = where(self._model, self._url)
        if self._refusal:
            return ContentFilterError(f"{place}: The model refused to answer: {clean_text(''.join(self._refusal))}")
        if self._finish in _FILTERED:
            return ContentFilterError(
                f"{place}: The answer was cut by a content filter (finish reason {self._finish}). "
                "Word the message differently."
            )
        if self._finish in _FAILED:
            words = f"{place}: The server broke the answer off (finish reason {self._finish}). Send the message again."
            return ServerError(words, retryable=True)
        if not self.is_complete:
            return ended_early(self._model, self._url, self._payloads.words)
        return None

    # Chunks ----------------------------------------------------------------------------------------------------------

    def _read_plain(self, chunk: Any) -> bool:
        """Read a chunk that brings more text, or more of a call, and nothing else; False if it is any other."""
        if self._payloads.halves is not None:
            return False
        try:
            (choice,) = chunk["choices"]
            ((name, value),) = choice["delta"].items()
            if choice["finish_reason"] is not None or choice.get("usage"):
                return False
            if chunk.get("usage") or chunk.get("error") or chunk.get("error_message"):
                return False
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        if name == "content" and type(value) is str and value and self._kind == "text" and self._tags.plain:
            self._items.append(TextDelta(self._index, value))
            return True
        if name == "tool_calls":
            item = self._calls.more_of_a_call(value, choice.get("index"))
            if item is not None:
                self._items.append(item)
                return True
        return False

    def _read_chunk(self, chunk: Any) -> None:
        if isinstance(chunk, list):
            for each in chunk:
                if isinstance(each, dict):
                    self._read_chunk(each)
            return
        if not isinstance(chunk, dict):
            return
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            choices = self._choices_without_name(chunk)
        for position, choice in enumerate(choices):
            if isinstance(choice, dict):
                self._read_choice(choice, position)
        self._usage.served_by(chunk.get("service_tier"))
        if chunk.get("usage"):
            self._usage.add(chunk["usage"])
        error = chunk.get("error") or chunk.get("error_message") or _error_in(choices)
        if error:
            self.failure = stream_error(self._model, self._url, chunk if chunk.get("error") else error)

    def _choices_without_name(self, chunk: dict[str, Any]) -> list[dict[str, Any]]:
        """The answer as one choice in the formats 1 and 2 (Y SP-017, SP-018); or an error without its usual wrapper."""
        if isinstance(chunk.get("message"), dict):
            return [{**chunk, "usage": None}]
        if isinstance(chunk.get("content"), (list, str)):
            return [{"message": chunk, "finish_reason": chunk.get("finish_reason") or "stop"}]
        if "error" not in chunk and tells_error(chunk):
            self.failure = stream_error(self._model, self._url, chunk)
        return []

    def _read_choice(self, choice: dict[str, Any], position: int) -> None:
        delta = choice.get("delta")
        if isinstance(delta, dict) and (delta or not isinstance(choice.get("message"), dict)):
            self._read_delta(delta, choice, position)
        elif isinstance(choice.get("message"), dict):
            self._read_whole(choice["message"], choice, position)
        elif isinstance(choice.get("text"), str):
            self._add_text(choice["text"])
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._end_with(clean_text(finish.lower()))
        if choice.get("usage"):
            self._usage.add(choice["usage"])

    def _end_with(self, finish: str) -> None:
        """Of several reasons a failure counts most, then that the answer was cut."""
        weight = {**dict.fromkeys(_CUT, 1), **dict.fromkeys(_FILTERED | _FAILED, 2)}
        if not self._finish or weight.get(finish, 0) > weight.get(self._finish, 0):
            self._finish = finish

    def _read_whole(self, message: dict[str, Any], choice: dict[str, Any], position: int) -> None:
        """A whole message; of one that repeats what was streamed only the rest counts."""
        self._done = True
        rest = dict(message)
        if "text" in self._seen:
            rest.pop("content", None)
        if "thinking" in self._seen:
            for field in (*REASONING_FIELDS, "reasoning_details"):
                rest.pop(field, None)
        if self._calls.any:
            rest.pop("tool_calls", None)
            rest.pop("function_call", None)
        self._read_delta(rest, choice, position)

    def _read_delta(self, delta: dict[str, Any], choice: dict[str, Any], position: int) -> None:
        self._read_reasoning(delta)
        content = delta.get("content")
        if content:
            if isinstance(content, str):
                self._add_text(content)
            else:
                self._read_blocks(content, choice, position)
        calls = delta.get("tool_calls")
        if calls:
            self._read_calls(calls, choice, position)
        elif isinstance(delta.get("function_call"), dict):
            self._put_call_items(self._calls.read_single(delta["function_call"]))
        if isinstance(delta.get("refusal"), str) and delta["refusal"]:
            self._refusal.append(delta["refusal"])
        if isinstance(delta.get("images"), list):
            for image in delta["images"]:
                self._add_image(image)

    def _read_blocks(self, content: Any, choice: dict[str, Any], position: int) -> None:
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, str):
                self._add_text(block)
            elif isinstance(block, dict):
                self._read_block(block, choice, position)

    def _read_block(self, block: dict[str, Any], choice: dict[str, Any], position: int) -> None:
        kind = block.get("type")
        if kind in ("thinking", "reasoning"):
            for name in ("thinking", "reasoning", "text", "content"):
                if block.get(name):
                    self._add_thinking(_text_in(block[name]), "")
                    break
        elif kind == "tool_calls":
            self._read_calls(block.get("tool_calls"), choice, position)
        elif kind in ("tool_call", "toolCall", "function"):
            self._read_calls([block], choice, position)
        elif kind == "refusal":
            self._refusal.append(_text_in(block.get("refusal")))
        elif kind in ("image_url", "image"):
            self._add_image(block)
        else:
            self._add_text(_text_in(block.get("text")))

    def _read_calls(self, calls: Any, choice: dict[str, Any], position: int) -> None:
        place = choice.get("index")
        place = place if isinstance(place, int) else position
        self._put_call_items(self._calls.read(calls if isinstance(calls, list) else [calls], place))

    def _read_reasoning(self, delta: dict[str, Any]) -> None:
        found = False
        for field in REASONING_FIELDS:
            text = delta.get(field)
            if text and isinstance(text, str):
                self._add_thinking(text, field)
                found = True
                break
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, dict):
                self._add_detail(detail, shown=found)

    # Items -----------------------------------------------------------------------------------------------------------

    def _new_block(self) -> int:
        self._kind = ""
        self._blocks += 1
        return self._blocks - 1

    def _enter(self, kind: str) -> bool:
        """Make the current block one of this kind; True if it had to be begun."""
        if self._kind == kind:
            return False
        self._index = self._new_block()
        self._kind = kind
        self._seen.add(kind)
        return True

    def _add_text(self, text: str) -> None:
        if self._tags.plain:
            self._put(False, text)
        else:
            for is_thinking, piece in self._tags.feed(text):
                self._put(is_thinking, piece)

    def _put(self, is_thinking: bool, text: str) -> None:
        kind = "thinking" if is_thinking else "text"
        text = self._payloads.join(text, kind)
        if text:
            self._enter(kind)
            self._items.append(ThinkingDelta(self._index, text) if is_thinking else TextDelta(self._index, text))

    def _add_thinking(self, text: str, field: str) -> None:
        text = self._payloads.join(text, "thinking")
        if text:
            begun = self._enter("thinking")
            fidelity = {"reasoning_field": field} if begun and field else None
            self._items.append(ThinkingDelta(self._index, text, fidelity))

    def _add_detail(self, detail: dict[str, Any], shown: bool) -> None:
        """Keep a reasoning detail for the next request, texts of one and the same detail joined."""
        for name in ("text", "summary"):
            text = detail.get(name)
            if isinstance(text, str) and text:
                if not shown:
                    self._add_thinking(text, "")
                last = self._details[-1] if self._details else {}
                if (
                    all(last.get(each) == detail.get(each) for each in ("type", "index", "format", "id"))
                    and name in last
                ):
                    self._details[-1] = {**last, **detail, name: last[name] + text}
                    return
        if not self._details and self._enter("thinking"):
            self._items.append(ThinkingDelta(self._index, ""))
        self._details.append(detail)

    def _end_details(self) -> None:
        if self._details:
            self._enter("thinking")
            self._items.append(ThinkingDelta(self._index, "", {"reasoning_details": self._details}))

    def _add_image(self, image: Any) -> None:
        address = image.get("image_url") if isinstance(image, dict) else None
        url = address.get("url") if isinstance(address, dict) else address
        if isinstance(url, str) and url.startswith("data:"):
            head, _, data = url[5:].partition(",")
            self._items.append(InlineDataItem(self._new_block(), data, head.partition(";")[0] or "image/png"))

    def _put_call_items(self, items: Iterable[StreamItem]) -> None:
        if self._payloads.halves is None:
            self._items += items
            return
        for item in items:
            if isinstance(item, PartialToolCall):
                item.arguments = self._payloads.join(item.arguments, item.index)
            self._items.append(item)


def _error_in(choices: list[Any]) -> Any:
    """What a gateway puts into a choice in whose middle the server behind it failed."""
    return next((each["error"] for each in choices if isinstance(each, dict) and each.get("error")), None)


def _text_in(value: Any) -> str:
    """The text of a block's value: a text, a block, or a list of them."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_text_in, value))
    return _text_in(value.get("text")) if isinstance(value, dict) else ""
