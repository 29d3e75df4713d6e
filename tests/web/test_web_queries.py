"""What an address says is other people's text: whatever it is, the answer is a figure, a refusal, or nothing there."""

from __future__ import annotations

import re
from pathlib import Path

import aiohttp

from simulator.runs.folder import read_run
from simulator.web.pages import routes
from simulator.web.place import Place, id_of
from simulator.web.server import Web
from tests.replays import play, record

ODD = ["9" * 5000, "-1", "1e999", "٣", "%00", "%ED%A0%80", "%FF", "..%2F..%2Fetc", "%2C" * 400, "a%0Ab", ""]
ASKED = {
    "/api/runs": ["since"],
    "/api/compare": ["runs", "force", "common"],
    "/api/ablation/{id}": ["metric", "rows", "columns", "at.seed", "at."],
    "/api/run/{id}/unit/{unit}/timeline": ["with"],
    "/api/run/{id}/unit/{unit}/search": ["q"],
    "/api/label/{id}/windows": ["by"],
}
"""Every parameter that a page reads."""


async def test_nothing_in_an_address_is_a_fault_of_ours(tmp_path: Path) -> None:
    session = record(tmp_path / "day")
    run = tmp_path / "runs/silent"
    play(session, run, "silent")
    (unit,) = read_run(run)["resolved"]
    pages, told = Web(Place([tmp_path])), []
    await pages.start("127.0.0.1")
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{pages.port}") as client:
            for path, names in ASKED.items():
                at = session / "session" if "label" in path else run
                address = path.replace("{id}", id_of(at)).replace("{unit}", unit)
                for name in names:
                    for said in ODD:
                        async with client.get(f"{address}?{name}={said}") as answer:
                            told.append((answer.status, f"{path} {name} {said[:20]}"))
            for said in ODD[1:]:
                for address in (f"/api/run/{id_of(run)}/unit/{said}/timeline", f"/api/run/{said}/units"):
                    async with client.get(address) as answer:
                        told.append((answer.status, address))
            async with client.get(f"/api/run/{id_of(run)}/unit/{unit}/decision/" + "9" * 5000) as answer:
                told.append((answer.status, "decision"))
    finally:
        await pages.stop()
        pages.place.close()
    assert [one for one in told if one[0] >= 500] == []
    assert {status for status, _ in told} >= {200, 404}


def test_every_parameter_that_is_read_is_tried() -> None:
    folder = Path(routes.__code__.co_filename).parent
    read = {
        name for file in folder.glob("*.py") for name in re.findall(r'query\.get\("(\w+)"', file.read_text("utf-8"))
    }
    tried = {name for names in ASKED.values() for name in names}
    assert read - tried == {"after", "token"}, "those have tests of their own"
