"""The start-up check on import names, with a foreign ``agents`` package in the way."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from simulator.cli import guard
from simulator.core.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


def test_all_four_roots_share_the_project_folder() -> None:
    assert {guard.home_of(root) for root in guard.ROOTS} == {ROOT}
    guard.check()


def test_a_missing_root_is_said_to_be_missing() -> None:
    with pytest.raises(UsageError, match="'no_such_room_of_ours' of proact is not found beside 'simulator'"):
        guard.check(("simulator", "no_such_room_of_ours"))


def _check_with(*paths: Path) -> subprocess.CompletedProcess[str]:
    """Run the check in a fresh interpreter whose path starts with the given folders, then ours."""
    code = f"""
        import sys
        sys.path[:0] = {[str(p) for p in (*paths, ROOT)]!r}
        from simulator.cli.guard import check
        from simulator.core.errors import UsageError
        try:
            check()
        except UsageError as error:
            print(error)
            raise SystemExit(int(error.exit_code))
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, cwd="/"
    )


def _foreign(folder: Path, *, distribution: str | None = None) -> Path:
    (folder / "agents").mkdir(parents=True)
    (folder / "agents" / "__init__.py").write_text("raise SystemError('a foreign package was imported')\n")
    if distribution:
        info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "top_level.txt").write_text("agents\n")
        (info / "RECORD").write_text("agents/__init__.py,,\n")
    return folder


def test_a_foreign_agents_package_is_named_with_its_distribution_and_never_imported(tmp_path: Path) -> None:
    site = _foreign(tmp_path / "site", distribution="other-agents")
    done = _check_with(site)
    assert done.returncode == 2, done.stderr
    line = done.stdout.strip()
    assert "\n" not in line
    assert f"'agents' of proact is hidden by the distribution 'other-agents' in {site}" in line
    assert "virtual environment of its own" in line


def test_a_foreign_folder_without_a_distribution_is_named_by_its_place(tmp_path: Path) -> None:
    done = _check_with(_foreign(tmp_path / "stray"))
    assert done.returncode == 2, done.stderr
    assert f"hidden by a folder on Python's path in {tmp_path / 'stray'}" in done.stdout


def test_nothing_foreign_means_nothing_said(tmp_path: Path) -> None:
    done = _check_with(tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_check_reads_no_metadata_when_all_is_well() -> None:
    code = "import sys, simulator.cli.guard as g; g.check(); print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "False"
