"""Two letters in foreign languages: one that Nora reads, one that she does not."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script
from scenarios.record.pictures import hut

LETTER = Need(
    id="letter",
    intention="Translation",
    query="translate the letter of the stove fitter into English",
    why="Opens with the first snapshot of the letter: it is Polish, and the profile says that Nora reads none. She "
    "looks up four words in a small dictionary, which has two of them and no sentences. Closes when she clicks into "
    "the reply to ask for another language: given up.",
)
REPLY = Need(
    id="reply",
    intention="Translation",
    query="my reply in polite Polish: thank you, and could he write again in English or German",
    why="Her reply is written in English under a Polish greeting, and she asks the dictionary, which only goes the "
    "other way, for “thank you” and then for a whole sentence. Closes when she leaves the dictionary and sends the "
    "reply in English.",
)


def prepare(desk: Desk) -> None:
    for n, sky in enumerate(("#b9d4e8", "#e8cdb9", "#c9c9d6")):
        desk.file(f"Pictures/hut{n + 1}.png", hut(sky))
    desk.browser("mail.example/hut", "mail.example/oven")
    desk.key("ctrl+1")
    desk.wait_for("Hausordnung")
    desk.rest_at(1000, 500)


def play(desk: Desk) -> None:
    desk.look(29)
    desk.scroll(1)
    desk.look(18)
    desk.key("ctrl+2")
    desk.wait_for("Piec w domku")
    desk.opens(LETTER)
    desk.look(17)
    desk.key("ctrl+t")
    desk.go_to("words.example", "Words")
    desk.click("word")
    for word in ("piec", "komin", "uszczelka", "robocizna"):
        desk.type(word, pace=1.5)
        desk.key("Return")
        desk.look(3)
    desk.key("ctrl+2")
    desk.wait_for("Piec w domku")
    desk.look(12)
    desk.closes(LETTER)
    desk.click("reply")
    desk.type("Szanowny Panie Kowalczyk,", pace=2)
    desk.key("Return", "Return")
    desk.look(3)
    desk.type("thank you for your letter. Could you write again in English or German? I do not read Polish.")
    desk.look(8)
    desk.key("ctrl+3")
    desk.wait_for("Words")
    desk.click("word")
    desk.type("thank you", pace=1.3)
    desk.key("Return")
    desk.look(3)
    desk.type("could you write again in English", pace=1.1)
    desk.key("Return")
    desk.opens(REPLY)
    desk.look(17)
    desk.closes(REPLY)
    desk.key("ctrl+2")
    desk.wait_for("Piec w domku")
    desk.look(3)
    desk.click("send")
    desk.look(6)
    desk.files("Pictures")
    desk.look(8)
    desk.picture("Pictures/hut1.png")
    desk.look(14)
    desk.key("q")
    desk.look(9)


SCRIPTS = (
    Script(
        folder="translation",
        home="nora",
        about="Nora reads the rules of a hut, which are German, then the letter of a stove fitter, which is Polish. "
        "She looks words up, writes back in English, tries to make Polish of it, sends it as it is and looks at a "
        "picture of the hut.",
        purpose="a language that is read, one that is not, and a reply in it",
        seed=104,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="translation",
                person="nora",
                description="A German letter that is read, a Polish one that is not, and a reply that ought to be "
                "Polish.",
                needs=(LETTER, REPLY),
                quiet="The first letter is a foreign text too, but Nora reads German and does so: who offers to "
                "translate it has not looked at the profile. While she writes the reply, no help with Polish is "
                "asked for yet; the greeting shows the wish only to those who know what comes. The pictures ask for "
                "nothing.",
            ),
        ),
    ),
)
