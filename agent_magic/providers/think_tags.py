"""Tells reasoning that stands in tags at the beginning of a text from the text itself."""

from __future__ import annotations

_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>"}


class ThinkTags:
    """Feed it pieces of text; it gives `(is_thinking, text)` pairs. Tags may be cut anywhere.

    `plain` is True from where no tag can follow any more: the rest is text as it stands.
    """

    def __init__(self) -> None:
        self.plain = False
        self._closing = ""
        self._held = ""
        self._after = False

    def feed(self, piece: str) -> list[tuple[bool, str]]:
        text, self._held = self._held + piece, ""
        if self.plain:
            return [(False, text)]
        if self._after:
            return self._begin_text(text)
        return self._inside(text) if self._closing else self._before(text)

    def flush(self) -> list[tuple[bool, str]]:
        """What was held back, since it could have become a tag."""
        held, self._held = self._held, ""
        return [(bool(self._closing) and not self._after, held)] if held and not self._after else []

    def _before(self, text: str) -> list[tuple[bool, str]]:
        start = text.lstrip()
        for opening, closing in _TAGS.items():
            if start.startswith(opening):
                self._closing = closing
                return self._inside(start[len(opening) :])
        if any(opening.startswith(start) for opening in _TAGS):
            self._held = text
            return []
        self.plain = True
        return [(False, text)]

    def _inside(self, text: str) -> list[tuple[bool, str]]:
        thinking, found, rest = text.partition(self._closing)
        if found:
            self._after = True
            return [(True, thinking), *self._begin_text(rest)]
        keep = next((n for n in range(len(self._closing) - 1, 0, -1) if text.endswith(self._closing[:n])), 0)
        self._held = text[len(text) - keep :]
        return [(True, text[: len(text) - keep])]

    def _begin_text(self, text: str) -> list[tuple[bool, str]]:
        """The blank lines between the reasoning and the text belong to neither."""
        text = text.lstrip()
        self.plain = bool(text)
        return [(False, text)] if text else []
