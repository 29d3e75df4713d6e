"""Filling, likeness, and finding the same letters in the pictures around."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from simulator.core.errors import InputError
from simulator.privacy.layout import Box
from simulator.privacy.picture import FILL, Grey, grey, likeness, paint, stencils
from simulator.privacy.spread import NEAR, spread

FONT = ImageFont.load_default(16)
BOX = Box(96, 46, 180, 28, "iban")


def field(text: str, *, frame: int = 1, colour: int = 0, paper: int = 255) -> Image.Image:
    """A form's field with a text in it."""
    image = Image.new("RGB", (400, 300), (paper,) * 3)
    draw = ImageDraw.Draw(image)
    draw.rectangle((96, 46, 380, 74), outline=(90, 90, 90), width=frame)
    draw.text((102, 50), text, fill=(colour,) * 3, font=FONT)
    return image


def fits(found: Image.Image, other: Image.Image) -> bool:
    (stencil,) = stencils(grey(found), [BOX])
    return stencil.fits(grey(other))


def test_a_filled_box_holds_one_colour_and_nothing_else_changes() -> None:
    image = field("DE89 3704 0044")
    made = paint(image, [Box(100, 48, 60, 20, "iban"), Box(390, 290, 50, 50, "iban"), Box(5, 5, 0, 3, "iban")])
    assert set(made.crop((100, 48, 160, 68)).get_flattened_data()) == {FILL}
    different = np.argwhere((np.asarray(made) != np.asarray(image)).any(axis=2))
    assert all((48 <= y < 68 and 100 <= x < 160) or (y >= 290 and x >= 390) for y, x in different)
    assert image.size == made.size


def test_what_was_typed_so_far_fits_the_whole_number() -> None:
    whole = field("DE89 3704 0044 05")
    assert fits(whole, field("DE89 37"))
    assert fits(whole, field("DE89 3704 0044", frame=2))


def test_an_empty_field_and_another_text_do_not_fit() -> None:
    whole = field("DE89 3704 0044 05")
    assert not fits(whole, field(""))
    assert not fits(whole, field("", frame=2))
    assert not fits(whole, field("Quarterly report"))
    assert not fits(whole, Image.new("RGB", (200, 300), (255, 255, 255)))


def test_the_letters_fit_on_another_background_as_well() -> None:
    assert fits(field("DE89 3704 0044 05"), field("DE89 3704 0044 05", paper=225))


def test_an_empty_box_has_no_stencil() -> None:
    assert stencils(grey(field("")), [BOX]) == []
    assert stencils(grey(field("x")), [Box(900, 900, 10, 10, "iban")]) == []


def test_likeness_is_the_share_of_equal_blocks() -> None:
    a = grey(field("one"))
    assert likeness(a, a) == 1.0
    assert 0.9 < likeness(a, grey(field("two"))) < 1.0
    assert likeness(a, grey(Image.new("RGB", (400, 300), (1, 2, 3)))) == 0.0
    assert likeness(a, grey(Image.new("RGB", (10, 10)))) == 0.0


def test_boxes_reach_the_pictures_before_and_after_in_which_the_letters_stand() -> None:
    pictures = {"a": field(""), "b": field("DE89 37"), "c": field("DE89 3704 0044 05"), "d": field("done, thanks")}
    more = spread(list("abcd"), {"c": [BOX]}, lambda name: grey(pictures[name]))
    assert more == {"b": [BOX]}


def test_what_a_picture_covers_itself_is_not_spread_to_it() -> None:
    pictures = {"b": field("DE89 3704"), "c": field("DE89 3704 0044")}
    wider = Box(90, 40, 300, 60, "card")
    more = spread(["b", "c"], {"b": [wider], "c": [BOX]}, lambda name: grey(pictures[name]))
    assert "b" not in more


def test_it_does_not_reach_further_than_the_pictures_around() -> None:
    names = [str(n) for n in range(NEAR + 3)]
    pictures = {name: field("DE89 3704 0044") for name in names}
    more = spread(names, {"0": [BOX]}, lambda name: grey(pictures[name]))
    assert sorted(more, key=int) == names[1 : NEAR + 1]


def test_pictures_that_cannot_be_read_are_passed_over_and_without_boxes_none_is_read() -> None:
    def load(name: str) -> Grey:
        if name == "b":
            raise InputError("b", "damaged")
        return grey(field("DE89 3704"))

    assert spread(["a", "b", "c"], {"a": [BOX]}, load) == {"c": [BOX]}

    def never(name: str) -> Grey:
        pytest.fail("read")

    assert spread(["a", "b"], {}, never) == {}
