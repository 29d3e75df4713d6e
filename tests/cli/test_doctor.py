"""``proact doctor`` looks at everything, tells nothing private, and fails only for what is needed."""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import PackageNotFoundError

import pytest

from simulator.cli import _call, doctor
from simulator.cli.doctor import Finding


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_N_RELEASES", 3)
    monkeypatch.setattr(doctor, "_RELEASE_NS", 2_000_000)


def test_this_machine_has_what_proact_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["doctor"]) == 0
    out = capsys.readouterr().out
    for name in ("python", "packages", "names", "cores", "clock", "releases", "disk", "folders", "display"):
        assert name in out


def test_json_is_one_record_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["doctor", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [r["event"] for r in records] == ["finding"] * (len(records) - 1) + ["done"]
    assert records[-1]["missing"] == 0


def test_keys_addresses_and_paths_are_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("private-recordings")
    monkeypatch.chdir(place)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://inside.example")
    assert _call(["doctor"]) == 0
    said = "".join(capsys.readouterr().out.split())
    assert "OPENAI_API_KEY" in said
    assert not any(word in said for word in ("secret", "inside", "private", str(place)))


def test_a_package_that_is_missing_is_named_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(name: str) -> str:
        if name == "rich":
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(doctor, "requires", lambda name: ["rich>=14", "anyio>=4.9", 'ruff>=0.12; extra == "test"'])
    monkeypatch.setattr(doctor, "version", version)
    assert doctor._packages() == Finding("packages", "missing", "not installed: rich; install proact anew")
    assert _call(["doctor"]) == 1
    assert "missing" in capsys.readouterr().out


def test_a_temporary_folder_that_cannot_be_written_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    found = doctor._folders()
    assert found.state == "missing"
    assert "nowhere" not in found.said


@pytest.mark.parametrize(
    ("env", "word"),
    [({}, "none"), ({"WAYLAND_DISPLAY": "wayland-0"}, "Wayland"), ({"DISPLAY": ":9876"}, "read")],
)
def test_nobody_is_sent_to_look_for_a_display_that_a_run_does_not_need(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], word: str
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", "linux")
    found = doctor._display()
    assert (found.state, word in found.said) == ("ok", True)
    assert found.said.endswith("needed only for `proact record` and `proact live`")


@pytest.mark.parametrize("url", ["", "http://inside.example"])
def test_a_models_endpoint_is_told_by_the_names_of_its_variables_only(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = doctor._endpoint()
    assert found.said.startswith("set: OPENAI_BASE_URL; " if url else "not set; ")
    assert "inside.example" not in found.said
    assert found.said.endswith("docs/models.md")


def test_a_package_of_another_distribution_by_one_of_our_names_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "packages_distributions", lambda: {"agents": ["proact", "openai-agents"]})
    found = doctor._names()
    assert found.state == "note"
    assert "'agents' is also a package of openai-agents" in found.said
