"""Server-sent events, cut anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_magic.providers.sse import SSEDecoder

EVENTS = [b'{"a":1}', "é\u2028\u0085".encode(), b"x", b"[1]"]


def decoded(*pieces: bytes) -> list[bytes]:
    decoder = SSEDecoder()
    found = [payload for piece in pieces for payload in decoder.feed(piece)]
    return found + decoder.finish()


@given(
    ends=st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=1, max_size=4),
    bom=st.booleans(),
    space=st.booleans(),
    comment=st.booleans(),
    terminated=st.booleans(),
    cuts=st.lists(st.integers(0, 200), max_size=30),
)
def test_the_events_are_the_same_for_every_line_end_and_cut(
    ends: list[bytes], bom: bool, space: bool, comment: bool, terminated: bool, cuts: list[int]
) -> None:
    body = b"\xef\xbb\xbf" if bom else b""
    for position, payload in enumerate(EVENTS):
        end = ends[position % len(ends)]
        body += b": ping" + end + end if comment else b""
        body += b"data:" + (b" " if space else b"") + payload + end + end
    if not terminated:
        body = body.rstrip(b"\r\n")
    places = sorted({min(cut, len(body)) for cut in cuts})
    pieces = [body[start:stop] for start, stop in zip([0, *places], [*places, len(body)], strict=True)]
    assert decoded(*pieces) == EVENTS


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"event: x\nid: 1\nretry: 5\ndata: a\n\n", [b"a"]),
        (b"data\n\ndata:\n\n: c\n\n\n\ndata: a\n\n", [b"a"]),
        (b"data: a\n\ndata: [DONE]\n\ndata: b\n\n", [b"a", b"[DONE]"]),
        (b"data: a\n\ndata: [DONE]", [b"a", b"[DONE]"]),
        (b'error: {"message":"m"}\n\n', [b'{"error": {"message": "m"}}']),
        (b"error: out of memory\n\n", [b'{"error": "out of memory"}']),
        (b'event: error\ndata: {"message":"m"}\n\n', [b'{"error": {"message": "m"}}']),
        (b'event: error\ndata: {"error":"m"}\n\n', [b'{"error":"m"}']),
        (b' \n{"whole": "answer"}\n', [b'{"whole": "answer"}']),
        (b'\xef\xbb\xbf{"whole":\r\n\r\n1}', [b'{"whole":\r\n\r\n1}']),
        (b"data: 1\ndata: 2\ndata: [DONE]\n\n", [b"1\n2", b"[DONE]"]),
        (b'data: 1\n\n{"error": "m"}\n', [b"1", b'{"error": "m"}']),
        (b": ping\n\n<html>\n", [b"<html>"]),
        (b"upstream error: reset", [b"upstream error: reset"]),
        (b"", []),
        (b"\n\n\n", []),
    ],
)
def test_odd_bodies(body: bytes, expected: list[bytes]) -> None:
    assert decoded(body) == expected
    assert decoded(*(body[place : place + 1] for place in range(len(body)))) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    "name", [b"", b"event: content_block_delta", b"event: response.output_text.delta", b"event: error"]
)
def test_events_that_come_whole_mean_the_same_as_those_that_come_in_pieces(end: bytes, name: bytes) -> None:
    event = (name + end if name else b"") + b'data: {"a":1}' + end + end
    odd = [event, b"data: {" + end + b"data: }" + end + end, b'data: {"b":\r2}' + end + end, event]
    whole, cut = SSEDecoder(), SSEDecoder()
    together = [payload for each in odd for payload in whole.feed(each)] + whole.finish()
    pieces = b"".join(odd)
    apart = [p for at in range(len(pieces)) for p in cut.feed(pieces[at : at + 1])] + cut.finish()
    assert together == apart
