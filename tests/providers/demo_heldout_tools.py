"""Six more ordinary functions, for sentences that the demo model was not made with."""

import datetime
from typing import Annotated, Literal

from pydantic import Field


def search_flights(origin: str, destination: str, day: datetime.date, direct: bool = False) -> list[str]:
    """Search flights between two airports.

    Args:
        origin: Airport code to fly from, such as FRA.
        destination: Airport code to fly to.
        day: Day of departure.
        direct: Whether only direct flights are wanted.
    """
    return [f"{origin}-{destination} {day} {direct}"]


def body_mass_index(weight: float, height: float) -> float:
    """Calculate the body mass index.

    Args:
        weight: Weight in kg.
        height: Height in metres.
    """
    return weight / height**2


def train_model(algorithm: Literal["forest", "boosting", "linear"], target: str, folds: int = 5) -> str:
    """Train a model that predicts a column.

    Args:
        algorithm: Kind of model.
        target: Column to predict.
        folds: Number of folds of the cross-validation.
    """
    return f"{algorithm} {target} {folds}"


def correlation(
    columns: list[str], method: Annotated[Literal["pearson", "spearman"], Field(description="How.")] = "pearson"
) -> float:
    """Correlation between columns of the data.

    Args:
        columns: The columns to correlate.
    """
    return 0.5 * len(columns)


def read_table(path: str, rows: int | None = None) -> str:
    """Read a table from a file.

    Args:
        path: The file to read.
        rows: How many rows to read; all if left out.
    """
    return f"{path} {rows}"


def add_task(
    title: str, priority: Literal["low", "normal", "high"] = "normal", due: datetime.date | None = None
) -> str:
    """Add a task to the list of things to do.

    Args:
        title: What there is to do.
        priority: How urgent it is.
        due: Until when.
    """
    return f"{title} {priority} {due}"
