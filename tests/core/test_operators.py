"""What operators are told holds nothing of what a person had on the screen."""

from __future__ import annotations

import pytest

from simulator.core.operators import operators


def test_a_traceback_shows_no_local_values(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> None:
        title = "Letter to " + "my doctor"
        assert title
        raise KeyError("a bug")

    operators.cache_clear()
    try:
        fails()
    except KeyError as error:
        operators().error("a unit failed", exc_info=error)
    finally:
        operators.cache_clear()
    said = capsys.readouterr().err
    assert "KeyError: 'a bug'" in said
    assert "my doctor\n" not in said
    assert "Letter to my doctor" not in said
