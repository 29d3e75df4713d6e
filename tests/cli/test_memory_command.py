"""``proact memory``: words of a title with reasons, and a graph in a file."""

import csv
import json
from pathlib import Path
from typing import Any, get_args

import pytest

from memory.base import memories
from simulator.cli import _run
from simulator.cli.memory import export
from simulator.cli.options import Embedder
from simulator.play.makers import memory_maker
from tests.answering import Answering

SCENARIO = str(Path(__file__).parents[2] / "scenarios" / "coding_error")


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = _run(words)
    out, err = capsys.readouterr()
    return code, out, err


def test_each_word_of_a_title_is_told_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(["memory", "explain", "code", "● the parser 12 - Google Chrome"], capsys)
    assert code == 0
    assert "read as: the parser 12" in out
    assert "  the: passed over: a word that says nothing" in out
    assert "  parser: could be taken" in out
    assert "nothing is remembered here" in out


def test_with_a_past_the_weights_and_the_answer_of_the_memory_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "memory",
        "explain",
        "Mousepad",
        "dates.txt - Mousepad",
        "--memory",
        "kg+class-prior",
        "--scenario",
        SCENARIO,
    ]
    code, out, _ = said(words, capsys)
    assert code == 0
    assert "dates: taken, weight " in out
    assert "In Mousepad help was needed in" in out
    assert "How often the user needs help" in out


def test_no_item_of_the_future_and_no_markup_of_strangers(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(["memory", "explain", "[red]x[/red]", "[bold]loud[/bold] \x1b[31m"], capsys)
    assert code == 0
    assert "\x1b[31m" not in out
    assert "[bold]loud[/bold]" in out


def test_the_help_of_embedder_is_one_and_names_every_memory_of_ours_that_embeds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = get_args(Embedder)[1].help
    for name in memories.names():
        if memory_maker(name).wants_embedder and name not in ("mem0", "shuffled-user"):  # which wrap what embeds
            assert name in told
    for command in (["run"], ["live"], ["memory", "explain"], ["doctor", "memory"], ["doctor", "live"]):
        _, out, _ = said([*command, "--help"], capsys)
        assert " ".join(told.split()[:4]) in " ".join(out.replace("│", " ").split()), command


@pytest.mark.parametrize("name", ["g.graphml", "g.json", "g.cypher", "g.svg"])
def test_the_ending_of_the_file_says_the_format(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(["memory", "export", SCENARIO, str(tmp_path / "new" / name)], capsys)
    assert (code, "edges in" in out) == (0, True)
    assert (tmp_path / "new" / name).stat().st_size > 1000


def test_csv_gets_two_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(Path(SCENARIO), tmp_path, format="csv", memory="rag+graph", json=True) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r["event"] for r in records] == ["file", "file", "done"]
    for record, name in zip(records, ("nodes", "edges"), strict=False):
        rows = list(csv.DictReader(Path(record["path"]).read_text("utf-8").splitlines()))
        assert len(rows) == records[-1][name] > 20


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["memory", "export", SCENARIO, "g.doc"], "its ending tells no format"),
        (["memory", "export", SCENARIO, "g.svg", "--memory", "rag"], "there is no graph in it"),
        (["memory", "export", SCENARIO, "g.svg", "--nodes", "2"], "3 or more"),
        (["memory", "export", "nowhere", "g.svg"], "nowhere"),
        (["memory", "explain", "code", "x", "--memory", "graf", "--scenario", SCENARIO], "unknown memory"),
        (["memory", "explain", "code", "x", "--scenario", SCENARIO, "--unit", "x"], "no such session"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = said(words, capsys)
    assert code == 2
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


def test_the_session_itself_counts_where_the_whole_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = []
    for more in ([], ["--whole"]):
        assert said(["memory", "export", SCENARIO, str(tmp_path / "g.json"), *more], capsys)[0] == 0
        nodes = json.loads((tmp_path / "g.json").read_text("utf-8"))["nodes"]
        moments.append(next(node["n"] for node in nodes if node["kind"] == "user"))
    assert moments[0] < moments[1]


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        ("personas:threshold=5", "threshold must be 2 or less"),
        ("personas:texts=file", "goes with writer=model"),
        ("personas:texts=,writer=model", "the parameter 'texts' has no value"),
        ("rag:store=", "the parameter 'store' has no value"),
        ("rag:documents", "memory 'rag': 'documents' needs a value, as in 'rag:documents=VALUE'"),
        ("rag,none,rag", "'rag' is named twice"),
        ("kg,graph", "'graph' is named twice"),
        ("rag+", "memory 'rag+': no memory stands beside a +"),
        ("+rag", "memory '+rag': no memory stands beside a +"),
        ("http:foo", "the memory server's address 'foo' is not of the form http://host:port (keys"),
        ("graphiti:http://a:b@127.0.0.1", "the memory server's address"),
        ("shuffled-user:of=foo", "of must be one of"),
    ],
)
def test_an_option_that_means_nothing_is_refused_before_anything_is_played(
    memory: str, sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = said(["run", SCENARIO, "--memory", memory, "--out", str(tmp_path / "run")], capsys)
    assert code == 2
    assert sentence in err
    assert not (tmp_path / "run").exists()


def test_a_ward_height_may_be_any() -> None:
    from memory.base import make_memory

    make_memory("personas:linkage=ward,threshold=5")


def test_an_application_by_nearly_the_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["memory", "explain", "mousepad", "zzzz", "--scenario", SCENARIO]
    code, _, err = said(words, capsys)
    assert code == 0
    assert "'mousepad' was never seen in this past, but 'Mousepad' was: upper and lower case count" in err
    assert "never seen" not in said([*words[:2], "Mousepad", *words[3:]], capsys)[2]


def test_a_memory_that_a_model_writes_can_be_looked_into(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The user keeps going back and forth between the parser and its tests, and is glad of a short hint there."
    monkeypatch.setattr("simulator.endpoint.chat.Endpoint", lambda choice, scope: Answering(text))
    words = ["memory", "explain", "Mousepad", "dates.txt", "--scenario", SCENARIO, "--model", "m1"]
    code, out, _ = said([*words, "--memory", "personas:writer=model"], capsys)
    assert (code, text in out) == (0, True)
    code, _, err = said([*words, "--memory", "graph"], capsys)
    assert (code, "the memory 'graph' asks none" in err) == (2, True)


FAULTY = """
class Mine:
    def observe(self, event): ...
    def recall(self, query, k, token_budget):
        return []


class CannotObserve(Mine):
    def observe(self, event):
        raise KeyError("place")


class CannotRecall(Mine):
    def recall(self, query, k, token_budget):
        raise KeyError("place")


class RecallsWords(Mine):
    def recall(self, query, k, token_budget):
        return ["words"]


class CannotRender(Mine):
    def recall(self, query, k, token_budget):
        from simulator.core.types import MemoryItem

        return [MemoryItem("x", 1.0)]

    def render(self, items):
        raise KeyError("place")


class Boom:
    identity, dimension = "boom", 3

    def embed(self, texts):
        raise KeyError("place")
"""


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        ("CannotObserve", "the memory's observe: KeyError: 'place' (mine.py:10)"),
        ("CannotRecall", "the memory's recall(): KeyError: 'place' (mine.py:15)"),
        ("RecallsWords", "memory RecallsWords: recall gives a list with a str: a MemoryItem is wanted"),
        ("CannotRender", "the memory's render(): KeyError: 'place' (mine.py:30)"),
        ("Boom", "the memory's feedback: KeyError: 'place' (mine.py:37)"),
    ],
)
def test_what_a_memory_or_its_embedder_raises_is_told_as_theirs(
    memory: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(FAULTY)
    made = f"{tmp_path}/mine.py:{memory}"
    given = ["--memory", "rag", "--embedder", made] if memory == "Boom" else ["--memory", made]
    code, _, err = said(["memory", "explain", "code", "x", "--scenario", SCENARIO, *given], capsys)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err


def test_a_memory_that_reads_another_users_past_is_refused_where_there_is_none_and_reads_it_where_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["memory", "explain", "Mousepad", "dates.txt - Mousepad", "--memory", "shuffled-user", "--scenario"]
    code, _, err = said([*words, SCENARIO], capsys)
    assert (code, "nobody but" in err) == (2, True)
    code, out, _ = said([*words, str(Path(SCENARIO).parent)], capsys)
    assert (code, "knows nothing of it" in out) == (0, False)
