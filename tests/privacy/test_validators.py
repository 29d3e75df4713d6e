"""Check digits: every number made by the rules of its country passes, and a wrong digit is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.privacy.validators import CHECKS, IBAN_LENGTHS, card, iban, iban_shape, luhn, verhoeff
from tests.privacy.planted import check_97

DIGITS = "0123456789"
ALNUM = DIGITS + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def digits(n: int) -> st.SearchStrategy[str]:
    return st.text(DIGITS, min_size=n, max_size=n)


@st.composite
def ibans(draw: st.DrawFn) -> str:
    country = draw(st.sampled_from(sorted(IBAN_LENGTHS)))
    account = draw(st.text(ALNUM, min_size=IBAN_LENGTHS[country] - 4, max_size=IBAN_LENGTHS[country] - 4))
    return check_97(country, account)


@st.composite
def wrong_at(draw: st.DrawFn, n: int) -> tuple[int, int]:
    """A place, and how much is added to the digit there."""
    return draw(st.integers(0, n - 1)), draw(st.integers(1, 9))


def altered(text: str, place: int, by: int) -> str:
    return f"{text[:place]}{(int(text[place]) + by) % 10}{text[place + 1 :]}"


@given(ibans())
def test_every_iban_with_computed_check_digits_passes(number: str) -> None:
    assert iban(number)
    assert iban_shape(number)


@given(ibans(), st.data())
def test_one_wrong_letter_of_an_iban_is_found(number: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(4, len(number) - 1))
    other = data.draw(
        st.sampled_from([c for c in ALNUM if c != number[place] and c.isdigit() == number[place].isdigit()])
    )
    assert not iban(number[:place] + other + number[place + 1 :])


@given(ibans(), st.data())
def test_two_neighbours_of_an_iban_swapped_are_found(number: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(4, len(number) - 2))
    a, b = number[place], number[place + 1]
    if a != b and a.isdigit() == b.isdigit():
        assert not iban(number[:place] + b + a + number[place + 2 :])


@given(st.text(max_size=40))
def test_any_text_can_be_asked_whether_it_is_an_iban(text: str) -> None:
    assert iban(text) in (True, False)
    assert iban_shape(text) in (True, False)


@pytest.mark.parametrize(
    "number",
    ["DE89370400440532013000", "GB82WEST12345698765432", "FR1420041010050500013M02606", "NO9386011117947",
     "MT84MALT011000012345MTLCAST001S", "CH9300762011623852957", "SA0380000000608010167519"],
)  # fmt: skip
def test_the_examples_of_the_iban_registry_pass(number: str) -> None:
    assert iban(number)
    assert not iban(number[:-1])


@given(digits(15))
def test_one_of_ten_last_digits_passes_luhn(head: str) -> None:
    assert sum(luhn(head + d) for d in DIGITS) == 1


@given(digits(15), st.data())
def test_one_wrong_digit_is_found_by_luhn(head: str, data: st.DataObject) -> None:
    number = next(head + d for d in DIGITS if luhn(head + d))
    place, by = data.draw(wrong_at(16))
    assert not luhn(altered(number, place, by))


@pytest.mark.parametrize(
    ("number", "is_one"),
    [("4111111111111111", True), ("5555555555554444", True), ("378282246310005", True), ("6011111111111117", True),
     ("3530111333300000", True), ("30569309025904", True), ("4111111111111112", False), ("1111111111111117", False),
     ("411111111111111", False)],
)  # fmt: skip
def test_cards_have_a_brand_a_length_and_luhn(number: str, is_one: bool) -> None:
    assert card(number) == is_one


@given(digits(11), st.data())
def test_verhoeff_finds_one_wrong_digit_and_every_swap(head: str, data: st.DataObject) -> None:
    found = [head + d for d in DIGITS if verhoeff(head + d)]
    assert len(found) == 1
    place, by = data.draw(wrong_at(12))
    assert not verhoeff(altered(found[0], place, by))
    i = max(place - 1, 0)
    a, b = found[0][i], found[0][i + 1]
    if a != b:
        assert not verhoeff(found[0][:i] + b + a + found[0][i + 2 :])


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("us_ssn", "123456789"),
        ("cn_id", "11010519491231002X"),
        ("es_dni", "12345678Z"),
        ("es_dni", "X1234567L"),
        ("it_cf", "RSSMRA85T10A562S"),
        ("fr_nir", "255081416802538"),
        ("be_rrn", "85073003328"),
        ("pl_pesel", "44051401359"),
        ("br_cpf", "52998224725"),
        ("se_pnr", "8112189876"),
        ("se_pnr", "198112189876"),
        ("fi_hetu", "131052308T"),
        ("in_aadhaar", "234123412346"),
        ("kr_rrn", "8001011234560"),
        ("tw_id", "A123456789"),
        ("nl_bsn", "111222333"),
        ("de_tax", "36574261809"),
        ("uk_nino", "AB123456C"),
    ],
)
def test_the_published_example_of_each_country_passes(name: str, number: str) -> None:
    assert CHECKS[name](number)


@pytest.mark.parametrize(
    ("name", "n", "prefix"),
    [("pl_pesel", 11, ""), ("br_cpf", 11, ""), ("nl_bsn", 9, ""), ("de_tax", 11, ""), ("in_aadhaar", 12, ""),
     ("cn_id", 18, ""), ("kr_rrn", 13, "")],
)  # fmt: skip
@given(data=st.data())
def test_most_numbers_made_by_chance_are_none(name: str, n: int, prefix: str, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(digits(n), min_size=60, max_size=60, unique=True))
    assert sum(CHECKS[name](number) for number in numbers) < 30


@pytest.mark.parametrize("number", ["000456789", "666456789", "900456789", "123006789", "123450000"])
def test_social_security_numbers_that_were_never_given_out_are_none(number: str) -> None:
    assert not CHECKS["us_ssn"](number)
