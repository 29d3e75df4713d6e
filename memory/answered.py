"""What a memory gave, looked through before anybody reads it: a wrong item is the memory's fault, and told as such."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from simulator.core.errors import InputError
from simulator.core.traits import MEMORYS, trait
from simulator.core.types import MemoryItem

__all__ = ["check_items", "class_of", "no_items", "wrong"]

_WHOLE = (int, np.integer)
_NUMBER = (float, *_WHOLE, np.floating)
_NOTHING = object()


def class_of(memory: object) -> str:
    """The name of a memory's class; of one that was wrapped, its own."""
    return type(trait(memory, "plain", memory)).__name__


def check_items(memory: object, items: Any) -> None:
    """Look through what a recall gave. It is done at each decision, and takes under a microsecond an item.

    Raises:
        InputError: no list of items, or a field of one that is not of its kind; it says of which memory, and carries
            the note that the memory's call is to blame (``core.traits.MEMORYS``).
    """
    said = wrong(items)
    if said is not None:
        error = InputError(f"memory {class_of(memory)}", said)
        error.add_note(f"{MEMORYS}recall()")
        raise error


def no_items(found: Any) -> str | None:
    """What is wrong with what a recall gave, where that is no list, or something in it no item; None if it is one."""
    if not isinstance(found, list | tuple):
        return f"recall gives {_kind(found)}: a list of MemoryItem is wanted (an empty list for nothing)"
    strange = next((one for one in found if not isinstance(one, MemoryItem)), _NOTHING)
    return None if strange is _NOTHING else f"recall gives a list with {_kind(strange)}: a MemoryItem is wanted"


def wrong(items: Any) -> str | None:
    """What is wrong with what a recall gave, and what would be right: no items, or the first field that is not of its
    kind; None if nothing is. The one rule on items, by which a memory is tried (``memory.conformance``) and read.
    """
    return no_items(items) or next((said for item in items if (said := _wrong_field(item))), None)


def _wrong_field(item: Any) -> str | None:
    """The first field that is not of its kind: what it is annotated as is what is asked."""
    if not isinstance(item.text, str):
        return f"text is {_kind(item.text)}: a text is wanted"
    if not isinstance(item.score, _NUMBER) or not isfinite(item.score):
        return f"score is {_kind(item.score)}: a finite number is wanted"
    if item.help is not None and not (isinstance(item.help, _NUMBER) and 0 <= item.help <= 1):
        return f"help is {_kind(item.help)}: a share from 0 to 1 is wanted, or None where unknown"
    if item.latest_source_ns is not None and not isinstance(item.latest_source_ns, _WHOLE):
        return (
            f"latest_source_ns is {_kind(item.latest_source_ns)}: whole nanoseconds are wanted, or None where unknown"
        )
    if not isinstance(item.tokens, _WHOLE):
        return f"tokens is {_kind(item.tokens)}: a whole number is wanted"
    if not isinstance(item.source_event_ids, tuple | list):
        return f"source_event_ids is {_kind(item.source_event_ids)}: a tuple of the ids of events is wanted"
    for one in item.source_event_ids:
        if not isinstance(one, str):
            return f"source_event_ids holds {_kind(one)}: the ids of events are texts"
    if item.intention is not None and not isinstance(item.intention, str):
        return f"intention is {_kind(item.intention)}: a text is wanted, or None where unknown"
    if item.query is not None and not isinstance(item.query, str):
        return f"query is {_kind(item.query)}: a text is wanted, or None where unknown"
    return None


def _kind(value: Any) -> str:
    """A number as it is, anything else by its type: it may hold words of a title.

    >>> _kind(1.7), _kind("a title"), _kind(None)
    ('1.7', 'a str', 'None')
    """
    return str(value) if value is None or isinstance(value, _NUMBER) else f"a {type(value).__name__}"
