"""Models in files of this machine: where they usually lie, and what `get_model("local:...")` makes of one."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import InvalidDataError, UnknownModelError
from ..models import Model, ModelCost

PREFIX = "local"
# The memory that a conversation takes grows with its window, to gigabytes for what some files offer.
LARGEST_WINDOW = 16_384
# Folders of folders that are looked into; a Hugging Face cache has four.
_DEPTH = 5
_OFFERED = 8
# What a file says of itself stands at its beginning, before its vocabulary.
_HEADER = 65_536
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9


def find_models() -> dict[str, Path]:
    """The GGUF files in the usual places, by name, sorted; only names are read.

    The places are the current folder, `~/models`, and the caches of LM Studio, llama.cpp and the Hugging Face hub. Of
    a model in several parts the first is given, which leads to the others. Of two files of one name the first counts.
    """
    found: dict[str, Path] = {}
    for folder, depth in _places():
        for path in _files(folder, depth):
            if _is_model(path.name):
                found.setdefault(path.stem, path)
    return dict(sorted(found.items(), key=lambda each: each[0].lower()))


def find_model(name: str) -> Path:
    """The file at the path `name`, or the one that `find_models` has under this name.

    Raises `UnknownModelError` with the names that there are.
    """
    path = Path(name).expanduser()
    if name and path.is_file():
        return path.absolute()
    found = find_models()
    by_name = {each.lower(): path for each, path in found.items()}
    known = by_name.get(name.lower().removesuffix(".gguf"))
    if known is not None:
        return known.absolute()
    offered = ", ".join(f"local:{each}" for each in list(found)[:_OFFERED]) + (", ..." if len(found) > _OFFERED else "")
    there_are = f"Found in the usual places: {offered}." if found else "None was found in the usual places."
    what = f"There is no model file {name!r}." if name else "No model file is named."
    raise UnknownModelError(f"{what} {there_are} Write local: and the path of a GGUF file.")


def local_model(name: str, overrides: Mapping[str, Any]) -> Model:
    """The model in the file `name`; raises `UnknownModelError` or `InvalidDataError`. It is not loaded yet."""
    path = find_model(name)
    own = context_length(path)
    found = {
        "id": path.stem,
        "api": "local",
        "provider": PREFIX,
        "cost": ModelCost(),
        "context_window": min(own or LARGEST_WINDOW, LARGEST_WINDOW),
    }
    compat = {"path": str(path), **overrides.get("compat", {})}
    return Model(**{**found, **overrides, "compat": compat})


def context_length(path: Path) -> int | None:
    """The longest conversation that the file was made for, in tokens; None where its beginning does not tell.

    A file that is no GGUF, or cannot be read, is an `InvalidDataError`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_HEADER)
    except OSError as error:
        raise InvalidDataError(f"cannot be read: {error.strerror}. Check the file.", str(path)) from None
    if data[:4] != b"GGUF":
        raise InvalidDataError("is no GGUF file. Take one whose name ends with .gguf, whole.", str(path))
    try:
        return next((value for key, value in _entries(data) if key.endswith(".context_length")), None)
    except (struct.error, IndexError, KeyError):
        return None


def _entries(data: bytes) -> Iterator[tuple[str, Any]]:
    """Keys and values of a GGUF header, lists without their values. Ends with an error where `data` does."""
    position = 24
    (count,) = struct.unpack_from("<Q", data, 16)
    for _ in range(count):
        key, position = _text(data, position)
        (kind,) = struct.unpack_from("<I", data, position)
        value, position = _value(data, position + 4, kind)
        yield key, value


def _value(data: bytes, position: int, kind: int) -> tuple[Any, int]:
    if kind == _TEXT:
        return _text(data, position)
    if kind == _LIST:
        inner, length = struct.unpack_from("<IQ", data, position)
        position += 12
        if inner in _NUMBERS:
            return None, position + length * struct.calcsize(f"<{_NUMBERS[inner]}")
        for _ in range(length):
            _, position = _value(data, position, inner)
        return None, position
    form = f"<{_NUMBERS[kind]}"
    return struct.unpack_from(form, data, position)[0], position + struct.calcsize(form)


def _text(data: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, position)
    end = position + 8 + length
    if end > len(data):
        raise IndexError(end)
    return data[position + 8 : end].decode("utf-8", "replace"), end


# Places --------------------------------------------------------------------------------------------------------------


def _places() -> Iterator[tuple[Path, int]]:
    """Folders, and how many folders deep to look into each."""
    home, environment = Path.home(), os.environ
    yield Path.cwd(), 0
    yield home / "models", _DEPTH
    yield home / ".lmstudio" / "models", _DEPTH
    yield home / ".cache" / "lm-studio" / "models", _DEPTH
    yield Path(environment.get("LLAMA_CACHE") or _system_cache(home) / "llama.cpp"), _DEPTH
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "huggingface"
    yield Path(environment.get("HF_HUB_CACHE") or Path(environment.get("HF_HOME") or cache) / "hub"), _DEPTH


def _system_cache(home: Path) -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """The files below `folder`, in order; folders that cannot be read hold none, and links to folders are passed by."""
    try:
        entries = sorted(os.scandir(folder), key=lambda each: each.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _files(Path(entry.path), depth - 1)
        else:
            yield Path(entry.path)


def _is_model(name: str) -> bool:
    """Whether a file of this name is a model, or the first part of one; a projector of images (mmproj) is not."""
    stem, dot, ending = name.rpartition(".")
    if not dot or ending.lower() != "gguf" or "mmproj" in stem.lower():
        return False
    _, of, total = stem.rpartition("-of-")
    return not (of and total.isdigit()) or stem.endswith(f"-00001-of-{total}")
