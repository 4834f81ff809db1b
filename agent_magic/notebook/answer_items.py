"""The items of a record that one answer of the model makes: its texts, its thinking, its media, and its calls."""

from __future__ import annotations

from ..config import StopReason
from ..events import InlineDataItem, PartialToolCall, StreamItem, TextDelta, ThinkingDelta, ToolCallItem
from ..messages import AssistantMessage, Content, InlineData, TextContent, ThinkingContent, ToolCall, now
from .call_items import CallItems
from .journal import OPEN_STATES, Journal
from .limits import THINKING_LIMIT, whole_characters
from .outputs import media_bundle


class AnswerItems:
    """Turns what an answer streams, or what it holds in the end, into items of the journal: one for each block."""

    def __init__(self, journal: Journal, calls: CallItems) -> None:
        self._journal = journal
        self._calls = calls
        # The item of each block, by the index of the block.
        self._blocks: dict[int, str] = {}

    def begin(self) -> None:
        """An answer begins."""
        self._blocks = {}

    def take(self, item: StreamItem) -> None:
        """Take in a piece that was streamed."""
        known = self._blocks.get(item.index)
        if known is None:
            self._close_thinking()
        if isinstance(item, TextDelta):
            if known is None:
                known = self._blocks[item.index] = self._journal.add("text", "running", text="")
            self._journal.append(known, "text", "answer", item.text)
        elif isinstance(item, ThinkingDelta):
            if known is None:
                known = self._blocks[item.index] = self._journal.add("thinking", "running", text="", started=now())
            if item.redacted:
                self._journal.set(known, redacted=True)
            self._journal.append(known, "text", "detail", item.text, THINKING_LIMIT)
        elif isinstance(item, PartialToolCall):
            if known is None:
                self._blocks[item.index] = self._calls.add(item.tool_call_id, item.name, {})
        elif isinstance(item, ToolCallItem):
            if known is None:
                self._blocks[item.index] = self._calls.add(item.id, item.name, item.arguments)
            else:
                self._calls.set_arguments(known, item.arguments)
        elif isinstance(item, InlineDataItem) and not item.thinking:
            self._blocks[item.index] = media = self._journal.add("media", "done", outputs=[])
            self._journal.put_outputs(media, [media_bundle(item.mime_type, item.data)])

    def end(self, message: AssistantMessage) -> None:
        """The answer is whole, or broke off; what was not streamed is taken from the message."""
        if self._blocks:
            self._mend_texts(message)
        else:
            for index, block in enumerate(message.content):
                self._take_block(index, block)
        broken = message.stop_reason in (StopReason.ERROR, StopReason.ABORTED)
        for name in self._blocks.values():
            item = self._journal.item(name)
            # A whole call stays pending until it is executed; the calls of a broken answer never are.
            if item.get("state") in OPEN_STATES and (broken or item["kind"] != "tool"):
                self._journal.close(name, "aborted" if broken else "done")
        self._blocks = {}

    def _mend_texts(self, message: AssistantMessage) -> None:
        """Take the finished text where a streamed one holds halves of a character that have joined since."""
        for kind, block_type in (("text", TextContent), ("thinking", ThinkingContent)):
            items = [item for item in map(self._journal.item, self._blocks.values()) if item.get("kind") == kind]
            texts = [block.text for block in message.content if isinstance(block, block_type) and block.text]
            if len(items) != len(texts):
                continue
            for item, text in zip(items, texts, strict=True):
                if "\ufffd" in item["text"]:
                    self._journal.set(item["id"], text=whole_characters(text)[: len(item["text"])])

    def _take_block(self, index: int, block: Content) -> None:
        if isinstance(block, TextContent):
            self.take(TextDelta(index, block.text))
        elif isinstance(block, ThinkingContent):
            self.take(ThinkingDelta(index, block.text, redacted=block.redacted))
        elif isinstance(block, ToolCall):
            self.take(ToolCallItem(index, block.id, block.name, block.arguments))
        elif isinstance(block, InlineData):
            self.take(InlineDataItem(index, block.data, block.mime_type))

    def _close_thinking(self) -> None:
        for name in self._blocks.values():
            item = self._journal.item(name)
            if item.get("kind") == "thinking" and item["state"] == "running":
                self._journal.close(name, "done")
