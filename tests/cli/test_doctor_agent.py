"""``proact doctor agent`` finds what is wrong with an agent in another process, and says it in a sentence."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agents import remote_stdio
from simulator.cli import _call
from simulator.timing.clock import rest
from tests import remotes
from tests.remotes import HEALTH, STDIO, Told, python

TOKEN = "tok-Kq83hZp1xYw77Lm2"
NAMES = [
    "health", "open", "decide", "nothing known", "odd texts", "large call", "picture", "unknown field", "in turn",
    "at once", "no JSON", "unknown call", "token", "repeat", "finish", "intentions", "fields", "speed",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_stdio, "_LEAVE_S", 0.3)


def examined(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and the state and sentence of each check."""
    capsys.readouterr()
    code = _call(["doctor", "agent", *words, "--json"])
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert records[-1]["event"] == "done"
    return code, {r["name"]: (r["state"], r["said"]) for r in records[:-1]}


@pytest.mark.parametrize("how", ["http", "stdio"])
def test_the_documented_examples_conform(how: str, capsys: pytest.CaptureFixture[str]) -> None:
    if how == "stdio":
        code, found = examined(capsys, "--stdio", STDIO)
        assert list(found) == [*NAMES, "close", "again"]
    else:
        with remotes.example() as url:
            code, found = examined(capsys, url)
        assert list(found) == [*NAMES, "connections", "close", "again"]
    assert code == 0
    assert {state for state, _ in found.values()} == {"ok"}
    assert found["intentions"][1] == "17 offers, of intentions in use"


def test_people_read_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["doctor", "agent", "--stdio", STDIO]) == 0
    out = capsys.readouterr().out
    assert "health" in out
    assert "stuck 1; pictures: none" in out


PERL = r"""
use strict; use JSON::PP; $| = 1;
my $json = JSON::PP->new->utf8;
my %known = (health => {protocol => 1, name => "perl", version => "1"}, open => {}, close => {},
             decide => {offers => []});
while (my $line = <STDIN>) {
  my $said = eval { $json->decode($line) };
  my $body = $said && $known{$said->{call}};
  my $told = $body ? {n => $said->{n}, body => $body}
                   : {n => $said && $said->{n}, error => {kind => "unreadable", text => "?"}};
  print $json->encode($told), "\n";
}
"""


@pytest.mark.skipif(shutil.which("perl") is None, reason="there is no Perl here")
def test_another_language_conforms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "agent.pl"
    file.write_text(PERL)
    code, found = examined(capsys, "--stdio", f"perl {file}")
    assert code == 0
    assert {state for state, _ in found.values()} == {"ok"}


OFFER = {"offers": [{"intention": "Translation", "text": "x", "confidence": 0.5}]}


def told(capsys: pytest.CaptureFixture[str], *words: str, **answers: Any) -> tuple[int, dict[str, tuple[str, str]]]:
    with Told(**answers).served() as url:
        return examined(capsys, url, *words)


def _long(body: Any) -> Any:
    """Of a server that reads small calls only."""
    return (413, b"too large") if len(json.dumps(body)) > 100_000 else OFFER


def _needs(field: str) -> Any:
    """Of one that takes for granted what may be unknown."""

    def answer(body: Any) -> Any:
        return OFFER if body["observation"]["snapshot"][field] else (500, b"TypeError")

    return answer


def _strict(body: Any) -> Any:
    extra = set(body) - {"id", "observation"}
    return (422, {"error": {"kind": "field", "text": f"unknown: {extra}"}}) if extra else OFFER


def _other_each_time() -> Any:
    count = itertools.count()
    return lambda body: {"offers": [{"intention": "Translation", "confidence": next(count) / 1000}]}


@pytest.mark.parametrize(
    ("answers", "name", "state", "sentence"),
    [
        ({"health": (404, b"")}, "health", "wrong", "refused: it answered with status 404"),
        (
            {"health": {**HEALTH, "protocol": 2}},
            "health",
            "wrong",
            "it speaks protocol 2; this version of proact speaks 1",
        ),
        ({"health": {**HEALTH, "need": {}}}, "health", "note", "fields that are not of this protocol: 'need'"),
        ({"open": []}, "open", "wrong", "bad_answer: a JSON object is wanted, not a list"),
        ({"decide": {"offer": []}}, "decide", "wrong", "in the answer to decide: offers: field required"),
        ({"decide": _needs("app")}, "nothing known", "wrong", "refused: it answered with status 500: TypeError"),
        ({"decide": _long}, "large call", "wrong", "refused: it answered with status 413: too large"),
        ({"decide": _strict}, "unknown field", "wrong", "agent: the agent answered with an error of its own: field"),
        ({"decide": _other_each_time()}, "repeat", "note", "give other decisions: its runs cannot be repeated"),
        ({"decide": {**OFFER, "confidance": 1}}, "fields", "note", "passed over (misspelt?): 'confidance'"),
        (
            {"decide": {"offers": [{"intention": "Chat"}]}},
            "intentions",
            "note",
            "'Chat': not among those that open told",
        ),
        ({"of_a_later_version": {}}, "unknown call", "note", "is answered as if there were one"),
        ({"close": (500, b"no")}, "close", "wrong", "refused: it answered with status 500: no"),
        ({"health": {**HEALTH, "finish": True}, "finish": {}}, "finish", "wrong", "in the answer to finish: offers"),
    ],
)
def test_a_fault_is_found_and_said(
    answers: dict[str, Any], name: str, state: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = told(capsys, **{"decide": OFFER, **answers})
    assert found[name][0] == state
    assert sentence in found[name][1]
    assert code == (1 if any(state == "wrong" for state, _ in found.values()) else 0)


def test_a_server_that_breaks_off_at_calls_that_it_cannot_read_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """The fake one raises in its handler, and closes the connection without a word."""
    code, found = told(capsys, decide=OFFER)
    assert code == 1
    state, said = found["no JSON"]
    assert state == "wrong"
    assert said.startswith(
        "a call that is no JSON must be an error of the agent's own, not: connection: it closed the con"
    )
    assert found["unknown call"][0] == "wrong"


@pytest.mark.parametrize("needs", ["path", "jpeg"])
def test_a_picture_is_sent_as_it_is_wanted(needs: str, capsys: pytest.CaptureFixture[str]) -> None:
    agent = Told(health={**HEALTH, "needs": {"images": needs, "image_side": 320}}, decide=OFFER)
    with agent.served() as url:
        _, found = examined(capsys, url)
    assert found["picture"] == ("ok", f"a picture is taken as {needs}")
    (sent,) = [
        b["observation"]["snapshot"]["image"] for b in agent.bodies("decide") if b["observation"]["snapshot"]["image"]
    ]
    assert sent["width"] == 1920


def test_without_its_health_nothing_more_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = examined(capsys, "http://127.0.0.1:9")
    assert code == 1
    assert found == {"health": ("wrong", "connection: it cannot be reached (Connection refused)")}


def test_a_slow_agent_is_told_how_slow_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    def slow(body: Any) -> Any:
        rest(50_000_000)
        return OFFER

    _, found = told(capsys, "--limit", "40ms", decide=slow)
    assert found["decide"] == ("wrong", "timeout: no answer to decide within 0.04 s")
    assert found["speed"] == ("wrong", "not one decision was answered")


def test_a_token_is_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("AGENT_TOKEN", TOKEN)
    with Told(decide=(500, f"no {TOKEN}".encode())).served() as url:
        assert _call(["doctor", "agent", url, "--token", "AGENT_TOKEN"]) == 1
        said = "".join("".join(capfd.readouterr()).split())
    assert TOKEN not in said
    assert "itanswersalsothosewhohavenone" in said


@pytest.mark.parametrize(
    ("body", "name", "state", "sentence"),
    [
        ("print('hello')\nsay(n, {'offers': []})", "decide", "wrong", "prints belong on standard error"),
        ("sys.exit('no GPU')", "decide", "wrong", "the process has ended (exit code 1); its last words: no GPU"),
    ],
)
def test_a_child_that_breaks_the_rules_is_wrong(
    body: str, name: str, state: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    code, found = examined(capsys, "--stdio", python(_loop(lines)))
    assert code == 1
    assert found[name][0] == state
    assert sentence in found[name][1]


def _loop(decide: str) -> str:
    return f"""
import json, sys, time
def say(n, body): print(json.dumps({{"n": n, "body": body}}), flush=True)
for line in sys.stdin:
    said = json.loads(line)
    n = said["n"]
    if said["call"] == "decide":
{decide}
    else: say(n, {HEALTH!r} if said["call"] == "health" else {{}})
"""


LENIENT = """
    try: said = json.loads(line)
    except ValueError:
        print('{"n": null, "error": {"kind": "json"}}', flush=True)
        continue
    """


def test_a_child_that_stays_is_stopped_and_noted(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = examined(capsys, "--stdio", python(_loop("        say(n, {'offers': []})") + "time.sleep(60)\n"))
    assert found["no JSON"][0] == "wrong", "it dies of what it cannot read"
    assert code == 1
    lenient = _loop("        say(n, {'offers': []})").replace("said = json.loads(line)", LENIENT)
    code, found = examined(capsys, "--stdio", python(lenient + "time.sleep(60)\n"))
    assert found["close"] == ("note", "it did not end at the end of its input, and had to be stopped")
    assert code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name one agent: its URL"),
        (["http://127.0.0.1:1", "--stdio", "x"], "name one agent: its URL"),
        (["--stdio", "x", "--token", "X"], "--token goes with a URL"),
        (["http://127.0.0.1:1", "--limit", "soon"], "is not a duration"),
        (["http://127.0.0.1:1", "--limit", "0s"], "a duration above 0 is wanted"),
        (["http://192.0.2.1"], "is another machine"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["doctor", "agent", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_the_live_check_is_still_there() -> None:
    assert (Path(__file__).resolve().parents[2] / "simulator" / "cli" / "doctor_live.py").is_file()
    assert _call(["doctor", "live", "--help"]) == 0
