"""Whatever happens in whatever order, the record fits its schema and the deltas lead to it."""

from hypothesis import given, strategies as st

from agent_magic.agent.reply import Reply
from agent_magic.events import PartialToolCall, TextDelta, ThinkingDelta, ToolCallItem
from agent_magic.messages import ToolCall
from agent_magic.notebook.bundle import mimebundle

from .record_script import Script, checked

TEXT = st.text(max_size=12) | st.sampled_from(["\ud83d", "\x00", "```", "$x$", "</details>", "\x1b[31m"])
CALLS = st.builds(
    ToolCall, st.sampled_from(["a", "b", "c"]), TEXT, st.dictionaries(TEXT, TEXT | st.floats(), max_size=2)
)
INDEX = st.integers(0, 3)
STEPS = st.one_of(
    st.tuples(st.just("ask"), TEXT),
    st.tuples(st.just("begin")),
    st.tuples(st.just("stream"), st.builds(TextDelta, INDEX, TEXT)),
    st.tuples(st.just("stream"), st.builds(ThinkingDelta, INDEX, TEXT)),
    st.tuples(st.just("stream"), st.builds(PartialToolCall, INDEX, TEXT, st.sampled_from(["a", "b"]), st.just(""))),
    st.tuples(st.just("stream"), st.builds(ToolCallItem, INDEX, st.just("a"), TEXT, st.just({"x": 1}))),
    st.tuples(st.just("end")),
    st.tuples(st.just("start"), CALLS),
    st.tuples(st.just("progress"), CALLS, TEXT),
    st.tuples(st.just("result"), CALLS, TEXT, st.booleans()),
)


@given(st.lists(STEPS, max_size=25), st.booleans())
def test_any_sequence_of_events_makes_a_valid_record(steps: list[tuple[object, ...]], finish: bool) -> None:
    script = Script()
    for name, *arguments in steps:
        getattr(script, str(name))(*arguments)
    if finish:
        script.recorder.finish(Reply())
    record = checked(script.recorder)
    for live in (True, False):
        assert all(isinstance(form, (str, dict)) for form in mimebundle(record, live=live).values())
