"""Names to classes: ours by decorator, other people's by entry point or by ``path.py:Class``.

A spec on the command line is ``name``, ``name:value`` or ``name:key=value,key=value``; parameters are kept as given so
that a run's log can rebuild what it ran.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any, Generic, TypeVar

from simulator.core.errors import ProactError, UsageError, nearest, quote
from simulator.core.staying import staying
from simulator.core.user_files import load

__all__ = ["Registry", "Spec", "model_wanted", "parse_spec", "signature", "typed"]

T = TypeVar("T")
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Spec:
    """A name with parameters, as written by a user. ``text`` is the canonical spelling."""

    name: str
    params: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The spec as one would type it."""
        if not self.params:
            return self.name
        return self.name + ":" + ",".join(f"{k}={_word(v)}" for k, v in self.params.items())


def parse_spec(text: str) -> Spec:
    """Read ``name``, ``name:value`` or ``name:key=value,…``; a lone value is kept under the key ``value``.

    Raises:
        UsageError: a parameter is given twice, or without its value.
    """
    name, _, rest = text.partition(":")
    if name.endswith(".py") and rest:
        cls, _, rest = rest.partition(":")
        name = f"{name}:{cls}"
    params: dict[str, Any] = {}
    for piece in filter(None, rest.split(",")):
        key, equals, value = piece.partition("=")
        key, value = (key, value) if equals else ("value", key)
        if key in params:
            what = f"the parameter {quote(key)} is given twice" if equals else "two values have no name"
            raise UsageError(f"{quote(text)}: {what}")
        if not value:
            raise UsageError(f"{quote(text)}: the parameter {quote(key)} has no value")
        params[key] = _scalar(value)
    return Spec(name, params)


def _word(value: Any) -> str:
    """A parameter as one types it: ``_scalar`` reads it back as the same value."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scalar(text: str) -> Any:
    for read in (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        if math.isfinite(number):  # nan and inf are words: no parameter means them
            return number
    return {"true": True, "false": False}.get(text.lower(), text)


_RUNS_OWN = frozenset(
    {"truth", "seed", "intentions", "unit", "others", "choice", "utc_anchor_ns", "store_until_ns"}
    | {"header_facts", "embedder", "rules"}
)
"""Parameters that a run or other code fills in; the last two only where they are no plain values."""
_MODELS = {"ModelChoice": frozenset({"ModelChoice"}), "Model": frozenset({"Model", "Endpoint"})}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_WORDS = {"float": "a number", "int": "a whole number", "bool": "true or false"}


def typed(cls: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters that people write after the colon."""
    takes = {k: p for k, p in signature(cls).items() if k != "self"}
    own = {k for k in takes if k in _RUNS_OWN and not (k in ("embedder", "rules") and _kinds(takes[k]))}
    return {k: p for k, p in takes.items() if k not in own and not (k == "model" and _model(p))}


def model_wanted(cls: Callable[..., Any]) -> str | None:
    """Whether the run's model is to be given to a class, and as what: ``Model`` (what can be asked) or ``ModelChoice``,
    as its parameter ``model`` is annotated. A ``model`` of another kind is a word that people write.
    """
    param = signature(cls).get("model")
    return None if param is None else _model(param)


def _model(param: inspect.Parameter) -> str | None:
    said = param.annotation
    text = said if isinstance(said, str) else getattr(said, "__name__", str(said)) if type(said) is type else str(said)
    names = {piece.strip().rpartition(".")[2] for piece in text.strip("'\"").split("|")}
    return next((of for of, ours in _MODELS.items() if names & ours), None)


def signature(cls: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters that a class or another callable takes; none where it does not tell."""
    return _of_class(cls) if isinstance(cls, type) else _parameters(cls)


def _parameters(cls: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(cls).parameters
    except (TypeError, ValueError):  # made in C: it does not tell
        return {}


_of_class = lru_cache(maxsize=256)(_parameters)
"""A sweep asks a dozen times a unit."""


def _kinds(param: inspect.Parameter) -> frozenset[str]:
    """Which of the plain kinds (int, float, bool, str) a parameter takes, by its annotation or else its default; empty
    where it takes others, or nobody can tell.
    """
    said = param.annotation
    if said is param.empty:
        default = type(param.default).__name__
        return frozenset({"int", "float"} if default in ("int", "float") else {default} & {"bool", "str"})
    text = said if isinstance(said, str) else getattr(said, "__name__", str(said)) if type(said) is type else str(said)
    kinds = frozenset(piece.strip() for piece in text.strip("'\"").split("|")) - {"None"}
    return kinds if kinds <= {"int", "float", "bool", "str"} else frozenset()


def _is_of(value: Any, kinds: frozenset[str]) -> bool:
    name = type(value).__name__
    return name in kinds or (name == "int" and "float" in kinds)


class Registry(Generic[T]):
    """One kind of thing by name.

    Args:
        kind: the word for it in messages, singular.
        group: the entry-point group in which other distributions announce theirs.
        modules: modules of ours that register on import; imported at the first look-up.
        method: what every class of this kind has; by it the classes of a file are told from its others.
        aliases: other people's words for names of ours; what is made goes by ours.
    """

    def __init__(self, kind: str, group: str, modules: tuple[str, ...], method: str,
                 aliases: Mapping[str, str] = _NO_ALIASES) -> None:  # fmt: skip
        self.kind, self.group, self.method, self.aliases = kind, group, method, aliases
        self._modules, self._modules_begun, self._made = modules, False, False
        self._importing = RLock()
        self._classes: dict[str, Callable[..., T]] = {}

    def register(self, name: str) -> Callable[[type], type]:
        """Decorator; a second class of the same name is an error."""

        def add(cls: type) -> type:
            if name in self._classes and self._classes[name] is not cls:
                raise ValueError(f"two {self.kind}s are called {quote(name)}")
            self._classes[name] = cls
            return cls

        return add

    def names(self) -> list[str]:
        """All known names, sorted; entry points are listed without being imported."""
        self._import_ours()
        return sorted({*self._classes, *(e.name for e in self._entry_points())})

    def parse(self, text: str) -> Spec:
        """A spec as ``parse_spec`` reads it, under our own name where an alias was written.

        Raises:
            UsageError: see ``parse_spec``.
        """
        spec = parse_spec(text)
        return Spec(self.aliases.get(spec.name, spec.name), spec.params)

    def short(self, spec: Spec) -> str:
        """A spec for folders and tables: the class's name alone where a path was given."""
        return Spec(spec.name.rpartition(":")[2], spec.params).text

    def get(self, name: str) -> Callable[..., T]:
        """The class of that name (or ``path.py:Class``).

        Raises:
            UsageError: unknown name, with the nearest match; a file without a class, that is not there or fails.
        """
        self._import_ours()
        name = self.aliases.get(name, name)
        if ".py:" in name:
            return self._from_file(name)
        if name.endswith(".py"):
            raise self._nameless(name)
        if name in self._classes:
            return self._classes[name]
        for point in self._entry_points():
            if point.name == name:
                return self._loaded(point)
        raise UsageError(f"unknown {self.kind} {quote(name)}; {nearest(name, [*self.names(), *self.aliases])}")

    def make(self, spec: str | Spec, **given: Any) -> T:
        """Build one from a spec. ``given`` is passed where the class takes a parameter of that name.

        Raises:
            UsageError: unknown name, or a parameter that the class does not take.
        """
        spec = self.parse(spec) if isinstance(spec, str) else spec
        cls = self.get(spec.name)
        takes = signature(cls)
        params = self._params(spec, typed(cls), takes)
        params.update({k: v for k, v in given.items() if k in takes and k not in params})
        for key, param in typed(cls).items():
            if key not in params and param.default is param.empty and param.kind in _NAMED:
                such_as = f"{spec.name}:VALUE" if key == next(iter(takes)) else f"{spec.name}:{key}=VALUE"
                raise UsageError(
                    f"{self.kind} {quote(spec.name)} needs the parameter {quote(key)}, as in {quote(such_as)}"
                )
        try:
            with staying():
                return cls(**params)
        except ProactError:
            raise
        except (TypeError, ValueError) as error:
            raise UsageError(f"{self.kind} {quote(spec.text)} cannot be made: {error}") from error
        except (Exception, SystemExit) as error:  # whatever a constructor raises is its author's, said in one line
            raise UsageError(f"{self.kind} {quote(spec.text)} cannot be made: {error!r}") from error

    def _params(self, spec: Spec, known: Mapping[str, inspect.Parameter], takes: Mapping[str, Any]) -> dict[str, Any]:
        """What the user wrote, each for a parameter that there is and of its kind."""
        params = dict(spec.params)
        if "value" in params and "value" not in takes and known:
            first = next(iter(known))
            if (key := params["value"]) in known:
                such_as = f"{spec.name}:{key}=VALUE"
                raise UsageError(f"{self.kind} {quote(spec.name)}: {quote(key)} needs a value, as in {quote(such_as)}")
            if first in params:
                raise UsageError(f"{quote(spec.text)}: {quote(first)} is given twice, once without its name")
            params[first] = params.pop("value")
        for key, value in params.items():
            if key not in known and (key not in takes or key in _RUNS_OWN or _model(takes[key])):
                raise UsageError(f"{self.kind} {quote(spec.name)} has no parameter {quote(key)}; {nearest(key, known)}")
            wanted = _kinds(takes[key])
            if "str" in wanted:
                params[key] = value if "int" in wanted or "float" in wanted or "bool" in wanted else _word(value)
            elif wanted and not _is_of(value, wanted):
                want = next(words for kind, words in _WORDS.items() if kind in wanted)
                raise UsageError(f"{self.kind} {quote(spec.name)}: {key}: {want} is wanted, not {quote(value)}")
        return params

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _entry_points(self) -> list[Any]:
        return sorted(entry_points(group=self.group), key=lambda e: e.name)

    def _loaded(self, point: Any) -> Callable[..., T]:
        """What an entry point names; whatever its module does on import is its author's, said in one line."""
        try:
            loaded: Callable[..., T] = point.load()
        except (Exception, SystemExit) as error:
            of = f" of {quote(point.dist.name)}" if getattr(point, "dist", None) is not None else ""
            said = " ".join(str(error).split())
            why = type(error).__name__ + (f": {quote(said, 200)[1:-1]}" if said else "")
            raise UsageError(f"{self.kind} {quote(point.name)}{of} cannot be loaded: {why}") from error
        return self._callable(point.name, loaded)

    def _callable(self, name: str, loaded: Any) -> Callable[..., T]:
        if not callable(loaded):
            raise UsageError(f"{self.kind} {quote(name)} is no class, but an object of {type(loaded).__name__}")
        found: Callable[..., T] = loaded
        return found

    def _import_ours(self) -> None:
        if self._made:
            return
        with self._importing:  # pages ask from many threads; one of our modules that asks meanwhile goes on
            if not self._modules_begun:
                self._modules_begun = True
                for module in self._modules:
                    importlib.import_module(module)
                self._made = True

    def _nameless(self, name: str) -> UsageError:
        """What to say of a file without a class. It is read and not run: what it does on import is not asked for."""
        try:
            tree = ast.parse(Path(name).read_bytes())
        except OSError:
            return UsageError(f"{self.kind} {quote(name)}: there is no file {quote(name)}")
        except (SyntaxError, ValueError):  # told in full once a class is named
            found = []
        else:
            found = [node.name for node in tree.body if isinstance(node, ast.ClassDef) and self._fits(node)]
        known = f"classes with {self.method}(): {', '.join(found) if found else 'none'}"
        example = f"{name}:{found[0] if found else 'Class'}"
        return UsageError(f"{self.kind} {quote(name)}: name the class too, as in {quote(example)}; {known}")

    def _fits(self, node: ast.ClassDef) -> bool:
        return any(isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == self.method for n in node.body)

    def _module(self, name: str, path: Path) -> ModuleType:
        """A user's file as a module."""
        try:
            with staying():
                module = load(path)
        except (Exception, SystemExit) as error:  # any error of a file of the user's is theirs, said in one line
            raise UsageError(f"{self.kind} {quote(name)}: {_fault(error, path)}") from error
        if module is None:
            raise UsageError(f"{self.kind} {quote(name)}: {quote(path)} is not a Python file")
        return module

    def _from_file(self, name: str) -> Callable[..., T]:
        file, _, attribute = name.rpartition(":")
        path = Path(file)
        if not path.is_file():
            raise UsageError(f"{self.kind} {quote(name)}: there is no file {quote(path)}")
        module = self._module(name, path)
        module_name = module.__name__
        try:
            loaded = getattr(module, attribute)
        except AttributeError:
            classes = [k for k, v in vars(module).items() if inspect.isclass(v) and v.__module__ == module_name]
            raise UsageError(
                f"{self.kind}: {path} has no class {quote(attribute)}; {nearest(attribute, classes)}"
            ) from None
        return self._callable(name, loaded)


def _fault(error: BaseException, path: Path) -> str:
    """Why a user's file could not be imported, with the line of theirs at which it stopped."""
    said = " ".join(str(error).split())
    if isinstance(error, SyntaxError) and error.filename is not None and Path(error.filename).is_file():
        file = path if Path(error.filename).samefile(path) else error.filename  # it may be a module that it imports
        return f"{file}:{error.lineno}: this is not valid Python: {error.msg}"
    own = str(path.resolve())
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if str(Path(f.filename).resolve()) == own]
    at = f"{path}:{lines[-1]}" if lines else str(path)
    return f"{at}: {type(error).__name__}" + (f": {quote(said, 200)[1:-1]}" if said else "")
