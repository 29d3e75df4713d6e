"""Links in the documentation lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for place in (ROOT, ROOT / "docs", ROOT / "bench", ROOT / "scenarios")
    for path in (place.glob("*.md") if place == ROOT else place.rglob("*.md"))
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_links_inside_the_project_are_not_dead(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    dead = []
    for target in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = ((ROOT / page).parent / name).resolve() if name else ROOT / page
        if not path.exists():
            dead.append(target)
        elif anchor and path.suffix == ".md":
            headings = re.findall(r"^#+\s+(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            if anchor not in map(_anchor, headings):
                dead.append(target)
    assert not dead, f"{page}: {dead}"


def test_every_decision_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [p.name for p in pages if f"decisions/{p.name}" not in index] == []
    numbers = [int(p.name[:3]) for p in pages]
    assert numbers == list(range(1, len(numbers) + 1)), "decisions are numbered without holes or doubles"
