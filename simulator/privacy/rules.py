"""Finding what is private in a text by rules: shapes, check digits, labels, words that the user named.

What rules cannot find: names and faces, addresses, handwriting, what is private for what it says. The built-in rules
are data (``rules.yaml``); a user's file adds to them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from simulator.privacy.folding import fold, skeleton, with_digits
from simulator.privacy.rules_file import LabelSpec, PatternSpec, RulesFile, TitleSpec, read_rules
from simulator.privacy.validators import CHECKS, IBAN_LENGTHS, iban, iban_shape

__all__ = ["BLIND_SPOTS", "Finding", "Rules", "load_rules", "merged"]

BLIND_SPOTS = (
    "Rules find what has a shape: addresses of mail, numbers of phones, accounts, cards and persons, keys, passwords "
    "behind their label, and words you name. They cannot find names and faces, postal addresses, handwriting, or what "
    "is private for what it says; text that OCR does not read is not found either. Look at the pictures before you "
    "share them."
)

_BUILT_IN = Path(__file__).with_name("rules.yaml")
_OPEN, _CLOSE = r"(?<![A-Za-z0-9])(?<!\d\.)", r"(?![A-Za-z0-9])"
_TAIL = (  # OCR puts blanks into long keys: words with digits or capitals in their middle belong to them
    r"(?: (?:(?=\S{0,80}\d)(?=\S{0,80}[A-Za-z])|(?=\S{7})(?=\S{0,80}[a-z]\S{0,9}[A-Z]))[A-Za-z0-9_+/=.)\]}|-]{4,})*"
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2} ?[0-9OoIlSBZ|]{2}(?=[ -]?[A-Za-z0-9])")
_NO_PASSWORDS = frozenset({"str", "string", "none", "null", "true", "false", "required", "optional", "and", "the"})
_VALUES = {
    "token": r"(?P<value>(?<=\")[^\"\n]{3,128}|(?<=')[^'\n]{3,128}|[^\s\"']{3,128})",
    "rest": r"(?P<value>[^\n]{3,128})",
    "secret": r"(?:Bearer )?(?P<value>(?=\S{0,80}\d)[A-Za-z0-9+/_.=~-]{8,512})",
    "digits": r"(?P<value>[+(]?[A-Za-z]{0,3}\d(?:[ .\-/()]{0,2}[A-Za-z]{0,2}\d){4,40}[A-Za-z]?)",
    "short": r"(?P<value>\d{3,8})(?![A-Za-z0-9])",
    "date": r"(?P<value>\d{1,4}[./\-年] ?\d{1,2}[./\-月] ?\d{1,4}日?|\d{1,2}\.? [A-Za-z]{3,9}\.?,? \d{4}"
    r"|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something private in a text: what kind, where, and whether its check digits or its form leave no doubt."""

    kind: str
    start: int
    end: int
    sure: bool


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    regex: re.Pattern[str]
    sure: bool
    digits: bool = False
    check: Callable[[str], bool] | None = None
    joins: bool = False  # goes on in the next line

    def find(self, text: str) -> Iterator[Finding]:
        for seen in (text, with_digits(text)) if self.digits else (text,):
            for found in self.regex.finditer(seen):
                named = "value" in self.regex.groupindex
                start, end = found.span("value" if named else 0)
                if self.check is None or _passes(self.check, _plain(seen[start:end])):
                    yield Finding(self.kind, start, end, self.sure)


class Rules:
    """The built-in rules with those of a user's file.

    Args:
        built_in, own: what the two files hold.

    Attributes:
        name: the same for equal rules; what was looked at by other rules is looked at again.
    """

    def __init__(self, built_in: RulesFile, own: RulesFile | None = None) -> None:
        own = own or RulesFile()
        off = frozenset(own.without)
        self.name = sha256(f"{built_in.model_dump_json()}{own.model_dump_json()}".encode()).hexdigest()[:16]
        labels = [label for label in (*built_in.labels, *own.labels) if label.kind not in off]
        patterns = [p for p in (*built_in.patterns, *own.patterns) if p.kind not in off]
        self._rules = [*map(_pattern_rule, patterns), *map(_label_rule, labels)]
        self._titles = [(t.kind, _words_regex(t)) for t in (*built_in.titles, *own.titles) if t.kind not in off]
        self._words = [re.compile(_known_word(word)) for word in own.words]
        cell = "|".join(re.escape(word) for label in labels for word in _long_first(label.words))
        self._label_cell = re.compile(rf"(?:{cell})\s?(?:no\.?|#)?\s?[:*]*", re.IGNORECASE)
        self._ibans = "iban" not in off

    def find(self, text: str, *, joined: bool = False) -> list[Finding]:
        """What is private in a text, in order of place; spans may overlap.

        Args:
            text: any text.
            joined: of lines put together without a blank: only what goes on in a next line is looked for.
        """
        folded = fold(text)
        seen = folded.text
        found = [f for rule in self._rules if rule.joins or not joined for f in rule.find(seen)]
        if not joined:
            found += _find_ibans(seen) if self._ibans else ()
            thin = skeleton(seen) if self._words else ""
            found += [Finding("word", *m.span(), True) for word in self._words for m in word.finditer(thin)]
        placed = {Finding(f.kind, *folded.span(f.start, f.end), f.sure) for f in found if f.start < f.end}
        return sorted(placed, key=lambda f: (f.start, f.end, f.kind, f.sure))

    def is_label(self, cell: str) -> bool:
        """Whether a cell of a form holds nothing but a label, so that what stands below it is its value."""
        return self._label_cell.fullmatch(cell.strip()) is not None

    def title(self, title: str) -> str | None:
        """Of what kind a window is whose title says that its picture is private; None of none."""
        seen = fold(title[:2000]).text
        return next((kind for kind, words in self._titles if words.search(seen)), None)

    def clean(self, text: str) -> tuple[str, Counter[str]]:
        """The text with ``[kind]`` in place of every finding, and how many there were by kind."""
        counts: Counter[str] = Counter()
        found = merged(self.find(text))
        for finding in reversed(found):
            text = f"{text[: finding.start]}[{finding.kind}]{text[finding.end :]}"
            counts[finding.kind] += 1
        return text, counts


def load_rules(own: Path | None = None) -> Rules:
    """The built-in rules, with a user's file where one is given.

    Raises:
        InputError: the file is not one of rules.
    """
    return Rules(read_rules(_BUILT_IN), None if own is None else read_rules(own))


def merged(found: list[Finding]) -> list[Finding]:
    """Findings that overlap as one, of the kind of the first sure one."""
    made: list[Finding] = []
    for one in sorted(found, key=lambda f: (f.start, not f.sure, -f.end)):
        if made and one.start < made[-1].end:
            last = made[-1]
            kind = last.kind if last.sure or not one.sure else one.kind
            made[-1] = Finding(kind, last.start, max(last.end, one.end), last.sure or one.sure)
        else:
            made.append(one)
    return made


def _pattern_rule(spec: PatternSpec) -> _Rule:
    text = f"{_OPEN}(?:{spec.pattern}){_TAIL if spec.secret else ''}{_CLOSE}"
    check = None if spec.check is None else CHECKS[spec.check]
    return _Rule(spec.kind, re.compile(text), spec.sure, spec.digits, check, joins=spec.secret)


def _label_rule(spec: LabelSpec) -> _Rule:
    words = "|".join(re.escape(word) for word in _long_first(spec.words))
    number = r"(?: ?(?:no\.?|number|nr\.?|#))?" if spec.value in ("digits", "short") else ""
    between = r"[\"']?[ \t]{0,3}[:=][ \t]{0,3}\n?" if spec.strict else r"[\"']?\s{0,3}[:=#]?\s{0,3}"
    regex = rf"(?<![A-Za-z0-9])(?:{words}){number}{between}[\[\](){{}}|'\"]{{0,2}} ?{_VALUES[spec.value]}"
    check = _may_be_password if spec.value == "token" else None
    return _Rule(spec.kind, re.compile(regex, re.IGNORECASE), True, spec.value in ("digits", "short"), check)


def _passes(check: Callable[[str], bool], plain: str) -> bool:
    """Whether check digits are right; a text of a form that the check does not know (a user's pattern) has none."""
    try:
        return check(plain)
    except (ValueError, IndexError):
        return False


def _may_be_password(plain: str) -> bool:
    return bool(plain) and plain.lower() not in _NO_PASSWORDS


def _long_first(words: tuple[str, ...]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def _words_regex(spec: TitleSpec) -> re.Pattern[str]:
    ends = [rf"(?<![A-Za-z0-9]){re.escape(w)}(?![A-Za-z0-9])" for w in _long_first(spec.words)]
    return re.compile("|".join(ends), re.IGNORECASE)


def _known_word(word: str) -> str:
    parts = [re.escape(skeleton(fold(part).text)) for part in word.split()]
    return r"(?<![^\W_])" + r"\s{1,3}".join(parts) + r"(?![^\W_])"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "", text).upper()


def _find_ibans(text: str) -> Iterator[Finding]:
    """IBANs by the length of their country: the blanks of print say nothing of where one ends."""
    for found in _IBAN.finditer(text):
        wanted = IBAN_LENGTHS.get(text[found.start() : found.start() + 2].upper())
        end = None if wanted is None else _reach(text, found.start(), wanted)
        if end is None:
            continue
        whole = text[found.start() : end]
        tries = {_plain(whole), _plain(whole[:2] + with_digits(whole[2:])), _plain(whole[:2] + _all_digits(whole[2:]))}
        if any(iban(one) for one in tries):
            yield Finding("iban", found.start(), end, True)
        elif whole[:2].isupper() and any(iban_shape(one) and _mostly_digits(one) for one in tries):
            yield Finding("iban", found.start(), end, False)


def _reach(text: str, start: int, n: int) -> int | None:
    """Where the n-th letter or digit from start ends, with at most one blank, dash or end of line between two."""
    gap = 0
    for i in range(start, min(len(text), start + 2 * n + 8)):
        if text[i].isascii() and (text[i].isalnum() or text[i] == "|"):
            n, gap = n - 1, 0
            if n == 0:
                after = text[i + 1 : i + 2]
                return None if after.isascii() and after.isalnum() else i + 1
        else:
            gap += 1
            if text[i] not in " -\n" or gap > 2:
                return None
    return None


def _all_digits(text: str) -> str:
    return text.translate(str.maketrans("OoQIl|iZzSsB", "000111122558"))


def _mostly_digits(text: str) -> bool:
    return sum(map(str.isdigit, text[4:])) * 10 >= len(text[4:]) * 7
