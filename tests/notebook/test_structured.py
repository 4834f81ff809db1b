"""`--as` and many prompts in a real kernel."""

from collections.abc import Iterator

import pytest

from agent_magic.notebook.html import record_html
from agent_magic.notebook.markdown import record_markdown
from agent_magic.notebook.plain import record_plain, whole_record

from .kernel_client import Kernel, Message

pytestmark = pytest.mark.kernel

SETUP = """
%load_ext agent_magic
import dataclasses
import agent_magic as am
import pandas as pd
agent = am.get_agent()

@dataclasses.dataclass
class City:
    name: str
    people: int
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel() as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


def value_of(kernel: Kernel, expression: str) -> str:
    return kernel.run(f"print(repr(({expression})))").printed.strip()


OSLO = '{"name": "Oslo", "people": 700000}'


def test_a_cell_gives_a_value_of_the_type(kernel: Kernel) -> None:
    kernel.run(f"agent.model = am.scripted({OSLO!r})")
    assert kernel.run("%%agent -o reply --as City\nOslo has 700,000 inhabitants.").status == "ok"
    assert value_of(kernel, "reply.value") == "City(name='Oslo', people=700000)"


def test_a_cell_gives_a_frame_of_rows(kernel: Kernel) -> None:
    kernel.run(f"agent.model = am.scripted('{{\"value\": [{OSLO}]}}')")
    assert kernel.run("%%agent -o reply --as pd.DataFrame[City]\nWhich cities?").status == "ok"
    assert value_of(kernel, "reply.value.to_dict('records')") == "[{'name': 'Oslo', 'people': 700000}]"


def test_an_answer_that_does_not_fit_is_kept_and_the_cell_fails(kernel: Kernel) -> None:
    """4: an answer that was no JSON was lost, although it was paid for."""
    kernel.run("agent.model = am.scripted('Oslo is large.', 'Very large.')")
    cell = kernel.run("%%agent -o reply --as City\nOslo?")
    assert cell.error is not None
    assert cell.error["ename"] == "OutputTypeError"
    assert "Very large." in cell.text
    assert value_of(kernel, "reply.text, reply.value, reply.usage.total_tokens > 0") == "('Very large.', None, True)"


def test_what_sends_an_answer_back_is_not_drawn_as_said_by_the_user(kernel: Kernel) -> None:
    kernel.run(f"agent.model = am.scripted('Oslo is large.', {OSLO!r})")
    cell = kernel.run("%%agent --as City --new\nOslo?")
    assert [item["kind"] for item in cell.record["items"]] == ["user", "text", "context", "text"]
    told = cell.record["items"][2]
    title = "Sent back to the model: The answer does not fit: The answer is not JSON"
    assert told["title"].startswith(title)
    assert "JSON of this schema" in told["text"]
    for written in (record_html, record_markdown, record_plain, whole_record):
        assert title in written(cell.record)
        assert "You:" not in written({**cell.record, "items": cell.record["items"][1:]})
    again = kernel.run(f"agent.model = am.scripted({OSLO!r})\n%agent undo")
    assert again.printed.splitlines() == ["Taken back: Oslo?", "0 messages are left."]


def test_an_unknown_type_is_told_before_anything_is_sent(kernel: Kernel) -> None:
    kernel.run("agent.model = model = am.scripted('x')")
    cell = kernel.run("%%agent --as Cty\nOslo?")
    assert "Did you mean City" in cell.printed
    assert value_of(kernel, "len(model.requests)") == "0"


def test_many_prompts_show_a_bar_in_the_cell_and_use_its_tools(kernel: Kernel) -> None:
    kernel.run("""
    @am.tool
    def people(city: str) -> int:
        "Inhabitants."
        import threading
        assert threading.current_thread() is threading.main_thread()
        return 10 * len(city)

    def answer(context, config):
        last = context.messages[-1]
        if last.text == "bad":
            return am.BadRequestError("no")
        return am.ToolCall("1", "people", {"city": last.text}) if last.role == "user" else last.text
    agent.model = am.scripted(*[answer] * 20)
    agent.messages = []
    """)
    cell = kernel.run("results = agent.map(['Oslo', 'bad', 'Bern', 'Paris'], concurrency=2)")
    assert cell.status == "ok"
    assert cell.text == "4 of 4 done, 1 failed"
    assert '<progress value="4" max="4"></progress>' in cell.bundle["text/html"]
    assert value_of(kernel, "[getattr(each, 'text', None) for each in results]") == "['40', None, '40', '50']"
    assert value_of(kernel, "agent.messages") == "[]"


def test_stop_ends_all_conversations_and_keeps_what_was_told(kernel: Kernel) -> None:
    kernel.run("""
    kept = {}
    def answer(context, config):
        return "done" if context.messages[-1].text == "quick" else am.Delay(60)
    agent.model = am.scripted(*[answer] * 20)
    def keep(progress):
        kept[progress.index] = progress.result
        print(progress)
    """)

    def stop(message: Message) -> None:
        if "1 of 3" in message["content"].get("text", ""):
            kernel.interrupt()

    cell = kernel.run("agent.map(['quick', 'slow', 'slow'], concurrency=2, on_progress=keep)", on_message=stop)
    assert cell.error is not None
    assert cell.error["ename"] == "KeyboardInterrupt"
    assert value_of(kernel, "kept[0].text") == "'done'"
    assert value_of(kernel, "agent.map(['quick'])[0].text") == "'done'"
