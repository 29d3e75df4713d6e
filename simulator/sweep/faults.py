"""The faults of a study that can be told at once: a sentence each, so that a file is mended in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from simulator.core.errors import InputError, UsageError

__all__ = ["Faults"]

_TOLD = 20


class _Several(InputError):
    """Faults of one file, a line each; field, value and what is wanted are those of the first."""

    def __init__(self, found: Sequence[UsageError]) -> None:
        first = next((error for error in found if isinstance(error, InputError)), InputError("", ""))
        super().__init__(first.where, first.want, field=first.field, value=first.value)
        more = [f"and {len(found) - _TOLD} more"] if len(found) > _TOLD else []
        self.args = ("\n".join([*map(str, found[:_TOLD]), *more]),)


class Faults:
    """Those that were found so far, each once."""

    def __init__(self) -> None:
        self._found: dict[str, UsageError] = {}

    @classmethod
    def of(cls, found: Iterable[UsageError]) -> Faults:
        """Those that were found elsewhere."""
        faults = cls()
        for error in found:
            faults.note(error)
        return faults

    def note(self, error: UsageError) -> None:
        """Go on, and tell it later."""
        self._found.setdefault(str(error), error)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what is raised; the rest of the block is left out."""
        try:
            yield
        except UsageError as error:
            self.note(error)

    def tell(self) -> None:
        """Raise what was noted.

        Raises:
            UsageError: the fault itself where there is one alone.
            InputError: several.
        """
        found = list(self._found.values())
        if len(found) == 1:
            raise found[0]
        if found:
            raise _Several(found)
