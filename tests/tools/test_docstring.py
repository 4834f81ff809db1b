import inspect

import pytest

from agent_magic.tools.docstring import read_docstring

GOOGLE = """Sales of a region.

    More about it.

    Args:
        region (str): Two-letter code.
        year: Calendar year,
            four digits.
        **others: More of it.

    Returns:
        A frame.

    Raises:
        KeyError: Never.
    """

NUMPY = """Sales of a region.

    More about it.

    Parameters
    ----------
    region : str
        Two-letter code.
    year : int, optional
        Calendar year,
        four digits.
    others
        More of it.

    Returns
    -------
    DataFrame
        A frame.
    """

REST = """Sales of a region.

    More about it.

    :param region: Two-letter code.
    :param int year: Calendar year,
        four digits.
    :param others: More of it.
    :returns: A frame.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["google", "numpy", "rest"])
def test_every_style_says_the_same(text):
    read = read_docstring(text)
    assert read.description == "Sales of a region.\n\nMore about it.\n\nReturns: A frame."
    assert {name: " ".join(each.split()) for name, each in read.parameters.items()} == {
        "region": "Two-letter code.",
        "year": "Calendar year, four digits.",
        "others": "More of it.",
    }


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_no_docstring_is_no_description(text):
    assert read_docstring(text).description == ""


def test_a_docstring_without_sections_is_the_description_as_it_is_written():
    text = """Do it.

        Note: this is prose, and
            this is indented.
    """
    assert read_docstring(text).description == inspect.cleandoc(text)


def test_a_docstring_that_cannot_be_parsed_is_all_description():
    text = "Do it.\n\n:param: nothing\n:raises KeyError sometimes"
    assert read_docstring(text).description == text
