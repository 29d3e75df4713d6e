"""What each memory computes, checked against small pasts counted by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base import make_memory
from memory.clusters import allot, cosines, cut, leaders, merges, typical_and_different
from memory.embed import HashEmbedder, vectors
from simulator.core.errors import InputError
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query

Row = tuple[str, str, str | None]


async def remembering(spec: str, rows: list[Row], user: str = "u") -> Any:
    """A memory of events of 10 ns, one for each (app, title, need or None)."""
    memory = make_memory(spec)
    await add(memory, rows, user)
    return memory


async def add(memory: Any, rows: list[Row], user: str = "u", start: int = 0) -> None:
    for n, (app, title, need) in enumerate(rows, start):
        event = Event(f"{user}/{n}", user, n * 10, n * 10 + 10, app, title)
        question = None if need is None else f"{need} in {title}?"
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, user, need is not None, event.end_ns, need, question))


async def ask(memory: Any, app: str, title: str, now_ns: int = 10_000, k: int = 5, user: str = "u") -> list[MemoryItem]:
    items: list[MemoryItem] = await memory.recall(Query(user, app, title, None, now_ns), k, None)
    return items


PAST: list[Row] = [
    ("code", "parser main", "Coding/Programming"),
    ("code", "parser test", "Coding/Programming"),
    ("code", "readme", None),
    ("code", "parser main", "Translation"),
    ("mail", "invoice", None),
]


async def test_the_graph_counts_help_by_app_and_by_word_as_the_paper_prints_it() -> None:
    memory = await remembering("graph", PAST)
    app, words = sorted(await ask(memory, "code", "parser invoice"), key=lambda i: not i.text.startswith("In code"))
    assert app.text == (
        "In code help was needed in 75 % of 4 moments, then for: Coding/Programming 67 %, Translation 33 %"
    )
    assert (app.help, app.intention, app.latest_source_ns) == (0.75, "Coding/Programming", 40)
    assert app.query == "Coding/Programming in parser test?"
    # parser: 3 moments, all with help, 2/3 and 1/3; invoice: 1 moment, none. The means are 1/3 and 1/6.
    assert words.help == 0.5
    assert "Coding/Programming 33 %, Translation 17 %" in words.text


async def test_a_keyword_prior_can_be_conditioned_on_help() -> None:
    memory = await remembering("graph:keyword_conditional=help_only", PAST)
    (words,) = [i for i in await ask(memory, "?", "parser invoice") if "title" in i.text]
    assert "Coding/Programming 67 %, Translation 33 %" in words.text


async def test_graph_shares_below_the_thresholds_are_left_out() -> None:
    rows: list[Row] = [*[("code", "parser", "Coding/Programming")] * 39, ("code", "parser", "Translation")]
    memory = await remembering("graph", rows)
    assert all("Translation" not in i.text for i in await ask(memory, "code", "parser"))


async def test_the_scope_of_the_graph_decides_whose_past_is_read() -> None:
    for scope, mine, theirs in (("user", 0.0, None), ("global", 0.5, 0.5), ("backoff", 0.0, 1.0)):
        memory = make_memory(f"graph:scope={scope}")
        await add(memory, [("code", "x", None)], "u")
        await add(memory, [("code", "x", "Translation"), ("mail", "y", "Translation")], "other")
        (app, *_) = [i for i in await ask(memory, "code", "") if i.text.startswith("In code")]
        assert app.help == (0.0 if mine == 0.0 else mine)
        mail = [i for i in await ask(memory, "mail", "") if i.text.startswith("In mail")]
        want = None if theirs is None else 1.0
        assert [i.help for i in mail] == ([] if want is None else [want])


async def test_the_graph_can_tell_what_comes_next() -> None:
    memory = await remembering("graph:show_next=true", PAST)
    assert "After code usually comes: mail 100 %" in [i.text for i in await ask(memory, "code", "")]


async def test_the_graph_answers_as_of_the_moment_asked_about() -> None:
    memory = await remembering("graph", PAST)
    (early,) = [i for i in await ask(memory, "code", "", now_ns=20) if i.text.startswith("In code")]
    assert (early.help, early.latest_source_ns, early.query) == (1.0, 20, "Coding/Programming in parser test?")


async def test_forgetting_takes_counts_back() -> None:
    memory = await remembering("graph", PAST)
    assert await memory.forget("u", 0, 20) == 2
    (app,) = [i for i in await ask(memory, "code", "") if i.text.startswith("In code")]
    assert app.help == 0.5


async def test_rag_recalls_the_nearest_documents_newest_first_among_equals() -> None:
    memory = await remembering("rag", PAST)
    items = await ask(memory, "code", "parser main", k=2)
    assert [i.source_event_ids[0] for i in items] == ["u/3", "u/0"]
    assert (
        items[0].text
        == "In code, “parser main”: help needed: Translation, the user asked “Translation in parser main?”"
    )
    assert items[0].score == pytest.approx(1.0)


async def test_rag_documents_are_the_labelled_events_unless_told_otherwise() -> None:
    sizes = {}
    for documents in ("labelled", "help", "all"):
        memory = await remembering(f"rag:documents={documents}", PAST)
        await memory.observe(Event("u/9", "u", 90, 100, "code", "parser open"))
        sizes[documents] = len(await ask(memory, "code", "parser readme invoice mail", k=50))
    assert sizes == {"labelled": 5, "help": 3, "all": 6}


async def test_rag_embeds_a_document_anew_when_its_label_becomes_known() -> None:
    memory = make_memory("rag:documents=all,template=paper")
    event = Event("s/1", "u", 0, 10, "code", "main")
    await memory.observe(event)
    assert [i.help for i in await ask(memory, "code", "main")] == [None]
    await memory.feedback(event, Label("s/1", "u", True, 30, "Translation"))
    (item,) = await ask(memory, "code", "main")
    assert (item.help, item.latest_source_ns) == (1.0, 30)
    assert item.score < 1.0  # the intention is part of what is embedded now
    assert await ask(memory, "code", "main", now_ns=20) == []


async def test_short_and_empty_answers_are_counted() -> None:
    memory: Any = await remembering("rag", PAST)
    await ask(memory, "code", "parser", k=50)
    await ask(memory, "预算", "", k=5)
    await ask(memory, "code", "parser", k=1)
    assert (memory.stats()["short_return"], memory.stats()["empty_return"], memory.stats()["recalls"]) == (1, 1, 3)


async def test_the_window_holds_the_last_minutes_only() -> None:
    memory = make_memory("window:span_s=60")
    for n in range(100):
        event = Event(f"s/{n}", "u", n * 10 * SECOND, (n + 1) * 10 * SECOND, "code", f"file {n}")
        await memory.observe(event)
    items = await memory.recall(Query("u", "code", "", None, 1000 * SECOND), 50, None)
    assert [i.source_event_ids[0] for i in items] == [f"s/{n}" for n in range(99, 93, -1)]
    assert items[1].text.startswith("10 s ago, in code, “file 98”: not known")


async def test_the_window_counts_and_drops_a_label_of_an_event_that_is_out_of_it() -> None:
    memory: Any = make_memory("window:span_s=60")
    events = [Event(f"s/{n}", "u", n * 100 * SECOND, (n + 1) * 100 * SECOND, "code", "x") for n in range(4)]
    for event in events:
        await memory.observe(event)
    await memory.feedback(events[0], Label("s/0", "u", True, 400 * SECOND))
    await memory.feedback(events[3], Label("s/3", "u", True, 400 * SECOND))
    assert (memory.stats()["labels_out_of_window"], memory.stats()["labels"]) == (1, 1)
    assert memory._early == {}


async def test_personas_part_moments_with_help_from_those_without() -> None:
    rows: list[Row] = []
    for n in range(30):
        rows += [("code", f"parser main {n % 4}", "Coding/Programming"), ("mail", f"holiday photos {n % 3}", None)]
    memory: Any = await remembering("personas", rows)
    await memory.maintain(10_000)
    items = await ask(memory, "code", "parser main 2")
    assert items[0].help == 1.0
    assert items[0].intention == "Coding/Programming"
    assert items[0].text.startswith("Moments with help needed (30): code, “parser main")
    assert items[0].latest_source_ns == 600
    (other, *_) = await ask(memory, "mail", "holiday photos")
    assert (other.help, other.intention, other.query) == (0.0, None, None)


async def test_a_persona_is_about_a_hundred_tokens_long() -> None:
    rows: list[Row] = [("libreoffice", f"budget report of department {n} draft", "Data Analysis") for n in range(60)]
    memory: Any = await remembering("personas", rows)
    await memory.maintain(10_000)
    (item, *_) = await ask(memory, "libreoffice", "budget report of department 7 draft")
    assert 80 <= item.tokens <= 120


async def test_personas_are_rebuilt_at_most_every_so_many_labels() -> None:
    memory: Any = await remembering("personas:refresh=10", PAST)
    await memory.maintain(10_000)
    assert memory.stats()["builds"] == 1
    await add(memory, [("code", "new", None)] * 9, start=5)
    await memory.maintain(10_000)
    assert memory.stats()["builds"] == 1
    await add(memory, [("code", "new", None)], start=14)
    assert memory.stats()["builds"] == 2


@pytest.mark.parametrize("policy", ["recut_maxclust", "keep_largest"])
async def test_the_cap_on_clusters_holds_and_says_that_it_bound(policy: str) -> None:
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"]
    memory: Any = await remembering(f"personas:cap=4,cap_policy={policy}", [(w, w * 2, "Translation") for w in words])
    await memory.maintain(10_000)
    everything = await memory.recall(
        Query("u", None, None, None, 10_000, " ".join(words * 2 + [w * 2 for w in words])), 50, None
    )
    assert len(everything) <= 4
    assert memory.stats()["bound_by_cap"] == 1
    assert (memory.stats()["dropped_clusters"] > 0) == (policy == "keep_largest")


def test_clusters_of_like_texts_are_found_with_either_linkage() -> None:
    texts = [f"{kind} {n}" for kind in ("parser main function", "holiday beach photos") for n in range(5)]
    rows, norms = vectors(HashEmbedder(), texts)
    near = cosines(rows, norms, rows, norms)
    for ward in (False, True):
        tree = merges(near, [1] * 10, ward=ward)
        assert len(tree) == 9
        assert cut(tree, 10, n_clusters=2) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=14))
def test_average_linkage_agrees_with_its_definition(letters: list[str]) -> None:
    """Against the textbook algorithm: merge the two clusters with the smallest mean distance, over and over."""
    texts = [f"{letter}lpha {letter}eta number{n % 3}" for n, letter in enumerate(letters)]
    rows, norms = vectors(HashEmbedder(), texts)
    near = cosines(rows, norms, rows, norms)
    heights = [h for h, _, _ in merges(near, [1] * len(texts))]
    clusters = [[i] for i in range(len(texts))]
    want = []
    while len(clusters) > 1:
        pairs = [(i, j) for i in range(len(clusters)) for j in range(i)]
        mean = {(i, j): np.mean([1 - near[a, b] for a in clusters[i] for b in clusters[j]]) for i, j in pairs}
        i, j = min(pairs, key=lambda p: mean[p])
        want.append(mean[i, j])
        clusters[j] += clusters.pop(i)
    assert len(heights) == len(want)
    # With ties the textbook may merge another pair first; the total is then still of the same size.
    if len(set(texts)) == len(texts) and len({round(float(v), 9) for v in near.ravel()}) > len(texts) ** 2 / 2:
        assert np.allclose(heights, want)


def test_weights_stand_for_copies() -> None:
    texts = ["parser main", "parser test", "holiday photos"]
    rows, norms = vectors(HashEmbedder(), [texts[0]] * 3 + texts[1:])
    copied = merges(cosines(rows, norms, rows, norms), [1] * 5)
    rows, norms = vectors(HashEmbedder(), texts)
    for ward, plain in ((False, copied), (True, None)):
        weighted = merges(cosines(rows, norms, rows, norms), [3, 1, 1], ward=ward)
        if plain is not None:
            assert [h for h, _, _ in plain][2:] == pytest.approx([h for h, _, _ in weighted])


def test_leaders_are_the_heaviest_and_never_more_than_allowed() -> None:
    rows, norms = vectors(HashEmbedder(), [f"{'parser' if n % 2 else 'holiday'} file" for n in range(20)])
    led = leaders(rows, norms, [1] * 19 + [9], 2)
    assert set(led) == {19, 0}
    assert len(set(leaders(rows, norms, [1] * 20, 1))) == 1


def test_the_budget_of_items_goes_to_small_clusters_first() -> None:
    assert allot([2, 10, 100], 0.6, 1000) == [2, 10, 56]
    assert allot([2, 10, 100], 0.6, 12) == [2, 10, 12]
    assert allot([], 0.6, 12) == []


def test_the_first_item_shown_is_typical_and_the_next_ones_differ() -> None:
    places = np.array([0.0, 0.1, 1.0, -1.2])
    between = np.abs(places[:, None] - places[None, :])
    assert typical_and_different(np.abs(places), between, 3) == [0, 3, 2]
    assert typical_and_different(np.abs(places), between, 3, alpha=1.0) == [0, 1, 2]


@given(st.integers(1, 12), st.integers(0, 10**6))
def test_the_greedy_choice_is_the_best_next_step_of_the_printed_objective(n: int, seed: int) -> None:
    rows, norms = vectors(HashEmbedder(), [f"title {seed * 31 + i * i} part {i % 3}" for i in range(n)])
    between = np.sqrt(np.maximum(2 - 2 * cosines(rows, norms, rows, norms), 0))
    to_centre = between.mean(axis=0)
    w_p = 1.06**-10

    def objective(s: list[int]) -> float:
        pairs = sum(between[a, b] for i, a in enumerate(s) for b in s[:i])
        return float(w_p * sum(1 / (1 + to_centre[i]) for i in s) + (1 - w_p) * 2 / len(s) * pairs)

    picked = typical_and_different(to_centre, between, n)
    assert sorted(picked) == list(range(n))
    for i in range(n):
        best = max(objective([*picked[:i], c]) for c in range(n) if c not in picked[:i])
        assert objective(picked[: i + 1]) == pytest.approx(best)


def test_a_stored_memory_with_a_broken_line_is_refused_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "past.jsonl").write_text('{"event": {"id": 1}, "label": null}\n', encoding="utf-8")
    memory: Any = make_memory("rag")
    with pytest.raises(InputError, match=r"past\.jsonl, line 1: not an event"):
        memory.load(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        memory.load(tmp_path / "nowhere")
