"""``proact doctor agent``: everything that a run asks of an agent in another process, asked once, and what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from simulator.cli.doctor import Finding, tell
from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice
from simulator.core.errors import UsageError

if TYPE_CHECKING:
    from simulator.cli.doctor_agent_checks import Bench

__all__ = ["agent"]


def agent(
    url: Annotated[str | None, Parameter(help="Where it answers, such as http://127.0.0.1:8900.")] = None,
    /,
    *,
    stdio: Annotated[
        str | None, Parameter(help='The command of an agent that talks on stdin and stdout: "python3 agent.py".')
    ] = None,
    token: Annotated[str | None, Parameter(help="The environment variable that holds the token to send.")] = None,
    limit: Annotated[str, Parameter(help="How long one decision may take.")] = "60s",
    json: AsJson = False,
) -> int:
    """Try an agent in another process on all that a run asks of it.

    It is asked at URL, or started as a child. About twenty decisions on made-up screens; each check says in a sentence
    what is wrong. `note` is what works, and could be better. Exit code 1 if something is wrong. The protocol:
    docs/remote-agents.md.
    """
    from simulator.cli.doctor_agent_checks import Bench  # what asks is imported when it is needed
    from simulator.core.durations import duration
    from simulator.core.types import SECOND

    if (url is None) == (stdio is None):
        raise UsageError('name one agent: its URL, such as http://127.0.0.1:8900, or --stdio "python3 agent.py"')
    if stdio is not None and token is not None:
        raise UsageError("--token goes with a URL; a child process has the environment of this one")
    limit_s = duration("limit", limit, above_0=True) / SECOND
    bench = Bench.at(url, token, limit_s) if url is not None else Bench.child(stdio or "", limit_s)
    voice = Voice(as_json=json)
    if voice.progress.is_terminal:
        voice.tell("asking it about twenty times; that takes as long as it takes")
    return tell(_findings(bench), voice)


def _findings(bench: Bench) -> Iterator[Finding]:
    """One after the other, as they are made: an agent may take its time."""
    from simulator.cli.doctor_agent_checks import examine

    with asyncio.Runner() as runner:
        findings = examine(bench)
        while (finding := runner.run(_next(findings))) is not None:
            yield finding


async def _next(findings: AsyncIterator[Finding]) -> Finding | None:
    return await anext(findings, None)
