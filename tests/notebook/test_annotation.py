"""The type of `--as`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pandas as pd
import polars as pl
import pytest
from IPython.core.error import UsageError

from agent_magic.notebook.annotation import annotation_named


@dataclass
class Row:
    x: int


SPACE = {"Row": Row, "pd": pd, "pl": pl, "DataFrame": pd.DataFrame, "number": 3}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Row", Row),
        ("int", int),
        ("list[Row]", list[Row]),
        ("dict[str, list[Row]]", dict[str, list[Row]]),
        ("Row | None", Row | None),
        ("Literal['a', 'b', -1]", Literal["a", "b", -1]),
        ("pd.DataFrame[Row]", Annotated[pd.DataFrame, Row]),
        ("DataFrame[Row]", Annotated[pd.DataFrame, Row]),
        ("pl.DataFrame[Row]", Annotated[pl.DataFrame, Row]),
        ("Annotated[pd.DataFrame, Row]", Annotated[pd.DataFrame, Row]),
    ],
)
def test_a_type_is_looked_up_in_the_namespace(text: str, kind: Any) -> None:
    assert annotation_named(text, SPACE) == kind


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Rwo", "there is no Rwo here. Did you mean Row"),
        ("Row |", "Put quotes around"),
        ("print('x')", "not print"),
        ("pd.Nothing", "is no type"),
        ("number[Row]", "is no type"),
        ("lambda: 1", "not lambda"),
    ],
)
def test_what_is_no_type_is_a_usage_error_and_nothing_is_called(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        annotation_named(text, SPACE)
