"""YAML that people wrote: no key twice, merge keys (``<<: *base``) as usual, each fault with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from simulator.core.errors import InputError, quote
from simulator.core.faults import kind_of
from simulator.core.files import read_text

__all__ = ["read_yaml"]

_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(path: Path) -> Any:
    """What a YAML file holds; None for an empty one.

    Raises:
        InputError: it cannot be read, or is not YAML; a key given twice, a date or number that is none.
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


def _fault(said: str, node: Any) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, said, node.start_mark)
