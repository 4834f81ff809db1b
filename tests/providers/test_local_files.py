"""Model files are found by name in the usual places, and told from other files by their beginning."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agent_magic as am
from agent_magic.providers.local_files import LARGEST_WINDOW, context_length, find_models

Touch = Callable[[str], Path]


def header(**values: Any) -> bytes:
    """A GGUF header with these entries."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def entry(value: Any) -> bytes:
        if isinstance(value, str):
            return struct.pack("<I", 8) + text(value)
        if isinstance(value, bool):
            return struct.pack("<I?", 7, value)
        if isinstance(value, float):
            return struct.pack("<If", 6, value)
        if isinstance(value, list) and isinstance(value[0], str):
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(text(each) for each in value)
        if isinstance(value, list):
            return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
        return struct.pack("<II", 4, value)

    body = b"".join(text(name.replace("__", ".")) + entry(value) for name, value in values.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + body


@pytest.fixture
def touch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Touch:
    """Makes a model file at a path below an empty home, in whose folder `here` the program runs."""
    home = tmp_path / "home"
    (home / "here").mkdir(parents=True)
    for variable in ("LLAMA_CACHE", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(home / "here")

    def make(name: str) -> Path:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(header(general__architecture="llama", llama__context_length=4096))
        return path

    return make


def test_the_usual_places_are_searched(touch: Touch) -> None:
    paths = [
        touch("here/one.gguf"),
        touch("models/deep/er/two.GGUF"),
        touch(".lmstudio/models/publisher/repo/three.gguf"),
        touch(".cache/lm-studio/models/publisher/repo/four.gguf"),
        touch(".cache/huggingface/hub/models--org--name/snapshots/0f/five.gguf"),
    ]
    assert find_models() == {path.stem: path for path in sorted(paths, key=lambda each: each.stem)}


@pytest.mark.skipif(sys.platform != "linux", reason="each platform has its own folder for caches")
def test_the_cache_of_llama_cpp_is_searched_where_it_is(touch: Touch, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = touch(".cache/llama.cpp/usual.gguf")
    assert find_models() == {"usual": usual}
    moved = touch("elsewhere/moved.gguf")
    monkeypatch.setenv("LLAMA_CACHE", str(moved.parent))
    assert find_models() == {"moved": moved}


def test_projectors_later_parts_and_other_files_are_no_models(touch: Touch) -> None:
    touch("models/mmproj-model.gguf")
    touch("models/big-00002-of-00003.gguf")
    touch("models/readme.md")
    touch("models/gguf")
    touch("here/below/not-searched.gguf")
    first = touch("models/big-00001-of-00003.gguf")
    assert find_models() == {"big-00001-of-00003": first}


def test_a_found_file_is_a_model_by_its_name_and_any_file_by_its_path(touch: Touch) -> None:
    path = touch("models/qwen3.gguf")
    other = touch("far/away/other.gguf")
    for name in ("local:qwen3", "local/qwen3", "local:Qwen3.gguf", f"local:{path}", "local:~/models/qwen3.gguf"):
        model = am.get_model(name)
        assert (model.label, model.compat["path"]) == ("local/qwen3", str(path))
    assert am.get_model(f"local:{other}").id == "other"
    touch("here/near.gguf")
    assert Path(am.get_model("local:near.gguf").compat["path"]).is_absolute()


def test_overrides_reach_the_model_beside_the_path(touch: Touch) -> None:
    path = touch("models/qwen3.gguf")
    model = am.get_model("local:qwen3", context_window=99, reasoning=True, compat={"threads": 3})
    assert (model.context_window, model.reasoning) == (99, True)
    assert dict(model.compat) == {"path": str(path), "threads": 3}


def test_a_name_that_is_not_found_offers_what_there_is(touch: Touch) -> None:
    with pytest.raises(am.UnknownModelError, match="None was found"):
        am.get_model("local:qwen3")
    touch("models/llama.gguf")
    with pytest.raises(am.UnknownModelError, match=r"no model file 'qwen3'.*local:llama.*path of a GGUF file"):
        am.get_model("local:qwen3")
    with pytest.raises(am.UnknownModelError, match=r"No model file is named.*local:llama"):
        am.get_model("local:")


@pytest.mark.parametrize(
    ("values", "length"),
    [
        ({"general__architecture": "llama", "llama__context_length": 4096}, 4096),
        (
            {
                "general__name": "Näme",
                "general__tags": ["one", "two"],
                "general__sizes": [1, 2, 3],
                "general__scale": 0.5,
                "general__flag": True,
                "qwen3__rope__original_context_length": 7,
                "qwen3__context_length": 40_960,
            },
            40_960,
        ),
        ({"general__architecture": "llama"}, None),
        ({"tokens": ["word"] * 20_000, "llama__context_length": 4096}, None),
    ],
)
def test_the_window_is_read_from_the_beginning_of_the_file(
    tmp_path: Path, values: dict[str, Any], length: int | None
) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(header(**values))
    assert context_length(file) == length
    assert am.get_model(f"local:{file}").context_window == min(length or LARGEST_WINDOW, LARGEST_WINDOW)


def test_every_cut_of_a_header_is_read_without_an_error(tmp_path: Path) -> None:
    whole = header(general__name="model", general__tags=["one"], general__sizes=[1], llama__context_length=4096)
    file = tmp_path / "model.gguf"
    for length in range(4, len(whole)):
        file.write_bytes(whole[:length])
        assert context_length(file) is None


def test_what_is_no_gguf_file_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "pointer.gguf"
    file.write_text("version https://git-lfs.github.com/spec/v1")
    with pytest.raises(am.InvalidDataError, match=r"pointer\.gguf: is no GGUF file"):
        am.get_model(f"local:{file}")
