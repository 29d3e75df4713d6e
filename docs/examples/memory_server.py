"""A memory in another process, behind HTTP: the newest labelled events of the user. Plain Python, nothing installed."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DECLARED = {"as_of": "native", "isolation": "native", "mutates_past": False}
HEALTH = {"protocol": 1, "name": "newest", "forget": True, "capabilities": DECLARED}
PASTS: dict = {}  # name of the memory -> id of the event -> (event, label)


def called(call: str, body: dict) -> dict:
    """What comes of a call."""
    past = PASTS.setdefault(body["id"], {})
    if call == "feedback":
        past[body["event"]["id"]] = (body["event"], body["label"])
    elif call == "recall":
        q, k, budget = body["query"], body["k"], body["token_budget"]
        known = [p for p in past.values() if p[0]["user"] == q["user"] and known_ns(*p) <= q["now_ns"]]
        items = [item(*pair) for pair in reversed(known)][: k if budget is None else min(k, budget // 100)]
        return {"items": items}
    elif call == "forget":
        touched = [k for k, (e, _) in past.items() if e["user"] == body["user"]
                   and e["start_ns"] < body["end_ns"] and e["end_ns"] > body["start_ns"]]  # fmt: skip
        for key in touched:
            del past[key]
    elif call == "close":
        PASTS.pop(body["id"], None)
    return {}


def known_ns(event: dict, label: dict) -> int:
    """When all of it was known: a label can be available before its event has closed."""
    return max(event["end_ns"], label["available_ns"])


def item(event: dict, label: dict) -> dict:
    """A past event as an item: one line, whatever its title holds."""
    words = f"{event['app']}, {event['title']}: " + (f"asked {label['query']}" if label["help"] else "no help needed")
    text = " ".join("".join(c if c.isprintable() else " " for c in words).split())[:300]
    known = {"latest_source_ns": known_ns(event, label), "help": float(label["help"])}
    need = {"intention": label["intention"], "query": label["query"]}
    return {"text": text, "score": 1.0, "tokens": 100, "source_event_ids": [event["id"]], **known, **need}


class Handler(BaseHTTPRequestHandler):
    """The seven calls of docs/memory-adapters.md."""

    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

    def do_GET(self):  # noqa: D102
        self.say(HEALTH)

    def do_POST(self):  # noqa: D102
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.say(called(self.path.rpartition("/")[2], body))

    def say(self, told: dict):
        """Answer."""
        said = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        """Nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8901), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)  # noqa: T201
    server.serve_forever()
