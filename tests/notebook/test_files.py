"""The file tools stay where they may be, and never leave half a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.errors import ToolExecutionError
from agent_magic.notebook.files import CHARACTERS, LARGEST_WRITTEN, difference, file_tools, read, write
from agent_magic.notebook.folders import Folders, notebook_folder

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001"
    "e221bc330000000049454e44ae426082"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "notebook"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("theirs")
    return folder


def text_of(content: Any) -> str:
    return "".join(block.text for block in content)


@pytest.mark.parametrize(
    "path", ["../outside/secret.txt", "a/../../outside/secret.txt", "..", "/etc/hostname", "~x/../.."]
)
def test_a_path_that_leads_outside_is_refused(path: str, home: Path) -> None:
    with pytest.raises(ToolExecutionError, match="outside"):
        Folders(home).reached(path)


def test_links_are_followed_before_it_is_looked_where_a_file_lies(home: Path) -> None:
    outside = home.parent / "outside"
    (home / "link").symlink_to(outside)
    (home / "file").symlink_to(outside / "secret.txt")
    (home / "new").symlink_to(outside / "not-yet.txt")
    (home / "loop").symlink_to(home / "loop")
    for path in ("link/secret.txt", "file", "new", "link/new.txt", "loop/x"):
        with pytest.raises(ToolExecutionError):
            Folders(home).reached(path)
    (home / "inner.txt").write_text("ours")
    (home / "good").symlink_to("inner.txt")
    assert Folders(home).reached("good") == home / "inner.txt"


def test_a_folder_whose_name_only_begins_alike_is_outside(home: Path) -> None:
    (home.parent / "notebook-2").mkdir()
    with pytest.raises(ToolExecutionError, match="outside"):
        Folders(home).reached("../notebook-2/a.txt")


def test_allowed_folders_can_be_reached(home: Path) -> None:
    folders = Folders(home, ["../outside"])
    found = folders.reached("../outside/secret.txt")
    assert text_of(read(found)) == "theirs"
    assert not folders.is_home(found)
    assert folders.named(found) == str(found)


def test_no_tool_writes_the_rules_for_tools(home: Path) -> None:
    rules = home / "policy.json"
    rules.write_text("{}")
    (home / "other").symlink_to(rules)
    os.link(rules, home / "hard")
    _, write_file = file_tools(lambda: Folders(home, kept=str(rules)))
    for path in ("policy.json", "other", "hard", str(rules)):
        with pytest.raises(ToolExecutionError, match="rules for tools"):
            write_file.execute({"path": path, "content": "x"}, am.ToolContext())
    assert rules.read_text() == "{}"


def test_a_file_from_elsewhere_is_untrusted_and_one_of_the_notebook_is_not(home: Path) -> None:
    read_file, _ = file_tools(lambda: Folders(home, ["../outside"]))
    (home / "a.txt").write_text("ours")
    assert read_file.execute({"path": "../outside/secret.txt"}, am.ToolContext()).untrusted
    assert not read_file.execute({"path": "a.txt"}, am.ToolContext()).untrusted


def test_long_files_come_in_parts_that_say_where_to_go_on(home: Path) -> None:
    path = home / "long.txt"
    path.write_text("\n".join(f"line {number}" for number in range(1, 5001)))
    first = text_of(read(path))
    assert first.startswith("line 1\nline 2\n")
    assert len(first) < CHARACTERS + 100
    offset = int(first.rsplit("offset=", 1)[1].removesuffix(".]"))
    assert text_of(read(path, offset)).startswith(f"line {offset}\n")
    assert text_of(read(path, 4999)) == "line 4999\nline 5000"
    assert text_of(read(path, 2, 1)) == "line 2\n[Lines 2 to 2 of 5,000. Go on with offset=3.]"
    with pytest.raises(ToolExecutionError, match="no line 5,001"):
        read(path, 5001)


def test_one_very_long_line_is_cut_and_can_be_passed(home: Path) -> None:
    path = home / "line.json"
    path.write_text("x" * 100_000 + "\nend")
    shown = text_of(read(path))
    assert "86,000 characters of the line left out" in shown
    assert text_of(read(path, 2)) == "end"


def test_an_image_is_an_image_and_other_data_is_told_by_its_size(home: Path) -> None:
    (home / "a.png").write_bytes(PNG)
    (block,) = read(home / "a.png")
    assert isinstance(block, am.ImageContent)
    assert block.mime_type == "image/png"
    (home / "b.bin").write_bytes(b"\xff\xfe\x00" * 10)
    with pytest.raises(ToolExecutionError, match="30 bytes of data"):
        read(home / "b.bin")


def test_what_is_no_file_is_an_error_that_tells_what_there_is(home: Path) -> None:
    (home / "data.csv").write_text("a")
    with pytest.raises(ToolExecutionError, match="data"):
        read(home / "dta.csv")
    with pytest.raises(ToolExecutionError, match="is a folder"):
        read(home)
    (home / "empty").touch()
    assert text_of(read(home / "empty")) == "(an empty file)"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_never_waited_for(home: Path) -> None:
    os.mkfifo(home / "pipe")
    with pytest.raises(ToolExecutionError):
        read(home / "pipe")
    with pytest.raises(ToolExecutionError, match="no ordinary file"):
        write(home / "pipe", "x")


def test_writing_replaces_whole_files_keeps_their_mode_and_leaves_nothing_behind(home: Path) -> None:
    path = home / "new" / "a.txt"
    assert write(path, "one\r\nzwei ä\n") is None
    assert path.read_bytes() == "one\r\nzwei ä\n".encode()
    path.chmod(0o640)
    assert write(path, "two") == "one\r\nzwei ä\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == ["a.txt"]


def test_a_write_that_fails_leaves_the_old_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / "a.txt"
    write(path, "old")

    def fail(*names: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ToolExecutionError, match="No space left"):
        write(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(home) == ["a.txt"]


def test_too_much_is_refused_before_anything_is_written(home: Path) -> None:
    with pytest.raises(ToolExecutionError, match="more than"):
        write(home / "a.txt", "x" * (LARGEST_WRITTEN + 1))
    assert os.listdir(home) == []


def test_halves_of_characters_do_not_stop_a_write(home: Path) -> None:
    write(home / "a.txt", "\ud83d\ude00 \ud800")
    assert (home / "a.txt").read_text("utf-8") == "\U0001f600 \ufffd"


def test_the_difference_is_shown_and_capped(home: Path) -> None:
    assert difference("a\nb\n", "a\nc\n", "f") == "--- f before\n+++ f now\n@@ -1,2 +1,2 @@\n a\n-b\n+c"
    assert difference(None, "a", "f").startswith("--- nothing\n+++ f now")
    assert difference("a", "a", "f") == "f is as it was."
    assert difference(None, "x\n" * 1000, "f").endswith("… 603 more lines")


def test_the_diff_is_printed_for_the_card_and_the_model_gets_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, write_file = file_tools(lambda: Folders(home))
    result = write_file.execute({"path": "a.txt", "content": "x\ny\n"}, am.ToolContext())
    assert result.text == "Wrote a.txt: 2 lines."
    assert "+x" in capsys.readouterr().out


def test_the_folder_is_that_of_the_notebook_else_where_the_kernel_works(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(home / "a.ipynb"))
    assert notebook_folder({}) == home
    monkeypatch.setenv("JPY_SESSION_NAME", "console-1")
    assert notebook_folder({"__vsc_ipynb_file__": str(home / "b.ipynb")}) == home
    assert notebook_folder({}) == Path.cwd()
