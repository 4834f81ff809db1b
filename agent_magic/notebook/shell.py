"""Commands of the operating system's shell: the tool `shell`, and those that the user runs to show them the model."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..abort import AbortSignal
from ..config import ToolExecutionMode
from ..errors import ToolExecutionError
from ..messages import BashExecutionMessage
from ..providers.keys import known_keys
from ..providers.vendors import VENDORS
from ..tools.tool import AgentTool, AgentToolResult, ToolContext
from .tail import Tail

# Seconds that a process group is given to end by itself, and that its last output is waited for.
_GRACE = 0.1
# Seconds between two reports of progress.
_REPORTS = 0.25
# The most that a tool's result may hold is a little more.
_FOR_MODEL = 14_000

_SECRET_NAME = re.compile(r"(?i)(?:^|_)(?:api_?keys?|access_?key|secret|token|password|passwd|credentials?|pat)(?:_|$)")


@dataclass(frozen=True)
class Finished:
    """How a command ended: `exit_code` is None if it was `cancelled` (on demand) or `timed_out`."""

    output: Tail
    exit_code: int | None
    cancelled: bool = False
    timed_out: bool = False


def shell_tool(folder: Callable[[], Path]) -> AgentTool:
    """The tool; commands start in `folder()`."""

    def shell(arguments: dict[str, Any], context: ToolContext) -> AgentToolResult:
        timeout = arguments.get("timeout")
        ended = run_command(
            arguments["command"], folder(), timeout, context.signal, context.on_update, Tail(limit=_FOR_MODEL)
        )
        failure = _failure(ended, timeout)
        text = "\n\n".join(part for part in (failure, ended.output.text, ended.output.note) if part)
        return AgentToolResult(text or "(no output)", is_error=bool(failure), untrusted=True)

    return AgentTool(
        "shell",
        "Run a command in the shell of the user's machine, in the notebook's folder, without input. Gives what it "
        "prints, of long output the end.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string", "minLength": 1, "description": "The command line."},
                "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds; no limit at first."},
            },
            "required": ["command"],
        },
        shell,
        execution_mode=ToolExecutionMode.SEQUENTIAL,
        effect="execute",
        origin="builtin",
        thread=True,
    )


def _failure(ended: Finished, timeout: float | None) -> str:
    if ended.cancelled:
        return "Command aborted"
    if ended.timed_out:
        return f"Command timed out after {timeout:g} seconds"
    return f"Command exited with code {ended.exit_code}" if ended.exit_code else ""


def user_command(command: str, folder: Path, hidden: bool = False) -> BashExecutionMessage:
    """Run a command of the user's; what became of it, as a message that the model sees unless it is `hidden`.

    KeyboardInterrupt ends the command, and is part of the message.
    """
    tail, stop = Tail(), AbortSignal()
    ended = run_command(command, folder, None, stop, lambda text: None, tail)
    return BashExecutionMessage(
        command,
        tail.text,
        ended.exit_code,
        cancelled=ended.cancelled,
        truncated=tail.truncated,
        full_output_path=tail.path,
        exclude_from_context=hidden,
    )


def run_command(
    command: str,
    folder: Path,
    timeout: float | None,
    stop: AbortSignal,
    on_update: Callable[[str], object],
    output: Tail,
) -> Finished:
    """Run `command` until it ends, `timeout` seconds are over, `stop` is given, or KeyboardInterrupt comes.

    What it starts in the background and leaves behind lives on, unless it is broken off. Raises `ToolExecutionError`
    where there is no such folder or no shell.
    """
    try:
        process = subprocess.Popen(
            _shell_of(command),
            cwd=folder,
            env=environment_without_keys(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **_GROUP,
        )
    except OSError as error:
        raise ToolExecutionError(f"The command could not be started: {error.strerror or error}.") from error
    reader = threading.Thread(target=_read, args=(process, output), daemon=True)
    reader.start()
    # Whoever aborts must not wait for the end.
    forget = stop.on_abort(threading.Thread(target=end_group, args=(process,), daemon=True).start)
    timed_out = cancelled = False
    try:
        timed_out = _wait(process, timeout, output, on_update)
    except KeyboardInterrupt:
        cancelled = True
    finally:
        forget()
        if process.poll() is None:
            end_group(process)
    # A program left in the background may hold the other end open for good.
    reader.join(_GRACE * 2)
    output.close()
    broken_off = timed_out or cancelled or stop.aborted
    return Finished(output, None if broken_off else process.returncode, cancelled or stop.aborted, timed_out)


def _wait(
    process: subprocess.Popen[bytes], timeout: float | None, output: Tail, on_update: Callable[[str], Any]
) -> bool:
    """Wait for the end; True when the time was over first."""
    end = None if timeout is None else time.monotonic() + timeout
    seen = 0
    while True:
        step = _REPORTS if end is None else min(_REPORTS, max(0.0, end - time.monotonic()))
        try:
            process.wait(step)
            return False
        except subprocess.TimeoutExpired:
            if end is not None and time.monotonic() >= end:
                end_group(process)
                return True
        if output.total > seen:
            seen = output.total
            on_update(output.last_lines(20))


def _read(process: subprocess.Popen[bytes], output: Tail) -> None:
    decoder = getincrementaldecoder("utf-8")("replace")
    pipe = process.stdout
    assert pipe is not None
    with pipe:
        while data := os.read(pipe.fileno(), 65_536):
            output.write(decoder.decode(data))
    output.write(decoder.decode(b"", final=True))


# The operating systems ------------------------------------------------------------------------------------------------

# A group of its own, so that all that a command starts can be ended at once.
_GROUP: Mapping[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if os.name == "nt"
    else {"start_new_session": True}
)


def _shell_of(command: str) -> list[str] | str:
    if os.name == "nt":
        # cmd has rules of its own for quotes; a list would be quoted by those of C.
        return f'"{os.environ.get("COMSPEC", "cmd.exe")}" /d /s /c "{command}"'
    return [shutil.which("bash") or "/bin/sh", "-c", command]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it started: politely, then not."""
    if os.name == "nt":
        subprocess.run(
            ["taskkill", "/F", "/T", "/PID", str(process.pid)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return
    for number in ("SIGTERM", "SIGKILL"):
        try:
            os.killpg(process.pid, getattr(signal, number))
        except (ProcessLookupError, PermissionError):
            return
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            continue


def environment_without_keys(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without variables that hold keys, by their names or by the keys that are known here."""
    given = os.environ if environment is None else environment
    names = {name for vendor in VENDORS.values() for name in vendor.key_variables}
    keys = [text for key in known_keys() if len(text := key.reveal()) >= 8]
    kept = {
        name: value
        for name, value in given.items()
        if name not in names and not _SECRET_NAME.search(name) and not any(key in value for key in keys)
    }
    return {**kept, "PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb"}
