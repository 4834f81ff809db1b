"""The items of a record for tool calls: what was called, how it stands, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..agent.preflight import NOT_ALLOWED
from ..events import ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
from ..messages import joined_text, now
from .journal import OPEN_STATES, Bundle, Journal
from .limits import DETAIL_LIMIT, PROGRESS_LIMIT, json_size, jsonable, whole_characters, with_note
from .outputs import content_bundles
from .wording import argument_summary, one_line, without_ansi

# What the loop answers for a call that an abort kept from running or broke off.
_ABORTED = "Operation aborted"


class CallItems:
    """The tool calls of a run in its journal, found by the ids of the calls."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._items: dict[str, str] = {}
        self._with_content_images: set[str] = set()
        self._denied: dict[str, str] = {}

    def add(self, tool_call_id: str, name: str, arguments: Mapping[str, Any]) -> str:
        """Add a call that the model has begun to make; returns its item."""
        name = with_note(name, 200)
        item = self._journal.add(
            "tool", "pending", call_id=whole_characters(tool_call_id), name=name, arguments={}, summary=""
        )
        self._items[tool_call_id] = item
        self.set_arguments(item, arguments)
        return item

    def set_arguments(self, item: str, arguments: Mapping[str, Any]) -> None:
        clean = jsonable(arguments)
        if not clean or self._journal.item(item).get("arguments") == clean:
            return
        if not self._journal.room_for("detail", clean):
            self._journal.leave_out("characters", json_size(clean))
            self._journal.set(item, summary=argument_summary(clean))
        else:
            self._journal.set(item, arguments=clean, summary=argument_summary(clean))

    def mark_edited(self, tool_call_id: str, arguments: Mapping[str, Any]) -> None:
        """The call runs with these arguments, and not with those that the model gave."""
        if tool_call_id in self._items:
            self.set_arguments(self._items[tool_call_id], arguments)

    def mark_denied(self, tool_call_id: str, reason: str) -> None:
        """The call was refused; its error result will not show as a failure."""
        self._denied[tool_call_id] = one_line(reason)

    def start(self, event: ToolExecutionStartEvent) -> None:
        item = self._items.get(event.tool_call_id)
        if item is None or self._journal.item(item).get("state") not in OPEN_STATES:
            item = self.add(event.tool_call_id, event.tool_name, event.args)
        self._journal.set(item, state="running", started=now())

    def update(self, event: ToolExecutionUpdateEvent) -> None:
        item = self._items.get(event.tool_call_id)
        if self._journal.item(item).get("state") == "running":
            self._journal.set(item, progress=with_note(_text_of(event.partial_result), PROGRESS_LIMIT))

    def end(self, event: ToolExecutionEndEvent) -> bool:
        """The call has its result; False where the record has no item for it."""
        item = self._items.get(event.tool_call_id, "")
        if not self._journal.item(item):
            return False
        text = _text_of(event.result)
        fields: dict[str, Any] = {"result": self._journal.fit("detail", with_note(text, DETAIL_LIMIT)), "progress": ""}
        denial = self._denied.pop(event.tool_call_id, None)
        state = "done"
        if event.is_error:
            fields["error"] = denial or one_line(next((line for line in text.splitlines() if line.strip()), ""))
            refused = denial is not None or text.startswith(NOT_ALLOWED)
            state = "denied" if refused else "aborted" if text.startswith(_ABORTED) else "failed"
        self._journal.set(item, **fields)
        self._journal.close(item, state)
        images = content_bundles(getattr(event.result, "content", ()))
        if images and not self._journal.item(item).get("outputs"):
            self._with_content_images.add(item)
            self._journal.put_outputs(item, images)
        return True

    def add_outputs(self, tool_call_id: str, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Add what a call displayed or returned, in the place of what its result holds for the model.

        Returns the bundles that the record could not take whole.
        """
        item = self._items.get(tool_call_id, "")
        if bundles and item in self._with_content_images:
            self._with_content_images.discard(item)
            self._journal.set(item, outputs=[])
        return self._journal.put_outputs(item, bundles)


def _text_of(result: Any) -> str:
    """The text of a tool's result, whatever it is."""
    content = getattr(result, "content", result)
    if isinstance(content, str):
        return without_ansi(content)
    if isinstance(content, (list, tuple)):
        return without_ansi(joined_text(content))
    return "" if content is None else without_ansi(str(content))
