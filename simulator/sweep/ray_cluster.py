"""Being part of a Ray cluster for a while: one of our own, which nobody else hears, or one that is there."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any
from unittest.mock import patch

from simulator.core.errors import ProactError, UsageError, quote
from simulator.core.operators import operators
from simulator.sweep.scratch import Scratch
from simulator.timing.clock import real_ns

__all__ = ["Pulse", "check_address", "joined", "library"]

_ON_MANY_MACHINES = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""The variable that, on every system, decides between all addresses of a machine and the loopback one."""
_OWN = "local"
"""In place of an address: start one, also where ``RAY_ADDRESS`` names another."""
_JOIN_S = 5.0
_ASK_S = 1.0
_ANSWER_S = 45.0
"""A cluster whose head is gone answers nothing; Ray itself goes on asking for a minute, and then ends the process."""
_STORE = 128 << 20
"""Bytes of memory for what workers are sent: little, unless sessions are shipped, and then Ray goes on on disk."""


def library() -> Any:
    """The library, when something is to be played with it: it takes a third of a second."""
    import ray

    return ray


def check_address(address: str) -> None:
    """Whether somebody is there: Ray itself would try for two minutes.

    Raises:
        UsageError: nobody is, or it is no address that can be joined.
    """
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or int(port) > 65535:
        want = "auto, or HOST:PORT of the cluster's head, as `ray start` shows it"
        raise UsageError(f"--ray-address {quote(address)}: {want}, is wanted")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_JOIN_S).close()
    except OSError as error:
        raise UsageError(f"--ray-address {quote(address)}: nobody answers there ({type(error).__name__})") from None


class Pulse:
    """Whether the cluster that was joined still lives: Ray waits for ever for workers of one that does not.

    It is asked by a thread, since a question that nobody answers blocks whoever put it.
    """

    def __init__(self, ray: Any) -> None:
        self._ray, self._asked_ns = ray, real_ns()
        self._answers = SimpleQueue[bool]()
        self._is_waiting = False

    def ensure(self) -> None:
        """Ask now and then; returns at once.

        Raises:
            ProactError: this machine's part in it has ended, or nobody answers.
        """
        waited_s = (real_ns() - self._asked_ns) / 1e9
        if self._is_waiting:
            try:
                lives = self._answers.get_nowait()
            except Empty:
                if waited_s > _ANSWER_S:
                    raise self._gone(f"has not answered for {_ANSWER_S:.0f} seconds") from None
                return
            if not lives:
                raise self._gone("has ended on this machine")
            self._is_waiting = False
        elif waited_s > _ASK_S:
            self._asked_ns, self._is_waiting = real_ns(), True
            threading.Thread(target=self._ask, name="proact-ray-pulse", daemon=True).start()

    def _ask(self) -> None:
        with suppress(Exception):  # then there is no answer
            here = self._ray.get_runtime_context().get_node_id()
            self._answers.put(any(node["Alive"] for node in self._ray.nodes() if node["NodeID"] == here))

    def _gone(self, how: str) -> ProactError:
        return ProactError(f"Ray {how}: what it had finished is kept, and the same command goes on from there")


@contextmanager
def joined(address: str | None, workers: int) -> Iterator[int]:
    """Be part of a cluster; how many workers it has room for."""
    with ExitStack() as at_the_end:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        ray = library()
        if not ray.is_initialized():
            at_the_end.callback(_reread)
            at_the_end.enter_context(_environment(_own_environment() if address is None else {}))
            at_the_end.enter_context(_quiet())
            _reread()
            options: dict[str, Any] = {"address": address}
            if address is None:
                scratch = Scratch("proact-ray")
                at_the_end.callback(scratch.close)
                options = {"address": _OWN, "num_cpus": workers, "num_gpus": 0, "include_dashboard": False,
                           "object_store_memory": _STORE, "_temp_dir": str(scratch.path)}  # fmt: skip
            at_the_end.callback(ray.shutdown)
            _begin(ray, options)
        else:
            at_the_end.enter_context(_quiet())
        n = max(1, int(ray.cluster_resources().get("CPU", 1)))
        if n < workers:
            operators().warning("the Ray cluster has fewer CPUs than workers were asked for", cpus=n, workers=workers)
        yield min(n, workers)


def _begin(ray: Any, options: dict[str, Any]) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(**options, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        where = "here" if options["address"] == _OWN else f"at {quote(options['address'])}"
        raise UsageError(
            f"no Ray {where} ({type(error).__name__}); is it running, and is its version this one?"
        ) from None
    finally:
        with suppress(ValueError):  # not the main thread: nothing was changed
            for number, handler in before.items():
                signal.signal(number, handler)


def _own_environment() -> dict[str, str]:
    return {
        _ON_MANY_MACHINES: "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": os.urandom(32).hex(),  # a secret: no seed may give it away
    }


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Variables as Ray reads them, and as they were afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _reread() -> None:
    """Have Ray read its variables again: it does so once, when it is imported, and that may have been long ago."""
    with suppress(ImportError, AttributeError):  # another version: then what holds is what held at its import
        _raylet: Any = importlib.import_module("ray._raylet")
        constants: Any = importlib.import_module("ray._private.ray_constants")
        constants.ENABLE_RAY_CLUSTER = constants.env_bool(_ON_MANY_MACHINES, not constants.IS_WINDOWS_OR_OSX)
        _raylet.Config.initialize("")
        _raylet.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray from telling of dead workers, with addresses, on the output that is ours (the sweep tells it itself),
    and from starting what counts its users: that asks the cloud for metadata even where it is told not to count.
    """
    from ray._private import node, worker

    with ExitStack() as at_the_end:
        for where, name in ((worker, "print_to_stdstream"), (node.Node, "start_api_server")):
            at_the_end.enter_context(patch.object(where, name, _nothing, create=True))  # not every version has them
        yield


def _nothing(*given: Any, **named: Any) -> None:
    """In place of a function of Ray."""
