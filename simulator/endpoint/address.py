"""The address of a model server, checked before anything is sent: no password, key or query may be in it."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from simulator.core.errors import UsageError, quote
from simulator.endpoint.types import shown_url

__all__ = ["check_address", "is_here"]


def check_address(url: str, key_variable: str, of: str = "the model server", path: str = "/v1") -> None:
    """Whether a server can be asked there.

    Args:
        url: the address.
        key_variable: where a key belongs.
        of: which server, in messages.
        path: of an address such as one may be, in messages.

    Raises:
        UsageError: it is no address of a server, or a user or a password stands in it: only one of these and the key
            fits into a request, and an address is shown.
    """
    try:
        parts = urlsplit(url)
        here, _ = parts.hostname, parts.port
    except ValueError:
        here = None
    wrong = here is None or parts.scheme not in ("http", "https") or parts.query or parts.fragment
    if wrong or not url.isprintable():
        raise UsageError(
            f"{of}'s address {quote(shown_url(url))} is not of the form http://host:port{path} "
            f"(keys go into {key_variable})"
        )
    if "@" in parts.netloc:
        raise UsageError(
            f"{of}'s address {quote(shown_url(url))} is given with a user or a password in it: "
            f"leave them out, the key goes into {key_variable}"
        )


def is_here(host: str) -> bool:
    """Whether a host is this machine, by its name alone."""
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
