"""Names of X11 windows are decoded whatever bytes stand in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.recorder.windows_x11_text import class_of, compound_text, latin_or_utf8


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        (b"caf\xe9", "café"),
        ("項目 – naïve".encode(), "項目 – naïve"),
        (b"", ""),
    ],
)
def test_a_string_is_latin_1_unless_it_is_utf_8(data: bytes, text: str) -> None:
    assert latin_or_utf8(data) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        (b"caf\xe9", "café"),  # the upper half is Latin-1 until something else is said
        (b"\x1b%G\xe9\xa1\xb9\xe7\x9b\xae\x1b%@ caf\xe9", "项目 café"),
        (b"\x1b$(A\x4f\x6e\x1b(B ok", b"\xcf\xee".decode("gb2312") + " ok"),
        (b"a\x1b$)A\xcf\xee\x1b-A\xe9", "a" + b"\xcf\xee".decode("gb2312") + "é"),
        (b"\x1b$(B\x46\x7c\x4b\x5c\x1b(B", "日本"),
        (b"\x1b$(C\x47\x51\x1b(B", b"\xc7\xd1".decode("euc_kr")),
        (b"\x1b-L\xbf\xe0\xd8", b"\xbf\xe0\xd8".decode("iso8859-5")),
        (b"\x1b-F\xe1", "α"),
        (b"\x1b", ""),
        (b"end\x1b$", "end"),
    ],
)
def test_compound_text_switches_between_sets(data: bytes, text: str) -> None:
    assert compound_text(data) == text


@given(st.binary(max_size=60) | st.lists(st.sampled_from([b"\x1b", b"$(A", b"%G", b"-L", b"\xe9", b"a"])).map(b"".join))
def test_no_bytes_at_all_are_an_error(data: bytes) -> None:
    for text in (compound_text(data), latin_or_utf8(data), class_of(data) or ""):
        assert text.encode("utf-8").decode() == text


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"chromium (/home/sam/profile)\0Chromium\0", "Chromium"),
        (b"xterm\0XTerm", "XTerm"),
        (b"only", "only"),
        (b"only\0", "only"),
        (b"only\0\0", "only"),
        (b"\0Class\0", "Class"),
        (b"a\0caf\xe9\0", "café"),
        (b"\0\0", None),
        (b"", None),
    ],
)
def test_the_class_is_the_second_name(data: bytes, name: str | None) -> None:
    assert class_of(data) == name
