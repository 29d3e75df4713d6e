"""A class of the user's own file: named by ``path.py:Class``; what is wrong with it is told by file and line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.base import agents, make_agent
from memory.base import memories
from simulator.core.errors import UsageError

AGENT = """
class Helper:
    def other(self):
        return 1


class Mine:
    async def decide(self, observation):
        return 1


class Yours:
    def decide(self, observation):
        return 1

    def recall(self, query, k, token_budget):
        return []
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name in ("proact_user_mine", "aid"):
            del sys.modules[name]


def _said(name: str) -> str:
    with pytest.raises(UsageError) as caught:
        agents.get(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_without_a_class_is_told_with_the_classes_that_fit_and_is_not_run(here: Path) -> None:
    (here / "mine.py").write_text(AGENT + "\nraise SystemExit('it was run')\n")
    assert _said("mine.py") == (
        "agent 'mine.py': name the class too, as in 'mine.py:Mine'; classes with decide(): Mine, Yours"
    )
    with pytest.raises(UsageError, match=r"as in 'mine.py:Yours'; classes with recall\(\): Yours$"):
        memories.get("mine.py")
    with pytest.raises(UsageError, match="name the class too"):
        make_agent("mine.py")


@pytest.mark.parametrize("text", ["", "def decide(observation):\n    return 1\n", "class (", "x = '\0'"])
def test_a_file_without_a_class_that_fits_is_told_so(here: Path, text: str) -> None:
    (here / "mine.py").write_text(text)
    said = "agent 'mine.py': name the class too, as in 'mine.py:Class'; classes with decide(): none"
    assert _said("mine.py") == said


def test_a_file_that_is_not_there_is_told_with_and_without_a_class(here: Path) -> None:
    assert _said("mine.py") == "agent 'mine.py': there is no file 'mine.py'"
    assert _said("mine.py:Mine") == "agent 'mine.py:Mine': there is no file 'mine.py'"
    (here / "mine.py").mkdir()
    assert "there is no file 'mine.py'" in _said("mine.py")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n\nimport nowhere_at_all\n", "mine.py:3: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("def f():\n    return {}['k']\n\n\nf()\n", "mine.py:2: KeyError: 'k'"),
        ("raise ValueError('one\\ntwo')\n", "mine.py:1: ValueError: one two"),
        ("raise ValueError\n", "mine.py:1: ValueError"),
        ("import json\njson.loads('{')\n", "mine.py:2: JSONDecodeError: Expecting property name"),
        ("class Mine:\n    x = (1\n", "mine.py:2: this is not valid Python: '(' was never closed"),
        ("class Mine:\nx = 1\n", "mine.py:2: this is not valid Python: expected an indented block"),
        ("import aid\n", "aid.py:2: this is not valid Python: "),
        ("exec('x = (')\n", "mine.py:1: SyntaxError: '(' was never closed"),
        ("x = 1\0\n", "mine.py"),
    ],
)
def test_a_file_that_fails_is_told_by_its_line(here: Path, text: str, said: str) -> None:
    (here / "aid.py").write_text("x = 1\nx = = 2\n")
    (here / "mine.py").write_text(text)
    told = _said("mine.py:Mine")
    assert told.startswith("agent 'mine.py:Mine': ")
    assert said in told.removeprefix("agent 'mine.py:Mine': ")
    assert "Traceback" not in told


def test_a_class_that_is_not_there_is_told_with_the_nearest(here: Path) -> None:
    (here / "mine.py").write_text(AGENT)
    assert "mine.py has no class 'Mime'; did you mean 'Mine'?" in _said("mine.py:Mime")
    assert agents.get("mine.py:Mine").__name__ == "Mine"


@pytest.mark.parametrize("raised", ["RuntimeError('no')", "SystemExit(3)", "KeyError('k')"])
def test_whatever_a_constructor_raises_is_one_sentence(raised: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    body = f"class Mine:\n    def __init__(self):\n        raise {raised}\n    async def decide(self, seen): ...\n"
    file.write_text(body)
    with pytest.raises(UsageError, match="cannot be made"):
        agents.make(f"{file}:Mine")


class _Point:
    name = "theirs"

    def __init__(self, made: object) -> None:
        self.made = made

    def load(self) -> object:
        if isinstance(self.made, BaseException):
            raise self.made
        return self.made


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (ImportError("no module named 'x'\nnor y"), "cannot be loaded: ImportError: no module named 'x' nor y"),
        (SystemExit(3), "cannot be loaded: SystemExit: 3"),
        (AttributeError(), "cannot be loaded: AttributeError"),
        (sys, "is no class, but an object of module"),
    ],
)
def test_a_registered_class_that_cannot_be_loaded_is_one_sentence(
    made: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(agents), "_entry_points", lambda self: [_Point(made)])
    with pytest.raises(UsageError) as caught:
        make_agent("theirs")
    assert str(caught.value) == f"agent 'theirs' {said}"


def test_parameters_of_a_class_of_ones_own_are_held_to_what_they_say(here: Path) -> None:
    (here / "mine.py").write_text(
        "from pathlib import Path\nclass Mine:\n    def __init__(self, after=10.0, name='x', file: Path = None, "
        "sure: bool = False, n: 'int | None' = None, **more):\n"
        "        self.given = (after, name, file, sure, n)\n    def decide(self, seen):\n        return 1\n"
    )
    made = make_agent("mine.py:Mine:2,name=7,file=a.txt,sure=true,n=3")
    assert made.given == (2, "7", "a.txt", True, 3)  # type: ignore[attr-defined]
    for spec, said in {"late": "after: a number", "sure=1": "sure: true or false", "n=x": "n: a whole number"}.items():
        with pytest.raises(UsageError, match=said):
            make_agent(f"mine.py:Mine:{spec}")


def test_what_a_run_fills_in_is_not_offered(here: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no parameter 'docs'; did you mean 'documents'\? known: documents, index, store, template$"
    ):
        memories.make("rag:docs=all")
    with pytest.raises(UsageError, match="no parameter 'embedder'"):
        memories.make("rag:embedder=x")
