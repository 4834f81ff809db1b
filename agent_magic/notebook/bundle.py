"""A record as the four MIME types of a notebook's output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .html import HtmlWriter
from .markdown import record_markdown
from .plain import record_plain
from .record import RECORD_TYPE


def mimebundle(
    record: Mapping[str, Any], live: bool = False, with_prompt: bool = False, writer: HtmlWriter | None = None
) -> dict[str, Any]:
    """`record` as `application/vnd.agent-magic.run+json`, `text/html`, `text/markdown` and `text/plain`.

    While it runs (`live`) it is HTML and plain text only; pass the same `writer` each time, so that finished parts
    are not written again. `with_prompt` also shows the message that began the run.
    """
    writer = writer or HtmlWriter()
    forms: dict[str, Any] = {
        "text/html": writer.write(record, live, with_prompt),
        "text/plain": record_plain(record, live, with_prompt),
    }
    if not live:
        forms["text/markdown"] = record_markdown(record, with_prompt)
        forms[RECORD_TYPE] = dict(record)
    return forms
