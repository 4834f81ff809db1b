"""Commands: their output, their end, and what they must not see."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.notebook.shell import environment_without_keys, run_command, shell_tool, user_command
from agent_magic.notebook.tail import BYTES, Tail
from agent_magic.providers.keys import login
from agent_magic.tools.execution import execute

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")


def ran(command: str, folder: Path, **more: Any) -> am.AgentToolResult:
    context = am.ToolContext(**more.pop("context", {}))
    return asyncio.run(execute(shell_tool(lambda: folder), {"command": command, **more}, context))


def test_output_and_errors_come_in_order_in_the_notebooks_folder(tmp_path: Path) -> None:
    result = ran("echo one; echo two >&2; pwd", tmp_path)
    assert result.text == f"one\ntwo\n{tmp_path}"
    assert not result.is_error
    assert result.untrusted


def test_a_command_that_fails_is_an_error_with_its_output_and_code(tmp_path: Path) -> None:
    result = ran("echo some; exit 3", tmp_path)
    assert result.is_error
    assert result.text == "Command exited with code 3\n\nsome"


def test_a_silent_command_says_so(tmp_path: Path) -> None:
    assert ran("true", tmp_path).text == "(no output)"


def test_a_command_has_no_input_to_wait_for(tmp_path: Path) -> None:
    assert ran("read line; echo \"got '$line'\"; cat", tmp_path, timeout=5).text == "got ''"


def alive(path: Path) -> bool:
    try:
        os.kill(int(path.read_text()), 0)
    except ProcessLookupError:
        return False
    # One that has ended and was not waited for by its parent is no more than an entry in a table.
    stat = Path(f"/proc/{path.read_text().strip()}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def gone(path: Path) -> bool:
    end = time.monotonic() + 10
    while alive(path) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(path)


def test_a_time_out_ends_the_whole_group_and_keeps_the_output(tmp_path: Path) -> None:
    began = time.monotonic()
    result = ran("trap '' TERM; sleep 60 & echo $! > child; echo began; wait", tmp_path, timeout=0.5)
    assert time.monotonic() - began < 15
    assert result.is_error
    assert result.text == "Command timed out after 0.5 seconds\n\nbegan"
    assert gone(tmp_path / "child")


def test_stop_ends_the_whole_group(tmp_path: Path) -> None:
    signal = am.AbortSignal()
    threading.Timer(0.4, signal.abort).start()
    began = time.monotonic()
    with pytest.raises(am.AbortedError):
        ran("sleep 60 & echo $! > child; wait", tmp_path, context={"signal": signal})
    assert time.monotonic() - began < 15
    assert gone(tmp_path / "child")


def test_what_is_left_in_the_background_holds_nothing_up_and_lives_on(tmp_path: Path) -> None:
    began = time.monotonic()
    assert ran("sleep 30 & echo $! > child; echo done", tmp_path).text == "done"
    assert time.monotonic() - began < 15
    assert alive(tmp_path / "child")
    os.kill(int((tmp_path / "child").read_text()), 9)


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    ran("echo early; sleep 0.8; echo late", tmp_path, context={"on_update": lambda part: told.append(part.text)})
    assert told == ["early"]


def test_the_end_of_long_output_is_kept_and_all_of_it_is_in_a_file(tmp_path: Path) -> None:
    result = ran("seq 1 100000", tmp_path)
    body, note = result.text.rsplit("\n\n", 1)
    assert body.splitlines()[-1] == "100000"
    assert len(result.text) < 16_000
    assert "of 100,000 lines. Full output: " in note
    path = Path(note.rsplit("Full output: ", 1)[1].rstrip("]"))
    assert path.read_text().splitlines() == [str(number) for number in range(1, 100_001)]
    assert path.stat().st_mode & 0o077 == 0
    path.unlink()


@pytest.mark.parametrize("lines", [1_999, 2_000, 2_001, 6_000])
def test_many_short_lines_are_cut_at_2000_and_are_in_a_file_too(lines: int) -> None:
    tail = Tail()
    for number in range(lines):
        tail.write(f"{number}\n")
    tail.close()
    kept = tail.text.splitlines()
    assert kept == [str(number) for number in range(lines)][-2_000:]
    assert tail.truncated == (lines > 2_000)
    assert (tail.path is not None) == tail.truncated
    if tail.path is not None:
        assert Path(tail.path).read_text().splitlines() == [str(number) for number in range(lines)]
        Path(tail.path).unlink()


def test_one_endless_line_keeps_its_end() -> None:
    tail = Tail()
    for _ in range(100):
        tail.write("ä" * 1_000)
    tail.write("end")
    tail.close()
    assert tail.text.endswith("äend")
    assert BYTES - 4 < len(tail.text.encode()) <= BYTES
    assert tail.path is not None
    assert Path(tail.path).read_text(encoding="utf-8") == "ä" * 100_000 + "end"
    Path(tail.path).unlink()


def test_colours_and_control_characters_are_left_out_wherever_they_are_cut() -> None:
    tail = Tail()
    for character in "a\x1b[31mred\x1b[0m\r\nb\x07\tc\x1b]0;title\x07d":
        tail.write(character)
    assert tail.text == "ared\nb\tcd"


def test_characters_of_several_bytes_survive_any_cut(tmp_path: Path) -> None:
    assert ran(r"printf '\xe2'; sleep 0.1; printf '\x82\xac \xff'", tmp_path).text == "€ \ufffd"


def test_no_key_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    login("example.org", "the-key-of-a-login")
    try:
        kept = environment_without_keys(
            {
                "PATH": "/bin",
                "OPENAI_API_KEY": "a",
                "GEMINI_API_KEY": "a",
                "AWS_SECRET_ACCESS_KEY": "a",
                "GITHUB_TOKEN": "a",
                "JPY_API_TOKEN": "a",
                "DB_PASSWORD": "a",
                "MY_OWN": "Bearer the-key-of-a-login",
                "KEYBOARD": "us",
                "MONKEY": "m",
            }
        )
    finally:
        login("example.org", None)
    assert set(kept) == {"PATH", "KEYBOARD", "MONKEY", "PAGER", "GIT_PAGER", "TERM"}


def test_a_command_does_not_see_the_keys_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
    assert "sk-not-a-key" not in ran("env", tmp_path).text


def test_a_folder_that_is_gone_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(am.AgentMagicError, match="could not be started"):
        ran("true", tmp_path / "none")


def test_a_command_of_the_user_is_a_message(tmp_path: Path) -> None:
    message = user_command("echo hi; exit 2", tmp_path)
    assert (message.command, message.output, message.exit_code) == ("echo hi; exit 2", "hi", 2)
    assert (message.cancelled, message.truncated, message.exclude_from_context) == (False, False, False)
    assert user_command("true", tmp_path, hidden=True).exclude_from_context


def test_a_command_of_the_user_that_is_broken_off_has_no_exit_code(tmp_path: Path) -> None:
    stop = am.AbortSignal()
    threading.Timer(0.2, stop.abort).start()
    ended = run_command("echo hi; sleep 20", tmp_path, None, stop, lambda text: None, Tail())
    assert (ended.cancelled, ended.exit_code, ended.output.text) == (True, None, "hi")
