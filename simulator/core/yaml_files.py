"""YAML that people wrote: no key twice, merge keys (``<<: *base``) as usual, each fault with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from simulator.core.errors import InputError, quote
from simulator.core.faults import kind_of
from simulator.core.files import read_text

__all__ = ["read_yaml"]

MOST_VALUES = 1_000_000
_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(path: Path) -> Any:
    """What a YAML file holds; None for an empty one.

    Raises:
        InputError: it cannot be read, or is not YAML; a key given twice, a date or number that is none; aliases that
            hold themselves, or multiply to over a million values.
    """
    text = read_text(path)
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        at = "" if error.problem_mark is None else f"line {error.problem_mark.line + 1}: "
        raise InputError(path, f"cannot be read as YAML: {at}{error.problem}") from error
    except yaml.YAMLError as error:
        raise InputError(path, f"cannot be read as YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise InputError(path, f"cannot be read as YAML: {kind_of(error)}") from None


class _Loader(yaml.SafeLoader):
    def get_single_node(self) -> Any:
        """As ever, but a few lines of aliases of aliases may not stand for more than anybody can read."""
        node = super().get_single_node()
        if node is not None:
            _n_values(node, {})
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Refuse double keys: the second would silently replace the first."""
        node = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                if (key.tag, key.value) in seen:
                    raise _fault(f"the key {quote(key.value)} is given twice", key)
                seen.add((key.tag, key.value))
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """As ever, but what Python cannot make of a scalar (the 45th of month 13, 5,000 digits) names its line."""
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except (ValueError, ArithmeticError, LookupError, AttributeError):
            raise _fault("this is no number and no date", node) from None

    def construct_scalar(self, node: Any) -> Any:
        """As ever, but for halves of characters, which can be written nowhere."""
        value = super().construct_scalar(node)
        if isinstance(value, str) and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise _fault("a text holds half a character (a lone surrogate)", node)
        return value


def _n_values(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values a node stands for, aliases counted each time."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in known:
        if known[id(node)] == 0:
            raise _fault("an alias stands within what it stands for", node)
        return known[id(node)]
    known[id(node)] = 0
    inner = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    n = 1 + sum(_n_values(part, known) for part in inner)
    if n > MOST_VALUES:
        raise _fault(f"its aliases multiply to over {MOST_VALUES:,} values", node)
    known[id(node)] = n
    return n


def _fault(said: str, node: Any) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, said, node.start_mark)
