"""Reads the answer of the Gemini API, tolerantly: what is unknown is passed over."""

from __future__ import annotations

import base64
from typing import Any

from ..config import StopReason
from ..errors import BadRequestError, ContentFilterError, EmptyResponseError, ProviderError, ServerError, preview
from ..events import InlineDataItem, StreamItem, TextDelta, ThinkingDelta
from ..messages import Fidelity
from ..models import Model
from ..usage import Usage
from .gemini_fields import field
from .gemini_usage import GeminiUsage
from .handoff import clean_text
from .json_text import NotJSONError
from .payloads import PayloadReader
from .pcm import is_raw_sound, wav_from
from .provider_errors import ended_early, interrupted, stream_error, tells_error, where
from .sse import DONE
from .tool_call_assembly import ToolCallAssembly

_CUT = {"MAX_TOKENS", "CONTINUATION"}
_FILTERED = {
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
}
# The model wrote what the server cannot read; asked again, it mostly does better.
_FAILED = {
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "NO_IMAGE",
    "IMAGE_OTHER",
}
_NO_DATA = {"thought", "thoughtSignature", "thought_signature"}


class GeminiAnswer:
    """One answer while it is read. `failure` is set as soon as the server, or the end, says that it failed."""

    def __init__(self, model: Model, url: str) -> None:
        self.failure: ProviderError | None = None
        self._model, self._url = model, url
        self._items: list[StreamItem] = []
        self._payloads = PayloadReader()
        self._blocks = 0
        self._kind = ""
        self._index = 0
        self._length = 0
        self._calls = ToolCallAssembly("gemini", self._new_block)
        self._usage = GeminiUsage()
        self._sound: list[bytes] = []
        self._sound_type = ""
        self._sound_index = 0
        self._finish = ""
        self._finish_words = ""
        self._blocked = ""
        self._has_content = False

    @property
    def is_complete(self) -> bool:
        """Whether the server has said why it finished. It may still send more, so an answer is read to its end."""
        return bool(self._finish)

    @property
    def stop_reason(self) -> StopReason:
        if self._finish in _CUT:
            return StopReason.LENGTH
        return StopReason.STOP if self._finish == "STOP" else StopReason.UNKNOWN

    def usage(self) -> Usage | None:
        return self._usage.usage()

    def read(self, payloads: list[bytes]) -> list[StreamItem]:
        """The items of these payloads. What comes after a failure does not count."""
        self._items = []
        for payload in payloads:
            if payload.startswith(DONE):
                continue
            try:
                for chunk in self._payloads.values(payload):
                    self._read_chunk(chunk)
            except NotJSONError:
                self.failure = interrupted(self._model, self._url, "The server sent something that is not JSON.")
            if self.failure is not None:
                break
        return self._items

    def end(self, broken: ProviderError | None) -> list[StreamItem]:
        """The items that were held back, once nothing more comes; then `failure` and `stop_reason` are final."""
        self._items = []
        self._end_half()
        self._end_sound()
        self.failure = self.failure or broken or self._failed_end()
        if self.failure is None:
            truncated = self.stop_reason is StopReason.LENGTH
            self._items += self._calls.finish(truncated)
            if not truncated:
                self.failure = self._calls.error()
        return self._items

    def _failed_end(self) -> ProviderError | None:
        place = where(self._model, self._url)
        words = f": {preview(clean_text(self._finish_words))}" if self._finish_words else ""
        reason = f"(finish reason {self._finish}){words}"
        if self._finish in _FILTERED:
            return ContentFilterError(f"{place}: The answer was cut for its content {reason}. Word it differently.")
        if self._finish in _FAILED:
            return ServerError(f"{place}: The model made no proper answer {reason}. Send it again.", retryable=True)
        if self._finish == "MISSING_THOUGHT_SIGNATURE":
            return BadRequestError(f"{place}: The history was refused {reason}. Start a new conversation.")
        if not self._finish and self._blocked and not self._has_content:
            return ContentFilterError(f"{place}: The prompt was blocked ({self._blocked}). Word it differently.")
        if not self._finish:
            return ended_early(self._model, self._url, self._payloads.words)
        if not self._has_content:
            return EmptyResponseError(self._model.api, self._finish)
        return None

    # Chunks ----------------------------------------------------------------------------------------------------------

    def _read_chunk(self, chunk: Any) -> None:
        if isinstance(chunk, list):  # A whole stream in place of events.
            for each in chunk:
                if isinstance(each, dict) and self.failure is None:
                    self._read_chunk(each)
            return
        if not isinstance(chunk, dict):
            return
        if chunk.get("error") or ("candidates" not in chunk and tells_error(chunk)):
            self.failure = stream_error(self._model, self._url, chunk)
            return
        candidates = chunk.get("candidates")
        if isinstance(candidates, list):
            for candidate in candidates:
                if isinstance(candidate, dict) and candidate.get("index") in (None, 0):
                    self._read_candidate(candidate)
                    break
        self._usage.add(field(chunk, "usageMetadata"))
        feedback = field(chunk, "promptFeedback")
        if isinstance(feedback, dict) and isinstance(field(feedback, "blockReason"), str):
            told = field(feedback, "blockReasonMessage")
            words = f": {preview(clean_text(told))}" if isinstance(told, str) and told else ""
            self._blocked = clean_text(field(feedback, "blockReason")) + words

    def _read_candidate(self, candidate: dict[str, Any]) -> None:
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                self._read_part(part)
        finish = field(candidate, "finishReason")
        # Some models say STOP in every chunk, so anything else counts more.
        if isinstance(finish, str) and finish and self._finish in ("", "STOP"):
            self._finish = clean_text(finish.upper())
        words = field(candidate, "finishMessage")
        if isinstance(words, str) and words:
            self._finish_words = words

    def _read_part(self, part: dict[str, Any]) -> None:
        text = part.get("text")
        if len(part) == 1 and isinstance(text, str):
            self._add_text(text, False, None)
            return
        signature = field(part, "thoughtSignature")
        fidelity = {"signature": signature} if isinstance(signature, str) and signature else None
        thinking = part.get("thought") is True
        call, data = field(part, "functionCall"), field(part, "inlineData")
        if isinstance(call, dict):
            self._add_call(call, fidelity)
        elif isinstance(data, dict):
            self._add_data(data, thinking, fidelity)
        elif isinstance(text, str):
            self._add_text(text, thinking, fidelity)
        elif fidelity is not None and _NO_DATA.issuperset(part):
            self._add_text("", thinking, fidelity)

    # Items -----------------------------------------------------------------------------------------------------------

    def _new_block(self) -> int:
        self._end_half()
        self._kind = ""
        self._blocks += 1
        return self._blocks - 1

    def _end_half(self) -> None:
        left = self._payloads.left_at(self._kind) if self._kind else ""
        if left:
            self._put(left, None)

    def _add_text(self, text: str, thinking: bool, fidelity: Fidelity | None) -> None:
        """Add text to its block. A signed part ends the block, which remembers where in its text the part began."""
        kind = "thinking" if thinking else "text"
        if not text and fidelity is None:
            return
        if self._kind != kind:
            self._index = self._new_block()
            self._kind, self._length = kind, 0
        text = self._payloads.join(text, kind)
        if fidelity is not None:
            text += self._payloads.left_at(kind)
            if self._length:
                fidelity = {**fidelity, "from": self._length}
        if text or fidelity is not None:
            self._put(text, fidelity)
        if fidelity is not None:
            self._kind = ""

    def _put(self, text: str, fidelity: Fidelity | None) -> None:
        self._length += len(text)
        if self._kind == "thinking":
            self._items.append(ThinkingDelta(self._index, text, fidelity))
        else:
            self._has_content = self._has_content or bool(text)
            self._items.append(TextDelta(self._index, text, fidelity))

    def _add_call(self, call: dict[str, Any], fidelity: Fidelity | None) -> None:
        """A call comes whole. Its completion waits for the end, since the answer may still turn out to be blocked."""
        name, arguments = call.get("name"), call.get("args")
        if not name and arguments is None:
            return
        if isinstance(arguments, str):
            arguments = clean_text(arguments)
        self._has_content = True
        made = self._calls.open()
        made.fidelity = fidelity
        self._items += self._calls.identify(made, name, call.get("id"))
        self._items += self._calls.make_up_id(made)
        self._items += self._calls.add_arguments(made, {} if arguments is None else arguments)

    def _add_data(self, data: dict[str, Any], thinking: bool, fidelity: Fidelity | None) -> None:
        encoded, mime_type = data.get("data"), field(data, "mimeType")
        if not isinstance(encoded, str) or not encoded:
            return
        mime_type = clean_text(mime_type) if isinstance(mime_type, str) and mime_type else "application/octet-stream"
        self._has_content = self._has_content or not thinking
        if is_raw_sound(mime_type):
            self._add_sound(encoded, mime_type)
        else:
            item = InlineDataItem(self._new_block(), clean_text(encoded), mime_type, fidelity, thinking)
            self._items.append(item)

    def _add_sound(self, encoded: str, mime_type: str) -> None:
        """Sound comes in pieces and becomes one file at the end, since a file begins with its length."""
        try:
            samples = base64.b64decode(encoded)
        except ValueError:
            return
        if mime_type != self._sound_type:
            self._end_sound()
            self._sound_type, self._sound_index = mime_type, self._new_block()
        self._sound.append(samples)

    def _end_sound(self) -> None:
        if self._sound:
            sound = wav_from(b"".join(self._sound), self._sound_type)
            self._items.append(InlineDataItem(self._sound_index, sound, "audio/wav"))
            self._sound, self._sound_type = [], ""
