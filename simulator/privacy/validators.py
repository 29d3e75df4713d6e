"""Check digits and shapes of numbers that name a person, an account or a card.

Each function gets a text without separators, in capitals, and says whether it can be such a number. Sources: IBAN
ISO 13616 with ISO 7064 mod 97-10; cards ISO/IEC 7812 (Luhn); national numbers after the publications of each country.
None looks anything up: a number that passes may belong to nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

__all__ = ["CHECKS", "IBAN_LENGTHS", "card", "iban", "iban_shape", "luhn", "verhoeff"]

IBAN_LENGTHS: Mapping[str, int] = {
    code: int(length)
    for length, codes in (
        (15, "NO"), (16, "BE"), (18, "DK FI FO GL NL SD"), (19, "MK SI"), (20, "AT BA EE KZ LT LU XK"),
        (21, "CH HR LI LV"), (22, "BG BH CR DE GB GE IE ME RS VA"), (23, "AE GI IL IQ OM SO TL"),
        (24, "AD CZ ES MD PK RO SA SE SK ST TN VG"), (25, "LY PT"), (26, "IS TR"),
        (27, "BI DJ FR GR IT MC MR SM"), (28, "AL AZ BY CY DO GT HU LB NI PL SV"), (29, "BR EG PS QA UA"),
        (30, "JO KW MU YE"), (31, "MT SC"), (32, "LC"), (33, "RU"),
    )
    for code in codes.split()
}  # fmt: skip
"""Country code to the length of its IBANs."""

_BRANDS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|(?:5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12})"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|(?:6011\d{12}|65\d{14}|64[4-9]\d{13})"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12}"  # JCB
    r"|3(?:0[0-5]|[68]\d)\d{11}"  # Diners
    r"|62\d{14,17}"  # UnionPay
    r"|(?:50|5[6-9]|6[0379])\d{14}"  # Maestro of 16 digits
)


def luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812: finds every single wrong digit and nearly every swap."""
    doubled = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
    total = sum(int(d) if i % 2 == 0 else doubled[int(d)] for i, d in enumerate(reversed(digits)))
    return len(digits) > 1 and total % 10 == 0


def card(digits: str) -> bool:
    """A payment card: a brand's prefix and length, and Luhn."""
    return _BRANDS.fullmatch(digits) is not None and luhn(digits)


def iban(text: str) -> bool:
    """An IBAN: the length of its country (15 to 34 where the country has none in the table), and mod 97."""
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):
        return False
    if len(text) != IBAN_LENGTHS.get(text[:2], len(text)):
        return False
    return int("".join(str(int(c, 36)) for c in text[4:] + text[:4])) % 97 == 1


def iban_shape(text: str) -> bool:
    """Country and length of an IBAN, whatever its check digits say: one letter of it may have been misread."""
    return len(text) == IBAN_LENGTHS.get(text[:2], 0) and text[2:4].isdigit()


def verhoeff(digits: str) -> bool:
    """Verhoeff's check in the dihedral group of ten (Aadhaar)."""
    check = 0
    for i, d in enumerate(reversed(digits)):
        n = int(d)
        for _ in range(i % 8):
            n = _VERHOEFF_TURN[n]
        check = _dihedral(check, n)
    return check == 0


_VERHOEFF_TURN = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def _dihedral(a: int, b: int) -> int:
    """The product of two elements of D5, numbered 0-4 turns and 5-9 reflections."""
    if a < 5:
        return (a + b) % 5 if b < 5 else 5 + (a + b) % 5
    return 5 + (a - b) % 5 if b < 5 else (a - b) % 5


def _weighted(text: str, weights: Sequence[int]) -> int:
    return sum(int(d) * w for d, w in zip(text, weights, strict=False))


def _day(month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _us_ssn(t: str) -> bool:
    return t[:3] not in ("000", "666") and t[0] != "9" and t[3:5] != "00" and t[5:] != "0000"


def _us_phone(t: str) -> bool:
    return len(t) == 10 and t[0] in "23456789" and t[3] in "23456789" and t[1:3] != "11"


def _cn_id(t: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    plausible = t[0] in "12345689" and t[6:8] in ("18", "19", "20") and _day(t[10:12], t[12:14])
    return plausible and "10X98765432"[_weighted(t[:17], weights) % 11] == t[17]


def _es_dni(t: str) -> bool:
    number = str("XYZ".index(t[0])) + t[1:-1] if t[0] in "XYZ" else t[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == t[-1]


def _it_cf(t: str) -> bool:
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    values = [int(c) if c.isdigit() else ord(c) - ord("A") for c in t[:15]]
    total = sum(odd[v] if i % 2 == 0 else v for i, v in enumerate(values))
    return chr(ord("A") + total % 26) == t[15]


def _fr_nir(t: str) -> bool:
    number = t[:13].replace("2A", "19").replace("2B", "18") if t[5:7] in ("2A", "2B") else t[:13]
    month = int(t[3:5])
    return number.isdigit() and (1 <= month <= 12 or 20 <= month <= 42) and 97 - int(number) % 97 == int(t[13:])


def _be_rrn(t: str) -> bool:
    return any(97 - int(century + t[:9]) % 97 == int(t[9:]) for century in ("", "2"))


def _pl_pesel(t: str) -> bool:
    day = 1 <= int(t[2:4]) % 20 <= 12 and 1 <= int(t[4:6]) <= 31
    return day and -_weighted(t[:10], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == int(t[10])


def _br_cpf(t: str) -> bool:
    def check(n: int) -> int:
        return _weighted(t[:n], range(n + 1, 1, -1)) * 10 % 11 % 10

    return len(set(t)) > 1 and check(9) == int(t[9]) and check(10) == int(t[10])


def _se_pnr(t: str) -> bool:
    t = t[-10:]
    return 1 <= int(t[2:4]) <= 12 and 1 <= int(t[4:6]) % 60 <= 31 and luhn(t)


def _fi_hetu(t: str) -> bool:
    digits = t[:6] + t[-4:-1]
    return _day(t[2:4], t[:2]) and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(digits) % 31] == t[-1]


def _in_aadhaar(t: str) -> bool:
    return t[0] in "23456789" and verhoeff(t)


def _kr_rrn(t: str) -> bool:
    check = (11 - _weighted(t[:12], (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10
    return _day(t[2:4], t[4:6]) and t[6] in "12345678" and check == int(t[12])


def _tw_id(t: str) -> bool:
    first = 10 + "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(t[0])
    return (first // 10 + first % 10 * 9 + _weighted(t[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1))) % 10 == 0


def _nl_bsn(t: str) -> bool:
    return (_weighted(t[:8], (9, 8, 7, 6, 5, 4, 3, 2)) - int(t[8])) % 11 == 0 and int(t) > 0


def _de_tax(t: str) -> bool:
    product = 10
    for d in t[:10]:
        product = ((int(d) + product) % 10 or 10) * 2 % 11
    return t[0] != "0" and (11 - product) % 10 == int(t[10])


def _uk_nino(t: str) -> bool:
    return t[0] not in "DFIQUV" and t[1] not in "DFIOQUV" and t[:2] not in ("BG", "GB", "NK", "KN", "TN", "NT", "ZZ")


CHECKS: Mapping[str, Callable[[str], bool]] = {
    "iban": iban,
    "iban_shape": iban_shape,
    "card": card,
    "luhn": luhn,
    "us_ssn": _us_ssn,
    "us_phone": _us_phone,
    "cn_id": _cn_id,
    "es_dni": _es_dni,
    "it_cf": _it_cf,
    "fr_nir": _fr_nir,
    "be_rrn": _be_rrn,
    "pl_pesel": _pl_pesel,
    "br_cpf": _br_cpf,
    "se_pnr": _se_pnr,
    "fi_hetu": _fi_hetu,
    "in_aadhaar": _in_aadhaar,
    "kr_rrn": _kr_rrn,
    "tw_id": _tw_id,
    "nl_bsn": _nl_bsn,
    "de_tax": _de_tax,
    "uk_nino": _uk_nino,
}
"""Checks by the name that a rule gives them. The rule's pattern has made sure of length and kind of characters."""
