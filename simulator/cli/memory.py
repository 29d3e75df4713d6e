"""``proact memory``: what a memory makes of a title, and a graph for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App

from simulator.cli.memory_keep import keep
from simulator.cli.options import Embedder, MemoryModel, MemoryUrl, ModelOptions
from simulator.cli.parameters import AsJson, option, switch
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit, InputError, ProactError, UsageError, nearest, quote

if TYPE_CHECKING:
    from memory.graph import GraphMemory
    from memory.view import View
    from simulator.core.protocols import Memory
    from simulator.core.types import MemoryItem
    from simulator.endpoint.types import ModelChoice
    from simulator.session.play import Play

__all__ = ["memory"]

memory = App(name="memory", help="Look into a memory: what it makes of a window's title; a graph for other programs.")
memory.command(keep)
_Format = Literal["graphml", "json", "csv", "cypher", "svg"]
_SUFFIXES: dict[str, _Format] = {
    ".graphml": "graphml", ".json": "json", ".csv": "csv", ".cypher": "cypher", ".cql": "cypher", ".svg": "svg"
}  # fmt: skip
_Spec = Annotated[str, option("The memory, as for 'run': graph, rag+graph, graph:scope=backoff.")]
_Unit = Annotated[str | None, option("Which session of the scenario, by its key; default: the first.")]
_Whole = Annotated[bool, switch("As of the session's end, with its own events; else as of time 0.")]


@memory.command
def explain(
    app: Annotated[str, option("The application, as recordings name it.")],
    title: Annotated[str, option("The title of its window.")],
    /,
    *,
    memory: _Spec = "graph",
    scenario: Annotated[Path | None, option("Whose past is remembered; without it only the words are told.")] = None,
    unit: _Unit = None,
    whole: _Whole = False,
    embedder: Embedder = None,
    model: MemoryModel = None,
    base_url: MemoryUrl = None,
    json: AsJson = False,
) -> int:
    """Say which words of a title are taken and why others are not, and what a memory answers.

    The rule by which words are chosen has a name and a version. A word's weight is its tf-idf in the past as it is
    remembered. Words of titles and questions are shown, and kept nowhere.
    """
    import anyio

    voice = Voice(as_json=json)
    found = [] if scenario is None else _plays(scenario, unit)
    play = found[0] if found else None
    choice = ModelOptions(model=model, base_url=base_url).choice()
    made, now_ns = (None, 0) if play is None else anyio.run(_filled, memory, found, whole, embedder, choice)
    graph = None if made is None else _graph_in(made)
    user = "" if play is None else play.user
    n_words = _tell_words(voice, app, title, _words(graph, user, title, now_ns))
    items: list[MemoryItem] = []
    if made is None or play is None:
        said = "nothing is remembered here, so which five words are taken is not known: "
        said += "--scenario names whose past is to be asked"
    else:
        with _blamed(memory):
            items, said = anyio.run(_answered, _view(made, user, app, title, now_ns))
        said = said or f"the memory knows nothing of it ({counted(len(play.history), 'past event')})"
    for item in items:
        voice.record("item", memory=item.memory, text=item.text, score=item.score, help=item.help,
                     intention=item.intention, tokens=item.tokens)  # fmt: skip
    if not json:
        voice.say(plain(f"\n{said}"))
    if graph is not None and (unseen := _unseen(graph, user, app, now_ns)):
        voice.tell(unseen, "yellow")
    voice.record("done", tokens=n_words, items=len(items))
    return Exit.DONE


@memory.command
def export(
    scenario: Annotated[Path, option("Whose past: a scenario, or a folder of one.")],
    out: Annotated[Path, option("The file; for csv the folder that gets nodes.csv and edges.csv.")],
    /,
    *,
    memory: _Spec = "graph",
    format: Annotated[_Format | None, option("What is written; default: by the ending of OUT.")] = None,
    nodes: Annotated[int, option("For svg: how many are drawn at most.")] = 50,
    unit: _Unit = None,
    whole: _Whole = False,
    json: AsJson = False,
) -> int:
    """Write the graph of a user's past for other programs: Gephi, yEd, Neo4j, networkx, or as a picture.

    With scope=user that of the scenario's user, else of all users whose past is remembered. The file holds names of
    applications and words of titles: it is yours to keep.
    """
    import anyio

    from memory.graph_export import graph_data

    voice = Voice(as_json=json)
    form = format or _SUFFIXES.get(out.suffix.lower())
    if form is None:
        raise UsageError(f"OUT {quote(out)}: its ending tells no format; name one, as in '--format graphml'")
    if nodes < 3:
        raise UsageError(f"--nodes {nodes}: 3 or more are wanted")
    found = _plays(scenario, unit)
    play = found[0]
    made, now_ns = anyio.run(_filled, memory, found, whole, None)
    graph = _graph_in(made)
    if graph is None:
        raise UsageError(f"--memory {quote(memory)}: there is no graph in it; graph, or rag+graph, has one")
    tables = graph.tables(play.user)
    if not tables or not (play.history or whole):
        raise InputError(scenario, "no past is known of this user, so there is no graph (--whole adds the session)")
    data = graph_data(tables[-1], now_ns)
    for path, text in _files(form, out, data, nodes).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
        voice.record("file", path=str(path), bytes=len(text.encode()))
    said = f"{counted(len(data.nodes), 'node')}, {counted(len(data.edges), 'edge')} in {out}"
    if not json:
        voice.say(plain(said))
    voice.record("done", out=str(out), format=form, nodes=len(data.nodes), edges=len(data.edges))
    return Exit.DONE


def _tell_words(voice: Voice, app: str, title: str, told: Mapping[str, Mapping[str, Any]]) -> int:
    """Each word of a title with what is told of it; how many there are."""
    from memory.keywords import RULE, pieces
    from simulator.core.titles import clean

    voice.record("title", app=app, read_as=clean(title), rule=RULE)
    if not voice.as_json:
        voice.say(plain(f"read as: {clean(title)}\nwords (rule {RULE}):"))
    found = pieces(title)
    for piece in found:
        fields = {"token": piece.token, "taken": piece.why is None, "why": piece.why, **told.get(piece.token, {})}
        if piece.why is None and told and not fields.get("chosen"):
            fields["why"] = "others of this title tell more"
        voice.record("token", **fields)
        if not voice.as_json:
            voice.say(plain(_line(fields)))
    return len(found)


async def _answered(view: View) -> tuple[list[MemoryItem], str]:
    """What the memory recalls in that window, and how it would stand in a prompt."""
    items = await view.recall(10)
    return items, view.render(items)


def _files(form: str, out: Path, data: Any, nodes: int) -> dict[Path, str]:
    from memory import graph_export
    from memory.graph_picture import picture

    if form == "csv":
        return {out / name: text for name, text in graph_export.tables(data).items()}
    if form == "svg":
        return {out: picture(data, nodes)}
    write = {"graphml": graph_export.graphml, "json": graph_export.node_link, "cypher": graph_export.cypher}[form]
    return {out: write(data)}


def _plays(scenario: Path, unit: str | None) -> list[Play]:
    """All sessions of a scenario; the one that is asked for comes first."""
    from simulator.session.scenario import plays

    found = {play.key: play for play in plays([scenario])}
    if unit is None:
        return list(found.values())
    if unit not in found:
        raise UsageError(f"--unit {quote(unit)}: there is no such session; {nearest(unit, found)}")
    return [found.pop(unit), *found.values()]


async def _filled(spec: str, found: list[Play], whole: bool, embedder: str | None,
                  choice: ModelChoice | None = None) -> tuple[Memory, int]:  # fmt: skip
    """The memory of the first session, filled as a run of all of them fills it."""
    from simulator.play.assemble import Choice
    from simulator.play.makers import memory_maker
    from simulator.play.models import given_by_hand
    from simulator.play.others import check_others, pasts_of
    from simulator.play.remembering import remember

    play, maker = found[0], memory_maker(spec)
    anchor_ns: int | None = getattr(play.source, "utc_anchor_ns", None)
    given: dict[str, Any] = {"seed": 0, "intentions": play.intentions, "utc_anchor_ns": anchor_ns}
    given |= given_by_hand(maker, choice, embedder, play.key)
    if maker.wants_others:
        others = await pasts_of(found, Choice((), memory_mode="online" if whole else "frozen"))
        check_others(maker, play, others)
        given["others"] = {user: past for user, past in others.items() if user != play.user}
    made = maker.make(**given | ({"truth": play.truth} if maker.sees_truth else {}))
    with _blamed(spec):
        return made, await remember(made, play, whole=whole)


@contextmanager
def _blamed(spec: str) -> Iterator[None]:
    """What a memory raises, or its embedder, is told as theirs with its file and line."""
    from simulator.runs.blame import said

    try:
        yield
    except ProactError:  # a sentence by itself
        raise
    except Exception as error:
        raise UsageError(f"memory {quote(spec)}: {said(error)[1]}") from error


def _view(made: Memory, user: str, app: str, title: str, now_ns: int) -> View:
    """What an agent would read of it, and with what is checked then."""
    from memory.view import LabelBook, View
    from simulator.timing.meter import SilentMeter

    return View(made, LabelBook(), user, now_ns, app, title, None, SilentMeter())


def _unseen(graph: GraphMemory, user: str, app: str, now_ns: int) -> str:
    """That an application is not in this past by its name, and which is by nearly that; empty where it is."""
    known = {name for table in graph.tables(user) for name, node in table.apps.items() if node.upto(now_ns)[0]}
    if app in known:
        return ""
    alike = sorted(name for name in known if name.casefold() == app.casefold())
    said = f"{quote(app)} was never seen in this past"
    return f"{said}, but {quote(alike[0])} was: upper and lower case count" if alike else said


def _graph_in(made: Any) -> GraphMemory | None:
    """The graph itself, or the first one of a combination."""
    from memory.graph import GraphMemory

    parts = [made, *getattr(made, "parts", {}).values()]
    return next((part for part in parts if isinstance(part, GraphMemory)), None)


def _words(graph: GraphMemory | None, user: str, title: str, now_ns: int) -> dict[str, dict[str, Any]]:
    """What the graph knows of each word of a title."""
    tables = [] if graph is None else graph.tables(user)
    if graph is None or not tables:
        return {}
    words = graph.words(title, tables, now_ns)
    chosen = tables[0].words.top(title, now_ns) if words is None else words.chosen
    told: dict[str, dict[str, Any]] = {}
    for token, weight in tables[0].words.weights(title, now_ns).items():
        node = None if words is None else words.nodes.get(token)
        n, n_help, _, _ = (0, 0, {}, 0) if node is None else node.upto(now_ns)
        share = n_help / n if n else None
        told[token] = {"chosen": token in chosen, "weight": round(weight / 65536, 3), "moments": n, "help": share}
    return told


def _line(fields: dict[str, Any]) -> str:
    """One word in one line.

    >>> _line({"token": "parser", "taken": True, "why": None, "chosen": True, "weight": 2.5, "moments": 3, "help": 1.0})
    '  parser: taken, weight 2.5; help in 100 % of 3 moments'
    """
    said = f"passed over: {fields['why']}"
    if fields["why"] is None:
        said = "taken" if "chosen" in fields else "could be taken"  # without a past nothing tells which five are
    if "weight" in fields:
        said += f", weight {fields['weight']}"
        if fields["moments"]:
            said += f"; help in {round(100 * fields['help'])} % of {counted(fields['moments'], 'moment')}"
        elif fields.get("chosen"):
            said += "; not known yet"
    return f"  {fields['token']}: {said}"
