"""Server-sent events, from bytes to data payloads, many at once.

Only CR, LF and CRLF end a line, wherever the network cuts the bytes. An answer that is one JSON value in place of a
stream becomes one payload, whatever its content type says.
"""

from __future__ import annotations

import json

_BOM = b"\xef\xbb\xbf"
# The end marker of the Chat Completions API; nothing after it counts.
DONE = b"[DONE]"
_DONE_BELOW = b"\n" + DONE
# What the last event of the other APIs begins with. A connection that stays open after it is not waited for.
_LAST_TYPES = (b"message_stop", b"response.completed", b"response.incomplete", b"response.failed")
# Names of events that neither are an end nor can be one, so that nothing but the data matters.
_NAMED = (
    b"event: content_block_delta\n",
    *(
        b"event: response.%b.delta\n" % each
        for each in (b"output_text", b"function_call_arguments", b"reasoning_summary_text")
    ),
)
_FIELDS = (b"data", b"event", b"id", b"retry", b"error")
_ENDS = (DONE, *(b'{"type":%b"%b"' % (space, each) for each in _LAST_TYPES for space in (b"", b" ")))


class SSEDecoder:
    """Feed it network reads; it gives the data payloads that are complete by then.

    `is_done()` after the end marker. `raw` is True when the body is no event stream, and then `finish` gives the
    whole body as one payload.
    """

    def __init__(self) -> None:
        self._done = False
        self.raw = False
        self._sniffed = False
        self._crlf = False
        self._has_cr = False
        self._plain = self._plain_crlf = False
        self._pieces: list[bytes] = []

    def is_done(self) -> bool:
        return self._done

    def feed(self, data: bytes) -> list[bytes]:
        if self._done:
            return []
        # The common cases: one whole event, of one line, or of two of which the first is its name.
        if self._plain and data[-2:] == b"\n\n" and b"\r" not in data:
            end = len(data) - 2
            if data.startswith(b"data: {") and data.find(b"\n") == end:
                return [data[6:end]]
            middle = data.find(b"\n")
            if (
                data.startswith(_NAMED)
                and data.startswith(b"data: {", middle + 1)
                and data.find(b"\n", middle + 1) == end
            ):
                return [data[middle + 7 : end]]
        elif self._plain_crlf and data[-4:] == b"\r\n\r\n" and data.startswith(b"data: {"):
            end = len(data) - 4
            if data.find(b"\r") == end and data.find(b"\n") == end + 1:
                return [data[6:end]]
        return self._feed(data)

    def _feed(self, data: bytes) -> list[bytes]:
        if not self._sniffed:
            data = self._sniff(data)
        if self.raw or not data:
            self._pieces.append(data)
            return []
        if self._crlf or b"\r" in data:
            data = self._normalised(data)
            self._has_cr = True
        # Without a line end no event can be complete; joining only then keeps one huge event linear.
        if b"\n" not in data:
            self._pieces.append(data)
            self._plain = self._plain_crlf = False
            return []
        if self._pieces:
            self._pieces.append(data)
            data = b"".join(self._pieces)
        blocks = data.split(b"\n\n")
        rest = blocks.pop()
        self._pieces = [rest] if rest else []
        self._plain = not rest and not self._has_cr
        self._plain_crlf = not rest and self._has_cr and not self._crlf
        return self._payloads(blocks)

    def finish(self) -> list[bytes]:
        """The payloads of an unterminated last event, or the whole body when it is no event stream."""
        rest = b"".join(self._pieces)
        self._pieces = []
        if self.raw or not self._sniffed:
            rest = rest.removeprefix(_BOM).strip()
            return [rest] if rest else []
        return [] if self._done else self._payloads(rest.split(b"\n\n"))

    def _sniff(self, data: bytes) -> bytes:
        """Drop a byte order mark and blank space, and see by the first character what the body is."""
        head = b"".join([*self._pieces, data])
        self._pieces = []
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._pieces.append(head)
            return b""
        head = head.removeprefix(_BOM).lstrip()
        if head:
            self._sniffed = True
            self.raw = head[:1] in (b"{", b"[", b"<") and not head.startswith(DONE)
        return head

    def _normalised(self, data: bytes) -> bytes:
        """`data` with LF as its only line end. A CR at the very end may be half of a CRLF, so it waits."""
        if self._crlf:
            data = b"\r" + data
        self._crlf = data.endswith(b"\r")
        if self._crlf:
            data = data[:-1]
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _payloads(self, blocks: list[bytes]) -> list[bytes]:
        payloads: list[bytes] = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                payload: bytes | None = block[6:]
            else:
                payload = _payload_of(block)
            if payload and payload.endswith(_DONE_BELOW):
                # Without the blank lines between them, events look like one of many lines.
                payloads.append(payload.removesuffix(_DONE_BELOW))
                payload = DONE
            if payload:
                payloads.append(payload)
                if payload.startswith(_ENDS):
                    self._done = True
                    break
        return payloads


def _payload_of(block: bytes) -> bytes | None:
    """The data of one event, its lines joined; of what is no event at all, the whole.

    A line `error: ...` is no field of the standard, and some servers send their only error message in it; an event
    named `error` may hold a bare message. Both become a JSON object with the key `error`. What is no event is the
    last word of a server, or of what stands before it, that failed in the middle of a stream.
    """
    lines: list[bytes] = []
    is_error = is_event = False
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        is_event = is_event or field in _FIELDS or line.startswith(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            lines.append(value)
        elif field == b"event":
            is_error = value.strip() == b"error"
        elif field == b"error" and value:
            lines, is_error = [value], True
            break
    if not is_event:
        return block.strip() or None
    payload = b"\n".join(lines)
    if is_error and payload and b'"error"' not in payload:
        return _as_error(payload)
    return payload or None


def _as_error(text: bytes) -> bytes:
    try:
        value = json.loads(text)
    except ValueError:
        value = text.decode("utf-8", "replace")
    return json.dumps({"error": value}).encode()
