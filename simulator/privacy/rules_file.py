"""The border to files of rules (YAML): checked with pydantic, each fault in one sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from simulator.core.errors import InputError, nearest
from simulator.core.yaml_files import read_yaml
from simulator.privacy.validators import CHECKS

__all__ = ["LabelSpec", "PatternSpec", "RulesFile", "TitleSpec", "read_rules"]

Value = Literal["token", "rest", "secret", "digits", "short", "date"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PatternSpec(_Strict):
    """One pattern; see the head of ``rules.yaml``."""

    kind: str
    pattern: str
    check: str | None = None
    digits: bool = False
    sure: bool = True
    secret: bool = False

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, text: str) -> str:
        try:
            found = re.compile(text)
        except (re.error, RecursionError) as error:
            raise ValueError(f"not a regular expression ({error})") from None
        if found.match("") is not None:
            raise ValueError("a pattern that does not match nothing at all")
        return text

    @field_validator("check")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and name not in CHECKS:
            raise ValueError(f"there is no such check; {nearest(name, CHECKS)}")
        return name


class LabelSpec(_Strict):
    """Words that say what comes next."""

    kind: str
    words: tuple[str, ...] = Field(min_length=1)
    value: Value
    strict: bool = False


class TitleSpec(_Strict):
    """Words in a window's title that say that the picture is private."""

    kind: str
    words: tuple[str, ...] = Field(min_length=1)


class RulesFile(_Strict):
    """What a file of rules may hold."""

    words: tuple[str, ...] = ()
    patterns: tuple[PatternSpec, ...] = ()
    labels: tuple[LabelSpec, ...] = ()
    titles: tuple[TitleSpec, ...] = ()
    without: tuple[str, ...] = ()

    @field_validator("words")
    @classmethod
    def _long_enough(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        if any(len(word.strip()) < 3 for word in words):
            raise ValueError("words of 3 letters and more; shorter ones stand on every screen")
        return words


def read_rules(path: Path) -> RulesFile:
    """A file of rules.

    Raises:
        InputError: not YAML, an unknown key, a pattern that is none. The words in it are never quoted.
    """
    try:
        return RulesFile.model_validate(read_yaml(path) or {})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        raise InputError(path, first["msg"].removeprefix("Value error, "), field=field) from None
