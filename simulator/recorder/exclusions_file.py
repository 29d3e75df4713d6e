"""Exclusion rules as people write them: a YAML file on top of the list that comes with proact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from simulator.core.durations import parse_duration
from simulator.core.errors import InputError, nearest
from simulator.core.patterns import PatternError, compile_pattern
from simulator.core.taxonomy import CLASSES
from simulator.core.yaml_files import read_yaml
from simulator.recorder.exclusions import CUT, LINGER_NS, OWN, PANEL, UNSEEN, UNTITLED, Exclusions
from simulator.recorder.rules import Rule, plain
from simulator.recorder.titles import TitlePolicy

__all__ = ["DEFAULT_FILE", "load"]

DEFAULT_FILE = Path(__file__).with_name("exclusions.default.yaml")

_RESERVED = (CUT, OWN, PANEL, UNSEEN, UNTITLED)
_LONGEST_LINGER_S = 60

_Name = Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=r"^[\w][\w .-]*$")]
_Text = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Rule(_Strict):
    name: _Name
    apps: list[_Text] = []
    classes: list[_Text] = []
    kinds: list[_Text] = []
    words: list[_Text] = []
    titles: list[_Text] = []
    private: bool = False
    remember: bool = False
    only_in: list[_Text] = []


class _Panels(_Strict):
    mask: Literal["beside", "always", "never"] = "beside"
    apps: list[_Text] = []
    classes: list[_Text] = []


class _Replacement(_Strict):
    match: _Text
    with_: Annotated[str, Field(alias="with", max_length=500)]


class _Titles(_Strict):
    keep: Literal["all", "replaced", "hash", "none"] | None = None
    replace: list[_Replacement] = []


class _File(_Strict):
    accept_unseen_windows: bool = False
    covered: Literal["mask", "show"] = "mask"
    linger: str | None = None
    titles: _Titles = _Titles()
    panels: _Panels = _Panels()
    without: list[str] = []
    rules: list[_Rule] = []


def load(path: Path | None) -> Exclusions:
    """See ``Exclusions.load``."""
    built_in = _read(DEFAULT_FILE)
    mine = _File() if path is None else _read(path)
    where = path or DEFAULT_FILE
    names = [rule.name for rule in built_in.rules]
    for i, name in enumerate(mine.without):
        if name not in names:
            raise InputError(where, f"not a built-in rule; {nearest(name, names)}", field=f"without[{i}]", value=name)
    kept = [rule for rule in built_in.rules if rule.name not in mine.without]
    _check_names(where, mine.rules, kept)
    panels = (built_in.panels, mine.panels)
    return Exclusions(
        rules=(*_rules(where, mine.rules), *_rules(DEFAULT_FILE, kept)),
        panels=Rule(
            PANEL,
            apps=tuple(app for part in panels for app in part.apps),
            classes=tuple(name for part in panels for name in part.classes),
            kinds=("dock",),
        ),
        mask_panels=mine.panels.mask,
        covered=mine.covered,
        accept_unseen_windows=mine.accept_unseen_windows,
        titles=_titles(where, mine.titles),
        linger_ns=LINGER_NS if mine.linger is None else _linger(where, mine.linger),
    )


def _read(path: Path) -> _File:
    raw = read_yaml(path)
    if not isinstance(raw, dict | None):
        raise InputError(path, f"a mapping with keys such as rules; known: {', '.join(_File.model_fields)}")
    try:
        return _File.model_validate(raw or {})
    except ValidationError as error:
        raise _fault(path, error.errors(include_url=False)[0]) from None


def _fault(path: Path, error: ErrorDetails) -> InputError:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    field, key = place or None, str(error["loc"][-1]) if error["loc"] else ""
    match error["type"]:
        case "extra_forbidden":
            return InputError(path, f"unknown key; {nearest(key, _keys_beside(error['loc']))}", field=field)
        case "missing":
            return InputError(path, "is missing", field=field)
        case "string_pattern_mismatch":
            return InputError(path, "a name of letters, digits, spaces, dots and dashes", field=field)
    said = error["msg"]
    return InputError(path, said[:1].lower() + said[1:], field=field)


def _keys_beside(loc: Sequence[int | str]) -> list[str]:
    model: type[BaseModel] = _File
    for part in loc[:-1]:
        match part:
            case "rules":
                model = _Rule
            case "panels":
                model = _Panels
            case "titles" if model is _File:
                model = _Titles
            case "replace":
                model = _Replacement
    return [field.alias or name for name, field in model.model_fields.items()]


def _check_names(where: Path, mine: Sequence[_Rule], kept: Sequence[_Rule]) -> None:
    taken = {*_RESERVED, *(rule.name for rule in kept)}
    for i, rule in enumerate(mine):
        if rule.name in taken:
            want = "a name of its own (leave a built-in rule out under without to replace it)"
            raise InputError(where, want, field=f"rules[{i}].name", value=rule.name)
        taken.add(rule.name)


def _rules(where: Path, rules: Sequence[_Rule]) -> tuple[Rule, ...]:
    return tuple(_rule(where, f"rules[{i}]", rule) for i, rule in enumerate(rules))


def _rule(where: Path, field: str, rule: _Rule) -> Rule:
    if not (rule.apps or rule.classes or rule.kinds or rule.words or rule.titles or rule.private):
        raise InputError(where, "at least one of apps, classes, kinds, words, titles, private", field=field)
    for i, name in enumerate(rule.only_in):
        if name not in CLASSES:
            want = f"unknown class; {nearest(name, CLASSES)}"
            raise InputError(where, want, field=f"{field}.only_in[{i}]", value=name)
    for key in ("apps", "classes", "words"):
        for i, text in enumerate(getattr(rule, key)):
            if not plain(text.strip("*")).strip():
                raise InputError(where, "more than blanks and stars", field=f"{field}.{key}[{i}]", value=text)
    return Rule(
        rule.name,
        apps=tuple(rule.apps),
        classes=tuple(rule.classes),
        kinds=tuple(rule.kinds),
        words=tuple(rule.words),
        titles=tuple(_pattern(where, f"{field}.titles[{i}]", text) for i, text in enumerate(rule.titles)),
        private=rule.private,
        remember=rule.remember,
        only_in=tuple(rule.only_in),
    )


def _pattern(where: Path, field: str, text: str) -> re.Pattern[str]:
    try:
        return compile_pattern(text)
    except PatternError as error:
        raise InputError(where, str(error), field=field, value=text) from None


def _titles(where: Path, titles: _Titles) -> TitlePolicy:
    patterns = tuple(
        (_pattern(where, f"titles.replace[{i}].match", r.match), r.with_) for i, r in enumerate(titles.replace)
    )
    keep = titles.keep or ("replaced" if patterns else "all")
    if patterns and keep != "replaced":
        raise InputError(where, "replace goes with keep: replaced", field="titles.keep", value=keep)
    return TitlePolicy(keep, patterns)


def _linger(where: Path, text: str) -> int:
    try:
        linger_ns: Any = parse_duration(text)
    except ValueError as error:
        raise InputError(where, str(error), field="linger") from None
    if linger_ns > _LONGEST_LINGER_S * 1_000_000_000:
        raise InputError(where, f"at most {_LONGEST_LINGER_S} s", field="linger", value=text)
    return int(linger_ns)
