"""Reads the answer of a Responses server: output items that grow by events, or one JSON object with all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..config import StopReason
from ..errors import ContentFilterError, ProviderError, ServerError
from ..events import InlineDataItem, PartialToolCall, StreamItem, TextDelta, ThinkingDelta
from ..messages import Fidelity
from ..models import Model
from ..usage import Usage
from .handoff import clean_text, clean_value
from .json_text import NotJSONError
from .openai_chat_usage import UsageCount
from .payloads import PayloadReader
from .provider_errors import ended_early, interrupted, stream_error, tells_error, where
from .sse import DONE
from .tool_call_assembly import CallInProgress, ToolCallAssembly

MESSAGE, REASONING, CALL, IMAGE = "message", "reasoning", "function_call", "image_generation_call"
_KINDS = (MESSAGE, REASONING, CALL, IMAGE)
_PART_BREAK = "\n\n"


class _OutputItem:
    """One item of the output. `pieces` are what has been read of its text, `index` its block once it has one."""

    __slots__ = ("call", "fidelity", "index", "is_whole", "kind", "part", "phase", "pieces")

    def __init__(self, kind: str, call: CallInProgress | None = None) -> None:
        self.kind = kind
        self.call = call
        self.index = -1
        self.pieces: list[str] = []
        self.part: object = None
        self.phase: Any = None
        self.fidelity: Fidelity | None = None
        # Whether the server has said that this is all of it.
        self.is_whole = False


class ResponsesAnswer:
    """One answer while it is read. `failure` is set as soon as the server, or the end, says that it failed."""

    def __init__(self, model: Model, url: str) -> None:
        self.failure: ProviderError | None = None
        self.stop_reason = StopReason.UNKNOWN
        self.is_complete = False
        self._model, self._url = model, url
        self._items: list[StreamItem] = []
        self._blocks = 0
        self._payloads = PayloadReader()
        self._output: list[_OutputItem] = []
        self._by_id: dict[str, _OutputItem] = {}
        self._by_place: dict[int, _OutputItem] = {}
        self._assembly = ToolCallAssembly("openai-responses", self._new_block)
        self._usage = UsageCount()
        self._refusal: list[str] = []
        self._cut_reason = ""
        self._handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "response.output_text.delta": self._text_delta,
            "response.output_text.done": self._text_done,
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.function_call_arguments.done": self._arguments_done,
            "response.reasoning_summary_text.delta": self._thinking_delta,
            "response.reasoning_summary_text.done": self._thinking_done,
            "response.reasoning_text.delta": self._thinking_delta,
            "response.reasoning_text.done": self._thinking_done,
            "response.refusal.delta": self._refusal_delta,
            "response.refusal.done": self._refusal_done,
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.completed": self._response_ended,
            "response.done": self._response_ended,
            "response.incomplete": self._response_ended,
            "response.failed": self._response_ended,
            "response.cancelled": self._response_ended,
            "error": self._error,
        }

    def usage(self) -> Usage | None:
        return self._usage.usage()

    def read(self, payloads: list[bytes]) -> list[StreamItem]:
        """The items of these payloads. What comes after a failure, or after the last event, does not count."""
        self._items = []
        for payload in payloads:
            if payload.startswith(DONE):
                continue
            try:
                for value in self._payloads.values(payload):
                    if self.is_complete or self.failure is not None:
                        return self._items
                    if not self._read_plain(value) and isinstance(value, dict):
                        self._read_event(value)
            except NotJSONError:
                self.failure = interrupted(self._model, self._url, "The server sent something that is not JSON.")
        return self._items

    def end(self, broken: ProviderError | None) -> list[StreamItem]:
        """The items that were held back, once nothing more comes; then `failure` and `stop_reason` are final."""
        self._items = []
        for item in self._output:
            rest = self._payloads.left_at(item)
            if rest:
                self._append(item, rest)
        self.failure = self.failure or broken or self._failed_end()
        if self.failure is None:
            truncated = self.stop_reason is StopReason.LENGTH
            self._items += self._assembly.finish(truncated)
            if not truncated:
                self.failure = self._assembly.error()
        return self._items

    def _failed_end(self) -> ProviderError | None:
        place = where(self._model, self._url)
        if self._refusal:
            return ContentFilterError(f"{place}: The model refused to answer: {clean_text(''.join(self._refusal))}")
        if self._cut_reason == "content_filter":
            return ContentFilterError(f"{place}: The answer was cut by a content filter. Word the message differently.")
        if not self.is_complete:
            return ended_early(self._model, self._url, self._payloads.words)
        return None

    # Events ----------------------------------------------------------------------------------------------------------

    def _read_plain(self, event: Any) -> bool:
        """Read more of a known text or call quickly; False, and nothing read, if the event is anything else."""
        try:
            kind, text, item = event["type"], event["delta"], self._by_id[event["item_id"]]
        except (KeyError, TypeError):
            return False
        if type(text) is not str or not text or self._payloads.halves is not None:
            return False
        if kind == "response.output_text.delta" and item.kind == MESSAGE and item.index >= 0:
            item.pieces.append(text)
            self._items.append(TextDelta(item.index, text))
            return True
        call = item.call
        if kind != "response.function_call_arguments.delta" or call is None or not call.announced:
            return False
        call.pieces.append(text)
        self._items.append(PartialToolCall(call.index, "", "", text))
        return True

    def _read_event(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(event)
        elif isinstance(event.get("output"), list):
            self._response_ended({"response": event})
        elif event.get("error") or (kind is None and tells_error(event)):
            self._error(event)

    def _error(self, event: dict[str, Any]) -> None:
        self.failure = stream_error(self._model, self._url, event)

    def _response_ended(self, event: dict[str, Any]) -> None:
        response = event.get("response")
        response = response if isinstance(response, dict) else {}
        kind = event.get("type", "")
        status = response.get("status") or kind.removeprefix("response.")
        self._usage.served_by(response.get("service_tier"))
        self._usage.add(response.get("usage"))
        error = response.get("error") or event.get("error")
        if error or status in ("failed", "cancelled"):
            self._failed(error, status)
            return
        output = response.get("output")
        self._read_output(output if isinstance(output, list) else [])
        if status in ("in_progress", "queued"):
            return
        self.is_complete = True
        self.stop_reason = StopReason.STOP
        if status == "incomplete":
            details = response.get("incomplete_details")
            self._cut_reason = str(details.get("reason") or "") if isinstance(details, dict) else ""
            self.stop_reason = StopReason.LENGTH

    def _failed(self, error: Any, status: str) -> None:
        if error:
            self.failure = stream_error(self._model, self._url, error)
        else:
            words = f"{where(self._model, self._url)}: The server broke the answer off (status {status}). "
            self.failure = ServerError(words + "Send the message again.", retryable=True)

    def _read_output(self, output: list[Any]) -> None:
        """The whole output, at the end; of what was streamed only the rest counts."""
        times = dict.fromkeys(_KINDS, 0)
        for data in output:
            if not isinstance(data, dict) or data.get("type") not in _KINDS:
                continue
            kind = data["type"]
            same = [item for item in self._output if item.kind == kind]
            item = self._find(kind, data.get("id"))
            if item is None and times[kind] < len(same):
                item = same[times[kind]]
            times[kind] += 1
            self._finish_item(item or self._open(kind), data)

    def _item_added(self, event: dict[str, Any]) -> None:
        data = event.get("item")
        if not isinstance(data, dict) or data.get("type") not in _KINDS:
            return
        item = self._find(data["type"], data.get("id")) or self._open(data["type"], data.get("id"))
        if isinstance(event.get("output_index"), int):
            self._by_place[event["output_index"]] = item
        item.phase = data.get("phase")
        if item.call is not None:
            self._put_calls(self._assembly.identify(item.call, data.get("name"), data.get("call_id")))

    def _item_done(self, event: dict[str, Any]) -> None:
        data = event.get("item")
        if isinstance(data, dict) and data.get("type") in _KINDS:
            self._finish_item(self._ended_item(event, data), data)

    def _text_delta(self, event: dict[str, Any]) -> None:
        text = event.get("delta")
        if isinstance(text, str) and text:
            self._append(self._item(event, MESSAGE), text)

    def _text_done(self, event: dict[str, Any]) -> None:
        item = self._item(event, MESSAGE)
        if not item.pieces and isinstance(event.get("text"), str):
            self._append(item, event["text"])

    def _thinking_delta(self, event: dict[str, Any]) -> None:
        text = event.get("delta")
        if isinstance(text, str) and text:
            item = self._item(event, REASONING)
            part = (event["type"], event.get("summary_index"), event.get("content_index"))
            if item.part is not None and item.part != part:
                self._append(item, _PART_BREAK)
            item.part = part
            self._append(item, text)

    def _thinking_done(self, event: dict[str, Any]) -> None:
        item = self._item(event, REASONING)
        if not item.pieces and isinstance(event.get("text"), str):
            self._thinking_delta({**event, "type": event["type"].replace(".done", ".delta"), "delta": event["text"]})

    def _refusal_delta(self, event: dict[str, Any]) -> None:
        if isinstance(event.get("delta"), str):
            self._refusal.append(event["delta"])

    def _refusal_done(self, event: dict[str, Any]) -> None:
        if isinstance(event.get("refusal"), str) and event["refusal"]:
            self._refusal = [event["refusal"]]

    def _arguments_delta(self, event: dict[str, Any]) -> None:
        text = event.get("delta")
        call = self._item(event, CALL).call
        if call is None or not text:
            return
        if not call.announced or not isinstance(text, str):
            self._put_calls(self._assembly.add_arguments(call, text))
            return
        call.pieces.append(text)
        self._put_calls((PartialToolCall(call.index, "", "", text),))

    def _arguments_done(self, event: dict[str, Any]) -> None:
        call = self._item(event, CALL).call
        if call is not None:
            self._put_calls(self._assembly.identify(call, event.get("name")))
            self._finish_arguments(call, event.get("arguments"))

    # Output items ----------------------------------------------------------------------------------------------------

    def _open(self, kind: str, identity: Any = None, place: Any = None) -> _OutputItem:
        item = _OutputItem(kind, self._assembly.open() if kind == CALL else None)
        self._output.append(item)
        if isinstance(identity, str) and identity:
            self._by_id[identity] = item
        if isinstance(place, int):
            self._by_place[place] = item
        return item

    def _find(self, kind: str, identity: Any, place: Any = None) -> _OutputItem | None:
        """The item of this id, else the one at this place, if it is of this kind."""
        named = self._by_id.get(identity) if isinstance(identity, str) else None
        placed = self._by_place.get(place) if isinstance(place, int) else None
        return next((item for item in (named, placed) if item is not None and item.kind == kind), None)

    def _item(self, event: dict[str, Any], kind: str) -> _OutputItem:
        """The item that an event belongs to: by its id, else its place, since some servers give each event new ids."""
        identity, place = event.get("item_id"), event.get("output_index")
        item = self._find(kind, identity, place)
        item = item or next((each for each in reversed(self._output) if each.kind == kind), None)
        return item or self._open(kind, identity, place)

    def _ended_item(self, event: dict[str, Any], data: dict[str, Any]) -> _OutputItem:
        """The item that is whole now: by its id or place, a call by its own id too, else the last that is not whole.

        Taken for a new one, a call would run twice.
        """
        kind, identity, place, call_id = data["type"], data.get("id"), event.get("output_index"), data.get("call_id")
        item = self._find(kind, identity, place)
        nameless = not isinstance(identity, str) and not isinstance(place, int)
        for each in reversed(self._output) if item is None else ():
            own = each.call.id if each.call is not None else ""
            same = own == call_id if own and call_id else nameless
            if same and each.kind == kind and not each.is_whole:
                return each
        return item or self._open(kind, identity, place)

    def _finish_item(self, item: _OutputItem, data: dict[str, Any]) -> None:
        item.is_whole = True
        if item.kind == MESSAGE:
            self._finish_message(item, data)
        elif item.kind == REASONING:
            self._finish_reasoning(item, data)
        elif item.call is not None:
            call_id = data.get("call_id") or data.get("id")
            self._put_calls(self._assembly.identify(item.call, data.get("name"), call_id))
            self._finish_arguments(item.call, data.get("arguments"))
            if isinstance(data.get("id"), str) and data["id"]:
                item.call.fidelity = {"id": clean_text(data["id"])}
        elif isinstance(data.get("result"), str) and data["result"] and item.index < 0:
            item.index = self._new_block()
            mime_type = f"image/{data.get('output_format') or 'png'}"
            fidelity = {"id": clean_text(data["id"])} if isinstance(data.get("id"), str) else None
            self._items.append(InlineDataItem(item.index, data["result"], mime_type, fidelity))

    def _finish_message(self, item: _OutputItem, data: dict[str, Any]) -> None:
        content = data.get("content")
        parts = [{"text": content}] if isinstance(content, str) else _parts(content)
        refusals = [part["refusal"] for part in parts if isinstance(part.get("refusal"), str) and part["refusal"]]
        self._refusal = self._refusal or refusals
        self._append_rest(item, "".join(part["text"] for part in parts if isinstance(part.get("text"), str)))
        found = {"id": data.get("id"), "phase": data.get("phase") or item.phase}
        fidelity = {name: clean_text(value) for name, value in found.items() if isinstance(value, str) and value}
        if item.pieces and fidelity and fidelity != item.fidelity:
            item.fidelity = fidelity
            self._items.append(TextDelta(item.index, "", fidelity))

    def _finish_reasoning(self, item: _OutputItem, data: dict[str, Any]) -> None:
        """Keep the whole item, as the server wants it back; what is in it for the eye is thinking."""
        parts = [*_parts(data.get("summary")), *_parts(data.get("content"))]
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str) and part["text"]]
        self._append_rest(item, _PART_BREAK.join(texts))
        kept = {name: value for name, value in data.items() if name not in ("type", "status") and value is not None}
        if not item.pieces and not kept.get("encrypted_content"):
            return
        fidelity = {**(item.fidelity or {}), **clean_value(kept)}
        if fidelity != item.fidelity:
            item.fidelity = fidelity
            self._begin_block(item)
            self._items.append(ThinkingDelta(item.index, "", fidelity, redacted=not item.pieces))

    def _finish_arguments(self, call: CallInProgress, arguments: Any) -> None:
        """Of the whole arguments only what was not streamed counts, and nothing where they say something else."""
        if not call.pieces:
            self._put_calls(self._assembly.add_arguments(call, arguments))
        elif isinstance(arguments, str):
            rest = _rest_of(call.text, arguments)
            if rest:
                call.pieces.append(rest)
                self._put_calls((PartialToolCall(call.index, "", "", rest),) if call.announced else ())

    # Stream items ----------------------------------------------------------------------------------------------------

    def _new_block(self) -> int:
        self._blocks += 1
        return self._blocks - 1

    def _begin_block(self, item: _OutputItem) -> None:
        if item.index < 0:
            item.index = self._new_block()

    def _append(self, item: _OutputItem, text: str) -> None:
        if self._payloads.halves is not None:
            text = self._payloads.join(text, item)
            if not text:
                return
        self._begin_block(item)
        item.pieces.append(text)
        self._items.append((ThinkingDelta if item.kind == REASONING else TextDelta)(item.index, text))

    def _append_rest(self, item: _OutputItem, whole: str) -> None:
        rest = _rest_of("".join(item.pieces), whole)
        if rest:
            self._append(item, rest)

    def _put_calls(self, items: Iterable[StreamItem]) -> None:
        for item in items:
            if isinstance(item, PartialToolCall) and self._payloads.halves is not None:
                item.arguments = self._payloads.join(item.arguments, item.index)
            self._items.append(item)


def _rest_of(streamed: str, whole: str) -> str:
    return whole[len(streamed) :] if len(whole) > len(streamed) and whole.startswith(streamed) else ""


def _parts(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
