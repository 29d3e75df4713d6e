"""Scenario files, folders and histories to plays; each fault of a file in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.core.errors import InputError
from simulator.core.types import SECOND, Event, Label
from simulator.session.scenario import Found, Play, find, json_schema, plays
from simulator.session.store import Writer
from simulator.session.truth import Assist, Intent

S = SECOND
DAY = 86_400 * S
ROOT = Path(__file__).parents[2]


def _session(
    folder: Path, *, anchor_s: int = 1_760_000_000, n: int = 100, assist: tuple[int, int] | None = None
) -> Path:
    with Writer(folder, user="ada", utc_anchor_ns=anchor_s * S) as writer:
        columns = ("tick", "captured_ns", "app_name", "window_title")
        writer.add_rows(columns, [(t, t * S, "Code.exe", f"f{t // 50}.py") for t in range(n)])
        if assist:
            start, end = assist
            writer.event(start_ns=0, end_ns=start * S, app_name="Code.exe", window_title="f", is_llm_event=0)
            writer.event(
                start_ns=start * S,
                end_ns=end * S,
                app_name="chrome.exe",
                window_title="ChatGPT",
                is_llm_event=1,
                user_intention="Code Programming",
                conversation=json.dumps({"user_queries": ["why?"], "llm_responses": ["because"]}),
            )
        writer.set_profile({"job": "engineer"})
    return folder


def _scenario(folder: Path, text: str, name: str = "scenario.yaml") -> Path:
    if not (folder / "session.db").exists():
        _session(folder)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def _only(path: Path) -> Play:
    (play,) = plays([path])
    return play


WINDOWS = """
truth:
  opportunities:
    - {opens_s: 50, closes_s: 60.5, intention: translation, acted_s: 60.5, query: "what?", weight: 2, id: b}
    - {opens_s: 10, closes_s: 30, intention: coding}
    - {opens_s: 70, closes_s: 71, intention: Translation}
policy: stride:5
seed: 3
gate: "off"
window_s: 60
intentions: null
"""


def test_a_scenario_file_says_everything_of_a_play(tmp_path: Path) -> None:
    play = _only(_scenario(tmp_path / "mon", WINDOWS))
    assert (play.key, play.user, play.profile, play.period_ns, play.window_ns) == (
        "mon",
        "ada",
        {"job": "engineer"},
        S,
        60 * S,
    )
    assert play.settings == {"policy": "stride:5", "seed": 3, "gate": "off"}
    assert play.truth.known
    assert [(o.id, o.opens_ns, o.closes_ns, o.intention, o.unservable) for o in play.truth.opportunities] == [
        ("o1", 10 * S, 30 * S, "Coding/Programming", None),
        ("b", 50 * S, 60_500_000_000, "Translation", None),
        ("o2", 70 * S, 71 * S, "Translation", "under 2 s"),
    ]
    assert play.truth.acts_ns == (60_500_000_000,)
    assert (play.truth.end_ns, play.truth.moments) == (100 * S, ())
    assert len(play.intentions) == 16
    assert play.truth.session == play.source.session == "mon"


def test_toml_reads_the_same_as_yaml(tmp_path: Path) -> None:
    toml = 'policy = "stride:5"\n[[truth.opportunities]]\nopens_s = 1\ncloses_s = 9\nintention = "Translation"\n'
    play = _only(_scenario(tmp_path / "mon", toml, "other.toml"))
    assert play.settings == {"policy": "stride:5"}
    assert play.truth.opportunities[0].closes_ns == 9 * S


def test_a_bare_session_is_played_with_the_truth_it_recorded(tmp_path: Path) -> None:
    known = _only(_session(tmp_path / "a", assist=(70, 90)))
    assert known.truth.assists == (Assist(70 * S, 90 * S, "Coding/Programming", "why?"),)
    assert [(o.opens_ns, o.closes_ns, o.query) for o in known.truth.opportunities] == [(10 * S, 70 * S, "why?")]
    assert known.truth.acts_ns == (70 * S,)
    assert "follow-up" in known.truth.rule
    unknown = _only(_session(tmp_path / "b"))
    assert not unknown.truth.known
    assert unknown.truth.opportunities == ()


def test_the_sessions_own_table_of_needs_goes_before_the_rule(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    with Writer(folder) as writer:
        writer.add_rows(("tick", "captured_ns"), [(t, (t + 7) * S) for t in range(50)])
        writer.opportunity(id="x", opens_ns=17 * S, closes_ns=27 * S, acted_ns=27 * S, intention="Translation")
    play = _only(folder)
    assert [(o.opens_ns, o.closes_ns, o.acted_ns) for o in play.truth.opportunities] == [(10 * S, 20 * S, 20 * S)]
    assert play.truth.rule == "recorded: the session's own table of opportunities"


def test_folders_are_looked_through_and_scenarios_go_before_sessions(tmp_path: Path) -> None:
    _session(tmp_path / "ada" / "mon")
    _session(tmp_path / "bob" / "mon")
    assert [p.key for p in plays([tmp_path])] == ["mon", "mon-2"]
    _scenario(tmp_path / "bob" / "tue", "name: the one")
    assert [p.key for p in plays([tmp_path])] == ["the-one"]
    assert [p.key for p in plays([tmp_path / "ada" / "mon" / "session.db", tmp_path / "bob"])] == ["mon", "the-one"]


def test_what_an_import_left_half_done_and_what_lies_too_deep_is_not_found(tmp_path: Path) -> None:
    _session(tmp_path / "ada" / ".mon.part")
    _session(tmp_path / "1" / "2" / "3" / "4" / "5" / "6")
    with pytest.raises(InputError, match="nothing to play here"):
        plays([tmp_path])
    mon = _session(tmp_path / "1" / "2" / "3" / "4" / "5")
    assert find(tmp_path) == Found([], [mon])


def test_what_is_foreign_is_sent_to_the_import(tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "lifetrace.db").write_bytes(b"x")
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "a.png").write_bytes(b"x")
    (tmp_path / "none").mkdir()
    for name, said in (
        ("db", "dataset import --format lifetrace"),
        ("db/lifetrace.db", "dataset import --format lifetrace"),
        ("img", "dataset import --format folder"),
        ("none", "nothing to play here"),
        ("gone", "no such file or folder"),
    ):
        with pytest.raises(InputError, match=said):
            plays([tmp_path / name])


def test_intents_by_profile_play_the_session_once_a_profile(tmp_path: Path) -> None:
    text = """
profiles:
  chef: {job: cook}
  coder: {job: programmer}
truth:
  intents:
    coder: [fix the bug, {text: read docs, intention: Information Lookup}]
    chef: []
"""
    chef, coder = plays([_scenario(tmp_path / "mon", text)])
    assert (chef.key, coder.key) == ("mon@chef", "mon@coder")
    assert (chef.profile, chef.truth.intents) == ({"job": "cook"}, {"chef": ()})
    assert coder.truth.intents == {"coder": (Intent("fix the bug"), Intent("read docs", "Information Lookup"))}
    assert not coder.truth.known, "intents tell of no windows"


def test_own_intentions_replace_the_sixteen(tmp_path: Path) -> None:
    text = "intentions: [Debug, Translate]\ntruth: {opportunities: [{opens_s: 1, closes_s: 9, intention: debug}]}"
    play = _only(_scenario(tmp_path / "mon", text))
    assert play.intentions == ("Debug", "Translate")
    assert play.truth.opportunities[0].intention == "Debug"


def test_assists_in_the_file_make_needs_by_the_rule(tmp_path: Path) -> None:
    text = "truth: {assists: [{start_s: 80, end_s: 90, intention: Translation, query: q}]}"
    play = _only(_scenario(tmp_path / "mon", text))
    assert [(o.opens_ns // S, o.closes_ns // S) for o in play.truth.opportunities] == [(20, 80)]


BAD = [
    ("polic: x", "polic: unknown key; did you mean 'policy'?"),
    ("truth: {oportunities: []}", "truth.oportunities: unknown key; did you mean 'opportunities'?"),
    ("truth: recordet", "truth: 'recordet': not one of the choices; did you mean 'recorded'?"),
    ("truth: {}", "truth: give opportunities, assists or intents"),
    (
        "truth: {opportunities: [{opens_s: 1, intention: Translation}]}",
        r"opportunities\[0\].closes_s: this key is missing",
    ),
    (
        "truth: {opportunities: [{opens_s: 1, closes_s: 2, intention: Translation, when: 3}]}",
        r"opportunities\[0\].when: unknown",
    ),
    (
        "truth: {opportunities: [{opens_s: .nan, closes_s: 2, intention: Translation}]}",
        r"opens_s: 'nan': .*finite number",
    ),
    (
        "truth: {opportunities: [{opens_s: 1, closes_s: .inf, intention: Translation}]}",
        r"closes_s: 'inf': .*finite number",
    ),
    (
        "truth: {opportunities: [{opens_s: soon, closes_s: 2, intention: Translation}]}",
        "opens_s: 'soon': .*valid number",
    ),
    (
        "truth: {opportunities: [{opens_s: 9, closes_s: 9, intention: Translation}]}",
        "'9 to 9 s': the window must close after",
    ),
    (
        "truth: {opportunities: [{opens_s: 9, closes_s: 5, intention: Translation}]}",
        "'9 to 5 s': the window must close after",
    ),
    (
        "truth: {opportunities: [{opens_s: 100, closes_s: 105, intention: Translation}]}",
        r"open within the session \(0 to 100 s\)",
    ),
    ("truth: {opportunities: [{opens_s: -1, closes_s: 5, intention: Translation}]}", "open within the session"),
    (
        "truth: {opportunities: [{opens_s: 5, closes_s: 300, intention: Translation}]}",
        r"truth.opportunities\[0\].closes_s: '300 s': this lies after the recording, which ends at 100 s",
    ),
    (
        "truth: {opportunities: [{opens_s: 5, closes_s: 9, acted_s: 101.5, intention: Translation}]}",
        r"truth.opportunities\[0\].acted_s: '101.5 s': this lies after the recording, which ends at 100 s",
    ),
    (
        "truth: {assists: [{start_s: 120, end_s: 130, intention: Translation}]}",
        r"truth.assists\[0\].start_s: '120 s': this lies after the recording, which ends at 100 s",
    ),
    ("truth: yes", "truth: 'true': a mapping with opportunities, assists or intents, or the word recorded or none$"),
    ("truth: 3", "truth: '3': a mapping with opportunities, assists or intents, or the word recorded or none$"),
    ("truth:", "truth: a mapping with opportunities, assists or intents, or the word recorded or none$"),
    (
        "truth: {opportunities: [Translation]}",
        r"opportunities\[0\]: 'Translation': a mapping; known keys: opens_s, closes_s, intention, acted_s, query",
    ),
    ("truth: {assists: [5]}", r"assists\[0\]: '5': a mapping; known keys: start_s, end_s, intention, query$"),
    (
        "truth: {opportunities: [{opens: 1, closes_s: 4, intention: Translation}]}",
        r"opportunities\[0\].opens: unknown key; did you mean 'opens_s'\?",
    ),
    (
        "truth: {opportunities: [{opens_s: 1, closes_s: 4, intention: Translation}, {opens_s: 5, closes: 9}]}",
        r"opportunities\[1\].closes: unknown key; did you mean 'closes_s'\?",
    ),
    (
        "polic: x\ntruth: {opportunities: [{opens_s: 1, intention: Translation}]}",
        r"opportunities\[0\].closes_s: this key is missing",
    ),
    ("truth: {opportunities: [{opens_s: 5, closes_s: 9, acted_s: 4, intention: Translation}]}", "cannot act before"),
    (
        "truth: {opportunities: [{opens_s: 5, closes_s: 9, intention: Transslation}]}",
        "unknown intention; did you mean 'Translation'",
    ),
    (
        "truth: {opportunities: [{opens_s: 5, closes_s: 9, intention: Translation, weight: 0}]}",
        "weight: '0': .*greater than or equal to 0.000001",
    ),
    (
        "truth: {opportunities: [{opens_s: 5, closes_s: 9, intention: Translation, weight: 5.0e-324}]}",
        "weight: '5e-324': .*greater than or equal to 0.000001",
    ),
    (
        "truth: {opportunities: [{opens_s: 5, closes_s: 9, intention: Translation},"
        " {opens_s: 8, closes_s: 12, intention: translation}]}",
        "two windows of Translation overlap: 5 to 9 s and 8 to 12 s",
    ),
    (
        "truth: {opportunities: [{opens_s: 1, closes_s: 4, intention: Translation, id: a},"
        " {opens_s: 8, closes_s: 12, intention: Translation, id: a}]}",
        "each id once",
    ),
    ("intentions: []", "intentions: .*at least 1 item"),
    ("intentions: [Debug, debug]", "each intention once"),
    ("rate_hz: 0", "rate_hz: '0': .*greater than 0"),
    ("rate_hz: .nan", "rate_hz: 'nan'"),
    ("segmentation: apps", "segmentation: 'apps': not one of the choices; did you mean 'app'"),
    ("protocol: streem", "did you mean 'stream'"),
    ("monitor: 9", "monitor: '9': no row has it"),
    ("seed: -1", "seed: '-1'"),
    ("session: ../nowhere", "session: '../nowhere': there is no session.db"),
    ("history: [gone.csv]", r"history\[0\]: 'gone.csv': the folder of an earlier session, or an event table"),
    ("profile: gone.yaml", "gone.yaml: cannot be read"),
    ("profile: {a: 1}\nprofiles: {b: {a: 1}}", "give profile or profiles, not both"),
    ("profiles: {a: {x: y}}\ntruth: {intents: {b: [z]}}", "no such profile"),
    ("policy: a\npolicy: b", "the key 'policy' is given twice"),
    ("- a", "must hold a mapping"),
    ("a: [", "cannot be read as YAML"),
    (f"seed: {'9' * 5000}", "line 1: this is no number and no date"),
    ("name: 2020-13-45", "line 1: this is no number and no date"),
    ("name: !!timestamp soon", "line 1: this is no number and no date"),
    ("name: !!bool perhaps", "line 1: this is no number and no date"),
    ("? [a, b]\n: 1", "line 1: found unhashable key"),
    (f"name: {'[' * 100_000}", "nested too deeply"),
    ('name: "\\ud800"', "line 1: a text holds half a character"),
    (f"profile: {{a: 0x{'f' * 6000}}}", "a number in it is too large"),
    ('session: "a\\0b"', "a path in it holds a NUL character"),
    ('taxonomy: "a\\0b"', "a path in it holds a NUL character"),
    (f"session: {'p' * 5000}", "cannot be read .File name too long"),
    (f"history: [{'p' * 5000}]", "cannot be read .File name too long"),
    ("rate_hz: 1.0e-300", "rate_hz: '1e-300': should be greater than 0.0001"),
    ("rate_hz: true", "rate_hz: 'true': should be a valid number"),
    ("window_s: '3'", "window_s: '3': should be a valid number"),
    ("window_s: 1.0e+300", r"window_s: '1e\+300': should be less than"),
    ("seed: true", "seed: 'true': should be a valid integer"),
    ("seed: '3'", "seed: '3': should be a valid integer"),
    ("truth: {assists: [{start_s: 1.0e+300, end_s: 2}]}", r"start_s: '1e\+300': should be less than"),
    ("truth: {assists: [{start_s: true, end_s: 2}]}", "start_s: 'true': should be a valid number"),
    (
        "truth: {opportunities: [{opens_s: 5, closes_s: 9, intention: Translation, weight: 1.0e+300}]}",
        r"weight: '1e\+300': should be less than or equal to 1000000",
    ),
]


@pytest.mark.parametrize(("text", "said"), BAD, ids=[t[:40] for t, _ in BAD])
def test_each_fault_of_a_file_is_one_sentence_that_names_it(tmp_path: Path, text: str, said: str) -> None:
    file = _scenario(tmp_path / "mon", text)
    with pytest.raises(InputError, match=said) as caught:
        plays([file])
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"seed = {'9' * 5000}", "cannot be read as TOML: a number in it is too large"),
        (f"name = {'[' * 100_000}", "cannot be read as TOML: it is nested too deeply"),
        ("rate_hz = 1e-300", "rate_hz: '1e-300': should be greater than"),
    ],
    ids=["digits", "deep", "rate"],
)
def test_each_fault_of_a_toml_file_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        plays([_scenario(tmp_path / "mon", text, "odd.toml")])


@pytest.mark.parametrize(("name", "text"), [("a.yaml", "seed: 3"), ("a.toml", "seed = 3")])
def test_a_byte_order_mark_is_no_part_of_a_scenario(tmp_path: Path, name: str, text: str) -> None:
    assert _only(_scenario(tmp_path / "mon", "\ufeff" + text, name)).settings == {"seed": 3}


def test_merge_keys_of_yaml_are_merged_and_may_be_overridden(tmp_path: Path) -> None:
    text = (
        "truth:\n  opportunities:\n"
        "    - &first {opens_s: 1, closes_s: 5, intention: Translation}\n"
        "    - {<<: *first, opens_s: 7, closes_s: 12}\n"
    )
    needs = _only(_scenario(tmp_path / "mon", text)).truth.opportunities
    assert [(n.opens_ns, n.closes_ns, n.intention) for n in needs] == [
        (S, 5 * S, "Translation"),
        (7 * S, 12 * S, "Translation"),
    ]


ODD_ROWS = [
    ('{"start": -1e300, "end": -1}', "start: '-1e\\+300': seconds within 31 years"),
    (f'{{"start": -{"9" * 400}, "end": -1}}', "start: '-9*…': must be a number of seconds, within 31 years"),
    (f'{{"start": -{"9" * 5000}, "end": -1}}', "not JSON .a number of thousands of digits"),
    (f'{{"start": -2, "end": -1, "title": {"[" * 100_000}', "nested too deeply"),
    ('{"start": -2, "end": -1, "id": ["x"]}', "id: .*a text or a whole number"),
    ('{"start": -2, "end": -1, "id": 1}\n{"start": -2, "end": -1, "id": "1"}', "id: '1': each id once"),
    ('{"start": -2, "end": -1, "title": "\\ud800"}', "a text holds half a character"),
    ('{"start": -2, "end": -1, "end": -1}', "a key is given twice"),
    ('{"start": "0001-01-01T00:00:00+23:59", "end": -1}', "start: .*an ISO time with zone"),
]


@pytest.mark.parametrize(("text", "said"), ODD_ROWS, ids=[t[:40] for t, _ in ODD_ROWS])
def test_each_odd_row_of_a_history_is_one_sentence_that_names_the_line(tmp_path: Path, text: str, said: str) -> None:
    file = _scenario(tmp_path / "mon", "history: [past.jsonl]")
    (tmp_path / "mon" / "past.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"past.jsonl, line [12]: .*{said}"):
        plays([file])


def test_a_column_of_a_history_stands_once_and_a_field_may_be_long(tmp_path: Path) -> None:
    file = _scenario(tmp_path / "mon", "history: [past.csv]")
    past = tmp_path / "mon" / "past.csv"
    past.write_text("start,end,start\n-2,-1,-3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"past\.csv: start: each column once"):
        plays([file])
    past.write_text(f"start,end,title\n-2,-1,{'x' * 200_000}\n", encoding="utf-8")
    assert len(_only(file).history[0][0].title or "") == 200_000


def test_a_window_may_close_and_the_user_act_one_period_after_the_end(tmp_path: Path) -> None:
    text = "truth: {opportunities: [{opens_s: 90, closes_s: 101, acted_s: 101, intention: Translation}]}"
    (need,) = _only(_scenario(tmp_path / "mon", text)).truth.opportunities
    assert (need.closes_ns, need.acted_ns, need.unservable) == (101 * S, 101 * S, None)


def test_a_recorded_window_beyond_the_recording_is_refused_by_row(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    with Writer(folder) as writer:
        writer.add_rows(("tick", "captured_ns"), [(t, (t + 7) * S) for t in range(50)])
        writer.opportunity(id="x", opens_ns=17 * S, closes_ns=70 * S, intention="Translation")
    said = "session.db: opportunities row x, closes_ns: '63 s': this lies after the recording, which ends at 50 s"
    with pytest.raises(InputError, match=said):
        plays([folder])


def test_windows_of_different_intentions_may_overlap(tmp_path: Path) -> None:
    text = (
        "truth: {opportunities: [{opens_s: 5, closes_s: 9, intention: Translation},"
        " {opens_s: 5, closes_s: 9, intention: Summarization}]}"
    )
    assert len(_only(_scenario(tmp_path / "mon", text)).truth.opportunities) == 2


TABLE = """\
{"start": "2025-10-08T08:00:00Z", "end": "2025-10-08T08:01:00Z", "app": "Code.exe", "title": "a.py", "summary": "w"}
{"start": -50, "end": -40, "app": "chrome.exe", "assistance": true, "intention": "coding", "query": "how?"}
{"start": -90, "end": -50, "app": "Code.exe", "title": "b.py"}
"""


def test_an_event_table_becomes_history_with_labels_by_the_rule(tmp_path: Path) -> None:
    folder = _session(tmp_path / "mon")
    (folder / "past.jsonl").write_text(TABLE, encoding="utf-8")
    history = _only(_scenario(folder, "history: [past.jsonl]")).history
    start = 1_759_910_400 - 1_760_000_000
    assert history[0] == (
        Event("past/1", "ada", start * S, (start + 60) * S, "Code.exe", "a.py", "ide", "w"),
        Label("past/1", "ada", False, (start + 60) * S),
    )
    assert history[1][1] == Label("past/3", "ada", True, -50 * S, "Coding/Programming", "how?")
    assert history[2][0].assistance
    assert history[2][1] is None


def test_a_table_that_says_help_itself_is_believed(tmp_path: Path) -> None:
    folder = _session(tmp_path / "mon")
    table = (
        "start,end,app,help,intention,query\n-20,-10,Code.exe,true,Translation,was heißt das?\n"
        "-9,-5,Code.exe,0,,\n-4,-2,x,,,\n"
    )
    (folder / "past.csv").write_text(table, encoding="utf-8")
    history = _only(_scenario(folder, "history: [past.csv]")).history
    assert [label for _, label in history] == [
        Label("past/2", "ada", True, -10 * S, "Translation", "was heißt das?"),
        Label("past/3", "ada", False, -5 * S),
        None,
    ]


def test_an_earlier_session_becomes_history_on_the_same_calendar(tmp_path: Path) -> None:
    _session(tmp_path / "sun", anchor_s=1_760_000_000 - 86_400, assist=(70, 90))
    _session(tmp_path / "sat", anchor_s=1_760_000_000 - 2 * 86_400)
    history = _only(_scenario(tmp_path / "mon", "history: [../sun, ../sat]")).history
    assert [(e.id, e.start_ns + 2 * DAY) for e, _ in history if e.id.startswith("sat")] == [
        ("sat/0", 0),
        ("sat/1", 50 * S),
    ]
    assert history[-2][1] == Label("sun/e1", "ada", True, 70 * S - DAY, "Coding/Programming", "why?")
    assert history[-1][0].assistance


def test_tables_and_sessions_of_one_name_keep_all_their_events(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "past.jsonl").write_text(
            '{"start": -9, "end": -5, "help": true}\n{"start": -20, "end": -9}\n', encoding="utf-8"
        )
        _session(tmp_path / name / "mon", anchor_s=1_760_000_000 - 86_400 * (2 if name == "a" else 1))
    text = "history: [../a/past.jsonl, ../b/past.jsonl, ../a/mon, ../b/mon]"
    history = _only(_scenario(tmp_path / "mon", text)).history
    ids = [e.id for e, _ in history]
    assert len(set(ids)) == len(ids) == 8
    assert all(label is None or label.event_id == event.id for event, label in history)
    assert {"past/1", "2:past/1", "3:mon/0", "4:mon/0"} <= set(ids), "mon/0 is an event of the session that is played"


def test_a_table_may_hold_titles_with_odd_ends_of_lines(tmp_path: Path) -> None:
    folder, title = _session(tmp_path / "mon"), "a\u2028b\u2029c\x85d"
    line = json.dumps({"start": -9, "end": -5, "title": title}, ensure_ascii=False)
    (folder / "past.jsonl").write_text(line + "\n", encoding="utf-8")
    (folder / "more.csv").write_text(f'start,end,title\n-4,-3,"{title}\nx"\n', encoding="utf-8")
    history = _only(_scenario(folder, "history: [past.jsonl, more.csv]")).history
    assert [e.title for e, _ in history] == [title, f"{title}\nx"]


def test_a_table_may_hold_events_of_other_users_each_labelled_by_their_own_questions(tmp_path: Path) -> None:
    folder = _session(tmp_path / "mon")
    table = "start,end,user,app,assistance\n-30,-20,,Code.exe,\n-30,-20,bob,Code.exe,\n-20,-9,bob,chrome.exe,true\n"
    (folder / "past.csv").write_text(table, encoding="utf-8")
    history = _only(_scenario(folder, "history: [past.csv]")).history
    assert [(e.user, label and (label.user, label.help)) for e, label in history] == [
        ("ada", ("ada", False)), ("bob", ("bob", True)), ("bob", None),
    ]  # fmt: skip


BAD_TABLES = [
    ('{"start": -5, "end": -1, "user": 7}', "line 1: user: '7': must be a text"),
    ('{"start": -5, "end": -1, "id": "x"}\n{"start": -5, "end": -1, "id": "x"}', "line 2: id: 'x': each id once"),
    ('{"start": -5, "end": -9}', "line 1: end: '-9': the event ends before it starts"),
    ('{"start": -5, "end": 9}', "history must lie before the session's first snapshot"),
    ('{"start": -5}', "line 1: end: this column is missing"),
    ('{"start": -5, "end": -1, "tittle": "x"}', "tittle: unknown column; did you mean 'title'"),
    ('{"start": -5, "end": -1, "intention": "Translaton"}', "unknown intention; did you mean 'Translation'"),
    ('{"start": "2025-10-08T08:00:00", "end": -1}', "an ISO time with zone"),
    ('{"start": NaN, "end": -1}', "not JSON"),
    ('{"start": "nan", "end": -1}', "a finite number"),
    ('{"start": -5, "end": -1}\n{"start": -', "line 2: not JSON .*a torn last line"),
    ('{"start": -5, "end": -1, "help": "perhaps"}', "help: 'perhaps': true or false"),
    ("[1]", "one JSON object a line"),
]


@pytest.mark.parametrize(("text", "said"), BAD_TABLES, ids=[t[:40] for t, _ in BAD_TABLES])
def test_each_fault_of_an_event_table_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    folder = _session(tmp_path / "mon")
    (folder / "past.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        plays([_scenario(folder, "history: [past.jsonl]")])


def test_a_history_that_is_the_future_is_refused(tmp_path: Path) -> None:
    _session(tmp_path / "tue", anchor_s=1_760_000_000 + 86_400)
    with pytest.raises(InputError, match="history must end before the session starts"):
        plays([_scenario(tmp_path / "mon", "history: [../tue]")])


def test_the_hash_covers_recording_scenario_and_history(tmp_path: Path) -> None:
    folder = _session(tmp_path / "mon")
    (folder / "past.jsonl").write_text(TABLE, encoding="utf-8")
    file = _scenario(folder, "history: [past.jsonl]")
    first = _only(file).dataset_hash
    assert first == _only(file).dataset_hash
    (folder / "past.jsonl").write_text(TABLE.replace("how?", "why?"), encoding="utf-8")
    second = _only(file).dataset_hash
    file.write_text("history: [past.jsonl]\nseed: 1\n", encoding="utf-8")
    assert len({first, second, _only(file).dataset_hash}) == 3


def test_what_is_named_twice_is_refused(tmp_path: Path) -> None:
    file = _scenario(tmp_path / "mon", "session: .")
    _scenario(tmp_path / "tue", "session: .")
    assert len(plays([tmp_path])) == 2
    for paths in ([file, file], [tmp_path / "mon", file], [tmp_path, tmp_path / "tue" / ".." / "mon"]):
        with pytest.raises(InputError, match="named twice; each scenario or session is played once"):
            plays(paths)


def test_the_published_schema_is_current() -> None:
    published = json.loads((ROOT / "docs/scenario.schema.json").read_text(encoding="utf-8"))
    assert published == json_schema(), (
        "write it anew: python -m simulator.session.scenario_file > docs/scenario.schema.json"
    )
