"""Exclusions on a real X desktop: what the recorder's eye lets through holds no pixel of an excluded window."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from simulator.core.rng import below
from simulator.core.types import MS
from simulator.recorder.exclusions import OWN_MARK, Exclusions
from simulator.recorder.frames import MASK_COLOUR
from simulator.recorder.looking import Eye, Sight
from simulator.recorder.screens import KeptScreen, choose
from simulator.recorder.windows import Window
from simulator.recorder.windows_x11 import X11Windows
from simulator.timing.clock import boot_ns, rest
from tests.desks import Desk, DeskWindow, until

RED = (255, 0, 0)  # of what must not be seen
SIZE = 400, 300


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with Desk(*SIZE, manager=True) as made:
        made.background()
        yield made


@pytest.fixture
def eye(desk: Desk) -> Iterator[Eye]:
    screen = KeptScreen(choose(env=desk.env))
    made = Eye(screen, X11Windows(desk.display), Exclusions.load(), boot_ns)
    yield made
    made.close()


@pytest.fixture
def opened() -> Iterator[list[DeskWindow]]:
    windows: list[DeskWindow] = []
    yield windows
    for window in windows:
        window.close()


def look(eye: Eye) -> tuple[Sight, np.ndarray]:
    eye.forget()  # so that the picture comes whether it has changed or not
    sight = eye.look()
    assert isinstance(sight, Sight), sight
    image = sight.seen[0].image
    assert image is not None
    return sight, np.asarray(image)


def has(pixels: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool((pixels == colour).all(axis=2).any())


def test_an_excluded_window_that_is_visible_but_not_focused_leaves_neither_pixel_nor_title(
    desk: Desk, eye: Eye, opened: list[DeskWindow]
) -> None:
    opened.append(desk.window("My bank account", x=20, y=40, width=120, height=90, colour=0xFF0000))
    opened.append(desk.window("notes", x=200, y=60, width=120, height=90, colour=0x00FF00))
    opened[-1].front()
    until(lambda: (s := look(eye)[0]).window is not None and s.window.title == "notes", "notes to be in front")
    sight, pixels = look(eye)
    assert not has(pixels, RED)
    assert has(pixels, MASK_COLOUR)
    assert has(pixels, (0, 255, 0))
    assert {reason for *_, reason in sight.seen[0].masks} == {"banking"}
    opened[0].front()
    until(lambda: look(eye)[0].window is None, "the bank to be in front")
    assert not has(look(eye)[1], RED)


def test_the_rim_that_a_program_paints_where_no_compositor_makes_it_see_through_is_covered_too(
    desk: Desk, eye: Eye, opened: list[DeskWindow]
) -> None:
    opened.append(desk.window("My bank account", x=40, y=60, width=120, height=90, colour=0xFF0000))
    atom = desk.connection.get_atom
    opened[0].x.change_property(atom("_GTK_FRAME_EXTENTS"), atom("CARDINAL"), 32, [4, 4, 0, 4])  # as Chromium does
    desk.connection.sync()
    until(lambda: has(look(eye)[1], MASK_COLOUR), "the bank to be covered")
    assert not has(look(eye)[1], RED)


def test_a_menu_of_an_excluded_program_is_covered_with_it(desk: Desk, eye: Eye, opened: list[DeskWindow]) -> None:
    chrome = ("chromium", "Chromium")
    opened.append(desk.window("Online banking", wm_class=chrome, pid=4001, x=10, y=30, width=90, height=60))
    opened.append(
        desk.window(None, wm_class=chrome, pid=4001, x=200, y=200, width=50, height=40, colour=0xFF0000, popup=True)
    )
    until(lambda: len(look(eye)[0].seen[0].masks) >= 2, "the menu to be listed")
    assert not has(look(eye)[1], RED)


def test_a_dialog_that_belongs_to_an_excluded_window_is_covered_whatever_its_title(
    desk: Desk, eye: Eye, opened: list[DeskWindow]
) -> None:
    opened.append(desk.window("Online banking", x=10, y=30, width=90, height=60))
    opened.append(desk.window("Save As", x=200, y=160, width=80, height=50, colour=0xFF0000, show=False))
    opened[1].x.set_wm_transient_for(opened[0].x)
    opened[1].show()
    until(lambda: len(look(eye)[0].seen[0].masks) >= 2, "the dialog to be listed")
    assert not has(look(eye)[1], RED)


@pytest.mark.parametrize(
    ("argv", "keys"), [(["mousepad", "--disable-server"], "alt+d"), (["pcmanfm"], "alt+f")], ids=["mousepad", "pcmanfm"]
)
@pytest.mark.parametrize("name", ["Barclays online banking", "shopping list"])
def test_a_menu_of_a_gtk_program_is_covered_where_its_window_is_excluded_and_only_there(
    desk: Desk, eye: Eye, tmp_path: Path, argv: list[str], keys: str, name: str
) -> None:
    for program in (argv[0], "xdotool", "dbus-run-session"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed here")
    if argv[0] == "mousepad":
        (tmp_path / name).write_text("nothing")
    else:
        (tmp_path / name).mkdir()
    windows = X11Windows(desk.display)
    child = desk.start(["dbus-run-session", *argv, str(tmp_path / name)])

    def press(*what: str) -> None:
        desk.start(["xdotool", *what]).wait()

    def shown(*kinds: str) -> list[Window]:
        return [w for w in windows.visible() or () if (w.app or "").casefold() == argv[0] and w.kind in kinds]

    def menu_opens() -> bool:
        if not shown("popup_menu", "dropdown_menu"):
            press("key", keys)
        return bool(shown("popup_menu", "dropdown_menu"))

    try:
        until(lambda: any(name in (w.title or "") for w in shown("normal")), f"{argv[0]} to show its file")
        press("windowactivate", "--sync", str(shown("normal")[0].key))
        until(menu_opens, "a menu to open")
        rest(30 * MS)
        (menu,) = shown("popup_menu", "dropdown_menu")
        assert name not in (menu.title or ""), "its title says nothing"
        left, top = max(0, menu.x or 0), max(0, menu.y or 0)
        right, bottom = (menu.x or 0) + (menu.width or 0), (menu.y or 0) + (menu.height or 0)
        own = (left, top, min(right, SIZE[0]) - left, min(bottom, SIZE[1]) - top, "banking")
        sight, pixels = look(eye)
        assert (own in sight.seen[0].masks) == ("bank" in name)
        assert bool((pixels[top:bottom, left:right] == MASK_COLOUR).all()) == ("bank" in name)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        until(lambda: not shown("normal", "popup_menu", "dropdown_menu"), f"{argv[0]} to be gone")
        windows.close()


def test_our_own_window_is_not_recorded(desk: Desk, eye: Eye, opened: list[DeskWindow]) -> None:
    assert look(eye)[0].own_missing
    opened.append(desk.window(f"terminal {OWN_MARK}", x=50, y=50, width=100, height=80, colour=0xFF0000))
    until(lambda: not look(eye)[0].own_missing, "our window to be listed")
    sight, pixels = look(eye)
    assert not has(pixels, RED)
    assert sight.window is None or OWN_MARK not in (sight.window.title or "")


def test_whatever_windows_do_while_pictures_are_taken_no_pixel_of_an_excluded_one_is_on_them(
    desk: Desk, eye: Eye, opened: list[DeskWindow]
) -> None:
    """One change at a random moment of each look: a move, a raise, a window that goes or comes back."""
    opened += [desk.window(f"Sparkasse {n}", x=20 * n, y=40, width=70, height=50, colour=0xFF0000) for n in range(3)]
    opened.append(desk.window("notes", x=150, y=100, width=90, height=80, colour=0x00FF00))
    until(lambda: len({m[:4] for m in look(eye)[0].seen[0].masks}) >= 3, "three windows to be masked")

    def change(k: int) -> None:
        rest(below(8 * MS, 7, "wait", k))
        window = opened[below(len(opened), 7, "window", k)]
        what = below(4, 7, "what", k)
        if what < 2:
            window.x.configure(x=below(SIZE[0], 7, "x", k), y=below(SIZE[1], 7, "y", k))
        elif what == 2:
            window.x.configure(stack_mode=0)
        else:
            window.x.unmap() if below(2, 7, "which", k) else window.x.map()
        desk.connection.sync()

    n_green = 0
    for k in range(60):
        mover = threading.Thread(target=partial(change, k))
        mover.start()
        eye.forget()
        sight = eye.look()
        mover.join()
        rest(10 * MS)
        if not isinstance(sight, Sight):  # a window went while it was asked: the tick is not recorded
            assert sight.reason == "excluded"
            continue
        image = sight.seen[0].image
        assert image is not None
        pixels = np.asarray(image)
        assert not has(pixels, RED), f"after change {k}"
        n_green += has(pixels, (0, 255, 0))
    assert n_green > 20, "what is not excluded is still recorded"
