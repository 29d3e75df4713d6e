"""Pictures that are on their way to the disk: encoding takes longer than a live agent should wait.

A recorder offers each picture under the path that it will have; who asks for that path's pixels gets them from here.
Only the newest few are held, since soon after the file is there.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from PIL import Image

__all__ = ["HELD", "fresh", "offer"]

HELD = 8  # 50 MB at 1080p
_pictures: OrderedDict[Path, Image.Image] = OrderedDict()
_lock = Lock()


def offer(path: Path, picture: Image.Image) -> None:
    """Hold an RGB picture that will be written to ``path``; it is not to be changed any more."""
    with _lock:
        _pictures[path] = picture
        _pictures.move_to_end(path)
        while len(_pictures) > HELD:
            _pictures.popitem(last=False)


def fresh(path: Path) -> Image.Image | None:
    """A copy of the picture, if it is held."""
    with _lock:
        picture = _pictures.get(path)
    return None if picture is None else picture.copy()
