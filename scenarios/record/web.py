"""The pages of the scenarios, served on 127.0.0.1 under invented names such as ``shop.example``.

``pages/<host>/<page>.html`` is what stands in the browser at ``http://<host>/<page>``. A small script is put into each
page that tells where its elements with an id lie on the screen, so that the hands can click on them by name.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["PAGES", "Web"]

PAGES = Path(__file__).resolve().parent / "pages"

# A page of a window in front tells where its elements are, whenever that changed.
_TELL = b"""<script>
(() => {
  let told = "";
  const tell = () => {
    if (document.visibilityState !== "visible") { told = ""; return; }
    const top = window.outerHeight - window.innerHeight;
    const where = {};
    for (const one of document.querySelectorAll("[id]")) {
      const box = one.getBoundingClientRect();
      if (box.width) where[one.id] = [box.left + box.width / 2 + screenX, box.top + box.height / 2 + screenY + top];
    }
    const now = JSON.stringify(where);
    if (now !== told) { told = now; navigator.sendBeacon("/where", now); }
  };
  setInterval(tell, 200);
})();
</script>"""


class Web:
    """The web server of a desk; a context manager.

    Attributes:
        port: where it listens on 127.0.0.1.
        places: id of an element -> middle of it on the screen, for the page in front.
        messages: what came in on the chat page since the start; the page asks for them.
    """

    def __init__(self) -> None:
        self.places: dict[str, tuple[int, int]] = {}
        self.messages: list[str] = []
        web = self

        class _Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = _page(self.headers.get("Host", ""), self.path)
                if self.path == "/messages":
                    page = json.dumps(web.messages).encode()
                self.send_response(200 if page is not None else 404)
                self.send_header("Content-Type", f"{_kind(self.path)}; charset=utf-8")
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(page if page is not None else b"There is no such page.")

            def do_POST(self) -> None:
                said: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                web.places = {name: (round(x), round(y)) for name, (x, y) in said.items()}
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> Web:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _kind(path: str) -> str:
    bare = path.partition("?")[0]
    return {"css": "text/css", "svg": "image/svg+xml", "js": "text/javascript"}.get(
        bare.rpartition(".")[2], "text/html"
    )


def _page(host: str, path: str) -> bytes | None:
    name = path.partition("?")[0].strip("/") or "index"
    if name == "favicon.ico" or ".." in name:
        return None
    if "." in name:
        file = PAGES / name if name in ("plain.css", "chat.js") else PAGES / host.partition(":")[0] / name
        return file.read_bytes() if file.is_file() else None
    file = PAGES / host.partition(":")[0] / f"{name}.html"
    return file.read_bytes() + _TELL if file.is_file() else None
