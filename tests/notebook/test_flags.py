from decimal import Decimal

import pytest
from IPython.core.error import UsageError

from agent_magic.notebook.flags import FLAGS, CellOptions, parse


def test_every_flag_arrives_in_its_field() -> None:
    line = (
        "-m a/b -t x,y -o answer --as list[Row] -i fig --image=a.png --new --max-turns 3 --thinking high"
        " --max-tokens 100 --temperature 0.5 --budget 0.25 --token-budget 5000 --approve auto --quiet the text"
    )
    assert parse(line) == CellOptions(
        text="the text",
        model="a/b",
        tools=("x", "y"),
        output="answer",
        output_type="list[Row]",
        new=True,
        max_turns=3,
        thinking="high",
        max_tokens=100,
        temperature=0.5,
        images=("fig", "a.png"),
        budget=Decimal("0.25"),
        token_budget=5000,
        approve="auto",
        quiet=True,
    )
    assert parse("--no-tools") == CellOptions(no_tools=True)


def test_every_field_but_the_text_has_a_flag() -> None:
    assert {flag.field for flag in FLAGS} == set(CellOptions.__dataclass_fields__) - {"text"}


@pytest.mark.parametrize("form", ["--model x", "--model=x", "-m x", "-m=x", "-m 'x'", '--model="x"', "  -m   x  "])
def test_a_value_may_follow_after_a_space_or_an_equals_sign_and_in_quotes(form: str) -> None:
    assert parse(form) == CellOptions(model="x")


def test_quotes_hold_a_value_together_and_a_backslash_is_a_plain_character() -> None:
    assert parse(r"""-m 'gpt 5 "x"' hi""") == CellOptions(text="hi", model='gpt 5 "x"')
    assert parse(r"-m C:\models\a.gguf").model == r"C:\models\a.gguf"


@pytest.mark.parametrize(
    "text",
    [
        'say "hello" it\'s {x} $y %z \\alpha',
        "two  spaces\tand a tab",
        "-5 is what?",
        "- a list item",
        "what does git commit -m do?",
        "a --new day",
        '{"a": [1, 2]}',
        "🙂 \u202e",
    ],
)
def test_text_is_passed_on_exactly(text: str) -> None:
    assert parse(text) == CellOptions(text=text)
    assert parse("--new " + text) == CellOptions(text=text, new=True)


def test_two_dashes_end_the_flags() -> None:
    assert parse("--new -- --model is a flag") == CellOptions(text="--model is a flag", new=True)
    assert parse("--") == CellOptions()
    assert parse("--\tx") == CellOptions(text="x")


def test_the_last_of_two_equal_flags_holds() -> None:
    assert parse("-m a -m b").model == "b"


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("--modle x", "Did you mean --model"),
        ("--tool a", "Did you mean --tools"),
        ("--nonsense", "There are -m, --model"),
        ("-m", "--model needs a value: -m, --model ID"),
        ("-m 'x", "not closed"),
        ("-mx hi", "There is no flag -mx"),
        ("-m'x'", "Put a space"),
        ("--new=1", "takes no value"),
        ("--max-turns 0", "whole number of at least 1, not '0'"),
        ("--max-turns two", "whole number"),
        ("--max-turns ²", "whole number"),
        ("--temperature -1", "not negative"),
        ("--temperature nan", "not negative"),
        ("--thinking loud", "off, minimal, low"),
        ("-o 1x", "a name that a variable can have"),
        ("-o class", "a name that a variable can have"),
        ("-t a --no-tools", "exclude each other"),
        ("--budget 0", "amount of US dollars, such as 0.50, not '0'"),
        ("--budget nan", "amount of US dollars"),
        ("--budget much", "amount of US dollars"),
        ("--token-budget -1", "whole number"),
        ("--approve maybe", "ask, auto or deny, not 'maybe'"),
        ("--budgte 1", "Did you mean --budget"),
        ("-i", "--image needs a value"),
    ],
)
def test_a_fault_is_a_usage_error_that_says_what_to_type(line: str, advice: str) -> None:
    with pytest.raises(UsageError, match=advice.replace("(", r"\(")):
        parse(line)
