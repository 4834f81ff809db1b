"""What a model is told of each kind of value: the right facts, capped, and without running what was not mentioned."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from PIL import Image

import agent_magic as am
from agent_magic.messages import ImageContent, TextContent
from agent_magic.notebook.kinds import MISSING, kind_of, plain_attribute
from agent_magic.notebook.outline import outline
from agent_magic.notebook.summaries import summary


def told(value: Any) -> str:
    return "\n".join(piece if isinstance(piece, str) else getattr(piece, "text", "") for piece in summary(value))


def images(value: Any) -> list[ImageContent]:
    return [piece for piece in summary(value) if isinstance(piece, ImageContent)]


class Loud:
    """Fails when anything of it is run."""

    def __repr__(self) -> str:
        raise AssertionError("its repr was called")

    def __len__(self) -> int:
        raise AssertionError("its length was taken")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("it was compared")

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was looked up")

    @property
    def shape(self) -> Any:
        raise AssertionError("a property was read")

    dtype = shape
    columns = shape


# Frames ---------------------------------------------------------------------------------------------------------------


def test_a_pandas_frame_is_told_by_schema_head_and_statistics() -> None:
    frame = pd.DataFrame(
        {
            "month": [1, 2, 3, 4, 5, 6],
            "revenue": [1.5, 2.5, None, 4.5, 5.5, 6.5],
            "region": ["EU", "EU", "US", "EU", "US", "AP"],
            "new": [True, False, True, True, False, False],
            "day": pd.date_range("2024-01-01", periods=6),
        }
    )
    text = told(frame)
    assert text.startswith("pandas DataFrame of 6 rows and 5 columns\nColumns:\n  month: int64\n  revenue: float64\n")
    assert "First 5 rows:" in text
    assert "6.5" not in text.partition("Statistics")[0]
    assert "  month: minimum 1, mean 3.5, maximum 6, none missing" in text
    assert "  revenue: minimum 1.5, mean 4.1, maximum 6.5, 1 missing" in text
    assert "  region: 3 distinct values, most often EU (3), US (2), AP (1), none missing" in text
    assert "  new: 3 true, none missing" in text
    assert "  day: from 2024-01-01 00:00:00 to 2024-01-06 00:00:00" in text
    assert "Index" not in text
    assert "Index: DatetimeIndex day" in told(frame.set_index("day"))


def test_a_polars_frame_is_told_the_same_way() -> None:
    text = told(pl.DataFrame({"n": [1, 2, None], "s": ["x", "y", "y"], "b": [True, True, False]}))
    assert text.startswith("polars DataFrame of 3 rows and 3 columns\nColumns:\n  n: Int64\n  s: String\n  b: Boolean")
    assert "1 | x | True" in text
    assert "  n: minimum 1, mean 1.5, maximum 2, 1 missing" in text
    assert "  s: 2 distinct values, most often y (2), x (1)" in text
    assert "  b: 2 true" in text


def test_a_series_is_told_by_name_head_and_statistics() -> None:
    assert told(pd.Series([1, 2, 3], name="x")).startswith("pandas Series x of 3 values, int64\nFirst 3 values:")
    text = told(pl.Series("x", [1, 2, 3]))
    assert text.startswith("polars Series x of 3 values, Int64\nFirst 3 values: 1, 2, 3\n")
    assert "mean 2, maximum 3" in text


def test_a_lazy_frame_is_told_by_its_schema_and_never_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    def collected(*args: Any, **more: Any) -> Any:
        raise AssertionError("it was collected")

    ran: list[int] = []
    lazy = pl.LazyFrame({"n": [1, 2], "s": ["x", "y"]}).map_batches(lambda frame: ran.append(1) or frame)
    for name in ("collect", "fetch", "head", "describe", "profile"):
        monkeypatch.setattr(pl.LazyFrame, name, collected, raising=False)
    assert told(lazy) == "polars LazyFrame, not computed\nColumns:\n  n: Int64\n  s: String"
    assert ran == []


def test_complaint_52_columns_are_capped_and_the_number_left_out_is_told() -> None:
    for frame in (pd.DataFrame(np.zeros((3, 1_700))), pl.DataFrame(np.zeros((3, 1_700)))):
        text = told(frame)
        assert "1,700 columns" in text
        assert "  … 1,670 more columns, not shown" in text
        assert text.count("float64") + text.count("Float64") == 30
        assert len(text) < 12_000


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame({"a": []}),
        pd.DataFrame(index=[1, 2]),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame({("a", 1): [1], ("b", None): [2]}),
        pd.DataFrame({"a": [None, None], "b": [[1], {}], "c": [np.nan, np.inf], "d": [1 + 2j, 0]}),
        pd.DataFrame({"c": pd.Categorical(["x", "y"]), "n": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame(),
        pl.DataFrame({"a": []}),
        pl.DataFrame({"a": [None, None], "b": [[1], [2]], "c": [{"x": 1}, {"x": 2}]}),
    ],
    ids=range(10),
)
def test_odd_frames_are_told_without_failing(frame: Any) -> None:
    rows, columns = frame.shape
    assert f"DataFrame of {rows} row" in told(frame)
    assert f"{columns} column" in told(frame)


def test_a_column_of_objects_of_the_users_is_not_counted() -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment]

        def __str__(self) -> str:
            return "odd"

    assert "  o: none missing" in told(pd.DataFrame({"o": [Odd(), Odd()]}))


def test_complaint_57_ten_million_rows_take_a_moment_and_it_is_said_that_rows_were_left_out() -> None:
    frame = pd.DataFrame({"n": np.arange(10_000_000), "s": np.resize(np.array(["a", "b", "c"]), 10_000_000)})
    began = time.process_time()
    text = told(frame)
    assert time.process_time() - began < 1.0
    assert "10,000,000 rows" in text
    assert "Statistics (of one row in 20):" in text
    assert "maximum 9999980" in text


# Arrays ---------------------------------------------------------------------------------------------------------------


def test_an_array_is_told_by_shape_type_and_values_or_their_range() -> None:
    assert told(np.arange(6).reshape(2, 3)) == "numpy array of shape (2, 3), int64\n[[0 1 2]\n [3 4 5]]"
    large = np.arange(1_000.0).reshape(10, 100)
    large[0, 3] = np.nan
    text = told(large)
    assert text.startswith("numpy array of shape (10, 100), float64\nFirst values: 0.0, 1.0, 2.0, nan, 4.0,")
    assert "minimum 0, mean 499.997, maximum 999\n1 not finite" in text


def test_a_large_array_is_read_at_places() -> None:
    began = time.process_time()
    text = told(np.ones((3, 10_000_000), dtype=np.int8))
    assert time.process_time() - began < 1.0
    assert "maximum 1 (of one value in 30)" in text


def test_an_array_of_objects_shows_none_of_them() -> None:
    array = np.empty(3, dtype=object)
    array[0] = Loud()
    assert told(array) == "numpy array of shape (3,), object"


def test_what_looks_like_a_tensor_is_told_by_its_attributes_alone() -> None:
    class Tensor:
        def __init__(self) -> None:
            self.shape, self.dtype, self.device = (2, 3), "float32", "cuda:0"

        def __repr__(self) -> str:
            raise AssertionError("its values were read")

    assert told(Tensor()) == "Tensor of shape (2, 3), float32, on cuda:0"
    assert kind_of(Tensor()) == "Tensor 2 × 3 float32"


# Containers, functions, classes ---------------------------------------------------------------------------------------


def test_containers_show_plain_values_and_the_kind_of_everything_else() -> None:
    value = {"frame": pd.DataFrame({"a": [1]}), "loud": Loud(), "list": list(range(100)), "text": "x" * 300}
    text = told(value)
    assert text.startswith('dict of 4\n{"frame": <DataFrame 1 × 1>,\n "loud": <Loud>,\n "list": [0, 1, 2')
    assert "… 92 more]" in text
    assert "(300 in all)" in text


def test_a_subclass_of_a_container_is_read_by_the_methods_of_the_container() -> None:
    class Odd(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise AssertionError("its own method was called")

        __iter__ = __len__ = items

    assert outline(Odd(a=1)) == '{"a": 1}'


def test_an_outline_is_short_whatever_it_is_of() -> None:
    deep: Any = []
    for _ in range(1_000):
        deep = [deep]
    loop: list[Any] = []
    loop.append(loop)
    for value in (
        deep,
        loop,
        {n: dict.fromkeys(range(50), "x" * 1000) for n in range(50)},
        10**100_000,
        [{1}, (), b"x"],
    ):
        assert len(told(value)) < 7_000
    assert outline([True, None, 1.5, "é", (1, 2), {3}]) == '[True, None, 1.5, "é", (1, 2), {3}]'


FRAME = pd.DataFrame({"a": [1]})


def documented(region: str, frame: Any = FRAME, *, year: int = 2025) -> str:
    """Sales of a region."""
    return f"{region} {year}"


def test_a_function_is_told_by_signature_and_source() -> None:
    text = told(documented)
    assert "def documented(region: 'str', frame: 'Any' = …, *, year: 'int' = 2025) -> 'str'" in text
    assert text.endswith('    return f"{region} {year}"')
    assert "tool of the module" in told(am.tool(documented))
    assert "def len(obj, /)" in told(len)
    assert "Return the number of items" in told(len)


def test_a_class_is_told_by_signature_documentation_and_methods() -> None:
    text = told(io.StringIO)
    assert text.startswith("class StringIO(_TextIOBase) of the module _io\nStringIO(initial_value=")
    assert "  getvalue(self, /)" in text


def test_a_module_is_told_by_its_names_and_not_by_where_it_lies() -> None:
    text = told(io)
    assert text.startswith("module io\n")
    assert "StringIO" in text
    assert ".py" not in text


# Figures --------------------------------------------------------------------------------------------------------------


def test_a_figure_is_sent_as_an_image_of_at_most_300_kb() -> None:
    figure = Figure(figsize=(8, 8))
    axes = figure.add_subplot(title="Noise")
    axes.imshow(np.random.default_rng(1).random((900, 900)), cmap="viridis")
    (image,) = images(figure)
    assert 100_000 < len(image.bytes) <= 300_000


def test_axes_and_arrays_of_them_are_told_as_their_figure() -> None:
    axes = Figure(figsize=(2, 2)).add_subplot(title="Lines")
    for value in (axes, np.array([axes, axes])):
        assert len(images(value)) == 1
        assert "Lines" in told(value)


def test_an_image_is_sent_as_itself() -> None:
    (image,) = images(Image.new("RGB", (20, 10), "red"))
    assert Image.open(io.BytesIO(image.bytes)).size == (20, 10)
    assert "20 x 10" in told(Image.new("RGB", (20, 10)))


def test_complaint_56_charts_are_told_in_a_sentence_and_never_as_json() -> None:
    import altair
    import plotly.graph_objects as go

    numbers = list(range(10_000))
    chart = altair.Chart(pd.DataFrame({"a": [1, 2]}), title="Bars").mark_bar()
    for value, words in (
        (go.Figure(go.Scatter(x=numbers, y=numbers), layout={"title": "Lines"}), ("Lines", "scatter")),
        (chart, ("Bars", "bar")),
    ):
        text = told(value)
        assert all(word in text for word in words)
        assert len(text) < 200


# Everything else ------------------------------------------------------------------------------------------------------


def test_an_object_is_told_by_its_class_and_its_repr_if_it_has_one() -> None:
    class Named:
        def __repr__(self) -> str:
            return "Named(" + "x" * 100_000 + ")"

    text = told(Named())
    assert "Named(xxx" in text
    assert "characters left out" in text
    assert len(text) < 7_000
    assert told(object()) == "An object of class object"


def test_texts_and_numbers_are_told_as_they_are_up_to_a_limit() -> None:
    assert told("hello") == "str of 5\nhello"
    assert told(42) == "int\n42"
    assert len(told("x" * 1_000_000)) < 7_000


@pytest.mark.parametrize(
    "value", [Loud(), [Loud()], {"a": Loud()}, (Loud(), Loud())], ids=["it", "list", "dict", "tuple"]
)
def test_the_kind_of_a_value_is_found_without_running_anything_of_it(value: Any) -> None:
    assert "Loud" in kind_of(value) + outline(value)


def test_only_stored_attributes_are_read() -> None:
    class Thing:
        slow = property(lambda self: pytest.fail("a property was read"))
        kept = 3

        def __init__(self) -> None:
            self.own = 4

        @staticmethod
        def static() -> None: ...

        def method(self) -> None: ...

        def __getattr__(self, name: str) -> Any:
            pytest.fail("__getattr__ was called")

    thing = Thing()
    assert plain_attribute(thing, "own") == 4
    assert plain_attribute(thing, "kept") == 3
    assert plain_attribute(thing, "static") is Thing.static
    assert plain_attribute(thing, "slow") is MISSING
    assert plain_attribute(thing, "nothing") is MISSING


def test_pieces_come_one_by_one_the_most_important_first() -> None:
    class Slow:
        def __repr__(self) -> str:
            raise AssertionError

    pieces: Iterator[Any] = summary(Slow())
    assert "Slow" in next(pieces)
    with pytest.raises(AssertionError):
        next(pieces)
    assert not isinstance(next(summary(pd.DataFrame({"a": [1]}))), TextContent)
