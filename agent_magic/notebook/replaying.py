"""What becomes of the requests of this kernel: they are sent, sent and recorded, or answered from the recording."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .flags import CellOptions
from .identity import notebook_path, running_cell
from .masking import masked

if TYPE_CHECKING:
    from ..session.recording import Recording
    from ..session.replay import Player, Recorder
    from .settings import AgentMagic

RECORD = "record"
REPLAY = "replay"


class Replaying:
    """Follows the settings `replay` and `replay_file`, and the flags of single cells before them.

    `own_texts()` gives texts of the package, which the next version may word otherwise, and what stands for each at
    the beginning of a text in a recording.
    """

    def __init__(self, shell: Any, settings: AgentMagic, own_texts: Callable[[], Mapping[str, str]]) -> None:
        self._shell = shell
        self._settings = settings
        self._own_texts = own_texts
        self._recording: Recording | None = None
        self._whole: Recorder | Player | None = None
        self._end: Callable[[], object] = bool
        settings.observe(self._chosen, ["replay", "replay_file"])
        self._choose()

    def close(self) -> None:
        """Let requests go to the network again."""
        self._settings.unobserve(self._chosen, ["replay", "replay_file"])
        self._end()
        self._end = bool

    @contextlib.contextmanager
    def cell(self, options: CellOptions, in_cell: bool = True) -> Iterator[str | None]:
        """Record or replay what a run asks for, if it or the settings want that; gives what to tell the user.

        `in_cell`: what the cell that runs has recorded before is replaced.
        """
        mode = RECORD if options.record else REPLAY if options.replay else ""
        way = self._way(mode) if mode else self._whole
        if way is None:
            yield None
            return
        way.cell = running_cell(self._shell) if in_cell else ""
        way.recording.begin(way.cell)
        end: Callable[[], object] = way.install() if mode else bool
        try:
            yield _note(mode or self._settings.replay, way.recording.path)
        finally:
            end()
            way.cell = ""

    def _chosen(self, change: Any) -> None:
        if change.name == "replay_file":
            self._recording = None
        self._choose()

    def _choose(self) -> None:
        self._end()
        self._whole = self._way(self._settings.replay) if self._settings.replay else None
        self._end = self._whole.install() if self._whole is not None else bool

    def _way(self, mode: str) -> Recorder | Player:
        from ..session.recording import Recording
        from ..session.replay import Player, Recorder

        if self._recording is None:
            self._recording = Recording(self._file())
        return (Recorder if mode == RECORD else Player)(self._recording, self._masked)

    def _masked(self, text: str) -> str:
        for own, name in self._own_texts().items():
            if text.startswith(own):
                return name + masked(text.removeprefix(own))
        return masked(text)

    def _file(self) -> Path:
        """The file that the setting names, else the one beside the notebook, else one in the user's data folder."""
        from ..session.location import data_folder
        from ..session.recording import SUFFIX

        if self._settings.replay_file:
            return Path(self._settings.replay_file).expanduser().absolute()
        notebook = notebook_path(self._shell.user_ns)
        if notebook is not None:
            return notebook.with_name(notebook.stem + SUFFIX)
        return data_folder() / f"notebook{SUFFIX}"


def _note(mode: str, path: Path) -> str:
    if mode == RECORD:
        return f"Requests and answers are recorded in {path.name}."
    return f"Answered from {path.name}; nothing was sent to a model of the network."
