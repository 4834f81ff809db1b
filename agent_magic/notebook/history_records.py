"""The records of the present conversation, for a page that shows it: those of this kernel's runs, others made anew.

A run whose record this kernel has is shown by it, with all its outputs, as long as everything that it said is on the
active branch. For the rest, such as a conversation that was resumed, records are made from the stored messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..agent.reply import StopCause
from ..config import StopReason
from ..errors import AgentMagicError, InvalidDataError
from ..events import MessageEndEvent, MessageStartEvent, ToolExecutionEndEvent, ToolExecutionStartEvent, TurnStartEvent
from ..messages import AssistantMessage, BashExecutionMessage, ToolResultMessage
from ..models import Model
from ..session.context import in_call_order, message_of, speaks
from ..session.entries import Entry, MessageEntry
from .limits import json_size
from .record import Recorder
from .runs import Record

if TYPE_CHECKING:
    from .kernel import NotebookKernel

# Bytes of all records together: a server between kernel and page drops what comes faster than some MB at once.
TOTAL = 1_500_000


@dataclass
class Part:
    """The entries of the branch that one run added, and its record where this kernel has it."""

    entries: list[Entry] = field(default_factory=list)
    record: Record | None = None

    @property
    def name(self) -> str:
        """The run that its record is of, or would be."""
        return str(self.record["run"]) if self.record is not None else self.entries[0].id

    @property
    def prompt(self) -> MessageEntry | None:
        """The entry of the message that began it."""
        return next((each for each in self.entries if isinstance(each, MessageEntry) and each.role == "user"), None)

    @property
    def times(self) -> tuple[int, int]:
        """When it began and ended, in Unix milliseconds.

        Messages do not tell: one that was asked again keeps the time at which it was written.
        """
        said = [each for each in self.entries if isinstance(each, MessageEntry) and each.role != "custom"]
        times = [each.timestamp for each in said or self.entries]
        return times[0], times[-1]

    @property
    def answered(self) -> bool:
        return any(isinstance(each, MessageEntry) and each.role == "assistant" for each in self.entries)


class History:
    """What was said in the conversation of a kernel, as records, the oldest first."""

    def __init__(self, kernel: NotebookKernel) -> None:
        self._kernel = kernel
        self._made: dict[str, tuple[int, Record]] = {}

    def records(self) -> tuple[list[Record], int]:
        """The latest records that are not too much together, and how many earlier ones there are beside."""
        parts = self.parts()
        # Those of a conversation that was left would fill the memory.
        there = {part.name for part in parts}
        self._made = {name: made for name, made in self._made.items() if name in there}
        found = [record for part in parts if (record := self._record(part))["items"]]
        room, first = TOTAL, len(found)
        while first > 0 and (first == len(found) or json_size(found[first - 1]) <= room):
            first -= 1
            room -= json_size(found[first])
        return found[first:], first

    def names(self) -> tuple[str, ...]:
        """The runs of `records`, and those that were too much."""
        return tuple(part.name for part in self.parts())

    def record(self, run: str) -> Record:
        """The record of a run of this conversation. Raises `AgentMagicError` where it is not there."""
        return self._record(self._part(run))

    def prompt_of(self, run: str) -> MessageEntry:
        """The entry of the message that began a run. Raises `AgentMagicError` where there is none."""
        prompt = self._part(run).prompt
        if prompt is None:
            raise AgentMagicError("No message of yours began that run, so there is none to edit.")
        return prompt

    def parts(self) -> list[Part]:
        """The active branch, run by run, without the run that goes on."""
        said = self._kernel.runs.said
        branch = [each for each in self._kernel.conversation.session.branch if speaks(each) and each.id not in said]
        there = {each.id for each in branch}
        owners: dict[str, Record] = {}
        parts: list[Part] = []
        for record, entries in self._kernel.runs.kept():
            if entries and entries <= there:
                owners.update(dict.fromkeys(entries, record))
        for entry in branch:
            owner = owners.get(entry.id)
            if not parts or owner is not parts[-1].record or (owner is None and _begins(entry, parts[-1])):
                parts.append(Part(record=owner))
            parts[-1].entries.append(entry)
        return parts

    def _part(self, run: str) -> Part:
        for part in self.parts():
            if part.name == run:
                return part
        raise AgentMagicError("That run is not in this conversation any more; reload the panel to see what is.")

    def _record(self, part: Part) -> Record:
        if part.record is not None:
            return part.record
        name = part.name
        known, record = self._made.get(name, (0, {}))
        if known != len(part.entries):
            record = record_of(name, self._kernel.conversation.id, _messages(part.entries), part.times)
            self._made[name] = (len(part.entries), record)
        return record


def _begins(entry: Entry, before: Part) -> bool:
    """Whether a run begins here. A message of the user while another waits for its answer belongs to that."""
    return isinstance(entry, MessageEntry) and entry.role == "user" and before.answered


def _messages(entries: Sequence[Entry]) -> list[Any]:
    return in_call_order(message for entry in entries if (message := _readable(entry)) is not None)


def _readable(entry: Entry) -> Any:
    try:
        return message_of(entry)
    except InvalidDataError:
        return None


@dataclass(frozen=True)
class _Ended:
    stop_cause: StopCause


_CAUSES = {
    StopReason.ERROR: StopCause.ERROR,
    StopReason.ABORTED: StopCause.ABORTED,
    StopReason.LENGTH: StopCause.LENGTH,
}


def record_of(run: str, session: str | None, messages: Sequence[Any], times: tuple[int, int]) -> Record:
    """The record of stored messages of a run that began and ended at `times`, in Unix milliseconds.

    What was displayed beside them, and how long each call took, is not known.
    """
    answers = [each for each in messages if isinstance(each, AssistantMessage)]
    model = Model(answers[-1].model or "unknown", provider=answers[-1].provider or "") if answers else Model("unknown")
    recorder = Recorder(run, session, model)
    take_in(recorder, messages)
    recorder.finish(_Ended(_CAUSES.get(answers[-1].stop_reason, StopCause.COMPLETED) if answers else StopCause.ABORTED))
    return _at_its_time(recorder.record(), times)


def take_in(recorder: Recorder, messages: Sequence[Any]) -> None:
    """Let `recorder` hear of stored messages as it did of the live ones."""
    for message in messages:
        if isinstance(message, ToolResultMessage):
            recorder.handle(ToolExecutionStartEvent(message.tool_call_id, message.tool_name, {}))
            recorder.handle(
                ToolExecutionEndEvent(message.tool_call_id, message.tool_name, message, bool(message.is_error))
            )
        elif isinstance(message, BashExecutionMessage):
            recorder.add_item("context", title=f"!{message.command}", text=message.output)
        else:
            if isinstance(message, AssistantMessage):
                recorder.handle(TurnStartEvent())
            recorder.handle(MessageStartEvent(message))
            recorder.handle(MessageEndEvent(message))


def _at_its_time(record: Record, times: tuple[int, int]) -> Record:
    """The record with the times at which it happened, in the place of those at which it was made."""
    items = [{key: item[key] for key in item if key not in ("started", "seconds")} for item in record["items"]]
    began, ended = times
    return {**record, "items": items, "started": began, "seconds": max(0, ended - began) / 1000}
