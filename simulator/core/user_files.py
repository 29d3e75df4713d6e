"""Files with other people's classes: loaded with their own folder in sight, and known by all that they are made of.

What belongs to a file is read from its import statements and not from what happens to be imported, so that it is the
same in every process, and whatever else was loaded before.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType

__all__ = ["code_of", "load", "neighbours", "path_without"]

_HOUSE = Path(__file__).resolve().parents[2]
_ROOMS = tuple(_HOUSE / room for room in ("simulator", "agents", "memory", "scorers"))
_INSTALLED = ("site-packages", "dist-packages")

Stamp = tuple[str, int, int]
_loaded: dict[Path, tuple[tuple[Stamp, ...], ModuleType]] = {}
_digests: dict[Path, tuple[tuple[Stamp, ...], str]] = {}
_folders: list[str] = []
_imported: dict[str, Stamp] = {}
"""Neighbours by module name, as their files were when they were imported."""


def load(path: Path) -> ModuleType | None:
    """A file as a module: run once, and again only when it or a neighbour that it imports has changed.

    Its folder is the last place in which modules are looked for, before those of other files that were loaded so: it
    hides nothing that is installed.

    Returns:
        The module; None where the file is not one of Python's.

    Raises:
        BaseException: whatever the file does when it is run.
    """
    own = path.resolve()
    beside = neighbours(own)
    stamps = tuple(map(_stamp, (own, *beside)))
    known = _loaded.get(own)
    if known is not None and known[0] == stamps:
        return known[1]
    name = f"proact_user_{path.stem}"
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) != str(path):
        name += f"_{sha256(str(own).encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        return None
    _look_in(str(own.parent))
    _forget_changed(beside)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        for file, dotted in beside.items():
            if (found := sys.modules.get(dotted)) is not None and _is_of(found, file):
                _imported[dotted] = _stamp(file)
    _loaded[own] = stamps, module
    return module


def code_of(path: Path) -> str | None:
    """SHA-256 of a file and of the neighbours that it imports, and they import; None where there is no such file.

    Of a file without neighbours it is that of its bytes. What is installed, and what is ours, does not count.
    """
    own = path.resolve()
    if not own.is_file():
        return None
    known = _digests.get(own)
    if known is not None and known[0] == tuple(_stamp(Path(file)) for file, _, _ in known[0]):
        return known[1]
    beside = neighbours(own)
    whole = sha256(own.read_bytes())
    if beside:
        parts = sorted((dotted, sha256(file.read_bytes()).hexdigest()) for file, dotted in beside.items())
        whole = sha256(f"{whole.hexdigest()} {parts}".encode("utf-8", "surrogateescape"))
    _digests[own] = tuple(map(_stamp, (own, *beside))), whole.hexdigest()
    return whole.hexdigest()


def path_without(path: list[str]) -> list[str]:
    """Places in which modules are looked for, without those that ``load`` added: another process adds its own."""
    return [place for place in path if place not in _folders]


def neighbours(path: Path) -> Mapping[Path, str]:
    """The files below its own folder (or package) that a file imports, and they import, with their modules' names."""
    roots = _roots(path)
    found: dict[Path, str] = {}
    left = [path] if roots else []
    while left:
        file = left.pop()
        for one, root in _named_by(file, roots):
            if one != path and one not in found and _counts(one):
                found[one] = ".".join(_parts(one, root))
                left.append(one)
    return dict(sorted(found.items()))


def _roots(path: Path) -> tuple[Path, ...]:
    """Where absolute imports of a file are looked for: beside it, and beside the package that it is in."""
    if any(part in _INSTALLED for part in path.parts):
        return ()
    root = path.parent
    while (root / "__init__.py").is_file() and root != root.parent:
        root = root.parent
    return (path.parent,) if root == path.parent else (path.parent, root)


def _counts(file: Path) -> bool:
    return not any(file.is_relative_to(room) for room in _ROOMS) and not any(p in _INSTALLED for p in file.parts)


def _parts(file: Path, root: Path) -> tuple[str, ...]:
    parts = file.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _named_by(file: Path, roots: tuple[Path, ...]) -> Iterator[tuple[Path, Path]]:
    """The files that a file's import statements name, wherever in it they stand, each with its root."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):  # told by whoever imports it
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _resolved(alias.name.split("."), roots)
        elif isinstance(node, ast.ImportFrom):
            start = node.module.split(".") if node.module else []
            within = roots
            if node.level:
                within = (file.parents[min(node.level, len(file.parents)) - 1],)
            for alias in node.names:
                for one, root in _resolved([*start, alias.name], within):
                    yield one, next((r for r in reversed(roots) if one.is_relative_to(r)), root)


def _resolved(parts: list[str], roots: tuple[Path, ...]) -> Iterator[tuple[Path, Path]]:
    """The files that importing a dotted name runs: of each package on the way, and the module's own."""
    for root in roots:
        if root is not roots[0] and parts[:1] != list(roots[0].relative_to(root).parts[:1]):
            continue  # what lies beside the package is another one
        place = root
        for part in parts:
            place = place / part
            for one in (place / "__init__.py", place.with_name(f"{part}.py")):
                if one.is_file():
                    yield one.resolve(), root


def _stamp(file: Path) -> Stamp:
    try:
        stat = file.stat()
    except OSError:
        return str(file), 0, 0
    return str(file), stat.st_mtime_ns, stat.st_size


def _is_of(module: ModuleType, file: Path) -> bool:
    own = getattr(module, "__file__", None)
    return own is not None and Path(own).resolve() == file


def _look_in(folder: str) -> None:
    if folder in sys.path and folder not in _folders:
        return
    if folder not in _folders:
        _folders.append(folder)
    others = [place for place in sys.path if place in _folders and place != folder]
    sys.path[:] = [*path_without(sys.path), folder, *others]


def _forget_changed(beside: Mapping[Path, str]) -> None:
    """Have neighbours imported anew that have changed, or whose name another folder's module has; packages whole."""
    changed = {
        dotted.partition(".")[0]
        for file, dotted in beside.items()
        if dotted in _imported and _imported[dotted] != _stamp(file)
    }
    for dotted in [name for name in _imported if name.partition(".")[0] in changed]:
        del _imported[dotted]
        sys.modules.pop(dotted, None)
    importlib.invalidate_caches()
