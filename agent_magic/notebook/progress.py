"""The bar that shows how far many prompts are."""

from __future__ import annotations

import time
import uuid
from typing import Any

from ..agent.many import Progress

# Seconds between two updates; more often would flood the page.
PAUSE = 0.1


class ProgressBar:
    """A listener of progress: one display, updated until all is done. Its text says the same as the bar."""

    def __init__(self, shell: Any) -> None:
        self._publisher = shell.display_pub
        self._display_id = f"agent-magic-{uuid.uuid4().hex}"
        self._drawn = 0.0

    def __call__(self, progress: Progress) -> None:
        now, first = time.monotonic(), self._drawn == 0.0
        if not first and progress.done < progress.total and now - self._drawn < PAUSE:
            return
        self._drawn = now
        data = {"text/plain": str(progress), "text/html": html(progress)}
        self._publisher.publish(data, {}, transient={"display_id": self._display_id}, update=not first)


def html(progress: Progress) -> str:
    """The bar. It holds numbers only, and is readable where the element is not allowed."""
    return f'<progress value="{progress.done}" max="{max(1, progress.total)}"></progress> {progress}'
