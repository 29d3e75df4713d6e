"""A while in which nobody needs anything: news, pictures, small talk, a pause."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Script
from scenarios.record.pictures import boat, hut, whiteboard


def prepare(desk: Desk) -> None:
    for name, content in (("boat.png", boat()), ("boat-evening.png", boat("#5b4d7a")), ("hut.png", hut()),
                          ("whiteboard.png", whiteboard())):  # fmt: skip
        desk.file(f"Pictures/{name}", content)
    desk.file("todo.txt", "[x] lamps\n[x] answer Jonas\n[x] book room 4\n[x] water the plants\n")
    desk.browser("news.example", "chat.example/canteen", "mail.example/mei")
    desk.key("ctrl+1")
    desk.wait_for("Harbour News")
    desk.terminal("mei: bash", geometry="80x20+500+60")
    desk.raise_("Chromium")
    desk.rest_at(1000, 500)


def play(desk: Desk) -> None:
    desk.look(12)
    desk.scroll(4, pause=3)
    desk.look(7)
    desk.key("ctrl+2")
    desk.wait_for("Messenger")
    desk.look(7)
    desk.message("There is cake in the kitchen")
    desk.look(5)
    desk.click("say")
    desk.type("thank you, on my way :)")
    desk.key("Return")
    desk.look(29)
    desk.files("Pictures")
    desk.look(6)
    desk.picture("Pictures/boat.png")
    desk.look(11)
    desk.key("q")
    desk.look(2)
    desk.picture("Pictures/boat-evening.png")
    desk.look(13)
    desk.key("q")
    desk.raise_("mei: bash")
    desk.type("date")
    desk.key("Return")
    desk.look(5)
    desk.type("ls Pictures")
    desk.key("Return")
    desk.look(7)
    desk.editor("todo.txt")
    desk.look(11)
    desk.key("ctrl+q")
    desk.raise_("Chromium")
    desk.key("ctrl+3")
    desk.wait_for("Inbox")
    desk.look(11)
    desk.scroll(3, pause=2)
    desk.look(6)
    desk.key("ctrl+1")
    desk.wait_for("Harbour News")
    desk.scroll(-3, pause=1)
    desk.look(10)
    desk.scroll(5, pause=2)
    desk.look(31)


SCRIPTS = (
    Script(
        folder="nothing",
        home="mei",
        about="Mei reads the news, says thank you for cake, fetches it, looks at pictures, at a list on which "
        "everything is ticked off, at her mail, and at the news again. Pure noise: the truth is empty.",
        purpose="pure noise: silence is right",
        seed=107,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="nothing",
                person="mei",
                description="News, small talk, pictures, a list of things done, a pause: nothing to help with.",
                needs=(),
                quiet="Nothing. No text is searched, written or in a language that she does not read; no command "
                "fails; the list has no open item; the message is answered with its only sensible answer. One could "
                "always offer to summarise the news: nobody asked, and nobody is short of time. Whoever stays "
                "silent is right.",
            ),
        ),
    ),
)
