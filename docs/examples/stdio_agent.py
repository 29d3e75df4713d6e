"""The agent of ``remote_agent.py`` as a child process: a call a line comes in, an answer a line goes out."""

import json
import sys

from remote_agent import answer

for line in sys.stdin.buffer:
    n = None
    try:
        said = json.loads(line)
        n = said["n"]
        told = {"body": answer(said["call"], said["body"])}
    except (ValueError, TypeError, KeyError) as error:
        told = {"error": {"kind": type(error).__name__, "text": "this call cannot be read"}}
    print(json.dumps({"n": n, **told}), flush=True)  # noqa: T201  # whatever else is printed belongs on stderr
