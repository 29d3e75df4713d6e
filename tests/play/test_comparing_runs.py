"""Runs that were really played, held against each other: pairs, refusals, flips, and what makes a difference."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.make_session import make
from simulator.cli import _call
from simulator.core.errors import InputError, UsageError
from simulator.play.comparing import Comparison, Row, compare
from simulator.play.player import run
from simulator.runs.folder import digest

ROOT = Path(__file__).resolve().parents[2]
ROWS, SESSIONS = 100, 7


def scenario(i: int) -> str:
    needs = [f"    - {{id: n{n}, opens_s: {10 + 40 * n + i}, closes_s: {35 + 40 * n + i}, acted_s: {35 + 40 * n + i}, "
             f"intention: Error Correction}}" for n in range(2 if i else 0)]  # fmt: skip
    listed = ["  opportunities:", *needs] if needs else ["  opportunities: []"]
    return "\n".join([f"session: s{i}", f"name: s{i}", "user: u", "truth:", *listed]) + "\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for i in range(SESSIONS):
        make(folder / f"s{i}" / f"s{i}", ROWS, i)
        (folder / f"s{i}" / "scenario.yaml").write_text(scenario(i))
    return folder


Play = Callable[..., Path]


@pytest.fixture(scope="module")
def played(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Plays the corpus, once for each choice."""
    done: dict[str, Path] = {}

    def play(agent: str = "oracle", n: int = SESSIONS, **rules: Any) -> Path:
        key = f"{agent} {n} {sorted(rules.items())}"
        if key not in done:
            out = tmp_path_factory.mktemp("runs") / agent.partition(":")[0]
            rules = {"clock": "modelled", "latency": "profile:2s", **rules}
            done[key] = run([corpus / f"s{i}" for i in range(n)], agent, "none", out=out, **rules).folder
        return done[key]

    return play


def one(*paths: Path, **how: Any) -> Comparison:
    (found,) = compare(paths, **how)
    return found


def row(comparison: Comparison, metric: str) -> Row:
    return next(r for r in comparison.rows if r.metric == metric)


def test_a_run_against_itself_is_zero_with_p_one(played: Play, tmp_path: Path) -> None:
    shutil.copytree(played(), tmp_path / "again")
    found = one(played(), tmp_path / "again")
    assert found.n_sessions == SESSIONS
    for r in found.rows:
        if r.found is not None:
            assert (r.found.difference, r.found.p, r.adjusted) == (0, 1, 1), r.metric
            assert r.found.interval == "no session differs, and what others would do cannot be told from that"
            assert not r.drivers()
    assert found.flips is not None
    assert (found.flips.only_first, found.flips.only_second, found.flips.test.p) == ((), (), 1)


def test_silence_loses_each_need_that_the_oracle_serves(played: Play) -> None:
    found = one(played(), played("silent"))
    recall = row(found, "R_rt").found
    assert recall is not None
    assert (recall.first, recall.second, recall.difference) == (1, 0, -1)
    assert recall.p == 2 / 2**6  # the session without a need says nothing: six of seven can be swapped to an effect
    assert row(found, "R_rt").standing == {"better": 0, "equal": 0, "worse": 6, "no_figure": 1}
    assert found.flips is not None
    assert (found.flips.of, len(found.flips.only_first), found.flips.only_second) == ("opportunities", 12, ())
    assert found.flips.only_first[0] == "s1: n0"
    assert {d["session"] for d in row(found, "F1_rt").drivers(9)} <= {f"s{i}" for i in range(1, 7)}
    assert row(found, "P_rt").found is not None
    assert row(found, "P_rt").found.second is None  # type: ignore[union-attr]


def test_figures_are_those_of_scores_json_and_the_difference_is_theirs(played: Play) -> None:
    a, b = played(), played("always")
    scores = [json.loads((f / "scores.json").read_text())["scores"] for f in (a, b)]
    compared = 0
    for r in one(a, b).rows:
        if r.found is not None and r.found.difference is not None:
            compared += 1
            assert [r.found.first, r.found.second] == pytest.approx([s[r.metric] for s in scores], rel=1e-9), r.metric
            assert r.found.difference == pytest.approx(scores[1][r.metric] - scores[0][r.metric])
    assert compared > 3


def test_the_other_way_round_only_signs_change(played: Play) -> None:
    there, back = one(played(), played("always")), one(played("always"), played())
    for r, s in zip(there.rows, back.rows, strict=True):
        assert (r.found is None) == (s.found is None)
        if r.found is not None and r.found.difference is not None:
            assert s.found is not None
            assert s.found.difference == -r.found.difference
            assert s.found.p == r.found.p
    assert any(r.found is not None and r.found.difference for r in there.rows)


def test_holm_is_over_all_rows_of_all_sides(played: Play) -> None:
    alone = one(played(), played("silent"), metrics=["R_rt"])
    both = compare([played(), played("silent"), played("always")], ["R_rt", "unwanted_per_hour"])
    assert len(both) == 2
    assert row(alone, "R_rt").adjusted == row(alone, "R_rt").found.p  # type: ignore[union-attr]
    assert row(both[0], "R_rt").adjusted > row(alone, "R_rt").adjusted  # type: ignore[operator]


@pytest.mark.parametrize(
    ("field", "rules", "values"),
    [
        ("policy", {"policy": "queue_all"}, ("'latest_only'", "'queue_all'")),
        ("gate", {"gate": "off"}, ("'standard'", "'off'")),
        ("memory_mode", {"memory_mode": "frozen"}, ("'online'", "'frozen'")),
        ("protocol", {"protocol": "moments"}, ("'stream'", "'moments'")),
    ],
)
def test_what_cannot_be_compared_is_refused_with_field_and_both_values(
    played: Play, field: str, rules: dict[str, Any], values: tuple[str, str]
) -> None:
    with pytest.raises(UsageError) as said:
        compare([played(), played(**rules)])
    sentence = str(said.value)
    if field != "protocol":  # moments have another truth too, which is told first
        assert re.search(f"{field} is {values[0]} in runs[0-9]+/oracle and {values[1]} in runs", sentence)
    assert "--force" in sentence
    assert "\n" not in sentence


def altered(run_folder: Path, to: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    shutil.copytree(run_folder, to)
    told = json.loads((to / "run.json").read_text())
    change(told)
    told["identity"] = digest(told["resolved"])
    (to / "run.json").write_text(json.dumps(told))
    return to


@pytest.mark.parametrize("field", ["dataset", "truth", "latency_source"])
def test_other_data_truth_or_source_of_latency_is_refused(played: Play, tmp_path: Path, field: str) -> None:
    def change(told: dict[str, Any]) -> None:
        told["resolved"]["s3"][field] = "other"

    with pytest.raises(UsageError, match=f"{field} is .* and 'other' in changed .unit s3."):
        compare([played(), altered(played(), tmp_path / "changed", change)])


def test_a_run_file_that_was_edited_is_refused(played: Play, tmp_path: Path) -> None:
    shutil.copytree(played(gate="off"), tmp_path / "edited")
    file = tmp_path / "edited" / "run.json"
    file.write_text(file.read_text().replace('"gate": "off"', '"gate": "standard"'))
    with pytest.raises(UsageError, match=r"edited: its run\.json was changed"):
        compare([played(), tmp_path / "edited"])


def test_an_invalid_run_is_refused(played: Play, tmp_path: Path) -> None:
    def change(told: dict[str, Any]) -> None:
        told["units"]["s1"]["audit"] = {"invalid": ["release jitter"]}

    broken = altered(played(), tmp_path / "late", change)
    with pytest.raises(UsageError, match="late, unit s1, is INVALID: release jitter"):
        compare([played(), broken])
    assert one(played(), broken, force=True).forced == ("late, unit s1, is INVALID: release jitter",)


def test_an_interrupted_run_is_refused_and_can_be_forced(played: Play, tmp_path: Path) -> None:
    broken = altered(played(), tmp_path / "cut", lambda told: told.update(status="interrupted"))
    with pytest.raises(UsageError, match="cut did not come to its end"):
        compare([played(), broken])
    assert row(one(played(), broken, force=True), "R_rt").found is not None


def test_sessions_of_one_side_only_are_refused_or_left_out_and_counted(played: Play) -> None:
    fewer = played("silent", n=5)
    with pytest.raises(UsageError, match="2 units of one side only, such as 's5' of oracle; --common"):
        compare([played(), fewer])
    found = one(played(), fewer, common=True)
    assert (found.n_sessions, found.left_out) == (5, 2)
    recall = row(found, "R_rt").found
    assert recall is not None
    assert recall.p is None
    assert recall.no_test == "5 sessions: a test needs 6"


def test_runs_without_a_session_in_common_have_nothing_to_say(played: Play, corpus: Path, tmp_path: Path) -> None:
    other = run([corpus / "s6"], "silent", "none", out=tmp_path / "o", clock="modelled", latency="profile:2s").folder
    with pytest.raises(UsageError, match="no session in common"):
        compare([played("silent", n=5), other], common=True)


def test_seeds_of_one_choice_are_one_side_paired_by_seed(played: Play, tmp_path: Path) -> None:
    for side, agent in (("a", "random:rate=0.02"), ("b", "random:rate=0.2")):
        for seed in (0, 1):
            shutil.copytree(played(agent, seed=seed), tmp_path / side / f"seed{seed}")
    found = one(tmp_path / "a", tmp_path / "b")
    assert (found.first.name, found.second.name) == ("a", "b")
    assert (found.seeds, found.n_units, found.n_sessions) == (((0, 1), (0, 1)), 2 * SESSIONS, SESSIONS)
    unwanted = row(found, "unwanted_per_hour").found
    assert unwanted is not None
    assert unwanted.by_cluster.shape == (2, SESSIONS)
    per_seed = [json.loads((tmp_path / "a" / f"seed{s}" / "scores.json").read_text()) for s in (0, 1)]
    both = [s["scores"]["unwanted_per_hour"] for s in per_seed]
    assert unwanted.first == pytest.approx(sum(both) / 2)  # the same hours under both seeds
    for seed in (1, 2):
        shutil.copytree(played("random:rate=0.05", seed=seed), tmp_path / "c" / f"seed{seed}")
    with pytest.raises(UsageError, match="14 units of one side only, such as 's0', seed 0, of a; --common"):
        compare([tmp_path / "a", tmp_path / "c"])
    assert one(tmp_path / "a", tmp_path / "c", common=True).seeds == ((1,), (1,))
    for folder in (tmp_path / "a" / "seed1", tmp_path / "c" / "seed1"):
        shutil.rmtree(folder)
    shutil.copytree(played("random:rate=0.02", seed=3), tmp_path / "a" / "seed3")
    shutil.copytree(played("random:rate=0.05", seed=4), tmp_path / "c" / "seed4")
    with pytest.raises(UsageError, match=r"they have no seed in common .a has 0, 3; c has 2, 4.; a single run"):
        compare([tmp_path / "a", tmp_path / "c"])


def test_a_run_of_one_seed_stands_against_each_seed_of_the_other(
    played: Play, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in (1, 2, 3):
        shutil.copytree(played("random:rate=0.2", seed=seed), tmp_path / "random" / f"seed{seed}")
    there, back = one(played("always"), tmp_path / "random"), one(tmp_path / "random", played("always"))
    assert (there.seeds, there.n_units, there.n_sessions) == (((0,), (1, 2, 3)), 3 * SESSIONS, SESSIONS)
    assert back.seeds == ((1, 2, 3), (0,))
    scores = json.loads((played("always") / "scores.json").read_text())["scores"]
    of_seeds = [
        json.loads((tmp_path / f"random/seed{seed}/scores.json").read_text())["scores"]["unwanted_per_hour"]
        for seed in (1, 2, 3)
    ]
    unwanted, other = row(there, "unwanted_per_hour").found, row(back, "unwanted_per_hour").found
    assert unwanted is not None
    assert other is not None
    assert unwanted.first == other.second == scores["unwanted_per_hour"]
    assert unwanted.second == pytest.approx(sum(of_seeds) / 3)  # the same hours under each
    assert unwanted.p == other.p
    assert row(there, "scheduled_latency@p95").found.first == scores["scheduled_latency@p95"]  # type: ignore[union-attr]
    assert "7 sessions of both, A seed 0; B seeds 1, 2, 3" in said(capsys, played("always"), tmp_path / "random")[1]


def test_a_folder_of_runs_that_differ_in_more_holds_several_sides(played: Play, tmp_path: Path) -> None:
    for name, agent in (("first", "oracle"), ("second", "silent"), ("third", "always")):
        shutil.copytree(played(agent), tmp_path / name)
    assert [(c.first.name, c.second.name) for c in compare([tmp_path])] == [("first", "second"), ("first", "third")]


def test_two_runs_of_one_seed_are_no_side(played: Play, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(played(), tmp_path / "twice" / name)
    with pytest.raises(UsageError, match="same run of one seed, 0"):
        compare([tmp_path / "twice", played("silent")])


def test_older_scores_are_computed_again_in_memory(played: Play, tmp_path: Path) -> None:
    def without_parts(scores: dict[str, Any]) -> None:
        for unit in scores["units"].values():
            del unit["parts"]

    def of_an_older_version(scores: dict[str, Any]) -> None:
        scores["details"]["F1_rt"]["version"] = 0
        scores["details"]["F1_rt"]["value"] = 99

    for n, change in enumerate((without_parts, of_an_older_version)):
        old = tmp_path / f"old{n}"
        shutil.copytree(played("silent"), old)
        scores = json.loads((old / "scores.json").read_text())
        change(scores)
        (old / "scores.json").write_text(json.dumps(scores))
        before = (old / "scores.json").read_bytes()
        found = row(one(played(), old), "F1_rt").found
        assert found is not None
        assert (found.first, found.second) == (1, 0)
        assert (old / "scores.json").read_bytes() == before


def test_only_the_two_scores_and_run_files_are_needed(played: Play, tmp_path: Path) -> None:
    for name, agent in (("a", "oracle"), ("b", "silent")):
        (tmp_path / name).mkdir()
        for file in ("run.json", "scores.json"):
            shutil.copy(played(agent) / file, tmp_path / name / file)
    assert row(one(tmp_path / "a", tmp_path / "b"), "R_rt").found is not None


def test_one_run_an_empty_folder_and_an_unknown_metric_are_told(played: Play, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes two runs or more"):
        compare([played()])
    with pytest.raises(InputError, match="not a run folder"):
        compare([played(), tmp_path])
    with pytest.raises(UsageError, match=r"metric 'F1_rtt' is not in both runs; .*F1_rt"):
        compare([played(), played("silent")], ["F1_rtt"])


def test_moments_answered_rightly_by_one_only_are_flips(played: Play) -> None:
    found = one(played(protocol="moments"), played("always", protocol="moments"))
    assert found.flips is not None
    assert found.flips.of == "moments"
    assert not found.flips.only_second
    total = found.flips.both + found.flips.neither + len(found.flips.only_first)
    scores = json.loads((played(protocol="moments") / "scores.json").read_text())
    assert total == scores["details"]["accuracy"]["n"]
    accuracy = row(found, "accuracy").found
    assert accuracy is not None
    assert accuracy.difference == pytest.approx(-len(found.flips.only_first) / total)


def test_intents_found_by_one_only_are_flips_told_by_number(tmp_path: Path) -> None:
    for agent in ("oracle", "silent"):
        run([ROOT / "scenarios/desktop/trajectory.yaml"], agent, "none", out=tmp_path / agent, clock="modelled",
            latency="profile:2s", protocol="trajectory")  # fmt: skip
    found = one(tmp_path / "oracle", tmp_path / "silent")
    assert (found.n_sessions, found.n_units) == (1, 3)  # three people before one screen are one session
    assert found.flips is not None
    assert found.flips.of == "intents"
    assert "desktop-trajectory@sam: intent 1" in found.flips.only_first
    final = row(found, "S_final").found
    assert final is not None
    assert (final.first, final.second, final.no_test) == (100, 0, "1 session: a test needs 6")


def test_a_metric_that_is_no_function_of_sums_has_a_row_with_the_reason(played: Play) -> None:
    found = one(played(), played("always"), metrics=["keeps_up", "F1_instant", "R_rt"])
    assert [r.reason for r in found.rows[:2]] == ["a verdict", "not computed: needs an instant twin of every session"]
    assert found.rows[2].found is not None


def test_a_metric_or_scorer_named_twice_counts_once(played: Play) -> None:
    once = one(played(), played("silent"), metrics=["R_rt"])
    twice = one(played(), played("silent"), metrics=["R_rt", "R_rt"])
    assert [(r.metric, r.adjusted) for r in twice.rows] == [("R_rt", once.rows[0].adjusted)]
    assert one(played(), played("silent"), scorers=["erde", "erde"]).rows


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = _call(["compare", *map(str, words)])
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("width", [100, 80, 60, 40, 24])
def test_a_screen_of_any_width_shows_every_figure_whole(
    played: Play, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, force: bool
) -> None:
    words = ["--force"] if force else []
    sides_ = played("always"), played("random:rate=0.2", **({"gate": "off"} if force else {}))
    monkeypatch.setenv("COLUMNS", "200")
    _, wide, _ = said(capsys, *sides_, *words)
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = said(capsys, *sides_, *words)
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in out
    mark = "! " * force
    assert all(line.startswith(mark) for line in lines if line.strip())
    whole = " ".join(" ".join(line.removeprefix(mark) for line in lines).split())
    for figure in set(re.findall(r"(?<![\w.])-?\d+\.\d+(?![\w.])", wide)):
        assert figure in whole
    for interval in re.findall(r"\[-?[\d.]+, -?[\d.]+\]", wide):
        assert interval in whole


@pytest.mark.parametrize("width", ["80", "60"])
def test_what_has_no_interval_or_no_test_says_of_what_and_why(
    played: Play, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    out = " ".join(said(capsys, played(), played("silent"))[1].split())
    assert "[0.000, 0.000]" not in out
    assert re.search("no interval for [^:]*scheduled_latency@p95[^:]*: no session differs, and what others", out)
    assert re.search("no test for [^:]*P_rt[^:]*: no figure on both sides", out)
    fewer = " ".join(
        said(capsys, played(n=5), played("always", n=5), "--metric", "R_rt", "--metric", "F1_rt")[1].split()
    )
    assert "no test: 5 sessions: a test needs 6" in fewer


def test_scorers_in_no_standard_set_and_ones_own_are_compared_from_the_logs(
    played: Play, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    a, b = played("always"), played("random:rate=0.2")
    before = (a / "scores.json").read_bytes()
    assert row(one(a, b, metrics=["nab@standard"]), "nab@standard").found is not None  # whose scorer is installed
    found = one(a, b, scorers=["erde:counts=snapshots"])
    assert {r.scorer for r in found.rows} == {"erde:counts=snapshots"}
    assert found.rows[0].metric == "erde@5"
    code, out, _ = said(capsys, a, b, "--scorer", "erde:counts=snapshots", "--scorer", "realtime")
    assert code == 0
    assert "erde@5 [0-1] (counts=snapshots)" in out
    assert "F1_rt [0-1] " in out
    own = tmp_path / "mine.py"
    own.write_text(OWN_SCORER, encoding="utf-8")
    mine = row(one(a, b, scorers=[f"{own}:Mine:2"]), "offers_each")
    assert mine.found is not None
    assert mine.found.first == 2 * sum(u["counts"]["offer"] for u in json.loads(before)["units"].values()) / SESSIONS
    assert (a / "scores.json").read_bytes() == before
    with pytest.raises(UsageError, match=r"is not in both runs; .*, and of your own, come with --scorer NAME"):
        compare([a, b], ["offers_each"])
    with pytest.raises(UsageError, match="'erde@5' is given by 'erde' and by 'erde:counts=snapshots'"):
        compare([a, b], scorers=["erde", "erde:counts=snapshots"])


OWN_SCORER = """
from scorers.base import Metric, Score
from scorers.pooling import ratio_of


class Mine:
    protocols, needs_truth = ("stream",), False
    metrics = (Metric("offers_each", "offers a session, times so many", "count", ">= 0", "down"),)

    def __init__(self, times: int = 1):
        self.times = times

    def tally(self, unit, context):
        return self.times * len(unit.log.offers())

    def pooled(self, tallies):
        return [ratio_of("offers_each", [(n, 1) for n in tallies])]

    def figures(self, tallies):
        return [Score(self.metrics[0], sum(tallies) / len(tallies), sum(tallies))]

    def explain(self, tally):
        return {}

    def reference(self, tallies):
        return {}
"""


def test_the_table_fits_80_columns_and_names_what_it_shows(
    played: Play, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = said(capsys, played(), played("always"))
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for word in ("A  oracle: agent oracle", "F1_rt [0-1]", "B - A", "95 % interval", "would show from", "McNemar",
                 "too liberal", "sign-flip", "was given the truth"):  # fmt: skip
        assert word in out
    assert not any(line.startswith("!") for line in out.splitlines())


def test_records_hold_all_of_it_and_the_last_is_done(played: Play, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, played(), played("silent"), "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [r["event"] for r in records[-2:]] == ["flips", "done"]
    recall = next(r for r in records if r.get("metric") == "R_rt")
    assert recall["difference"] == -1
    assert recall["p"] == 2 / 2**6
    assert recall["p"] <= recall["p_holm"] <= 1
    assert recall["test"] == "sign-flip by session"
    assert recall["n_sessions"] == SESSIONS
    assert recall["standing"]["worse"] == 6
    assert recall["drivers"] == []  # each session says the same: without any of them the difference is as it was
    assert "liberal" in records[-2]["test"]["warning"]
    assert records[-1]["differences"]["silent"]["R_rt"] == -1


def test_what_was_forced_is_marked_on_every_line_and_record(played: Play, capsys: pytest.CaptureFixture[str]) -> None:
    off = played(gate="off")
    code, out, err = said(capsys, played("always"), off, "--force")
    assert code == 0
    assert "forced: gate is 'standard' in always and 'off' in oracle (unit s0)" in err
    lines = [line for line in out.splitlines() if line.strip()]
    assert len(lines) > 30
    assert all(line.startswith("! ") for line in lines)
    code, out, _ = said(capsys, played("always"), off, "--force", "--json")
    assert all(json.loads(line)["forced"] for line in out.splitlines())


FAILING = """
from simulator.core.types import SILENT


class Failing:
    def __init__(self, rate: float = 1.0) -> None:
        self.rate, self.n = rate, 0

    async def decide(self, observation):
        self.n += 1
        if self.n * self.rate % 1 == 0:
            raise ValueError("no")
        return SILENT
"""


def test_what_a_side_failed_at_and_never_saw_is_told_before_its_figures(
    corpus: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.py").write_text(FAILING, encoding="utf-8")
    all_, half = (
        run([corpus / f"s{i}" for i in range(SESSIONS)], f"{tmp_path / 'bad.py'}:Failing:rate={rate}", "none",
            out=tmp_path / rate, clock="modelled", latency="profile:2s").folder
        for rate in ("1.0", "0.5")
    )  # fmt: skip
    code, out, _ = said(capsys, all_, half)
    assert code == 0
    n, n_half = (json.loads((run_ / "scores.json").read_text())["counts"] for run_ in (all_, half))
    assert n["error"] == n["decisions"] > 0
    head = " ".join(out.partition("sessions of both")[0].split())
    a, b = head.split(" B ")
    assert f"every decision failed ({n['error']} of {n['error']})" in a
    assert f"{n_half['error']} of {n_half['decisions']} decisions failed" in b
    assert f"{n['never_seen']} snapshots never seen" in a
    records = [json.loads(line) for line in said(capsys, all_, half, "--json")[1].splitlines()]
    assert records[0]["event"] == "sides"
    assert records[0]["counts_first"] == {**{k: n[k] for k in records[0]["counts_first"] if k in n}, "units": SESSIONS}
    assert records[0]["counts_second"]["error"] == n_half["error"]


def test_units_that_were_interrupted_are_told_of_the_side_and_a_side_without_fault_says_nothing(
    played: Play, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut = altered(played("always"), tmp_path / "cut", lambda told: told["units"]["s3"].update(log_sha256=None))
    log = cut / "units/s3/decisions.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    instant = [played(agent, latency="fixed:0s") for agent in ("oracle", "silent")]
    assert "1 of 7 units interrupted" in " ".join(said(capsys, played(), cut, "--force")[1].split())
    head = said(capsys, *instant)[1].partition("7 sessions of both")[0]
    assert len(head.splitlines()) == 2, head


def test_a_refusal_is_exit_code_2_and_one_sentence(played: Play, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, played(), played(policy="queue_all"))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "/oracle: policy is 'latest_only' in " in err
