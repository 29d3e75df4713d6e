"""Why each sampled moment was counted as it was."""

from __future__ import annotations

from scorers.assistance import Answer, pair
from scorers.base import Unit
from scorers.explaining import Told, seconds
from simulator.core.errors import quote
from simulator.session.truth import Moment

__all__ = ["explain_moments"]

_WORDS = {
    "yes": "the agent offered help",
    "no": "the agent was silent",
    "unparsed": "the agent's answer could not be read",
    "failed": "the call failed, or was stopped",
    "unanswered": "there is no answer in the log, though the run came to its end",
}


def explain_moments(unit: Unit) -> list[Told]:
    """Every moment in order of time, also those that an interrupted run never asked."""
    answers, _ = pair(unit.log, unit.truth)
    answered = {id(answer.moment): answer for answer in answers}
    moments = sorted(unit.truth.moments, key=lambda m: m.t_ns)
    return [_told(str(n), moment, answered.get(id(moment))) for n, moment in enumerate(moments)]


def _told(name: str, moment: Moment, answer: Answer | None) -> Told:
    wanted = f"help was needed{'' if moment.intention is None else f' with {quote(moment.intention)}'}"
    title = f"at {seconds(moment.t_ns)}: {wanted if moment.positive else 'no help was needed'}"
    if moment.positive and moment.query:
        title += f" {quote(moment.query)}"
    facts = {
        "t_ns": moment.t_ns,
        "positive": moment.positive,
        "intention": moment.intention,
        "answer": None if answer is None else answer.kind,
        "offered": None if answer is None else answer.intention,
        "right": None if answer is None else answer.right,
    }
    if answer is None:
        return Told(
            "moment", name, "not_asked", title, ("The run was interrupted before it was asked: not counted.",), facts
        )
    verdict, why = _why(moment, answer)
    return Told("moment", name, verdict, title, tuple(why), facts)


def _why(moment: Moment, answer: Answer) -> tuple[str, list[str]]:
    said = _WORDS[answer.kind][0].upper() + _WORDS[answer.kind][1:]
    if not moment.positive:
        if answer.kind == "no":
            return "true_negative", [f"{said}, and rightly: no help was needed."]
        counts = (
            "a false alarm" if answer.kind == "yes" else "a false alarm: what cannot be used is wrong, never left out"
        )
        return "false_positive", [f"{said}, and no help was needed: {counts}."]
    if answer.kind != "yes":
        return "false_negative", [f"{said}, and help was needed: a miss."]
    why = [f"{said}, and help was needed: a hit."]
    offered = quote(answer.intention)
    if moment.intention is None:
        why.append(f"It named {offered}; the intention is not known.")
    elif answer.right:
        why.append(f"It named {offered}, which is the intention that was needed.")
    else:
        why.append(f"It named {offered}, but {quote(moment.intention)} was needed: no hit of intention_accuracy.")
    return "true_positive", why
