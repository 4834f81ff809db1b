"""Where the file tools may reach: the notebook's folder, and those that the user allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import ToolExecutionError
from .identity import notebook_path


def notebook_folder(namespace: Mapping[str, Any]) -> Path:
    """The folder of the notebook that this kernel belongs to; where nobody tells, the kernel's working folder."""
    path = notebook_path(namespace)
    return (Path.cwd() if path is None else path.parent).resolve()


class Folders:
    """The notebook's folder as it was at the start, whatever folder the notebook changes to, and `allowed` ones.

    The file `kept` may be read and not written, wherever it lies: the policy file.
    """

    def __init__(self, home: Path, allowed: Iterable[str] = (), kept: str = "") -> None:
        self.home = home.resolve()
        self._kept = Path(kept).expanduser().resolve() if kept else None
        self.allowed = [self.home.joinpath(Path(each).expanduser()).resolve() for each in allowed]

    def reached(self, path: str) -> Path:
        """What `path` leads to, seen from the notebook's folder, with every symbolic link followed.

        Raises `ToolExecutionError` where that lies outside.
        """
        if "\0" in path or not path.strip():
            raise ToolExecutionError("The path must not be empty or hold a null character.")
        try:
            found = self.home.joinpath(path).resolve()
        except (OSError, RuntimeError) as error:
            raise ToolExecutionError(f"{path} leads nowhere: {error}") from error
        # What Python 3.13 leaves of links that lead round in a circle; before, it raised.
        if any(each.is_symlink() for each in (found, *found.parents)):
            raise ToolExecutionError(f"{path} leads nowhere: its links go round in a circle.")
        if any(found == folder or folder in found.parents for folder in (self.home, *self.allowed)):
            return found
        raise ToolExecutionError(
            f"{path} lies outside the notebook's folder, and its folder is not among those that the user allows "
            "(AgentMagic.folders, or folders in the policy file)."
        )

    def reached_to_write(self, path: str) -> Path:
        """`reached`, for a file that is about to change."""
        found = self.reached(path)
        if self._kept is not None and (found == self._kept or (found.exists() and found.samefile(self._kept))):
            raise ToolExecutionError(f"{path} holds the rules for tools, so no tool may write it.")
        return found

    def is_home(self, found: Path) -> bool:
        """Whether the path lies in the notebook's own folder."""
        return found == self.home or self.home in found.parents

    def named(self, found: Path) -> str:
        """The path as people read it: short where it lies in the notebook's folder."""
        return found.relative_to(self.home).as_posix() if self.is_home(found) else str(found)
