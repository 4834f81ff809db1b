"""What the mentions of a prompt add to it: one fenced block each, and images, made within a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..messages import Content, TextContent
from .folders import Folders
from .kinds import MISSING
from .last_error import LastError, error_pieces
from .markdown import fenced
from .masking import masked
from .mentioned_files import file_at, file_pieces
from .mentions import Mention, find_mentions, mention_block
from .namespace import Namespace
from .summaries import Piece, is_drawn, summary
from .wording import one_line

# Bytes of text that one mention adds at most, and mentions that are looked at.
_TEXT = 8_000
MAX_MENTIONS = 20
# To draw a figure takes longer than to look at a value.
_DRAWING = 5.0
# How much a word must look like a name to be a slip of it; at less than this, words of a sentence would be.
_ALIKE = 0.8

Pieces = Callable[[], Iterator[Piece]]


@dataclass(frozen=True)
class Attachment:
    """What one mention added: `name` as it was mentioned, and the blocks that are sent."""

    name: str
    blocks: tuple[Content, ...]


@dataclass(frozen=True)
class Found:
    """What a mention leads to: how to look at it, and how many times the usual limit that may take."""

    name: str
    pieces: Pieces
    patience: float = 1.0


class Mentions:
    """Looks up what prompts mention: in the namespace, among the cells, in the folder of the notebook."""

    def __init__(self, shell: Any, namespace: Namespace, last_error: LastError, folders: Callable[[], Folders]) -> None:
        self._shell = shell
        self._namespace = namespace
        self._last_error = last_error
        self._folders = folders

    async def attachments(self, prompt: str, seconds: float) -> list[Attachment]:
        """What `prompt` mentions, each looked at for at most so many seconds. Unknown words add nothing.

        Raises `UsageError` for a file that cannot be read.
        """
        named: dict[str, Found] = {}
        for mention in find_mentions(prompt):
            found = self._found(mention)
            if found is not None:
                named.setdefault(found.name, found)
        return [
            Attachment(found.name, _blocks(found.name, *await pieces_in_time(found.pieces, seconds * found.patience)))
            for found in list(named.values())[:MAX_MENTIONS]
        ]

    def slips(self, prompt: str, sent: Iterable[str] = ()) -> list[str]:
        """What to tell the user of mentions in `prompt` that lead to nothing, but surely were to.

        `sent` names what goes with the prompt, although the notebook may have it no more.
        """
        there = tuple(f"{name}." for name in sent)
        here = (each for each in find_mentions(prompt) if each.kind != "file")
        missed = (each for each in here if not f"{each.text}.".startswith(there) and not self._found(each))
        return [slip for each in missed if (slip := self._slip(each))]

    def _slip(self, mention: Mention) -> str:
        nothing = f"{mention.text} leads to nothing here, so nothing was sent with it"
        if mention.kind == "In":
            return f"{nothing}: no cell of this kernel has run under that number."
        if mention.kind == "Out":
            return f"{nothing}: no cell of that number gave a value."
        first = mention.name.partition(".")[0]
        if first == "error":
            return f"{nothing}: no cell of this kernel has failed."
        alike = difflib.get_close_matches(first, list(self._namespace.names()), 1, _ALIKE)
        return f"{nothing}. Did you mean @{alike[0]}?" if alike else ""

    def _found(self, mention: Mention) -> Found | None:
        if mention.kind == "file":
            path = file_at(self._folders(), mention.name)
            return Found(mention.text, lambda: file_pieces(path))
        if mention.kind == "In":
            code = _entry(self._shell.history_manager.input_hist_raw, int(mention.name))
            return None if code is MISSING else Found(mention.text, lambda: iter((f"code of the cell\n{code}",)))
        if mention.kind == "Out":
            return _value(mention.text, self._shell.user_ns.get("Out", {}).get(int(mention.name), MISSING))
        name, value = self._namespace.lookup(mention.name)
        if name:
            return _value(f"@{name}", value)
        error, code = self._last_error.found(), self._last_error.code
        if mention.name.partition(".")[0] == "error" and error is not None:
            return Found("@error", lambda: error_pieces(error, code))
        return None


def _value(name: str, value: Any) -> Found | None:
    if value is MISSING:
        return None
    return Found(name, lambda: summary(value), _DRAWING if is_drawn(value) else 1.0)


def _entry(entries: Sequence[str], number: int) -> Any:
    try:
        return entries[number]
    except IndexError:
        return MISSING


def _blocks(name: str, pieces: Sequence[Piece], note: str) -> tuple[Content, ...]:
    texts = [piece.text if isinstance(piece, TextContent) else piece for piece in pieces if _is_text(piece)]
    block = block_of(name, "\n".join([*map(str, texts), *([note] if note else [])]))
    return (block, *(piece for piece in pieces if not isinstance(piece, str) and not _is_text(piece)))


def block_of(name: str, text: str, limit: int = _TEXT) -> TextContent:
    """The block that shows `text` to the model under a name that begins with @, without keys."""
    # The name stands where a fence names its language, in characters that cannot end the line or the fence.
    title = one_line(name, 200).replace("`", "'")
    return mention_block(fenced(masked(text), limit, title))


def _is_text(piece: Piece) -> bool:
    return isinstance(piece, (str, TextContent))


async def pieces_in_time(pieces: Pieces, seconds: float) -> tuple[list[Piece], str]:
    """The pieces that came within `seconds`, and a note if that was not all.

    They are made on a thread of its own: what hangs there cannot be stopped, only left alone.
    """
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    came: list[Piece] = []
    failure: list[str] = []

    def collect() -> None:
        try:
            # Piece by piece, so that what came is there whenever the time is up.
            deque(map(came.append, pieces()), maxlen=0)
        except BaseException as error:
            failure.append(f"[it could not be looked at further: {type(error).__name__}]")
        # The loop may have ended long ago.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=collect, name="agent-magic-mention", daemon=True).start()
    try:
        await asyncio.wait_for(done.wait(), seconds)
    except asyncio.TimeoutError:
        return list(came), f"[cut off: looking at it took more than {seconds:g} s]"
    return came, "".join(failure)
