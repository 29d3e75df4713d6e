"""What all pages share, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulator.web.place import Place


def test_a_page_opens_without_a_fault(page: Any, served: Callable[..., str], tmp_path: Path, axe_clean: Any) -> None:
    url = served(Place([tmp_path]))
    page.goto(f"{url}/about")
    page.wait_for_selector("#shown ul")
    assert "0 runs" in page.inner_text("#shown")
    axe_clean(page)
