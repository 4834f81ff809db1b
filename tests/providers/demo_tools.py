"""Eight ordinary functions that the evaluation sentences of the demo model are written against."""

import datetime
from enum import Enum
from typing import Literal


class ChartKind(str, Enum):
    """How a column is drawn."""

    LINE = "line"
    BAR = "bar"
    HISTOGRAM = "histogram"
    BOX = "box"


def sales_figures(region: str, year: int, quarter: Literal[1, 2, 3, 4] | None = None) -> dict[str, int]:
    """Look up the sales figures of a region.

    Args:
        region: Region code, such as EMEA or APAC.
        year: Calendar year, four digits.
        quarter: Quarter of the year; the whole year if left out.

    Returns:
        The number of units sold and the revenue in whole euros.
    """
    units = 100 * len(region) + year % 100
    if quarter is not None:
        units //= 4
    return {"units": units, "revenue": units * 20}


def get_weather(city: str, units: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """Get the current weather in a city: temperature, sky and rain.

    Args:
        city: Name of the city.
        units: Temperature scale of the answer.

    Returns:
        One sentence about the weather.
    """
    temperature = "18 °C" if units == "celsius" else "64 °F"
    return f"{city}: {temperature}, light clouds, no rain."


def convert_length(
    value: float,
    source: Literal["km", "miles", "metres", "feet"],
    target: Literal["km", "miles", "metres", "feet"],
) -> float:
    """Convert a length from one unit to another.

    Args:
        value: The length, in the source unit.
        source: Unit to convert from.
        target: Unit to convert to.

    Returns:
        The length in the target unit.
    """
    metres = {"km": 1000.0, "miles": 1609.344, "metres": 1.0, "feet": 0.3048}
    return value * metres[source] / metres[target]


def plot_column(column: str, kind: ChartKind = ChartKind.LINE) -> str:
    """Plot one column of the current data as a chart.

    Args:
        column: Name of the column to draw.
        kind: Kind of chart.

    Returns:
        The title of the chart.
    """
    return f"{kind.value} chart of {column}"


def translate(text: str, language: Literal["french", "german", "spanish", "italian"]) -> str:
    """Translate an English text into another language.

    Args:
        text: The text to translate, without the quotes around it.
        language: Language to translate into.

    Returns:
        The translated text.
    """
    return f"[{language}] {text}"


def book_room(room: Literal["lab", "library", "hall"], day: datetime.date, projector: bool = False) -> str:
    """Book a room of the school for a whole day.

    Args:
        room: The room to reserve.
        day: Date of the booking.
        projector: Whether a projector is needed.

    Returns:
        A confirmation of the booking.
    """
    equipment = "with a projector" if projector else "without a projector"
    return f"{room} booked for {day.isoformat()} {equipment}"


def describe_columns(columns: list[str]) -> dict[str, dict[str, float]]:
    """Compute summary statistics of one or more columns of the current data.

    Args:
        columns: Names of the columns to summarise.

    Returns:
        Mean and standard deviation of each column, by its name.
    """
    return {column: {"mean": float(len(column)), "std": 1.0} for column in columns}


def list_datasets(include_archived: bool = False) -> list[str]:
    """List the datasets that are available in this project.

    Args:
        include_archived: Whether archived datasets are listed too.

    Returns:
        The names of the datasets.
    """
    current = ["orders", "students"]
    return [*current, "orders_2015"] if include_archived else current
