"""The files that a conversation read and changed, which a summary must not forget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..messages import AssistantMessage

READING = frozenset({"read_file", "read"})
CHANGING = frozenset({"write_file", "write", "edit_file", "edit"})
_READ_TAG = "read-files"
_CHANGED_TAG = "modified-files"


@dataclass(frozen=True)
class Files:
    """Paths as the model gave them, sorted; one that was read and changed is only in `changed`."""

    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @classmethod
    def of(cls, messages: Iterable[Any], *earlier: Any) -> Files:
        """The files of the tool calls in these messages, and of the `details` of earlier summaries."""
        read: set[str] = set()
        changed: set[str] = set()
        for details in earlier:
            if isinstance(details, Mapping):
                read.update(_texts(details.get("readFiles")))
                changed.update(_texts(details.get("modifiedFiles")))
        for message in messages:
            for call in message.tool_calls if isinstance(message, AssistantMessage) else ():
                paths = _texts([call.arguments.get("path")])
                read.update(paths if call.name in READING else ())
                changed.update(paths if call.name in CHANGING else ())
        return cls(tuple(sorted(read - changed)), tuple(sorted(changed)))

    def details(self) -> dict[str, Any]:
        """These as the details of an entry."""
        stored = {"readFiles": list(self.read), "modifiedFiles": list(self.changed)}
        return {key: paths for key, paths in stored.items() if paths}

    def appended_to(self, summary: str) -> str:
        parts = [
            summary,
            *(_block(tag, paths) for tag, paths in ((_READ_TAG, self.read), (_CHANGED_TAG, self.changed))),
        ]
        return "\n\n".join(part for part in parts if part)


def without_files(summary: str) -> str:
    """The summary without the lists that were appended to it."""
    for tag in (_READ_TAG, _CHANGED_TAG):
        summary = summary.partition(f"\n\n<{tag}>\n")[0]
    return summary


def _block(tag: str, paths: tuple[str, ...]) -> str:
    lines = "\n".join(paths)
    return f"<{tag}>\n{lines}\n</{tag}>" if paths else ""


def _texts(values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, (list, tuple)) else []
