"""Rules find what is private in a text, leave other things alone, and take any text in bounded time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import InputError
from simulator.privacy.folding import fold, skeleton, with_digits
from simulator.privacy.rules import Finding, Rules, load_rules, merged
from simulator.privacy.rules_file import PatternSpec, RulesFile
from simulator.privacy.validators import CHECKS
from simulator.timing.clock import real_ns
from tests.privacy.planted import values

RULES = load_rules()
KEY = "-----BEGIN RSA PRIVATE KEY-----"  # split so that no scanner takes this file for one that holds a key
BODY = "MIIEowIBAAKCAQEAmadeupmadeupmadeup0123456789abcdefghijklmnopqrstuv"


def kinds(text: str, rules: Rules = RULES) -> set[str]:
    return {finding.kind for finding in rules.find(text)}


def hidden(text: str, rules: Rules = RULES) -> str:
    return rules.clean(text)[0]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("write to jane.roe@example.com, please", "email", "jane.roe@example.com"),
        ("jürgen+x@mail.example.co.uk", "email", "jürgen+x@mail.example.co.uk"),
        ("see jane.roe @example.com", "email", "jane.roe @example.com"),
        ("call +49 (0)30 901820 now", "phone", "+49 (0)30 901820"),
        ("call +1 202-555-0143.", "phone", "+1 202-555-0143"),
        ("手机：13800138000。", "phone", "13800138000"),
        ("to DE89 3704 0044 0532 0130 00 today", "iban", "DE89 3704 0044 0532 0130 00"),
        ("de89370400440532013000", "iban", "de89370400440532013000"),
        ("GB82 WEST 1234 5698 7654 32", "iban", "GB82 WEST 1234 5698 7654 32"),
        ("DE89 37O4 OO44 0532 0l30 00", "iban", "DE89 37O4 OO44 0532 0l30 00"),
        ("DE89 3704 0044 0532\n0130 00", "iban", "DE89 3704 0044 0532\n0130 00"),
        ("4111 1111 1111 1111 exp", "card", "4111 1111 1111 1111"),
        ("no 378282246310005", "card", "378282246310005"),
        ("4l11-1lI1-1111-1111", "card", "4l11-1lI1-1111-1111"),
        ("on file 123-45-\n6789 end", "us_ssn", "123-45-\n6789"),
        ("身份证号：11010519491231002X", "cn_id", "11010519491231002X"),
        ("CPF 529.982.247-25", "br_cpf", "529.982.247-25"),
        ("DNI 12345678Z", "es_dni", "12345678Z"),
        ("AKIAIOSFODNN7EXAMPLE", "key", "AKIAIOSFODNN7EXAMPLE"),
        ("token eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJ x", "key", "eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJ"),
        ("xoxb-123456789012-abcdef", "key", "xoxb-123456789012-abcdef"),
        ("sk-proj-TmKTDDQ 3aKb7 TokSun5ASg for", "key", "sk-proj-TmKTDDQ 3aKb7 TokSun5ASg"),
        ("password: hunter2!", "password", "hunter2!"),
        ('{"password": "two words"}', "password", "two words"),
        ("Passwort= geheim1", "password", "geheim1"),
        ("密码：abc123", "password", "abc123"),
        ("https://sam:pass99@host.example/x", "password", "pass99"),
        ("IBAN: [B89 3704 0044 0582 0130 00", "iban", "B89 3704 0044 0582 0130 00"),
        ("Date of birth: 12.03.1984", "birth_date", "12.03.1984"),
        ("CVV 123", "card", "123"),
        ("Passport no. C01X00T478", "national_id", "C01X00T478"),
        ("Sort code 12-34-56", "account", "12-34-56"),
    ],
)
def test_what_is_private_is_found_to_the_letter(text: str, kind: str, value: str) -> None:
    assert any(f.kind == kind and text[f.start : f.end] == value for f in RULES.find(text)), RULES.find(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30 12:00:01.123 INFO released snapshot 1796015684 in 0.35 ms",
        "1796015684759000000",
        "root@desk:~/proj# git clone git@github.com:example/proj.git",
        "G @ 127.0.0.1:8077/docs.html",
        "C @ example.org/path",
        "@pytest.fixture(scope='session') def login(): ...",
        "total 4.111111111111111 of 12,345,678",
        "Forgot your password?",
        "password: str | None = None",
        "sha256 9efc010b3ca527bede79678b591ca45521141489b33963aa61b920a486c39fdb",
        "1920x1080+0+0, 54.1 GiB (Total: 252.0 GiB)",
        "Tel Aviv, hotel 5 stars, mobile first, phone home",
        "ISBN 978-3-16-148410-0",
        "version 10.2.0, 3.40.1, 2.11",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert [f for f in RULES.find(text) if f.sure] == []


@given(st.integers(0, 2**32), st.sampled_from(["{}", "x {} y", "\n{}\n", "({})", "„{}“", "号{}号"]))
def test_every_made_up_value_is_hidden_wherever_it_stands(seed: int, frame: str) -> None:
    for kind, value in values(seed):
        text = frame.format(f"password: {value}" if kind == "password" else value)
        assert value not in hidden(text), (kind, text)


def test_a_private_key_is_hidden_with_its_body_whether_its_end_is_seen_or_not() -> None:
    whole = f"{KEY}\n{BODY}\n{BODY}\n{KEY.replace('BEGIN', 'END')} and so on"
    assert hidden(whole) == "[key] and so on"
    assert "madeup" not in hidden(f"{KEY}\n{BODY}\n{BODY}")
    assert "madeup" not in hidden(f"the middle of one: {BODY}")


def test_the_gaps_and_letters_of_other_scripts_do_not_hide_a_number() -> None:
    assert kinds("４１１１ １１１１ １１１１ １１１１") >= {"card"}
    assert kinds("jane.roe\u200b@exam\u200bple.com") >= {"email"}
    assert kinds("123–45–6789") >= {"us_ssn"}
    assert kinds("DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000") >= {"iban"}


def test_a_misread_iban_or_card_is_found_though_not_for_sure() -> None:
    for text in ("DE89 3704 0044 0532 0130 01", "4111 1111 1111 1112"):
        found = RULES.find(text)
        assert found
        assert not any(f.sure for f in found if f.kind in ("iban", "card"))


def test_a_label_alone_in_its_cell_is_known() -> None:
    assert RULES.is_label("Password:")
    assert RULES.is_label("Card number *")
    assert not RULES.is_label("The password of the day")


@pytest.mark.parametrize(
    ("title", "kind"),
    [("KeePassXC - db.kdbx", "passwords"), ("Online Banking — Sparkasse", "banking"),
     ("x - InPrivate", "private_browsing"), ("main.py - proj", None), ("incognitos.txt", None),
     ("病历 - 张三", "health")],
)  # fmt: skip
def test_a_title_says_of_what_kind_a_window_is(title: str, kind: str | None) -> None:
    assert RULES.title(title) == kind


def test_cleaning_puts_the_kind_in_place_of_each_value_and_counts() -> None:
    text, counts = RULES.clean("a@b.example and c@d.example, 123-45-6789")
    assert text == "[email] and [email], [us_ssn]"
    assert counts == {"email": 2, "us_ssn": 1}


@given(st.text(max_size=200))
def test_any_text_can_be_cleaned_and_is_clean_then_of_the_same_finding(text: str) -> None:
    found = RULES.find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    once, counts = RULES.clean(text)
    assert sum(counts.values()) == len(merged(found))
    if not found:
        assert once == text


@pytest.mark.parametrize(
    "text",
    ["a" * 20_000 + "@", "1 " * 20_000, "+1" * 10_000, "password" * 2_500, "-----BEGIN " * 2_000, "eyJ" * 7_000,
     "DE89 " * 4_000, "a.b@" * 5_000, "x" * 20_000, "12-" * 7_000, " " * 20_000, "[({'" * 5_000, "\u200b" * 20_000,
     "A1 " * 7_000, "ghp_ab1 " * 2_500, "://a:" * 4_000],
)  # fmt: skip
def test_hostile_texts_take_no_longer_than_others(text: str) -> None:
    started = real_ns()
    RULES.find(text)
    assert real_ns() - started < 3_000_000_000


def test_overlapping_findings_are_one_of_the_sure_kind() -> None:
    found = [Finding("phone", 0, 10, False), Finding("iban", 2, 20, True), Finding("email", 30, 40, True)]
    assert merged(found) == [Finding("iban", 0, 20, True), Finding("email", 30, 40, True)]


def test_names_that_a_user_gives_are_found_as_the_eye_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("words: [Jane Roe, Müller-Lüdenscheidt]\nwithout: [phone]\n", encoding="utf-8")
    mine = load_rules(file)
    assert kinds("Dear JANE  ROE,", mine) == {"word"}
    assert kinds("Dear Jane R0e,", mine) == {"word"}
    assert kinds("Frau müller-lüdenscheidt", mine) == {"word"}
    assert kinds("Janet Roebuck", mine) == set()
    assert "phone" not in kinds("+1 202 555 0143", mine)
    assert mine.name != RULES.name


def test_a_users_own_pattern_may_use_check_digits_and_hide_a_part(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("patterns: [{kind: badge, pattern: 'badge (?P<value>\\d{6})', check: luhn}]\n", encoding="utf-8")
    mine = load_rules(file)
    assert hidden("badge 123455", mine) == "badge [badge]"
    assert hidden("badge 123456", mine) == "badge 123456"


@given(st.sampled_from(sorted(CHECKS)), st.text("0123456789ABXYZ", max_size=20))
def test_a_check_that_does_not_fit_the_pattern_finds_nothing(name: str, text: str) -> None:
    spec = PatternSpec(kind="x", pattern=r"[A-Z0-9]{1,20}", check=name)
    assert Rules(RulesFile(patterns=(spec,))).find(text) is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("patterns: [{kind: x, pattern: '('}]", "not a regular expression"),
        ("patterns: [{kind: x, pattern: 'a*'}]", "does not match nothing"),
        ("patterns: [{kind: x, pattern: a, check: ibann}]", "did you mean 'iban'"),
        ("wrods: [Jane]", "wrods"),
        ("words: [ab]", "3 letters"),
        ("labels: [{kind: x, words: [], value: digits}]", "labels.0.words"),
        ("- a list", "mine.yaml"),
    ],
)
def test_a_file_of_rules_that_is_wrong_ends_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_rules(file)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=80))
def test_folding_remembers_where_every_letter_stood(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.at)
    assert list(folded.at) == sorted(folded.at)
    assert all(0 <= i < len(text) for i in folded.at)
    assert len(with_digits(folded.text)) == len(folded.text)
    assert len(skeleton(folded.text)) == len(folded.text)
