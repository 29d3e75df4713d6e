"""The 16 intention categories of ProAgentBench (Table 4 there), with the other names that papers and models use."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["ALIASES", "INTENTIONS", "canonical", "key", "same"]

INTENTIONS: tuple[str, ...] = (
    "Information Lookup",
    "Knowledge Q&A",
    "Data Analysis",
    "Coding/Programming",
    "Content Generation",
    "Advice/Consultation",
    "Summarization",
    "Document Editing",
    "Comparison/Evaluation",
    "Translation",
    "Creative Design",
    "Format Conversion",
    "Mathematical Calculation",
    "Uncategorized",
    "Functional Testing",
    "Error Correction",
)

ALIASES: dict[str, str] = {
    "information retrieval": "Information Lookup",
    "information query": "Information Lookup",
    "code programming": "Coding/Programming",
    "coding": "Coding/Programming",
    "programming": "Coding/Programming",
    "content creation": "Content Generation",
    "knowledge qa": "Knowledge Q&A",
    "knowledge q & a": "Knowledge Q&A",
    "advice": "Advice/Consultation",
    "consultation": "Advice/Consultation",
    "summary": "Summarization",
    "comparison": "Comparison/Evaluation",
    "evaluation": "Comparison/Evaluation",
}

_BY_FOLDED = {name.casefold(): name for name in INTENTIONS}


def canonical(text: str) -> str | None:
    """The category that a text names, by its own name or an alias, whatever its case; None if it names none."""
    folded = " ".join(text.casefold().replace(" / ", "/").split())
    return _BY_FOLDED.get(folded) or ALIASES.get(folded)


@lru_cache(maxsize=4096)
def key(text: str) -> str:
    """What two intentions are compared by: the category they name, else (a scenario's own intention) the folded text.

    >>> key("information retrieval") == key("Information Lookup"), key(" Debug ") == key("debug")
    (True, True)
    """
    return canonical(text) or " ".join(text.casefold().split())


def same(one: str | None, other: str | None) -> bool:
    """Whether two intentions are known and the same."""
    return one is not None and other is not None and key(one) == key(other)
