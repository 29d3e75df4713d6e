"""Timelines that stay read do not fill the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.web import timeline as timelines


def test_what_stays_read_is_bounded_by_number_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "HELD", 3)
    monkeypatch.setattr(timelines, "HELD_BYTES", 1000)
    kept = timelines._Kept[int]()

    def there() -> list[int]:
        return [n for n in range(9) if kept.peek((tmp_path, str(n))) is not None]

    for n in range(5):
        kept.put((tmp_path, str(n)), ((0, 300), None), n)
    assert there() == [2, 3, 4]
    kept.put((tmp_path, "5"), ((0, 500), (0, 100)), 5)
    assert there() == [4, 5]
    kept.put((tmp_path, "6"), ((0, 99_999),), 6)
    assert there() == [6]
