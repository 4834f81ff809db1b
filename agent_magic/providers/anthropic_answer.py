"""Reads the answer of a Messages API server, tolerantly: what is unknown is passed over."""

from __future__ import annotations

from typing import Any

from ..config import StopReason
from ..errors import ContentFilterError, ProviderError
from ..events import PartialToolCall, StreamItem, TextDelta, ThinkingDelta
from ..models import Model
from ..usage import Usage
from .anthropic_usage import MessagesUsage
from .handoff import clean_text
from .json_text import NotJSONError
from .payloads import PayloadReader
from .provider_errors import ended_early, interrupted, stream_error, tells_error, where
from .sse import DONE
from .tool_call_assembly import CallInProgress, ToolCallAssembly

_CUT = {"max_tokens", "model_context_window_exceeded", "length"}
_REFUSED = {"refusal", "sensitive", "content_filter"}
# The server's pause in the middle of its own tools; nothing here asks for those.
_STOPPED = {"pause_turn", "compaction"}
# Where the pieces of a block stand, by its kind and that of the piece.
_PLAIN = {("text", "text_delta"): "text", ("tool_use", "input_json_delta"): "partial_json"}


class _Block:
    """A block while it comes: its kind, the index of what is made of it, and its signature so far."""

    __slots__ = ("call", "given", "index", "kind", "signature")

    def __init__(self, kind: str, index: int, call: CallInProgress | None = None) -> None:
        self.kind = kind
        self.index = index
        self.call = call
        # The input that came with the beginning of a call; what is streamed behind it says the same again.
        self.given: Any = None
        self.signature = ""


class MessagesAnswer:
    """One answer while it is read. `failure` is set as soon as the server, or the end, says that it failed."""

    def __init__(self, model: Model, url: str) -> None:
        self.failure: ProviderError | None = None
        self._model, self._url = model, url
        self._items: list[StreamItem] = []
        self._payloads = PayloadReader()
        self._made = 0
        self._blocks: dict[Any, _Block] = {}
        self._latest: Any = None
        self._calls = ToolCallAssembly("anthropic", self._new_index)
        self._usage = MessagesUsage()
        self._finish = ""
        self._refusal = ""
        self._done = False

    @property
    def is_complete(self) -> bool:
        """Whether the server has said that the answer is at its end."""
        return bool(self._finish) or self._done

    @property
    def stop_reason(self) -> StopReason:
        if self._finish in _CUT:
            return StopReason.LENGTH
        reason = StopReason.STOP if self._finish in _STOPPED else StopReason.read(self._finish)
        # Calls of the server's own tools are none of ours.
        return StopReason.STOP if reason is StopReason.TOOL_CALL and not self._calls.calls else reason

    def usage(self) -> Usage | None:
        return self._usage.usage()

    def read(self, payloads: list[bytes]) -> list[StreamItem]:
        """The items of these payloads. What comes after a failure, or after the end, does not count."""
        self._items = []
        for payload in payloads:
            if self._done:
                break
            if payload.startswith(DONE):
                self._done = True
                break
            try:
                for event in self._payloads.values(payload):
                    if not self._read_plain(event):
                        self._read_event(event)
            except NotJSONError:
                self.failure = interrupted(self._model, self._url, "The server sent something that is not JSON.")
            if self.failure is not None:
                break
        return self._items

    def end(self, broken: ProviderError | None) -> list[StreamItem]:
        """The items that were held back, once nothing more comes; then `failure` and `stop_reason` are final."""
        self._items = []
        for block in self._blocks.values():
            left = self._payloads.left_at(block.index)
            if left:
                self._put(block, left)
            if block.call is not None and block.given and not block.call.pieces:
                self._add_arguments(block.call, block.given)
        self.failure = self.failure or broken or self._failed_end()
        if self.failure is None:
            truncated = self.stop_reason is StopReason.LENGTH
            self._items += self._calls.finish(truncated)
            if not truncated:
                self.failure = self._calls.error()
        return self._items

    def _failed_end(self) -> ProviderError | None:
        if self._finish in _REFUSED:
            why = clean_text(self._refusal) or "it gave no reason. Word the message differently"
            place = where(self._model, self._url)
            return ContentFilterError(f"{place}: The model refused to go on (stop reason {self._finish}): {why}")
        if not self.is_complete:
            return ended_early(self._model, self._url, self._payloads.words)
        return None

    # Events ----------------------------------------------------------------------------------------------------------

    def _read_plain(self, event: Any) -> bool:
        """Read more of a known text or call quickly; False, and nothing read, if the event is anything else."""
        try:
            if event["type"] != "content_block_delta" or self._payloads.halves is not None:
                return False
            block, delta = self._blocks[event["index"]], event["delta"]
            text = delta[_PLAIN[block.kind, delta["type"]]]
        except (KeyError, TypeError):
            return False
        if type(text) is not str or not text:
            return False
        call = block.call
        if block.kind == "text":
            self._items.append(TextDelta(block.index, text))
        elif call is not None and call.announced and text[0] != "{":
            call.add(text)
            self._items.append(PartialToolCall(call.index, "", "", text))
        else:
            return False
        return True

    def _read_event(self, event: Any) -> None:
        if not isinstance(event, dict):
            return
        kind = event.get("type")
        if kind == "content_block_delta":
            self._read_delta(event)
        elif kind == "content_block_start":
            self._start(event.get("index"), event.get("content_block"))
        elif kind == "message_start":
            self._read_message(event.get("message"))
        elif kind == "message_delta":
            self._read_end(event.get("delta"), event.get("usage"))
        elif kind == "message_stop":
            self._done = True
        elif kind == "message" or (kind is None and isinstance(event.get("content"), list)):
            self._read_message(event)
            self._done = True
        elif kind == "error" or event.get("error") or (kind is None and tells_error(event)):
            self.failure = stream_error(self._model, self._url, event)

    def _read_message(self, message: Any) -> None:
        """A whole message, or the beginning of one, whose content is empty."""
        if isinstance(message, dict):
            content = message.get("content")
            for position, block in enumerate(content if isinstance(content, list) else ()):
                self._start(position, block)
            self._read_end(message, message.get("usage"))

    def _read_end(self, delta: Any, usage: Any) -> None:
        self._usage.add(usage)
        if not isinstance(delta, dict):
            return
        reason = delta.get("stop_reason")
        if isinstance(reason, str) and reason:
            self._finish = clean_text(reason.lower())
        details = delta.get("stop_details")
        if isinstance(details, dict) and isinstance(details.get("explanation"), str):
            self._refusal = details["explanation"]

    def _start(self, place: Any, content: Any) -> None:
        """A new block, with whatever of it comes at once."""
        kind = content.get("type") if isinstance(content, dict) else None
        if kind == "tool_use":
            call = self._calls.open()
            self._open(place, _Block(kind, call.index, call))
            self._items += self._calls.identify(call, content.get("name"), content.get("id"))
            self._blocks[self._latest].given = content.get("input")
        elif kind == "redacted_thinking":
            block = self._open(place, _Block(kind, self._new_index()))
            fidelity = {"redacted_thinking": content.get("data") or ""}
            self._items.append(ThinkingDelta(block.index, "", fidelity, True))
        elif kind in ("text", "thinking"):
            block = self._open(place, _Block(kind, self._new_index()))
            self._put(block, content.get(kind))
            self._sign(block, content.get("signature"))
        else:
            self._open(place, _Block("", -1))

    def _read_delta(self, event: dict[str, Any]) -> None:
        delta = event.get("delta")
        if not isinstance(delta, dict):
            return
        kind = delta.get("type")
        block = self._block_of(event.get("index"), kind)
        if block is None:
            return
        if kind == "input_json_delta" and block.call is not None:
            self._add_arguments(block.call, delta.get("partial_json"))
        elif kind == "text_delta" and block.kind == "text":
            self._put(block, delta.get("text"))
        elif kind == "thinking_delta" and block.kind == "thinking":
            self._put(block, delta.get("thinking"))
        elif kind == "signature_delta" and block.kind == "thinking":
            self._sign(block, delta.get("signature"))

    # Blocks ----------------------------------------------------------------------------------------------------------

    def _new_index(self) -> int:
        self._made += 1
        return self._made - 1

    def _open(self, place: Any, block: _Block) -> _Block:
        place = _number(place)
        place = f"block {self._made}" if place is None else place
        if place in self._blocks:
            # An index given twice: the earlier block takes no more.
            self._blocks[f"{place}, before {self._made}"] = self._blocks.pop(place)
        self._blocks[place] = block
        self._latest = place
        return block

    def _block_of(self, place: Any, kind: Any) -> _Block | None:
        """The block that a delta belongs to: that of its index, else the latest; one that never began begins now."""
        place = _number(place)
        place = self._latest if place is None else place
        block = self._blocks.get(place)
        if block is None and kind in ("text_delta", "thinking_delta"):
            made = kind.removesuffix("_delta")
            block = self._open(place, _Block(made, self._new_index()))
        return block

    def _put(self, block: _Block, text: Any) -> None:
        if not isinstance(text, str) or not text:
            return
        if block.call is not None:
            self._items += self._calls.add_arguments(block.call, text)
            return
        text = self._payloads.join(text, block.index)
        if text:
            thinking = block.kind == "thinking"
            self._items.append(ThinkingDelta(block.index, text) if thinking else TextDelta(block.index, text))

    def _add_arguments(self, call: CallInProgress, arguments: Any) -> None:
        if isinstance(arguments, str):
            arguments = self._payloads.join(arguments, call.index)
        self._items += self._calls.add_arguments(call, arguments)

    def _sign(self, block: _Block, signature: Any) -> None:
        if isinstance(signature, str) and signature:
            block.signature += signature
            self._items.append(ThinkingDelta(block.index, "", {"signature": block.signature}))


def _number(place: Any) -> int | None:
    """The index of a block, which some gateways give as a text."""
    if isinstance(place, str) and place.isascii() and place.isdigit():
        return int(place)
    return place if isinstance(place, int) else None
