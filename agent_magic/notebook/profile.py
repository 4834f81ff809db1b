"""`%agent model`, `config` and `autoload`: the settings, and what of them the user's IPython profile keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from ..errors import AgentMagicError
from ..models import Model
from .command import Answer, Words
from .flags import near
from .kernel import NotebookKernel
from .overview import model_line
from .settings import CONFIG_FILE, MODEL_VARIABLE, AgentMagic, save_model

EXTENSION = "agent_magic"
PYTHON_FILE = "ipython_config.py"
# Between these lines stands what `autoload` writes, so that it can take exactly that away again.
_BEGIN = "# agent_magic: loaded in every kernel of this profile; %agent autoload off takes these lines away"
_LINE = f"get_config().InteractiveShellApp.extensions.append({EXTENSION!r})"
_BLOCK = f"{_BEGIN}\n{_LINE}\n"


def model(kernel: NotebookKernel, words: Words) -> Answer:
    names = [word for word in words if word != "--save"]
    if len(names) > 1 or len(words) - len(names) > 1 or any(name.startswith("-") for name in names):
        return None
    save = len(words) > len(names)
    name = names[0] if names else kernel.settings.model
    if save and isinstance(kernel.shell.user_ns.get(name), Model):
        raise UsageError(f"{name} is a variable of this notebook, unknown to other kernels. Save a model by its id.")
    if names:
        kernel.choose_model(name)
    shown = f"model    {model_line(kernel)}"
    if save:
        shown += f"\nsaved    in {_saving(lambda: save_model(kernel.shell, name))}"
        shown += f"\nbut      {MODEL_VARIABLE} goes before it while it is set" if os.environ.get(MODEL_VARIABLE) else ""
    return shown


def config(kernel: NotebookKernel, words: Words) -> Answer:
    if len(words) > 1:
        return None
    traits = AgentMagic.class_traits(config=True)
    if words and words[0].removeprefix("AgentMagic.") not in traits:
        advice = near(words[0], list(traits)) or f" There are {', '.join(sorted(traits))}."
        raise UsageError(f"There is no setting {words[0]}.{advice}")
    lines = []
    for name in [words[0].removeprefix("AgentMagic.")] if words else sorted(traits):
        value, default = getattr(kernel.settings, name), traits[name].default()
        was = "" if value == default else f"  (default {default!r})"
        lines += [f"AgentMagic.{name} = {value!r}{was}", f"    {traits[name].help}"]
    example = words[0].removeprefix("AgentMagic.") if words else "max_turns"
    return "\n".join(
        [
            *lines,
            "",
            f"%config AgentMagic.{example} = ... sets one for this kernel, and",
            f"c.AgentMagic.{example} = ... in {Path(kernel.shell.profile_dir.location, PYTHON_FILE)} for all.",
        ]
    )


# Loading by itself ----------------------------------------------------------------------------------------------------


def autoload(kernel: NotebookKernel, words: Words) -> Answer:
    folder = Path(kernel.shell.profile_dir.location)
    if not words:
        return _saving(lambda: f"autoload is {'on' if is_loaded_by(folder) else 'off'} for the profile in {folder}")
    if len(words) != 1 or words[0] not in ("on", "off"):
        return None
    return _saving(lambda: _switch_on(folder) if words[0] == "on" else _switch_off(folder))


def is_loaded_by(folder: Path) -> bool:
    """Whether a kernel of the profile in `folder` loads the extension by itself."""
    listed = _listed(folder)
    return _BEGIN in _text_of(folder / PYTHON_FILE) if listed is None else EXTENSION in listed


def _switch_on(folder: Path) -> str:
    if is_loaded_by(folder):
        return "autoload is on already; nothing was changed."
    listed = _listed(folder)
    if listed is not None:
        # A list in the JSON file goes before whatever the Python file says.
        return _listed_as(folder, [*listed, EXTENSION])
    path = folder / PYTHON_FILE
    text = _text_of(path)
    _write(path, text + ("" if not text or text.endswith("\n") else "\n") + _BLOCK)
    return f"Added to {path}:\n{_indented(_BLOCK)}\nNew kernels load agent_magic; %agent autoload off undoes it."


def _switch_off(folder: Path) -> str:
    listed, path = _listed(folder), folder / PYTHON_FILE
    text = _text_of(path)
    changed = []
    if listed and EXTENSION in listed:
        changed.append(_listed_as(folder, [name for name in listed if name != EXTENSION]))
    if _BLOCK in text:
        rest = text.replace(_BLOCK, "")
        if rest:
            _write(path, rest)
        else:
            path.unlink()
        changed.append(f"Removed from {path}:\n{_indented(_BLOCK)}")
    elif _BEGIN in text:
        raise AgentMagicError(f"The lines of autoload in {path} were edited; remove them there.")
    return "\n".join(changed) or f"autoload is off; nothing in {folder} was changed."


def _listed(folder: Path) -> list[str] | None:
    """The extensions that the JSON file lists; None where it lists none."""
    found = _json_of(folder).get("InteractiveShellApp", {}).get("extensions")
    return found if isinstance(found, list) else None


def _listed_as(folder: Path, extensions: list[str]) -> str:
    data = _json_of(folder)
    before = data["InteractiveShellApp"]["extensions"]
    data["InteractiveShellApp"]["extensions"] = extensions
    _write(folder / CONFIG_FILE, json.dumps(data, indent=2) + "\n")
    return f"Changed InteractiveShellApp.extensions in {folder / CONFIG_FILE}:\n    {before}\n    became {extensions}"


def _json_of(folder: Path) -> dict[str, Any]:
    text = _text_of(folder / CONFIG_FILE)
    if not text.strip():
        return {}
    found = json.loads(text)
    return found if isinstance(found, dict) else {}


def _text_of(path: Path) -> str:
    if not path.is_file():
        return ""
    # Line ends stay as they are.
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _saving(write: Callable[[], str]) -> str:
    """What `write` gives. A file that cannot be read or written is one clear error."""
    try:
        return write()
    except OSError as error:
        raise AgentMagicError(f"{error.filename} cannot be changed: {error.strerror}.") from None
    except ValueError as error:
        raise AgentMagicError(f"A config file of the profile cannot be read, so nothing was changed: {error}") from None
