"""One recording, two people: what is plain to one is a riddle to the other."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script

NOTICE = Need(
    id="notice-chinese",
    intention="Translation",
    query="what does the Chinese notice about the move say",
    why="The page is Chinese and Tomás reads none: opens with its first snapshot. It is scrolled to the end and back. "
    "Closes when the next tab is opened; whether he got anything out of it cannot be seen, so nobody else knows of it.",
    acts=False,
)
LEASE = Need(
    id="lease-spanish",
    intention="Translation",
    query="what does the Spanish page about the room to let say, above all on deposit and notice",
    why="The page is Spanish and Mei reads none: opens with its first snapshot, closes when the window is left, as "
    "above.",
    acts=False,
)
CONFLICT = Need(
    id="conflict",
    intention="Error Correction",
    query="git says merge conflict in rota.txt, what do I do with these markers",
    why="The merge has failed, and Tomás has used git twice: opens with the first snapshot of the message. The file "
    "with the markers is opened and looked at for a while. Closes when the merge is called off with nothing mended.",
)
ROTA = "Monday    Ada\nTuesday   Jonas\nWednesday Mei\nThursday  {thursday}\nFriday    Nora\n"


def prepare(desk: Desk) -> None:
    desk.file("rota/rota.txt", ROTA.format(thursday="Ruth"))
    desk.run("git init -q -b main && git add . && git commit -qm 'The rota' && git checkout -q -b swap", "rota")
    desk.file("rota/rota.txt", ROTA.format(thursday="Tomás"))
    desk.run("git commit -qam 'Tomás on Thursday' && git checkout -q main", "rota")
    desk.file("rota/rota.txt", ROTA.format(thursday="Ruth (late)"))
    desk.run("git commit -qam 'Ruth comes late'", "rota")
    desk.browser("news.example", "team.example/move", "rooms.example/room")
    desk.key("ctrl+1")
    desk.wait_for("Harbour News")
    desk.terminal("rota: bash", "rota", geometry="84x22+120+70")
    desk.raise_("Chromium")
    desk.rest_at(1100, 500)


def play(desk: Desk) -> None:
    desk.look(12)
    desk.scroll(3, pause=2)
    desk.look(6)
    desk.key("ctrl+2")
    desk.wait_for("搬迁")
    desk.opens(NOTICE)
    desk.look(12)
    desk.scroll(3, pause=2.5)
    desk.look(6)
    desk.scroll(-3, pause=1)
    desk.look(9)
    desk.closes(NOTICE)
    desk.key("ctrl+3")
    desk.wait_for("Habitación")
    desk.opens(LEASE)
    desk.look(13)
    desk.scroll(3, pause=2.5)
    desk.look(6)
    desk.scroll(-3, pause=1)
    desk.look(9)
    desk.closes(LEASE)
    desk.raise_("rota: bash")
    desk.look(3)
    desk.type("git log --oneline")
    desk.key("Return")
    desk.look(6)
    desk.type("git merge swap")
    desk.key("Return")
    desk.opens(CONFLICT)
    desk.look(9)
    desk.type("git status")
    desk.key("Return")
    desk.look(8)
    desk.editor("rota/rota.txt")
    desk.look(15)
    desk.raise_("rota: bash")
    desk.look(4)
    desk.closes(CONFLICT)
    desk.type("git merge --abort")
    desk.key("Return")
    desk.look(5)
    desk.raise_("Chromium")
    desk.key("ctrl+1")
    desk.wait_for("Harbour News")
    desk.scroll(3, pause=2)
    desk.look(14)


SCRIPTS = (
    Script(
        folder="two_readers",
        home="team",
        about="A shared desk: the news, a notice in Chinese, a page in Spanish, a merge that fails and is called "
        "off. The screen does not tell who sits there; the profile does. Tomás speaks Spanish, reads no Chinese and "
        "is new to git; Mei reads Chinese and no Spanish, and has merged more than she can count.",
        purpose="one recording, two profiles, two truths",
        seed=108,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="two-readers-tomas",
                person="tomas",
                description="A Chinese notice, a Spanish page and a merge conflict, seen by Tomás.",
                needs=(NOTICE, CONFLICT),
                quiet="The Spanish page is in his own language: an offer to translate it is a false alarm.",
                folder="tomas",
            ),
            Case(
                name="two-readers-mei",
                person="mei",
                description="A Chinese notice, a Spanish page and a merge conflict, seen by Mei.",
                needs=(LEASE,),
                quiet="The Chinese notice is in her own language. The conflict is a line of a rota: she looks at "
                "both sides and decides to ask the people first, which is what calling a merge off is for. Her "
                "profile says that she wants no help with git.",
                folder="mei",
            ),
        ),
    ),
)
