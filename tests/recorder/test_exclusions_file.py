"""Rules as people write them, and the list that comes with proact."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from simulator.core.errors import InputError
from simulator.core.patterns import PIECE, PatternError, compile_pattern
from simulator.core.types import SECOND
from simulator.recorder import exclusions_file
from simulator.recorder.exclusions import Exclusions
from simulator.recorder.windows import Window
from simulator.timing.clock import real_ns


def load(tmp_path: Path, text: str) -> Exclusions:
    path = tmp_path / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    return Exclusions.load(path)


def why(rules: Exclusions, app: str, title: str) -> str | None:
    return rules.reason(Window(app, title))


@pytest.fixture(scope="module")
def default() -> Exclusions:
    return Exclusions.load()


@pytest.mark.parametrize(
    ("app", "title", "rule"),
    [
        ("Chromium", "New Incognito Tab - Chromium", "private window"),
        ("Google Chrome", "Neuer Inkognito-Tab – Google Chrome", "private window"),
        ("google-chrome", "打开新的无痕式标签页 - Google Chrome", "private window"),
        ("google-chrome", "新しいシークレット タブ - Google Chrome", "private window"),
        ("google-chrome", "Новая вкладка инкогнито - Google Chrome", "private window"),
        ("msedge.exe", "News - [InPrivate] - Microsoft\u200b Edge", "private browsing"),
        ("firefox", "News — Mozilla Firefox Private Browsing", "private browsing"),
        ("firefox-esr", "News - Mozilla Firefox (Navigation privée)", "private browsing"),
        ("firefox", "News — Приватный просмотр Mozilla Firefox", "private browsing"),
        ("firefox", "页 - Mozilla Firefox （隐私浏览）", "private browsing"),
        ("firefox", "News – Mozilla Firefox Privater Modus", "private browsing"),
        ("Tor Browser", "anything", "private browsing"),
        ("org.keepassxc.KeePassXC", "Database", "passwords"),
        ("1Password.exe", "x", "passwords"),
        ("Gcr-prompter", "x", "passwords"),
        ("firefox", "Vault – Bitwarden — Mozilla Firefox", "passwords"),
        ("Chromium", "Stadtsparkasse München - Chromium", "banking"),
        ("Chromium", "Société Générale – Espace client - Chromium", "banking"),
        ("Chromium", "societe generale", "banking"),
        ("Chromium", "中国工商银行个人网上银行 - Chromium", "banking"),
        ("Chromium", "ネットバンキング - Chromium", "banking"),
        ("Safari", "Chase Online", "banking"),
        ("evince", "Bank statement May.pdf", "banking"),
        ("Chromium", "MyChart - Lab results - Chromium", "health"),
        ("Chromium", "Doctolib : prenez rendez-vous", "health"),
        ("Chromium", "Mein Patientenportal", "health"),
        ("Chromium", "预约挂号平台", "health"),
    ],
)
def test_the_built_in_list_leaves_out(default: Exclusions, app: str, title: str, rule: str) -> None:
    assert why(default, app, title) == rule


@pytest.mark.parametrize(
    ("app", "title"),
    [
        ("Chromium", "How to use incognito tabs - Chromium"),
        ("XTerm", "pytest tests/test_bank.py"),
        ("Code", "bank_account.py - kata - Visual Studio Code"),
        ("Chromium", "CI: test results - Chromium"),
        ("firefox", "Data bankers of the world — Mozilla Firefox"),
        ("Mousepad", "Untitled 1 - Mousepad"),
        ("Thunderbird", "Inbox"),
        ("Chromium", "Trains to Lisbon - Chromium"),
        ("gitkraken", "GitKraken Desktop"),
    ],
)
def test_the_built_in_list_lets_pass(default: Exclusions, app: str, title: str) -> None:
    assert why(default, app, title) is None


def test_own_rules_come_on_top_and_built_in_ones_can_be_left_out(tmp_path: Path) -> None:
    text = r"""
without: [health]
accept_unseen_windows: true
covered: show
linger: 3s
panels: {mask: always, apps: [mybar]}
titles:
  replace: [{match: '\d{5,}', with: '#'}]
rules:
  - {name: work chat, apps: [slack], titles: ['^general\b'], words: [salary], only_in: [chat]}
  - {name: toasts, kinds: [notification]}
"""
    rules = load(tmp_path, text)
    assert why(rules, "Slack", "x") == "work chat"
    assert why(rules, "Telegram", "our salary") == "work chat"
    assert why(rules, "firefox", "our salary") is None
    assert why(rules, "firefox", "MyChart") is None
    assert why(rules, "firefox", "PayPal") == "banking"
    assert (rules.accept_unseen_windows, rules.covered, rules.linger_ns) == (True, "show", 3 * SECOND)
    assert rules.titles.of("order 123456") == "order #"
    assert rules.panels.matches(Window("mybar", None))
    assert rules.panels.matches(Window("tint2", None))


def test_an_empty_file_is_the_built_in_list(tmp_path: Path) -> None:
    assert load(tmp_path, "").rules == Exclusions.load().rules


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ruels: []", "ruels: unknown key; did you mean 'rules'?"),
        ("rules: [{name: x, app: [a]}]", "rules[0].app: unknown key; did you mean 'apps'?"),
        ("titles: {replace: [{mach: a, with: b}]}", "titles.replace[0].match: is missing"),
        ("rules: [{apps: [a]}]", "rules[0].name: is missing"),
        ("rules: [{name: x}]", "rules[0]: at least one of"),
        ("rules: [{name: banking, apps: [a]}]", "rules[0].name: 'banking': a name of its own"),
        ("rules: [{name: own, apps: [a]}]", "a name of its own"),
        ("rules: [{name: x, titles: ['(a']}]", "rules[0].titles[0]: '(a': not a regular expression"),
        ("rules: [{name: x, titles: ['(a+)+b']}]", "rules[0].titles[0]: '(a+)+b': could take too long"),
        ("rules: [{name: x, words: ['*']}]", "rules[0].words[0]: '*': more than blanks and stars"),
        ("rules: [{name: x, words: [a], only_in: [browsers]}]", "did you mean 'browser'?"),
        ("rules: [{name: x, private: 1}]", "rules[0].private"),
        ("without: [helth]", "without[0]: 'helth': not a built-in rule; did you mean 'health'?"),
        ("linger: 5", "linger"),
        ("linger: 5 parsecs", "linger: '5 parsecs' is not a duration"),
        ("linger: 2h", "linger: '2h': at most 60 s"),
        ("titles: {keep: hash, replace: [{match: a, with: b}]}", "replace goes with keep: replaced"),
        ("titles: {keep: some}", "titles.keep"),
        ("covered: always", "covered"),
        ("- a", "a mapping with keys such as rules"),
        ("rules: {a: b}", "rules"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence_that_names_the_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "rules.yaml" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml: cannot be read"):
        Exclusions.load(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+b", r"(a|a)*b", r"(a|aa)+$", r".*a.*b", r"(?:\w+\s)*x", r"((a{0,20}){0,20})x", r"a*a*a*",
     "a?" * 22 + "a" * 22, r"(?=.*a)(?=.*b)c", r"(.*)\1x", r"^(\w+\s?)*$"],
)  # fmt: skip
def test_a_pattern_that_could_hang_the_recorder_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="too long"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r".*bank", r"^(.*) - Firefox$", r".{0,40}a.{0,40}b", r"(?:foo|bar)?x", r"a{3,}", r"(?:ab)+", r"(x)?(?(1)a|b)",
     r"\d{4}-\d{4}", "|".join(f"word{k}" for k in range(200)), r"(?!.*safe).", r"[\w.]+@[\w.]+",
     r"a*(?:b+|c*)", r"a*[ab]{400}c?", r"(?:bank|банк|银行)"],
)  # fmt: skip
def test_a_pattern_that_is_taken_examines_any_piece_of_a_title_quickly(pattern: str) -> None:
    compiled = compile_pattern(pattern)
    for text in ("a" * PIECE, "ab" * (PIECE // 2), "word1" * (PIECE // 5), "x a" * (PIECE // 3)):
        start = real_ns()
        compiled.search(text)
        assert real_ns() - start < SECOND // 2  # some ms; ten times that on a busy machine


def test_the_built_in_list_says_nothing_twice_and_judges_quickly(default: Exclusions) -> None:
    for rule in default.rules:
        assert len(set(rule.words)) == len(rule.words)
        assert len(set(rule.apps)) == len(rule.apps)
    assert [rule.name for rule in default.rules] == [
        "private window",
        "private browsing",
        "passwords",
        "banking",
        "health",
    ]
    windows = [Window(f"app {k}", f"some title {k}", x=0, y=0, width=9, height=9, key=k) for k in range(20)]
    default.judge(windows[0], windows)
    start = real_ns()
    for _ in range(20):
        default.judge(windows[0], windows)
    assert (real_ns() - start) / 20 < 10_000_000  # 0.1 ms here


def test_the_wheel_brings_the_built_in_list(tmp_path: Path) -> None:
    builder = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed")
    root = Path(__file__).parents[2]
    wheel = next(iter(builder.WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])))
    with zipfile.ZipFile(wheel) as packed:
        shipped = packed.read("simulator/recorder/exclusions.default.yaml")
    assert shipped == (root / "simulator/recorder/exclusions.default.yaml").read_bytes()


def test_the_rules_on_the_page_are_rules_and_the_page_names_every_key(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text(encoding="utf-8")
    shown = page.partition("```yaml\n")[2].partition("```")[0]
    rules = load(tmp_path, shown)
    assert why(rules, "Microsoft Teams", "x") == "work chat"
    assert why(rules, "Chromium", "HR portal, internal") == "salaries"
    assert why(rules, "Chromium", "MyChart") is None
    assert rules.titles.of("to bob@example.com") == "to <mail>"
    for model in (exclusions_file._File, exclusions_file._Rule, exclusions_file._Panels, exclusions_file._Titles):
        assert not [name for name in model.model_fields if name not in page]
    assert [rule.name for rule in Exclusions.load().rules if f"| `{rule.name}` |" not in page] == []
