"""An agent in a process of its own, on Python's standard library alone: ``python3 remote_agent.py 8900``."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def answer(call: str, body: dict[str, Any]) -> dict[str, Any]:
    """The agent: who sits in a terminal for ten seconds is offered help."""
    if call == "health":
        return {"protocol": 1, "name": "stuck", "version": "1", "needs": {"images": "none", "memory": 0}}
    if call in ("open", "close"):
        return {}
    event = {"decide": body}[call]["observation"]["history"]["current"]
    stuck = event and event["category"] == "terminal" and event["end_s"] - event["start_s"] >= 10
    offer = {"intention": "Error Correction", "text": "Shall I look at what went wrong here?", "confidence": 0.6}
    return {"offers": [offer] if stuck else []}


class Handler(BaseHTTPRequestHandler):
    """Reads a call, writes its answer."""

    protocol_version, wbufsize = "HTTP/1.1", -1  # connections are kept; head and body leave together

    def do_POST(self) -> None:
        """Any call; health is a GET."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}"
        try:
            status, said = 200, answer(self.path.removeprefix("/proact/"), json.loads(body))
        except (ValueError, TypeError, KeyError) as error:
            status, said = 400, {"error": {"kind": type(error).__name__, "text": "this call cannot be read"}}
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
