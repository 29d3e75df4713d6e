"""What all pages share, in a real browser: text, keys, frame, events, charts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.web.pages import STATIC
from simulator.web.place import Place
from simulator.web.server import Web

from .conftest import DESKTOP, PHONE, PROJECTOR

HOSTILE = {
    "html": "<img src=x onerror=alert(1)><script>alert(2)</script></td></table>",
    "ansi": "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "bidi": "abc\u202egpj.exe\u2066x\u2069",
    "invisible": "a\u200bb\ufeffc\u00add",
    "half": "x\ud800y",
    "long": "w" * 10_000,
    "null": "a\0b\x7f",
}
BASE = "const base = await import('/static/base.js');"


@pytest.fixture
def about(page: Any, served: Callable[..., str], tmp_path: Path) -> Any:
    """The page about these pages, opened."""
    page.goto(f"{served(Place([tmp_path]))}/about")
    page.wait_for_selector("#shown ul")
    return page


def run(page: Any, code: str, value: object = None) -> Any:
    """Run code with base.js as `base` and the value as `value`."""
    return page.evaluate(f"async (value) => {{ {BASE} {code} }}", value)


@pytest.mark.parametrize("kiosk", ["", "?kiosk"])
def test_it_opens_without_a_fault_and_everybody_can_use_it(
    page: Any, served: Any, tmp_path: Path, look: Any, axe_clean: Any, shot: Any, kiosk: str
) -> None:
    page.goto(f"{served(Place([tmp_path]))}/about{kiosk}")
    page.wait_for_selector("#shown ul")
    assert "0 runs" in page.inner_text("#shown")
    for size, scheme in ((PROJECTOR if kiosk else DESKTOP, "light"), (PROJECTOR if kiosk else PHONE, "dark")):
        look(page, size, scheme)
        axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        shot(page, f"about-{size[0]}-{scheme}")


def test_what_is_shown_is_told_by_its_name(about: Any, tmp_path: Path) -> None:
    about.wait_for_selector("#shown code")
    assert about.text_content("#shown code") == tmp_path.name


def test_hostile_text_is_text(about: Any) -> None:
    for kind, text in HOSTILE.items():
        # Written into the code: a half of a surrogate pair cannot be handed over as an argument.
        code = f"""
          const where = document.getElementById("shown");
          value = {json.dumps(text)};
          base.put(where, base.el("p", {{ title: value }}, value), base.text(value));
          return [where.querySelectorAll("img, script").length, where.textContent + where.firstChild.title];
        """
        n, said = run(about, code)
        assert n == 0
        assert [c for c in said if not (c.isprintable() or c in "\n\u202f")] == [], kind
        assert about.evaluate("document.documentElement.scrollWidth") <= DESKTOP[0], kind


def test_a_long_text_is_cut_and_can_be_opened(about: Any) -> None:
    run(about, "base.put(document.getElementById('shown'), base.text(value, { limit: 50 }));", "x" * 10_000)
    said = about.locator("#shown .said")
    assert len(said.inner_text()) < 100
    more = about.get_by_role("button", name="more (10\u202f000 characters)")
    more.focus()
    about.keyboard.press("Enter")
    assert len(said.inner_text()) > 10_000
    about.get_by_role("button", name="less").click()
    assert len(said.inner_text()) < 100


SAID = {
    "count(1234567)": "1\u202f234\u202f567",
    "count(null)": "–",
    "fixed(0.126)": "0.13",
    "fixed(-0.5, 1)": "−0.5",
    "fixed(NaN)": "–",
    "percent(0.123, 1)": "12.3 %",
    "signed(0.5)": "+0.50",
    "ms(240.4)": "240 ms",
    "ms(1234)": "1.23 s",
    "ms(75000)": "75 s",
    "ms(undefined)": "–",
    "clock(42)": "0:42",
    "clock(727)": "12:07",
    "clock(3723.4, 1)": "1:02:03.4",
    "clock(-5)": "−0:05",
    "clock(59.96, 1)": "1:00.0",
    "bytes(1500)": "2 kB",
    "plain('a\\tb\\u202ec')": "a→b\ufffdc",
    "plain(null)": "",
    "plain('\\u{1F44D}')": "\U0001f44d",
}


def test_a_text_of_which_the_beginning_was_sent_says_how_long_it_is(about: Any) -> None:
    about.evaluate(
        "import('/static/base.js').then(({ text, byId }) =>"
        " byId('main').append(text('y'.repeat(1000) + '… (9000 more characters)')))"
    )
    assert about.get_by_role("button", name="more (1\u202f000 of 10\u202f000 characters)").count() == 1


def test_numbers_and_texts_for_people(about: Any) -> None:
    assert {call: run(about, f"return base.{call}") for call in SAID} == SAID


def test_elements_take_no_address_of_others_and_no_handler_as_text(about: Any) -> None:
    for attributes in (
        '{ href: "https://example.org/" }',
        '{ src: "//example.org/x.png" }',
        '{ href: "javascript:alert(1)" }',
        '{ onclick: "alert(1)" }',
        '{ srcdoc: "<b>" }',
    ):
        code = f"try {{ base.el('a', {attributes}); return 'made'; }} catch (error) {{ return error.message; }}"
        assert run(about, code) != "made", attributes


def test_the_policy_holds_even_where_a_page_errs(about: Any, watched: Any) -> None:
    code = "try { document.body.innerHTML = '<b>x</b>'; return 'written'; } catch (e) { return e.name; }"
    said = run(about, code)
    assert said == "TypeError"
    about.evaluate("() => fetch('http://127.0.0.1:9/').catch(() => 0)")
    watched.forgive("Content Security Policy")
    watched.faults = [f for f in watched.faults if "127.0.0.1:9" not in f and "TrustedHTML" not in f]


def test_keys(about: Any) -> None:
    run(about, "window.hit = []; base.key('g', 'next need', () => hit.push('g'));"
               "base.key('Alt+ArrowRight', 'next application', () => hit.push('alt'));"
               "base.key(' ', 'play', () => hit.push('space'));")  # fmt: skip
    for pressed in ("g", "Alt+ArrowRight", "Space"):
        about.keyboard.press(pressed)
    assert about.evaluate("hit") == ["g", "alt", "space"]
    about.keyboard.press("?")
    dialog = about.get_by_role("dialog")
    assert dialog.get_by_role("button", name="Close").evaluate("(node) => node === document.activeElement")
    assert "next need" in dialog.inner_text()
    assert "Alt + →" in dialog.inner_text()
    about.keyboard.press("g")  # not while a dialog is open
    about.keyboard.press("Escape")
    assert not dialog.is_visible()
    run(about, "base.put(document.getElementById('shown'), base.el('input', { 'aria-label': 'words' }));")
    about.locator("#shown input").press_sequentially("gg g?")  # typing is typing
    about.get_by_role("button", name="Theme").focus()
    about.keyboard.press("Space")  # a button's own
    assert about.evaluate("hit") == ["g", "alt", "space"]
    assert about.locator("#shown input").input_value() == "gg g?"


def test_focus_goes_in_order_and_is_seen(about: Any) -> None:
    names = []
    for _ in range(8):
        about.keyboard.press("Tab")
        names.append(about.evaluate("document.activeElement.textContent.trim()"))
        assert about.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert names == [
        "Skip to the content",
        "proact",
        "Runs",
        "Compare",
        "Studies",
        "Recordings",
        "About",
        "Theme: auto",
    ]


def test_the_theme_is_kept(about: Any) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    for name, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 26)")):
        about.get_by_role("button", name="Theme").click()
        assert about.evaluate(ground) == colour
        assert f"Theme: {name}" in about.inner_text("header")
    about.reload()
    assert about.evaluate(ground) == "rgb(20, 23, 26)"


def test_what_the_server_refuses_is_told(about: Any, watched: Any) -> None:
    code = """
      const where = document.getElementById("shown");
      try { await base.tell("/api/nothing", {}); } catch (error) { base.failed(where, error); }
    """
    run(about, code)
    assert about.get_by_role("alert").inner_text() == "⚠ there is no such page"
    watched.forgive("404")


def test_a_picture_that_is_gone_is_told(about: Any, watched: Any) -> None:
    run(about, "base.put(document.getElementById('shown'), base.picture('0'.repeat(64), 'the screen at 0:42'));")
    about.wait_for_selector(".no-picture")
    assert about.get_by_role("img", name="the screen at 0:42: cannot be shown").is_visible()
    watched.forgive("404")


LISTEN = """
  window.told = []; window.states = [];
  window.stop = base.listen({ n: (data) => told.push(data.n) },
    { reset: () => told.push("reset"), state: (what) => states.push(what) });
"""


def test_a_page_hears_events_and_catches_up_after_it_was_hidden(page: Any, served: Any, tmp_path: Path) -> None:
    place = Place([tmp_path])
    page.goto(f"{served(place)}/about")
    run(page, LISTEN)
    page.wait_for_function("states.includes('connected')")
    place.hub.publish("n", {"n": 1})
    page.wait_for_function("told.length === 1")
    hide = "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });" \
           "document.dispatchEvent(new Event('visibilitychange')); }"  # fmt: skip
    page.evaluate(hide, True)
    place.hub.publish("n", {"n": 2})
    place.hub.publish("n", {"n": 3})
    page.evaluate(hide, False)
    page.wait_for_function("told.length === 3")
    assert page.evaluate("told") == [1, 2, 3]


def test_a_page_survives_a_restart_of_the_server(page: Any, watched: Any, tmp_path: Path) -> None:
    place = Place([tmp_path])
    first = Web(place)
    with first.in_thread() as url:
        page.goto(f"{url}about")
        run(page, LISTEN)
        page.wait_for_function("states.includes('connected')")
        place.hub.publish("n", {"n": 1})
        page.wait_for_function("told.length === 1")
    page.wait_for_function("states.includes('lost')")
    place = Place([tmp_path])
    with Web(place).in_thread(port=first.port):
        page.wait_for_function("told.includes('reset')")
        place.hub.publish("n", {"n": 2})
        page.wait_for_function("told.includes(2)")
        page.evaluate("stop()")
    assert page.evaluate("told") == [1, "reset", 2]
    watched.faults = [fault for fault in watched.faults if "ERR_CONNECTION_REFUSED" not in fault and
                      "ERR_INCOMPLETE_CHUNKED_ENCODING" not in fault and "ERR_EMPTY_RESPONSE" not in fault]  # fmt: skip


def test_charts_follow_width_and_theme(about: Any, shot: Any, axe_clean: Any) -> None:
    code = """
      const style = base.el("link", { href: "/static/vendor/uPlot.min.css" });
      style.rel = "stylesheet";
      document.head.append(style);
      const charts = await import("/static/charts.js");
      const where = base.el("div"); document.getElementById("shown").append(where);
      window.made = charts.chart(where, () => ({
        height: 120, scales: { x: { time: false } }, axes: [charts.axis(), charts.axis()],
        series: [{}, { label: "latency", stroke: charts.series()[0], dash: charts.DASHES[1] }] }),
        [[1, 2, 3], [3, 1, 2]], { describe: "latency falls, then rises" });
      return made.plot.width;
    """
    wide = run(about, code)
    about.set_viewport_size({"width": 500, "height": 700})
    about.wait_for_function(f"made.plot.width < {wide}")
    before = about.evaluate("made.plot")
    about.get_by_role("button", name="Theme").click()
    assert about.evaluate("made.plot !== null")
    assert before is not None
    assert about.get_by_role("img", name="latency falls, then rises").is_visible()
    axe_clean(about)
    shot(about, "chart")


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(a: str, b: str) -> float:
    light, dark = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_have_contrast_also_where_they_are_drawn_on_canvas() -> None:
    """WCAG 2.2, 1.4.3 (text 4.5) and 1.4.11 (shapes 3); axe sees no canvas."""
    assert _contrast("#ffffff", "#000000") == pytest.approx(21)
    css = (STATIC / "base.css").read_text()
    light = dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", css[: css.index("@media")]))
    dark_at = css.index(':root[data-theme="dark"] {')
    dark = light | dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", css[dark_at : css.index("}", dark_at)]))
    for colours in (light, dark):
        for under in ("--ground", "--raised", "--sunk"):
            for name in ("--ink", "--quiet", "--link", "--good-ink", "--bad-ink", "--need-ink", "--alarm"):
                assert _contrast(colours[name], colours[under]) >= 4.5, (name, under)
            for name in ("--good", "--bad", "--late", "--need", "--edge", "--focus"):
                assert _contrast(colours[name], colours[under]) >= 3, (name, under)
    system = css[css.index("prefers-color-scheme: dark") :]
    assert dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", system[: system.index("}")])) == {
        name: value for name, value in dark.items() if value != light[name]
    }
