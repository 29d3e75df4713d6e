"""The command ``proact``: one module a group of commands; the only room that knows all others by name.

Commands are named here and imported when they are called, so that ``--help`` stays quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["app", "main"]

COMMANDS = {
    "run": ("simulator.cli.run:run", "Play one agent over recorded sessions and score it."),
    "score": ("simulator.cli.score:score", "Score a run again from its logs and its truth, without its agent."),
    "explain": ("simulator.cli.explain:explain", "Say of each offer and each need of a run why it counted as it did."),
    "compare": (
        "simulator.cli.compare:compare",
        "Compare runs session by session: differences, intervals, tests, which sessions make them.",
    ),
    "report": ("simulator.cli.report:report", "Write one HTML file that holds a run: figures, timelines, caveats."),
    "sweep": (
        "simulator.cli.sweep:sweep",
        "Play a study: each agent with each memory, rule and seed over the same sessions, and summarise it.",
    ),
    "record": ("simulator.cli.record:record", "Record this screen into a session, until Ctrl-C."),
    "live": ("simulator.cli.live:live", "Play this screen into an agent, now, and record it."),
    "view": ("simulator.cli.view:view", "Look at runs, sweeps and recordings in a browser, until Ctrl-C."),
    "dataset": ("simulator.cli.dataset:dataset", "Import, check and describe recordings."),
    "memory": (
        "simulator.cli.memory:memory",
        "Look into a memory: what it makes of a window's title; a graph for other programs.",
    ),
    "forget": ("simulator.cli.forget:forget", "Forget a user: recordings, history, and the words in run logs."),
    "list": ("simulator.cli.catalogue:listing", "List agents, memories, scorers, sources, policies and the like."),
    "doctor": ("simulator.cli.doctor:doctor", "Look at this machine and say what works."),
}

_INTERRUPTED = 130  # Exit.INTERRUPTED, without an import that may itself be interrupted
EPILOGUE = "Each option can be given as a variable too: --memory-mode as PROACT_MEMORY_MODE. The command line wins."


def app(words: Sequence[str] = ()) -> App:
    """The command's tree. The command that ``words`` begin with tells all of its docstring where help is asked for;
    others have a sentence in the lists, so that nothing is imported for them.
    """
    import inspect

    from cyclopts import App

    from simulator.cli.environment import Environment
    from simulator.cli.speak import Speaker

    tree = App(
        name="proact",
        help="Play recorded 1 Hz screens into proactive assistance agents; score whether help was right and in time.",
        version=_version,
        help_format="markdown",
        help_epilogue=EPILOGUE,
        config=Environment(),
        console=Speaker(),
        result_action="return_value",
    )
    for name, (where, help_) in COMMANDS.items():
        tree.command(where, name=name, help=help_)
    named = tree
    for word in words:
        if word.startswith("-") or word not in named:
            break
        named = named[word]
    if named.default_command is not None and named is not tree:
        named.help = inspect.getdoc(named.default_command) or named.help
    return tree


def _version() -> str:
    from importlib.metadata import version

    return f"proact {version('proact')}"


def main() -> None:
    """Run the command and leave with its exit code, whatever threads or exit hooks an agent has left."""
    _say_what_can_be_said()
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:  # while the command is being imported: nothing has begun
        code = _INTERRUPTED
    os._exit(_flushed(code))


def _say_what_can_be_said() -> None:
    """Have characters that the terminal's encoding lacks shown as ``?``: no command fails for a quotation mark. JSON
    records are UTF-8 wherever they go.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _run(words: list[str]) -> int:
    from simulator.core.errors import Exit

    if "--json" in words and sys.stdout is not None:
        from simulator.cli import speak

        speak.claim_stdout()
    try:
        return _call(words)
    except Exception:  # noqa: BLE001  # a bug of ours: shown whole
        import traceback

        traceback.print_exc()
        sys.stderr.write("proact: this is a fault of proact's own; the lines above say where\n")
        return Exit.INTERNAL


def _flushed(code: int) -> int:
    """The exit code once everything said has left: a reader that is gone is no fault, a full disk is one."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            continue
        except (OSError, ValueError):
            code = code or 1
    return code


def _told(error: Exception) -> str:
    """What is wrong with the words of a command."""
    from cyclopts.exceptions import UnusedCliTokensError

    if not isinstance(error, UnusedCliTokensError) or not (unused := error.unused_tokens):
        return str(error)
    return (
        f"nothing takes the word{'s' if len(unused) > 1 else ''} {' '.join(map(repr, unused))}; an option that may be "
        "given several times has one value each time, as in --sessions A --sessions B"
    )


_UNNAMED = "a name cannot be written here: this system is set to {0}; LC_ALL=C.UTF-8 before the command lifts that"


def _call(words: list[str]) -> int:
    from cyclopts import CycloptsError

    from simulator.cli import guard
    from simulator.core.errors import Exit, ProactError

    try:
        guard.check()
        result = app(words)(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        print(f"proact: {_told(error)}", file=sys.stderr)  # noqa: T201
        return Exit.USAGE
    except ProactError as error:
        print(f"proact: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return Exit.DONE
    except OSError as error:  # a place that cannot be read or written: the user's to mend
        where = f"{error.filename}: " if error.filename else ""
        print(f"proact: {where}{error.strerror or error}", file=sys.stderr)  # noqa: T201
        return Exit.USAGE
    except UnicodeEncodeError as error:
        if "utf" in error.encoding.lower():  # half a character: somebody should have refused it before
            raise
        print(f"proact: {_UNNAMED.format(error.encoding)}", file=sys.stderr)  # noqa: T201
        return Exit.USAGE
    return result if isinstance(result, int) else Exit.DONE
