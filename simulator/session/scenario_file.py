"""What may stand in a scenario file, and the sentences for what may not.

YAML or TOML by suffix. The published JSON schema is ``docs/scenario.schema.json``, written by ``json_schema()``.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError
from pydantic_core import ErrorDetails

from simulator.core.errors import InputError, nearest
from simulator.core.faults import kind_of
from simulator.core.files import read_text
from simulator.core.yaml_files import read_yaml

__all__ = [
    "AssistSpec",
    "IntentSpec",
    "MomentSpec",
    "OpportunitySpec",
    "ScenarioFile",
    "TruthSpec",
    "json_schema",
    "load",
    "parse",
]

# Strict: a text or a truth value is no number. The limits (1e9 s are 31 years) keep nanoseconds within 64 bits.
Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e9, le=1e9)]
LEAST_WEIGHT, MOST_WEIGHT = 1e-6, 1e6  # of needs: their sums and ratios stay numbers
Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OpportunitySpec(_Strict):
    """A need for help, useful from ``opens_s`` until before ``closes_s``, seconds since the first snapshot."""

    opens_s: Seconds
    closes_s: Seconds
    intention: Text
    acted_s: Seconds | None = Field(None, description="when the user acted alone, for example asked an assistant")
    query: str | None = Field(None, description="the user's own question")
    weight: Annotated[float, Field(strict=True, ge=LEAST_WEIGHT, le=MOST_WEIGHT)] = 1.0
    id: Text | None = None


class AssistSpec(_Strict):
    """A stretch in which the user worked with an assistant."""

    start_s: Seconds
    end_s: Seconds
    intention: Text | None = None
    query: str | None = None


class IntentSpec(_Strict):
    """One true intent of a trajectory (PIRA)."""

    text: Text
    intention: Text | None = None


def _kind_of_intent(value: Any) -> str:
    return "words" if isinstance(value, str) else "given"


Intents = list[
    Annotated[Annotated[Text, Tag("words")] | Annotated[IntentSpec, Tag("given")], Discriminator(_kind_of_intent)]
]


class MomentSpec(_Strict):
    """One question of protocol ``moments``: was help needed at ``t_s``, seconds since the first snapshot?"""

    t_s: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e9)]
    positive: Annotated[bool, Field(strict=True)]
    intention: Text | None = None
    query: str | None = None


class TruthSpec(_Strict):
    """When help was needed: windows, assistance events from which windows are derived, or intents by profile."""

    opportunities: list[OpportunitySpec] | None = None
    assists: list[AssistSpec] | None = Field(
        None, description="events with an assistant; without opportunities, these are derived by the published rule"
    )
    intents: dict[str, Intents] | None = Field(None, description="per profile name, the true intents of the session")
    moments: list[MomentSpec] | None = Field(
        None, description="what protocol moments asks, beside opportunities; default: sampled by the published rule"
    )
    rule: Text | None = Field(None, description="where windows and moments come from, in words; part of every result")


def _kind_of_truth(value: Any) -> str:
    return "word" if isinstance(value, str) else "given"


def _kind_of_profile(value: Any) -> str:
    return "file" if isinstance(value, str) else "given"


Scalar = str | int | float | bool
Profile = Annotated[
    Annotated[Text, Tag("file")] | Annotated[dict[str, Scalar], Tag("given")], Discriminator(_kind_of_profile)
]


class ScenarioFile(_Strict):
    """A session with profile, truth, history and rules of play."""

    session: Text = Field(".", description="folder of the recorded session, relative to this file")
    name: Text | None = Field(None, description="name of the unit in results; else the session's")
    trajectory: Text | None = Field(None, description="what a benchmark calls it; runs keep it for its submission")
    description: str | None = None
    recording: Text | None = Field(
        None, description="a name for what this is a version of: sessions of one recording count as one in statistics"
    )
    user: Text | None = Field(None, description="whose memory it is; else as the session says")
    profile: Profile | None = Field(None, description="facts about the user: a mapping, or a YAML or TOML file")
    profiles: dict[str, Profile] | None = Field(None, description="several users: the session is played once for each")
    truth: Annotated[
        Annotated[Literal["recorded", "none"], Tag("word")] | Annotated[TruthSpec, Tag("given")],
        Discriminator(_kind_of_truth),
    ] = Field("recorded", description="recorded: as the session's own tables say")
    history: list[Text] = Field(
        default_factory=list, description="earlier sessions (folders) and event tables (.jsonl, .csv), relative"
    )
    intentions: list[Text] | None = Field(None, min_length=1, description="categories; default the 16 of ProAgentBench")
    rate_hz: Annotated[float, Field(strict=True, gt=1e-4, le=1000)] | None = Field(
        None, description="default: the recording's own"
    )
    window_s: Annotated[float, Field(strict=True, gt=0, le=1e9)] = Field(
        300.0, description="how far back the history reaches"
    )
    segmentation: Literal["app", "app_title", "app_clean_title"] = "app_title"
    monitor: int | None = Field(None, strict=True, description="which screen; default the one with most rows")
    taxonomy: Text | None = Field(None, description="YAML file that extends the classes of applications")
    policy: Text | None = None
    protocol: Literal["stream", "moments", "trajectory"] | None = None
    gate: Text | bool | None = None
    seed: int | None = Field(None, strict=True, ge=0, lt=2**63)


def json_schema() -> dict[str, Any]:
    """The schema of a scenario file (JSON Schema 2020-12)."""
    schema = ScenarioFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "proact scenario"}


def load(path: Path) -> ScenarioFile:
    """Read a scenario file.

    Raises:
        InputError: unreadable, not YAML or TOML, an unknown key, a value that does not fit.
    """
    return parse(read_mapping(path), path)


def parse(raw: Mapping[str, Any], where: Path) -> ScenarioFile:
    """Check what was read."""
    try:
        return ScenarioFile.model_validate(raw)
    except ValidationError as error:
        raise _sentence(error, where) from None


def read_mapping(path: Path) -> dict[str, Any]:
    """A YAML or TOML file that holds a mapping.

    Raises:
        InputError: anything else, a key given twice.
    """
    if path.suffix.lower() == ".toml":
        try:
            return tomllib.loads(read_text(path))
        except tomllib.TOMLDecodeError as error:
            raise InputError(path, f"cannot be read as TOML: {error}") from error
        except (ValueError, RecursionError) as error:  # 5,000 digits, 100,000 brackets
            raise InputError(path, f"cannot be read as TOML: {kind_of(error)}") from None
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(path, "the file must hold a mapping of keys to values")
    return {str(k): v for k, v in raw.items()}


_SCALARS = frozenset({"str", "int", "float", "bool"})  # the branches of a union, which pydantic names as places
_TAGS = frozenset({"word", "given", "file", "words"})


def _sentence(error: ValidationError, where: Path) -> InputError:
    fault = _telling(error)
    places = [p for p in fault["loc"] if p not in _TAGS]
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in places).lstrip(".") or None
    value = fault.get("input")
    if places and places[-1] in _SCALARS:
        return InputError(where, "must be a text, a number, true or false", field=field and field.rpartition(".")[0])
    if fault["type"] == "extra_forbidden":
        known = _model_at(places[:-1]).model_fields
        return InputError(where, f"unknown key; {nearest(str(places[-1]), known)}", field=field)
    if fault["type"] == "missing":
        return InputError(where, "this key is missing", field=field)
    if fault["type"] == "literal_error" and isinstance(value, str):
        options = fault.get("ctx", {}).get("expected", "")
        words = [w.strip(" '") for w in options.replace(" or ", ",").split(",")]
        return InputError(where, f"not one of the choices; {nearest(value, words)}", field=field, value=value)
    said = None if isinstance(value, dict | list) else str(value).lower() if isinstance(value, bool) else value
    if fault["type"] == "model_type":  # pydantic would name a class of ours
        want = f"a mapping; known keys: {', '.join(_model_at(places).model_fields)}"
        if places == ["truth"]:
            want = "a mapping with opportunities, assists or intents, or the word recorded or none"
        return InputError(where, want, field=field, value=said)
    return InputError(where, str(fault["msg"]).removeprefix("Input "), field=field, value=said)


def _telling(error: ValidationError) -> ErrorDetails:
    """The first fault, but of a key that is missing the wrong one that stands in its place, if there is one."""
    faults = error.errors(include_url=False)
    first = faults[0]
    wrong = [f for f in faults if f["type"] == "extra_forbidden" and f["loc"][:-1] == first["loc"][:-1]]
    return wrong[0] if wrong and first["type"] == "missing" else first


def _model_at(places: Sequence[Any]) -> type[BaseModel]:
    for place in reversed([p for p in places if isinstance(p, str)]):
        for name, model in (
            ("opportunities", OpportunitySpec),
            ("assists", AssistSpec),
            ("moments", MomentSpec),
            ("truth", TruthSpec),
        ):
            if place == name:
                return model
    return IntentSpec if "intents" in places else ScenarioFile


if __name__ == "__main__":
    json.dump(json_schema(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
