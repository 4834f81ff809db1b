"""`--image`: what may be named, what the model is sent, and what is refused."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError
from PIL import Image

import agent_magic as am
from agent_magic.notebook.images import image_named


def opened(block: am.ImageContent) -> Any:
    return Image.open(io.BytesIO(block.bytes))


def png(width: int = 4, height: int = 3) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, "PNG")
    return file.getvalue()


def test_figures_images_arrays_bytes_and_files_become_images(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().plot([1, 2])
    path = tmp_path / "a picture.png"
    path.write_bytes(png())
    namespace = {
        "fig": figure,
        "axes": figure.axes[0],
        "pil": Image.new("RGB", (4, 3)),
        "raw": png(),
        "place": path,
        "grey": np.zeros((3, 4)),
        "colour": np.zeros((3, 4, 3), np.uint8),
        "one": np.zeros((3, 4, 1), np.uint8),
    }
    for name in namespace:
        block = image_named(name, namespace)
        assert block.mime_type == "image/png"
        if name not in ("fig", "axes"):
            assert opened(block).size == (4, 3), name
    assert opened(image_named(str(path), {})).size == (4, 3)


@pytest.mark.parametrize(
    ("pixels", "expected"),
    [
        (np.array([[0.0, 0.5], [1.0, 0.25]]), [0, 128, 255, 64]),
        (np.array([[0, 255], [7, 8]], np.int64), [0, 255, 7, 8]),
        (np.array([[-1.0, 0.0], [1.0, 3.0]]), [0, 64, 128, 255]),
        (np.array([[False, True], [True, False]]), [0, 255, 255, 0]),
        (np.array([[np.nan, 0.0], [1.0, 1.0]]), [0, 0, 255, 255]),
        (np.array([[5.0, 5.0], [5.0, 5.0]]), [0, 0, 0, 0]),
    ],
)
def test_an_array_keeps_its_pixels_or_is_stretched_to_be_seen(pixels: Any, expected: list[int]) -> None:
    assert list(np.asarray(opened(image_named("a", {"a": pixels}))).flat) == expected


def test_a_large_image_is_made_small_enough_to_send() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (1500, 1500, 3), np.uint8)
    block = image_named("noise", {"noise": noise})
    assert len(block.bytes) <= 300_000


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("fgi", "no variable and no file fgi. Did you mean fig"),
        ("number", "number is a int, of which no image can be made"),
        ("frame", "frame is a DataFrame"),
        ("text", "text is a str"),
        ("words", "words is an array of <U1 with shape (1, 1), not of pixels"),
        ("broken", "broken is no PNG, JPEG, GIF or WebP"),
    ],
)
def test_what_is_no_image_is_refused_with_advice(loaded: Any, name: str, advice: str) -> None:
    import pandas as pd

    loaded.user_ns |= {
        "fig": 1,
        "number": 1,
        "frame": pd.DataFrame({"a": [1]}),
        "text": "hello",
        "words": np.array([["a"]]),
        "broken": b"nothing",
    }
    with pytest.raises(UsageError) as refused:
        loaded.run_line_magic("agent", f"-i {name} what is this?")
    assert advice in str(refused.value)
    assert not am.get_agent().messages


def test_several_images_go_behind_the_text_in_order(loaded: Any) -> None:
    loaded.user_ns |= {"a": png(1, 1), "b": png(2, 2)}
    am.get_agent().model = am.scripted("seen", "seen")
    loaded.run_line_magic("agent", "-i a --image b compare")
    text, first, second = am.get_agent().messages[0].content
    assert text.text == "compare"
    assert [opened(block).width for block in (first, second)] == [1, 2]
    loaded.run_line_magic("agent", "-i a")
    assert [block.type for block in am.get_agent().messages[2].content] == ["image"]
