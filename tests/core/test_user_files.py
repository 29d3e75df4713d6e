"""A file with a class of somebody else's sees its own folder, and is known by what it imports from there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.base import memories
from simulator.core.user_files import code_of, neighbours, path_without
from simulator.play.makers import memory_maker

MINE = """
from aid import KEEP
from parts.one import ONE

class Mine:
    def observe(self, event): ...
    def recall(self, query, k, token_budget):
        import late
        return [KEEP, ONE, late.LATE]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    _write(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("proact_user_mine", "aid", "parts", "late")):
            del sys.modules[name]


def _write(folder: Path, keep: int = 1) -> None:
    (folder / "parts").mkdir(parents=True)
    files = {"mine.py": MINE, "aid.py": f"KEEP = {keep}\n", "late.py": "LATE = 3\n", "unused.py": ""}
    files |= {"parts/__init__.py": "", "parts/one.py": "from .two import TWO as ONE\n", "parts/two.py": "TWO = 2\n"}
    for name, content in files.items():
        (folder / name).write_text(content)


def _recalled(folder: Path) -> list[int]:
    cls = memories.get(f"{folder / 'mine.py'}:Mine")
    found: list[int] = cls().recall(None, 1, 1)
    return found


def test_a_file_sees_its_own_folder_and_installed_modules_first(here: Path) -> None:
    (here / "json.py").write_text("raise SystemExit('hidden')\n")
    (here / "aid.py").write_text("import json\nKEEP = len(json.dumps(1))\n")
    assert _recalled(here) == [1, 2, 3]
    assert str(here) in sys.path
    assert str(here) not in path_without(sys.path)


def test_what_it_imports_belongs_to_it_and_what_lies_beside_does_not(here: Path) -> None:
    found = neighbours(here / "mine.py")
    assert sorted(found.values()) == ["aid", "late", "parts", "parts.one", "parts.two"]
    code = code_of(here / "mine.py")
    (here / "unused.py").write_text("X = 1\n")
    assert code_of(here / "mine.py") == code
    for name in ("aid.py", "late.py", "parts/two.py", "parts/__init__.py"):
        (here / name).write_text((here / name).read_text() + "# changed\n")
        assert code_of(here / "mine.py") != code, name
        code = code_of(here / "mine.py")
    assert memory_maker(f"{here / 'mine.py'}:Mine").code == code


def test_a_neighbour_that_has_changed_is_imported_anew(here: Path) -> None:
    assert _recalled(here) == [1, 2, 3]
    (here / "aid.py").write_text("KEEP = 10_000\n")
    (here / "parts" / "two.py").write_text("TWO = 20_000\n")
    assert _recalled(here) == [10_000, 20_000, 3]


def test_two_folders_may_hold_files_of_the_same_names(here: Path) -> None:
    _write(here / "other", keep=7)
    first, second = (memories.get(f"{folder / 'mine.py'}:Mine") for folder in (here, here / "other"))
    assert (first().recall(None, 1, 1)[0], second().recall(None, 1, 1)[0]) == (1, 7)
    codes = {memory_maker(f"{folder / 'mine.py'}:Mine").code for folder in (here, here / "other")}
    assert codes == {code_of(here / "mine.py"), code_of(here / "other" / "mine.py")}
    assert len(codes) == 2


def test_a_file_alone_is_known_by_its_bytes_and_ours_and_what_is_installed_do_not_count(here: Path) -> None:
    from hashlib import sha256

    (here / "mine.py").write_text("import json, memory.base\nfrom simulator.core import types\n")
    assert code_of(here / "mine.py") == sha256((here / "mine.py").read_bytes()).hexdigest()
    (at_root,) = [Path(__file__).parents[2] / "conftest_of_nobody.py"]
    assert neighbours(at_root) == {}
    assert code_of(here / "nowhere.py") is None
