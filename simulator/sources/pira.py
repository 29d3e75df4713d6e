"""Trajectory folders of PIRA-Bench as ready scenarios: a sequence of screens and a ``profile.json`` of three people.

What is published (the data set card): folders with several images and a ``profile.json``; no times, no truth. Neither
the keys of ``profile.json`` nor the names of images are documented, so this reader takes what it finds: images in
natural order of their names at a rate, and profiles as a mapping by name, a list, or a text, each itself a mapping,
list or text. Names of trajectories and profiles are kept to the letter for ``proact dataset submission``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, nearest
from simulator.core.intentions import INTENTIONS, canonical
from simulator.core.names import free, plain
from simulator.core.types import SECOND
from simulator.sources.foreign import IMAGE_SUFFIXES, Foreign, Ledger, Shot, natural
from simulator.sources.formats import Case, Cases, Wanted
from simulator.sources.loose_rows import load

__all__ = ["cases", "looked_at", "profiles_of", "sniff", "truth_of"]

PROFILE_FILES = ("profile.json", "profiles.json")
_WRAPPERS = ("profiles", "profile", "user_profiles", "personas")
_NAMES = ("name", "id", "profile_name", "profile_id", "profile")
_NAMED = re.compile(r"(profile|persona|user)([ _-]?\w{0,3}|[ _-].*)", re.IGNORECASE)
_DEEP = 3  # folders below the source in which trajectories are looked for

Intents = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class _Folder:
    """One trajectory as it lies on the disk, its pictures in order."""

    path: Path
    name: str
    profile: Path
    images: tuple[Path, ...]


def sniff(src: Path) -> bool:
    """Whether there is a ``profile.json`` beside images, here or in a folder below."""
    if not src.is_dir():
        return False
    return any(_profile_in(folder) is not None and _images(folder) for folder in _folders(src, 2))


def cases(wanted: Wanted) -> Cases:
    """One scenario a trajectory, all profiles in it; with truth where ``wanted.truth`` names a file of it.

    Raises:
        InputError: no trajectory; the truth file is none, or names a trajectory that is not there.
    """
    ledger = Ledger()
    found = _found(wanted.src, ledger)
    if not found:
        want = "no trajectory here: folders with images and a profile.json are wanted (unpack trajs.zip first)"
        raise InputError(wanted.src, want)
    truth = None if wanted.truth is None else truth_of(wanted.truth, [folder.name for folder in found])
    digests = [_digest(folder) for folder in found]
    whole = sha256("\n".join(digests).encode())
    if wanted.truth is not None:
        whole.update(sha256(wanted.truth.read_bytes()).digest())
    notes = {
        "truth": "none is published" if truth is None else f"as {wanted.truth.name} says" if wanted.truth else "",
        "times": f"rate of {wanted.rate_hz or 1.0:g} images a second: none are published",
    }
    each = list(_each(found, digests, truth, wanted, ledger))  # a fault of the truth is told before anything is written
    return Cases(whole.hexdigest(), ledger, iter(each), notes)


def looked_at(src: Path) -> Iterable[Path]:
    """The pictures and profiles of the trajectories."""
    for folder in _found(src, Ledger()):
        yield from (folder.profile, *folder.images)


def _each(
    found: list[_Folder], digests: list[str], truth: Mapping[str, Intents] | None, wanted: Wanted, ledger: Ledger
) -> Iterator[Case]:
    taken: set[str] = set()
    for folder, digest in zip(found, digests, strict=True):
        try:
            profiles = profiles_of(load(folder.profile), folder.profile, ledger)
        except InputError as error:
            where = f"{folder.name}/{folder.profile.name}"
            ledger.add("left out", "trajectories whose profiles cannot be read", f"{where}: {error.want}")
            continue
        ledger.add("kept", "trajectories", folder.name)
        ledger.add("kept", "samples (trajectory and profile)", n=len(profiles))
        ledger.add("kept", "images", n=len(folder.images))
        said = _truth(folder, profiles, truth, wanted, ledger)
        yield Case(
            name=free(plain(folder.name), taken),
            recording=_recording(folder, digest, wanted, ledger),
            scenario={
                "description": f"PIRA-Bench trajectory, {len(folder.images)} images, {len(profiles)} profiles",
                "trajectory": folder.name,
                "protocol": "trajectory",
                "profiles": profiles,
                "truth": said,
            },
            remarks=() if said != "none" else (
                "No truth is published: a run gives latency only. `proact dataset submission` writes what the",
                "leaderboard takes. Imported with --truth FILE, in the form of a submission, it can be scored here.",
            ),
        )  # fmt: skip


def _recording(folder: _Folder, digest: str, wanted: Wanted, ledger: Ledger) -> Foreign:
    period = round(SECOND / (wanted.rate_hz or 1.0))
    return Foreign(
        user=wanted.user or plain(folder.name),
        source=folder.path,
        shots=[Shot(i * period, file=file) for i, file in enumerate(folder.images)],
        events=[],
        ledger=ledger,
        digest=digest,
        period_ns=period,
        anchored=False,
        notes={"times": f"rate of {SECOND / period:g} images a second"},
    )


def _truth(
    folder: _Folder, profiles: Mapping[str, Any], truth: Mapping[str, Intents] | None, wanted: Wanted, ledger: Ledger
) -> Any:
    if truth is None:
        return "none"
    if folder.name not in truth:
        ledger.add("noted", "trajectories of which the truth file says nothing (not scored)", folder.name)
        return "none"
    given = truth[folder.name]
    where = wanted.truth or folder.path
    for name in given:
        if name not in profiles:
            raise InputError(where, f"no such profile; {nearest(name, profiles)}", field=folder.name, value=name)
    for name in profiles:
        if name not in given:
            want = "this profile has no list of intents; an empty one says that nothing is wanted"
            raise InputError(where, want, field=folder.name, value=name)
    return {"intents": {name: given[name] for name in profiles}}


def truth_of(file: Path, trajectories: list[str]) -> dict[str, Intents]:
    """True intents in the form of a submission: ``{"traj_1": {"Profile_A": ["intent", …], "Profile_C": []}}``.

    An intent is a text, or a mapping of ``text`` and ``intention`` (a category).

    Args:
        file: JSON.
        trajectories: names that may stand in it.

    Raises:
        InputError: not of that form; a trajectory or a category that does not exist.
    """
    raw = load(file)
    if not isinstance(raw, dict):
        raise InputError(file, "a mapping of trajectories to profiles to lists of intents")
    for name, by_profile in raw.items():
        if name not in trajectories:
            raise InputError(file, f"no such trajectory; {nearest(name, trajectories)}", value=name)
        if not isinstance(by_profile, dict) or not all(isinstance(i, list) for i in by_profile.values()):
            raise InputError(file, "a mapping of profiles to lists of intents", field=name)
        for profile, intents in by_profile.items():
            for intent in intents:
                _ensure_intent(intent, file, f"{name}.{profile}")
    return raw


def _ensure_intent(intent: Any, file: Path, field: str) -> None:
    said = {"text": intent} if isinstance(intent, str) else intent
    text = said.get("text") if isinstance(said, dict) else None
    if not isinstance(text, str) or not text.strip() or not said.keys() <= {"text", "intention"}:
        raise InputError(file, "intents are texts, or mappings of text and intention", field=field)
    kind = said.get("intention")
    if kind is not None and (not isinstance(kind, str) or canonical(kind) is None):
        raise InputError(file, f"unknown intention; {nearest(str(kind), INTENTIONS)}", field=field, value=kind)


# what lies on the disk


def _found(src: Path, ledger: Ledger) -> list[_Folder]:
    """The trajectories in natural order; folders with only half of what one has are counted."""
    out: list[_Folder] = []
    for path in _folders(src, _DEEP):
        profile, images = _profile_in(path), _images(path)
        if profile is None:
            if images and not any(path.is_relative_to(known.path) for known in out):
                ledger.add("left out", "folders of images without a profile.json", path.name)
            continue
        if not images:
            images = [image for inner in _folders(path, 2)[1:] for image in _images(inner)]
        if not images:
            ledger.add("left out", "trajectories without an image", path.name)
            continue
        out.append(_Folder(path, path.absolute().name, profile, tuple(natural(images))))
    return out


def _folders(src: Path, deep: int) -> list[Path]:
    """A folder and those below it, in natural order; hidden ones and those that a Mac packs along are no data."""
    out = [src]
    if deep:
        inner = natural(p for p in src.iterdir() if p.is_dir() and p.name[0] not in "._")
        for folder in inner:
            out += _folders(folder, deep - 1)
    return out


def _images(folder: Path) -> list[Path]:
    return [p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file() and p.name[0] != "."]


def _profile_in(folder: Path) -> Path | None:
    named = {p.name.lower(): p for p in sorted(folder.iterdir(), reverse=True) if p.suffix.lower() == ".json"}
    return next((named[name] for name in PROFILE_FILES if name in named), None)


def _digest(folder: _Folder) -> str:
    whole = sha256(folder.name.encode("utf-8", "surrogatepass"))
    for file in (folder.profile, *folder.images):
        whole.update(f"{file.name}\n{file.stat().st_size}\n".encode("utf-8", "surrogatepass"))
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                whole.update(chunk)
    return whole.hexdigest()


# profile.json


def profiles_of(raw: Any, where: Path | str, ledger: Ledger) -> dict[str, dict[str, str]]:
    """The profiles of a trajectory by name, in the order of the file, each as facts.

    Args:
        raw: what ``profile.json`` holds.
        where: the file, for errors.
        ledger: notes profiles that the file does not name.

    Raises:
        InputError: nothing that could be a profile; one whose name is empty; two of one name.
    """
    if isinstance(raw, dict) and any(not name.strip() for name in raw):
        raise InputError(where, "a profile's name is empty")
    if isinstance(raw, dict):
        inner = next((raw[key] for key in raw if key.lower() in _WRAPPERS and isinstance(raw[key], dict | list)), None)
        if inner is not None and len([v for v in raw.values() if isinstance(v, dict | list)]) == 1:
            return profiles_of(inner, where, ledger)
        n_named = sum(_NAMED.fullmatch(key) is not None for key in raw)
        if raw and (all(isinstance(v, dict) for v in raw.values()) or n_named * 2 > len(raw)):
            return {name: _facts(value) for name, value in raw.items()}
        raw = [raw]
    if isinstance(raw, str):
        raw = [raw]
    if not isinstance(raw, list) or not raw or not all(isinstance(one, dict | str | list) and one for one in raw):
        raise InputError(where, "profiles by name, a list of them, or a text")
    out: dict[str, dict[str, str]] = {}
    for i, one in enumerate(raw):
        name = _name_in(one)
        if name is None:
            name = f"Profile_{chr(ord('A') + i % 26)}" + ("" if i < 26 else str(i // 26))
            ledger.add("noted", "profiles without a name, called Profile_A, Profile_B, … in order", name)
        if name in out:
            raise InputError(where, "two profiles have one name", value=name)
        out[name] = _facts(one)
    return out


def _name_in(one: Any) -> str | None:
    """The name that a profile in a list gives itself, where it looks like one of a profile and not of a person."""
    if not isinstance(one, dict):
        return None
    said = [str(one[key]) for key in one if key.lower() in _NAMES and isinstance(one[key], str | int)]
    return next((text for text in said if _NAMED.fullmatch(text)), None)


def _facts(value: Any) -> dict[str, str]:
    """A profile as facts: nested keys are joined by dots, lists by semicolons; what is empty is no fact."""
    if not isinstance(value, dict):
        text = _text(value)
        return {"profile": text} if text else {}
    out: dict[str, str] = {}
    for key, inner in value.items():
        if isinstance(inner, dict):
            out |= {f"{key}.{name}": text for name, text in _facts(inner).items()}
        elif text := _text(inner):
            out[key] = text
    return out


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(text for one in value if (text := _text(one)))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {text}" for key, one in value.items() if (text := _text(one)))
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
