"""Compaction: a summary takes the place of the older part of a conversation, so that it fits the model's window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..agent.loop_config import Turn, TurnUpdate
from ..config import StopReason, ThinkingLevel
from ..errors import ProviderError, SessionError
from ..messages import AssistantMessage
from ..models import Model
from ..stored_models import usage_to_json
from ..usage import Usage
from .cut import Cut, cut, messages_of
from .entries import Entry, MessageEntry
from .files import Files, without_files
from .session import Session
from .summary import TURN, USUAL_WINDOW, WHOLE, Summarizer, Summary, added
from .tokens import context_tokens

TURN_HEADING = "\n\n---\n\n## The turn that was cut\n\n"
NO_HISTORY = "No earlier history."


class NothingToCompactError(SessionError):
    """The conversation is too short for a summary to save anything."""


@dataclass(frozen=True)
class CompactionSettings:
    """When to compact and what to keep, in tokens.

    The last `reserve` tokens of the window are kept free for the answer, or a quarter of a small window. About
    `keep_recent` tokens of the conversation stay as they are, or less where that is more than half of what fits.
    """

    enabled: bool = True
    reserve: int = 16_384
    keep_recent: int = 20_000

    def reserved(self, window: int) -> int:
        return min(self.reserve, window // 4)

    def threshold(self, window: int) -> int:
        """The tokens above which a conversation is compacted."""
        return window - self.reserved(window)

    def kept(self, window: int) -> int:
        return min(self.keep_recent, self.threshold(window) // 2)


@dataclass(frozen=True)
class Compacted:
    """What a compaction did. `reason` is `threshold`, `overflow` or `manual`; tokens are estimates."""

    entry_id: str
    summary: str
    tokens_before: int
    tokens_after: int
    shortened: int
    usage: Usage | None
    reason: str

    @property
    def note(self) -> str:
        """One line for people."""
        cause = {"overflow": "The conversation did not fit the model's window. ", "manual": ""}.get(
            self.reason, "The conversation came near the end of the model's window. "
        )
        results = f" Long tool results shortened for the model: {self.shortened}." if self.shortened else ""
        return (
            f"{cause}A summary stands for its older part now: about {self.tokens_before:,} tokens became "
            f"{self.tokens_after:,}.{results} The session keeps everything."
        )


async def compact(
    session: Session,
    model: Model,
    *,
    focus: str = "",
    reason: str = "manual",
    settings: CompactionSettings | None = None,
    thinking_level: ThinkingLevel | None = None,
) -> Compacted:
    """Summarise the older part of the session's active branch with `model`.

    The session changes only when the summary is there. Raises `NothingToCompactError`, `ProviderError` or
    `AbortedError`.
    """
    settings = settings or CompactionSettings()
    window = model.context_window or USUAL_WINDOW
    before = session.messages
    tokens_before = context_tokens(before)
    parts = cut(session.branch, settings.kept(window), _room(settings, model, before, reason))
    if parts.is_empty:
        raise NothingToCompactError(
            f"There is nothing to compact: the conversation (about {tokens_before:,} tokens) has no part old enough "
            "for a summary."
        )
    leaf = session.tree.leaf_id or ""
    summary = await _summarize(parts, model, settings, focus, thinking_level)
    if all(entry.id != leaf for entry in session.branch):
        raise SessionError("The conversation went another way while it was being summarised; compact it again.")
    files = Files.of(
        messages_of([*parts.history, *parts.prefix]), parts.previous.details if parts.previous is not None else None
    )
    text = files.appended_to(summary.text)
    details = files.details()
    if parts.shortened:
        details["shortened"] = dict(parts.shortened)
    if summary.usage is not None:
        details["usage"] = usage_to_json(summary.usage)
    entry_id = session.append_compaction(text, parts.kept[0].id, tokens_before, details)
    after = context_tokens(session.messages)
    return Compacted(entry_id, text, tokens_before, after, len(parts.shortened), summary.usage, reason)


def _room(settings: CompactionSettings, model: Model, messages: tuple[Any, ...], reason: str) -> int | None:
    """The tokens that what is kept may take; None where nothing limits it."""
    limits = []
    if model.context_window is not None:
        limits.append(settings.threshold(model.context_window) // 2)
    if reason == "overflow":
        limits.append(context_tokens(messages) // 2)
    return min(limits, default=None)


async def _summarize(
    parts: Cut, model: Model, settings: CompactionSettings, focus: str, level: ThinkingLevel | None
) -> Summary:
    reserve = settings.reserved(model.context_window or USUAL_WINDOW)

    def summarizer(share: float) -> Summarizer:
        most = max(1, int(reserve * share))
        return Summarizer(model, min(most, model.max_tokens or most), level, focus)

    previous = without_files(parts.previous.summary) if parts.previous is not None else ""
    history = await summarizer(0.8).summarize(messages_of(parts.history), WHOLE, previous)
    if not parts.prefix:
        return Summary(history.text or NO_HISTORY, history.usage)
    turn = await summarizer(0.5).summarize(messages_of(parts.prefix), TURN)
    return Summary(f"{history.text or NO_HISTORY}{TURN_HEADING}{turn.text}", added(history.usage, turn.usage))


class Compactor:
    """Compacts a session while an agent works: the agent's `prepare_next_turn`.

    Before a request it compacts when the conversation is above the threshold; after an overflow it compacts and has
    the agent try again. `model()` gives the model in use, with its key. `on_compacted(Compacted)` is told of each
    compaction, `on_problem(text)` of one that failed while the conversation can still go on.
    """

    def __init__(
        self,
        session: Session,
        model: Callable[[], Model],
        *,
        settings: CompactionSettings | None = None,
        on_compacted: Callable[[Compacted], object] | None = None,
        on_problem: Callable[[str], object] | None = None,
    ) -> None:
        self.session = session
        self.settings = settings or CompactionSettings()
        self._model = model
        self._on_compacted = on_compacted
        self._on_problem = on_problem
        # Below this many tokens no other try is made, so that one that gained little is not made before every turn.
        self._not_below = 0

    async def __call__(self, turn: Turn) -> TurnUpdate | None:
        if not self.settings.enabled:
            return None
        if turn.error is not None:
            return await self._after_overflow()
        window = self._model().context_window
        if window is None:
            return None
        context = turn.context
        tokens = context_tokens(context.messages, context.system_prompt, context.tools)
        if tokens <= max(self.settings.threshold(window), self._not_below):
            return None
        self._not_below = tokens + self.settings.reserved(window) // 2
        try:
            await self.compact(reason="threshold")
        except NothingToCompactError:
            return None
        except (ProviderError, SessionError) as error:
            if self._on_problem is not None:
                self._on_problem(f"The conversation is nearly too long, and summarising it failed: {error}")
            return None
        messages = self.session.messages
        left = context_tokens(messages, context.system_prompt, context.tools)
        self._not_below = left + self.settings.reserved(window) // 2
        return TurnUpdate(messages=messages)

    async def compact(self, focus: str = "", reason: str = "manual") -> Compacted:
        """Compact the session now. Raises as the function `compact` does."""
        level = ThinkingLevel.of(self.session.thinking_level)
        done = await compact(
            self.session,
            self._model(),
            focus=focus,
            reason=reason,
            settings=self.settings,
            thinking_level=None if level is ThinkingLevel.OFF else level,
        )
        if self._on_compacted is not None:
            self._on_compacted(done)
        return done

    async def _after_overflow(self) -> TurnUpdate | None:
        failed = _failed_answer(self.session.branch)
        if failed is not None:
            # The answer that failed stays in the file, on a branch of its own.
            self.session.move_to(failed.parent_id)
        try:
            await self.compact(reason="overflow")
        except BaseException as error:
            if failed is not None:
                self.session.move_to(failed.id)
            if isinstance(error, NothingToCompactError):
                return None
            raise
        return TurnUpdate(messages=self.session.messages)


def _failed_answer(branch: Any) -> Entry | None:
    """The last message of a branch when it is an answer that ended with an error."""
    last = next((entry for entry in reversed(branch) if isinstance(entry, MessageEntry)), None)
    if last is None or not isinstance(last.message, AssistantMessage):
        return None
    return last if last.message.stop_reason is StopReason.ERROR else None
