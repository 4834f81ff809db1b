"""`%agent export PATH`: the conversation as a file to read (.md, .html) or to work with (.json, .jsonl)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from ..errors import InvalidDataError, SessionError
from ..messages import AssistantMessage, UserMessage
from ..models import Model
from ..session.context import in_call_order, message_of, speaks
from ..session.entries import CompactionEntry
from ..session.session import Session
from .bundle import mimebundle
from .command import Answer, Words
from .history_records import take_in
from .kernel import NotebookKernel
from .record import Recorder
from .wording import count, one_line

FORMS = (".md", ".html", ".json", ".jsonl")


def export(kernel: NotebookKernel, words: Words) -> Answer:
    path = Path(" ".join(words) or f"{kernel.conversation.session.id[:8]}.md").expanduser()
    if path.suffix not in FORMS:
        raise UsageError(f"The name of the file tells its form; end it with {', '.join(FORMS[:-1])} or {FORMS[-1]}.")
    kernel.agent.check_idle()
    kernel.conversation.follow()
    messages = _all_messages(kernel.conversation.session)
    if not any(isinstance(message, UserMessage) for message in messages):
        return "The conversation is empty; there is nothing to export."
    try:
        if path.exists():
            raise UsageError(f"{path} exists already and was left as it is. Choose another name.")
        if path.suffix == ".jsonl":
            with kernel.conversation.session.fork(path=path) as copy:
                copy.flush()
        else:
            path.write_text(_text(kernel, path.suffix, messages), encoding="utf-8")
    except OSError as error:
        raise SessionError(f"{path} could not be written: {error.strerror or error}") from error
    return f"{count(len(messages), 'message')} written to {path}"


def _all_messages(session: Session) -> list[Any]:
    """The messages of the branch, also those that a summary stands for."""
    entries = [each for each in session.branch if speaks(each) and not isinstance(each, CompactionEntry)]
    found: list[Any] = []
    for entry in entries:
        with contextlib.suppress(InvalidDataError):
            found.append(message_of(entry))
    return in_call_order(found)


def _text(kernel: NotebookKernel, form: str, messages: Sequence[Any]) -> str:
    session = kernel.conversation.session
    if form == ".json":
        from ..stored import messages_to_json

        whole = {"session": session.header.to_json(), "messages": messages_to_json(messages)}
        return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
    first = next((each.text for each in messages if isinstance(each, UserMessage)), "")
    title = one_line(session.name or first, 80) or "Conversation"
    bundles = [mimebundle(record, with_prompt=True) for record in _records(kernel.agent.model, session.id, messages)]
    if form == ".md":
        return "\n\n---\n\n".join(bundle["text/markdown"] for bundle in bundles) + "\n"
    parts = "\n<hr>\n".join(bundle["text/html"] for bundle in bundles)
    head = f'<meta charset="utf-8">\n<title>{escape(title)}</title>'
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{parts}\n</body>\n</html>\n'


def _records(model: Model, session: str, messages: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """A record for each message of the user and what followed it."""
    starts = [place for place, message in enumerate(messages) if isinstance(message, UserMessage)]
    ends = [*starts[1:], len(messages)] if starts else [len(messages)]
    for start, end in zip([0, *starts[1:]] if starts else [0], ends, strict=True):
        yield _record(model, session, messages[start:end])


def _record(model: Model, session: str, messages: Sequence[Any]) -> dict[str, Any]:
    answer = next((each for each in reversed(messages) if isinstance(each, AssistantMessage)), None)
    if answer is not None and answer.model:
        model = Model(answer.model, provider=answer.provider or "")
    recorder = Recorder("", session, model)
    take_in(recorder, messages)
    recorder.finish()
    took = max(0, messages[-1].timestamp - messages[0].timestamp) / 1000
    items = [{key: value for key, value in item.items() if key != "seconds"} for item in recorder.record()["items"]]
    return {**recorder.record(), "items": items, "seconds": took}
