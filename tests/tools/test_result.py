import base64
import dataclasses
import datetime
import decimal
import enum
import io
import json
import pathlib
import time
from unittest import mock

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pydantic
import pytest
from IPython.display import HTML, SVG, Image, Javascript, Markdown
from matplotlib import pyplot as plt
from PIL import Image as PILImage

from agent_magic.messages import ImageContent, TextContent
from agent_magic.tools.json_text import MAX_TEXT
from agent_magic.tools.result import cut, html_text, to_result
from agent_magic.tools.tool import AgentToolResult

from ..speed import cpu_seconds, fastest


def text(value):
    return to_result(value).text


def images(value):
    return [block for block in to_result(value).content if isinstance(block, ImageContent)]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date


class Model(pydantic.BaseModel):
    name: str
    size: decimal.Decimal


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        (None, "Done. The tool returned nothing."),
        ("", "(an empty text)"),
        (3, "3"),
        (True, "true"),
        (2.5, "2.5"),
        ({"a": [1, None], "ü": "é"}, '{"a": [1, null], "ü": "é"}'),
        ((1, 2), "[1, 2]"),
        ({3}, "[3]"),
        (Colour.RED, "red"),
        (datetime.date(2025, 1, 2), "2025-01-02"),
        (decimal.Decimal("1.10"), "1.10"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (Point(1, datetime.date(2025, 1, 2)), '{"x": 1, "when": "2025-01-02"}'),
        ([Model(name="n", size=decimal.Decimal("1.5"))], '[{"name": "n", "size": "1.5"}]'),
        (np.int64(3), "3"),
        ({"n": np.float32(0.5)}, '{"n": 0.5}'),
        (b"caf\xc3\xa9", "café"),
        (b"\xff\x00", "2 bytes, beginning with ff 00"),
        (Markdown("**bold**"), "**bold**"),
        (HTML("<style>x</style><p>a <b>bold</b> word</p><script>1</script>"), "a bold word"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
    ],
)
def test_a_value_reads_as_short_text(value, expected):
    assert text(value) == expected


def test_the_python_object_stays_beside_the_content():
    value = object()
    assert to_result(value).value is value


def test_a_result_passes_as_it_is():
    result = AgentToolResult("x", details={"a": 1}, terminate=True)
    assert to_result(result) is result


def test_a_long_result_is_cut_and_keeps_all_else():
    result = to_result(AgentToolResult("x" * 20_000, details=1, terminate=True, is_error=True, value="v"))
    assert len(result.text) <= MAX_TEXT
    assert (result.details, result.terminate, result.is_error, result.value) == (1, True, True, "v")


def test_content_blocks_pass_as_they_are():
    blocks = (TextContent("a"), ImageContent(url="https://example.org/a.png"))
    assert to_result(list(blocks)).content == blocks


def test_a_cut_text_keeps_both_ends_and_tells_how_much_is_left_out():
    short = cut("x" * 10_000 + "y" * 10_000)
    assert short.startswith("xxx")
    assert short.endswith("yyy")
    assert len(short) <= MAX_TEXT
    assert "characters left out" in short
    left_out = int(short.split("… ")[1].split(" ")[0].replace(",", ""))
    assert left_out == 20_000 - short.count("x") - short.count("y")
    assert to_result(short).text == short


def test_the_texts_of_a_result_are_capped_together():
    result = to_result([TextContent("x" * 10_000) for _ in range(5)])
    assert len(result.text) < MAX_TEXT + 5 * 80


def test_a_list_of_millions_takes_the_time_of_what_is_shown():
    value = list(range(3_000_000))
    assert fastest(lambda: cpu_seconds(lambda: text(value)), 0.5) <= 0.5
    shown = text(value)
    assert len(shown) <= MAX_TEXT
    assert shown.endswith("[… the rest of this list of 3,000,000 items was left out]")


def test_a_circular_value_is_shown_by_its_repr():
    value = []
    value.append(value)
    assert text(value) == "[[...]]"


# Objects that misbehave


class Raises:
    def __repr__(self):
        raise RuntimeError("no")


class Slow:
    def __repr__(self):
        time.sleep(5)
        return "late"


class BadFrame(pd.DataFrame):
    def to_string(self, *args, **kwargs):
        raise ValueError("broken")

    @property
    def _constructor(self):
        return BadFrame


def test_a_repr_that_raises_is_told():
    assert text(Raises()) == f"An object of class {__name__}.Raises; its repr raised RuntimeError"
    assert json.loads(text([Raises()]))[0].endswith("its repr raised RuntimeError")


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_a_repr_that_raises_what_is_no_exception_is_told(error, capfd):
    class Leaves:
        def __repr__(self):
            raise error

    assert text(Leaves()).endswith(f"its repr raised {error.__name__}")
    assert capfd.readouterr().err == ""


def test_reprs_that_are_slow_take_a_second_together():
    start = time.perf_counter()
    shown = text([Slow(), Slow(), Slow()])
    assert time.perf_counter() - start < 4.5
    assert "took more than 1 s" in shown


def test_an_object_without_a_repr_shows_its_class_and_no_address():
    assert text(object()) == "An object of class object"


def test_an_object_that_fails_while_it_is_drawn_is_still_a_result():
    result = to_result(BadFrame({"a": [1]}))
    assert "could not be shown: ValueError" in result.text


def test_an_object_that_answers_to_every_name_is_no_image():
    assert "MagicMock" in text(mock.MagicMock())


# Tables and arrays


def test_a_frame_tells_shape_types_and_head():
    shown = text(pd.DataFrame({"month": range(100), "revenue": [0.5] * 100}))
    assert shown.startswith("DataFrame of 100 rows and 2 columns\nTypes: month int64, revenue float64\n")
    assert shown.endswith("[80 more rows]")
    assert shown.count("\n") == 23


def test_a_wide_frame_tells_how_many_columns_are_left_out():
    shown = text(pd.DataFrame([range(50)], columns=[f"c{n}" for n in range(50)]))
    assert "DataFrame of 1 row and 50 columns" in shown
    assert "[20 more columns]" in shown
    assert "c29" in shown
    assert "c30" not in shown


def test_a_frame_without_rows_is_a_frame():
    assert "DataFrame of 0 rows and 1 column\nTypes: a" in text(pd.DataFrame({"a": []}))


def test_duplicate_column_names_do_no_harm():
    assert "Types: a int64, a int64" in text(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_series_and_an_index_show_their_head():
    assert text(pd.Series([1, 2], name="n")).startswith("Series 'n' of 2 values, int64\n0    1\n1    2")
    shown = text(pd.Index(range(30)))
    assert "30 values" in shown
    assert shown.endswith("[10 more values]")


def test_a_small_array_is_whole_and_a_large_one_summarised():
    assert text(np.array([[1, 2], [3, 4]])) == "Array of shape (2, 2), int64\n[[1 2]\n [3 4]]"
    shown = text(np.arange(10_000.0))
    assert len(shown) < 300
    assert shown.endswith("minimum 0, mean 4999.5, maximum 9999")


def test_an_array_of_nothing_but_nan_raises_no_warning():
    assert text(np.full(1000, np.nan)).startswith("Array of shape (1000,), float64")


# Figures and images


def figure(title="Sales"):
    made, axes = plt.subplots()
    axes.plot([1, 2])
    axes.set_title(title)
    return made


def test_a_figure_is_a_sentence_and_a_png():
    result = to_result(figure())
    assert result.text == "Figure “Sales”, shown to the user."
    (image,) = [block for block in result.content if isinstance(block, ImageContent)]
    assert image.mime_type == "image/png"
    assert image.bytes.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "make",
    [
        lambda made: made.axes[0],
        lambda made: list(made.axes[0].lines),
        lambda made: np.array([made.axes[0]], dtype=object),
        lambda made: (made, made.axes[0]),
        lambda made: made.axes[0].bar(range(40), range(40)),
    ],
)
def test_what_belongs_to_a_figure_is_that_figure_once(make):
    assert len(images(make(figure()))) == 1


def test_two_figures_are_two_images():
    assert len(images([figure("a"), figure("b")])) == 2


def test_a_frame_and_its_figure_are_both_shown():
    result = to_result((pd.DataFrame({"a": [1]}), figure(), "a remark"))
    assert [block.type for block in result.content] == ["text", "text", "image", "text"]


def test_a_figure_too_large_is_drawn_smaller():
    made, axes = plt.subplots(figsize=(14, 14))
    axes.imshow(np.random.default_rng(0).random((1000, 1000, 3)), interpolation="none")
    (image,) = images(made)
    assert len(image.bytes) <= 300_000


def noise(mode, size=700):
    bands = len(mode)
    data = np.random.default_rng(0).integers(0, 255, (size, size, bands), dtype=np.uint8)
    return PILImage.fromarray(data.squeeze(), mode="L" if mode == "L" else None)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
def test_an_image_has_at_most_300_kb(mode):
    (image,) = images(noise(mode))
    assert len(image.bytes) <= 300_000
    assert PILImage.open(io.BytesIO(image.bytes)).width > 100


def png(size):
    buffer = io.BytesIO()
    noise("RGB", size).save(buffer, "PNG")
    return buffer.getvalue()


def test_the_bytes_of_an_image_are_that_image():
    data = png(20)
    assert images(data)[0].bytes == data
    assert images(Image(data=data))[0].bytes == data


def test_a_large_image_of_a_tool_is_scaled_down_as_well():
    block = ImageContent(base64.b64encode(png(700)).decode(), "image/png")
    (image,) = images(AgentToolResult(["see", block]))
    assert len(image.bytes) <= 300_000


def test_a_large_image_that_cannot_be_read_becomes_a_note():
    shown = text(AgentToolResult(ImageContent(base64.b64encode(b"x" * 400_000).decode(), "image/png")))
    assert shown == "[An image of 400,000 bytes (image/png) was left out, because it is too large.]"


def test_no_javascript_svg_or_widget_json_reaches_the_model():
    import ipywidgets

    assert text(Javascript("alert(1)")) == "Javascript of 8 characters is shown to the user."
    assert "<svg" not in text(SVG("<svg xmlns='http://www.w3.org/2000/svg'></svg>"))
    assert text(ipywidgets.IntSlider()) == "An interactive IntSlider is shown to the user."


def test_a_class_that_draws_itself_is_read_by_its_best_form():
    class Formula:
        def _repr_latex_(self):
            return "$x^2$"

        def _repr_html_(self):
            return "<b>x</b>"

    assert text(Formula()) == "$x^2$"


def test_the_text_of_html_has_lines_and_no_markup():
    html = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;2</td></tr></table>"
    assert html_text(html) == "a\tb\n1\t<2"
