"""The file: when it is made, who may write to it, what a crash leaves, and what is never touched."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from agent_magic import AssistantMessage, SessionError, SessionLockedError, TextContent, ToolResultMessage, UserMessage
from agent_magic.session import writer
from agent_magic.session.session import Session


def texts(session: Session) -> list[str]:
    return [message.text for message in session.messages]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A session on disk with one exchange."""
    with Session.new(tmp_path) as session:
        session.append(UserMessage("question"))
        session.append(AssistantMessage("answer"))
        assert session.path is not None
        return session.path


def test_the_file_is_made_with_the_first_user_message_and_is_private(tmp_path: Path) -> None:
    session = Session.new(tmp_path / "made" / "here")
    session.append_custom("mine", {"n": 1})
    session.flush()
    assert session.path is not None
    assert not session.path.exists()
    session.append(UserMessage("hello"))
    session.flush()
    if os.name == "posix":
        assert stat.S_IMODE(session.path.stat().st_mode) == 0o600
    lines = [json.loads(line) for line in session.path.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["session", "custom", "message"]
    assert lines[0]["version"] == 3
    assert lines[2]["parentId"] == lines[1]["id"]
    assert lines[2]["message"]["content"] == [{"type": "text", "text": "hello"}]
    session.close()


def test_a_session_goes_on_where_it_was_left(stored: Path) -> None:
    with Session.open(stored) as session:
        assert texts(session) == ["question", "answer"]
        session.append(UserMessage("more"))
        session.undo()
    with Session.open(stored) as session:
        assert texts(session) == ["question", "answer"]
        session.append(UserMessage("else"))
    with Session.open(stored) as session:
        assert texts(session) == ["question", "answer", "else"]


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_torn_last_line_is_taken_away_and_the_rest_goes_on(stored: Path, cut: int) -> None:
    whole = stored.read_bytes()
    stored.write_bytes(whole[:-cut])
    kept = 2 if cut == 1 else 1
    with Session.open(stored) as session:
        assert len(session.messages) == kept
        session.append(UserMessage("after the crash"))
    lines = stored.read_bytes().splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    with Session.open(stored) as session:
        assert len(session.messages) == kept + 1
        assert session.skipped == 0


def test_zeros_at_the_end_after_a_power_cut_are_taken_away(stored: Path) -> None:
    whole = stored.read_bytes()
    stored.write_bytes(whole + b"\0" * 512)
    with Session.open(stored) as session:
        assert texts(session) == ["question", "answer"]
    assert stored.read_bytes() == whole


def test_a_damaged_line_in_the_middle_is_passed_over_and_kept(stored: Path) -> None:
    header, first, second = stored.read_bytes().splitlines(keepends=True)
    stored.write_bytes(header + first + b"{damaged\n" + second)
    with Session.open(stored) as session:
        assert texts(session) == ["question", "answer"]
        assert session.skipped == 1
    assert b"{damaged\n" in stored.read_bytes()


@pytest.mark.parametrize("damaged", [1, 2])
def test_what_stands_before_and_behind_a_line_that_was_damaged_is_one_conversation(stored: Path, damaged: int) -> None:
    with Session.open(stored) as session:
        for text in ("more", "and more", "the end"):
            session.append(UserMessage(text))
    lines = stored.read_bytes().splitlines(keepends=True)
    lines[2 : 2 + damaged] = [line[:30] + b"\n" for line in lines[2 : 2 + damaged]]
    stored.write_bytes(b"".join(lines))
    left = ["question", *["more", "and more", "the end"][damaged - 1 :]]
    for _ in range(2):
        with Session.open(stored) as session:
            assert texts(session) == left
            assert session.skipped == damaged
            session.append(UserMessage("after it"))
            left.append("after it")


def test_a_message_that_cannot_be_read_is_left_out_of_the_context(stored: Path) -> None:
    line = {"type": "message", "id": "bad", "parentId": None, "timestamp": 5, "message": {"role": "martian"}}
    lines = stored.read_bytes().splitlines(keepends=True)
    line["parentId"] = json.loads(lines[-1])["id"]
    stored.write_bytes(b"".join(lines) + json.dumps(line).encode() + b"\n")
    with Session.open(stored) as session:
        session.append(UserMessage("more"))
        assert texts(session) == ["question", "answer", "more"]


@pytest.mark.parametrize(
    "content", [b"my notes\n", b'{"type": "notebook"}\n', b"[1, 2]", b"\xff\xfe\x00", b'{"type":"ses']
)
def test_a_file_that_is_no_session_is_never_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)
    for attempt in (Session.open, lambda path: Session.open(path, read_only=True), lambda path: Session.new(path=path)):
        with pytest.raises(SessionError, match="was left as it"):
            attempt(path)
    assert path.read_bytes() == content


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    session = Session.new(path=path)
    path.write_text("precious\n")
    session.append(UserMessage("hello"))
    with pytest.raises(SessionError, match="exists already"):
        session.flush()
    assert path.read_text() == "precious\n"
    assert session.problem is not None
    assert texts(session) == ["hello"]


def test_an_empty_file_becomes_a_session(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    with Session.open(path) as session:
        session.append(UserMessage("hello"))
    with Session.open(path) as session:
        assert texts(session) == ["hello"]


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"gone\.jsonl cannot be opened: No such file"):
        Session.open(tmp_path / "gone.jsonl")


def test_a_second_opening_is_refused_and_may_fork(stored: Path) -> None:
    with Session.open(stored):
        with pytest.raises(SessionLockedError, match="fork"):
            Session.open(stored)
        reader = Session.open(stored, read_only=True)
        assert texts(reader) == ["question", "answer"]
        with reader.fork() as fork:
            assert fork.path is not None
            assert fork.path != stored
            fork.append(UserMessage("in the fork"))
        assert fork.header.parent_session == str(stored)
    with Session.open(stored) as again:
        assert texts(again) == ["question", "answer"]


def test_a_second_process_is_refused_and_the_end_of_the_first_frees_the_file(stored: Path) -> None:
    code = textwrap.dedent(
        """
        import sys, time
        from agent_magic import Session
        session = Session.open(sys.argv[1])
        print("open", flush=True)
        time.sleep(60)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(stored)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(SessionLockedError):
            Session.open(stored)
    finally:
        child.kill()
        child.communicate()
    Session.open(stored).close()


def test_any_text_and_data_comes_back(tmp_path: Path) -> None:
    nasty = 'line\nbreak \u2028 \ud800 \0 😀 \\u0041 "quotes"'
    with Session.new(tmp_path) as session:
        session.append(UserMessage(nasty))
        session.append(
            ToolResultMessage("c", "t", [TextContent(nasty)], details={"when": Path("x"), "bad": float("nan")})
        )
    assert session.path is not None
    with Session.open(session.path) as again:
        assert texts(again) == [nasty, nasty]
        assert again.skipped == 0


def test_appending_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer.os, "fsync", lambda descriptor: time.sleep(1.0))
    session = Session.new(tmp_path)
    start = time.perf_counter()
    for number in range(50):
        session.append(UserMessage(str(number)))
    assert time.perf_counter() - start < 0.9
    session.close()
    assert session.path is not None
    assert len(session.path.read_bytes().splitlines()) == 51


def test_what_could_not_be_written_is_written_with_the_next_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.new(tmp_path)
    session.append(UserMessage("one"))
    session.flush()
    append = writer._append

    def full(file: object, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_append", full)
    session.append(AssistantMessage("two"))
    with pytest.raises(SessionError, match="No space left"):
        session.flush()
    assert "No space left" in (session.problem or "")
    monkeypatch.setattr(writer, "_append", append)
    session.append(UserMessage("three"))
    session.close()
    assert session.problem is None
    assert session.path is not None
    with Session.open(session.path) as again:
        assert texts(again) == ["one", "two", "three"]


def test_a_flush_alone_writes_what_could_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    session = Session.new(blocked)
    session.append(UserMessage("one"))
    with pytest.raises(SessionError):
        session.flush()
    blocked.unlink()
    session.close()
    assert session.path is not None
    assert session.path.exists()


def test_the_end_of_the_process_writes_the_rest(tmp_path: Path) -> None:
    code = (
        "import sys; from agent_magic import Session, UserMessage\n"
        "session = Session.new(sys.argv[1])\n"
        "for n in range(20): session.append(UserMessage(str(n)))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    (path,) = tmp_path.glob("*.jsonl")
    with Session.open(path) as session:
        assert len(session.messages) == 20


def test_a_closed_session_lets_go_of_its_file_and_takes_nothing_more(stored: Path) -> None:
    session = Session.open(stored)
    session.close()
    session.close()
    with pytest.raises(SessionError, match="is closed"):
        session.append(UserMessage("late"))
    Session.open(stored).close()
