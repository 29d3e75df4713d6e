"""Looking for copies of forgotten texts in files that proact did not make."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from simulator.privacy.items import Unreached

__all__ = ["MOST_TEXTS", "search"]

MOST_TEXTS = 500
_SHORTEST = 12  # "Inbox" stands in many files that hold nothing of anybody
_LARGEST = 64 * 1024 * 1024
# Pictures, and the source of agents, whose sentences are theirs also where an offer was made of one.
_PASSED_OVER = frozenset({".webp", ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".py", ".pyc"})


def search(files: Iterable[Path], texts: Iterable[str]) -> list[Unreached]:
    """The files that still hold one of the texts, as UTF-8 or escaped as in JSON.

    Only the longest 500 texts of at least 12 characters are looked for; files that cannot be read, and those of over
    64 MB, are told too. Pictures, packed files and Python source are not looked into.
    """
    wanted = sorted({text for text in texts if len(text) >= _SHORTEST}, key=lambda t: (-len(t), t))[:MOST_TEXTS]
    needles = [_forms(text) for text in wanted]
    out: list[Unreached] = []
    if not needles:
        return out
    for path in files:
        if path.suffix.lower() in _PASSED_OVER:
            continue
        try:
            if path.stat().st_size > _LARGEST:
                out.append(Unreached(path, "over 64 MB, not searched for copies", only_maybe=True))
                continue
            data = path.read_bytes()
        except OSError as error:
            out.append(Unreached(path, f"cannot be read ({error.strerror})"))
            continue
        n = sum(any(form in data for form in forms) for forms in needles)
        if n:
            out.append(Unreached(path, f"not a file of proact's, and it holds {n} of the forgotten texts"))
    return out


def _forms(text: str) -> tuple[bytes, ...]:
    forms = {text.encode(errors="surrogatepass")}
    forms |= {json.dumps(text, ensure_ascii=escaped)[1:-1].encode(errors="surrogatepass") for escaped in (True, False)}
    return tuple(sorted(forms))
