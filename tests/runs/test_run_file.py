"""A damaged run.json is told in one sentence that names file, field and value."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import InputError
from simulator.runs.run_file import parse_run

FILE = Path("r/run.json")
HEADER = {"session": "s", "user": "u", "seed": 0, "end_ns": 9, "dataset": "d", "policy": None}
AUDIT = {"invalid": ["late"]}
WHOLE: dict[str, Any] = {
    "schema": 1, "status": "done", "identity": "x", "given": {"scenarios": ["s"]}, "resolved": {"k": HEADER},
    "units": {"k": {"audit": AUDIT, "log_sha256": "0", "error": None}},
}  # fmt: skip


def _with(path: Sequence[str], value: Any) -> bytes:
    """The whole file with another value there."""
    told = json.loads(json.dumps(WHOLE))
    inner = told
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(told).encode()


def test_a_run_file_is_read_as_it_is() -> None:
    assert parse_run(FILE, json.dumps(WHOLE).encode()) == WHOLE


@pytest.mark.parametrize(
    ("path", "value", "want"),
    [
        ("status", None, "status: not a run file: text is wanted"),
        ("status", ["done"], "status: '['done']': not a run file: text is wanted"),
        ("given", [], "given: '[]': not a run file: an object is wanted"),
        ("given.scenarios", "s", "given.scenarios: 's': not a run file: a list of texts is wanted"),
        ("given.scenarios", [1], "given.scenarios: '[1]': not a run file: a list of texts is wanted"),
        ("resolved", [], "resolved: '[]': not a run file: an object is wanted"),
        ("resolved", {"../k": HEADER},
         "resolved: '../k': not a run file: the name of a folder as key of a unit is wanted"),
        ("resolved.k", None, "resolved.k: not a run file: an object is wanted"),
        ("resolved.k.seed", None, "resolved.k.seed: not a run file: a whole number is wanted"),
        ("resolved.k.seed", "0", "resolved.k.seed: '0': not a run file: a whole number is wanted"),
        ("resolved.k.seed", True, "resolved.k.seed: 'True': not a run file: a whole number is wanted"),
        ("resolved.k.end_ns", 1.5, "resolved.k.end_ns: '1.5': not a run file: a whole number is wanted"),
        ("resolved.k.user", [], "resolved.k.user: '[]': not a run file: text is wanted"),
        ("units", None, "units: not a run file: an object is wanted"),
        ("units.k", [], "units.k: '[]': not a run file: an object is wanted"),
        ("units.k.audit", [], "units.k.audit: '[]': not a run file: an object is wanted"),
        ("units.k.audit.invalid", "late", "units.k.audit.invalid: 'late': not a run file: a list of texts is wanted"),
        ("units.k.audit.invalid", {}, "units.k.audit.invalid: '{}': not a run file: a list of texts is wanted"),
        ("units.k.log_sha256", 7, "units.k.log_sha256: '7': not a run file: text is wanted"),
    ],
)  # fmt: skip
def test_a_field_that_is_not_what_it_should_be_is_named(path: str, value: Any, want: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'{FILE}: {want}')}$"):
        parse_run(FILE, _with(path.split("."), value))


@pytest.mark.parametrize(
    ("text", "want"),
    [(b"", "not a run file"), (b"\xff\xfe", "not a run file"), (b"null", "names no schema"),
     (b"[1]", "names no schema"),
     (b"[" * 99_999, "not a run file"), (b'{"schema":NaN}', "NaN is no number of JSON"),
     (b'{"schema":2}', "this version reads schema 1")],
)  # fmt: skip
def test_what_is_no_run_file_is_told_in_one_sentence(text: bytes, want: str) -> None:
    with pytest.raises(InputError, match=want) as said:
        parse_run(FILE, text)
    assert "\n" not in str(said.value)


_WORDS = st.text(max_size=3)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)
_PATHS = [("schema",), ("status",), ("given",), ("given", "scenarios"), ("resolved",), ("resolved", "k"),
          *(("resolved", "k", name) for name in HEADER), ("units",), ("units", "k"), ("units", "k", "audit"),
          ("units", "k", "audit", "invalid"), ("units", "k", "log_sha256")]  # fmt: skip


@given(path=st.sampled_from(_PATHS), value=_JSON)
def test_whatever_stands_in_a_field_is_either_of_its_form_or_refused(path: Sequence[str], value: Any) -> None:
    try:
        run = parse_run(FILE, _with(path, value))
    except InputError:
        return
    for header in run["resolved"].values():
        assert int(header["seed"]) >= header["seed"]
        assert isinstance(header.get("user", ""), str | None)
    for unit in run["units"].values():
        assert all(isinstance(reason, str) for reason in (unit.get("audit") or {}).get("invalid") or ())
