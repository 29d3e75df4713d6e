"""The doors of the house: every module stands alone, every package opens late and names what it holds."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOUSES = ("simulator", "agents", "memory", "scorers")

MODULES = [
    ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    for house in HOUSES
    for path in sorted((ROOT / house).rglob("*.py"))
    for parts in [path.relative_to(ROOT).with_suffix("").parts]
]
PACKAGES = [m for m in MODULES if (ROOT / m.replace(".", "/") / "__init__.py").is_file()]

# One interpreter, one fork a module: as fresh as far as our own modules go, and much faster than an interpreter each.
IMPORT_EACH = """
import importlib, json, os, sys, traceback
for name in ("numpy", "pydantic", "aiohttp", "anyio", "yaml", "rich", "structlog", "cyclopts", "PIL.Image"):
    importlib.import_module(name)
failed = {}
for module in sys.argv[1:]:
    assert not {"simulator", "agents", "memory", "scorers"} & {m.split(".")[0] for m in sys.modules}
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            importlib.import_module(module)
            os._exit(0)
        except BaseException:
            os.write(write, traceback.format_exc().strip().splitlines()[-1].encode())
            os._exit(1)
    os.close(write)
    said = os.read(read, 65536).decode()
    os.close(read)
    if os.waitpid(pid, 0)[1]:
        failed[module] = said
print(json.dumps(failed))
"""


def _python(code: str, *args: str) -> str:
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, cwd=ROOT, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_module_can_be_imported_first() -> None:
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:  # an interpreter a core
        said = pool.map(lambda first: _python(IMPORT_EACH, *MODULES[first::cores]), range(cores))
        failed = {module: why for told in said for module, why in json.loads(told).items()}
    assert not failed, "\n".join(f"{module}: {said}" for module, said in failed.items())


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_a_package_resolves(package: str) -> None:
    module = importlib.import_module(package)
    names = getattr(module, "__all__", [])
    assert list(names) == sorted(set(names), key=names.index), f"{package}.__all__ names something twice"
    for name in names:
        getattr(module, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_what_it_is_for(package: str) -> None:
    doc = importlib.import_module(package).__doc__ or ""
    assert len(doc) > 20, f"{package} says nothing of itself"


def test_a_door_says_no_to_a_name_it_does_not_hold() -> None:
    with pytest.raises(AttributeError, match="module 'simulator' has no attribute 'nothing_of_the_kind'"):
        importlib.import_module("simulator").nothing_of_the_kind  # noqa: B018


def test_the_doors_load_nothing_heavy() -> None:
    heavy = ("aiohttp", "anyio", "numpy", "PIL", "rich", "pydantic", "cyclopts", "structlog", "mss", "yaml")
    code = "import json, sys\n" + "\n".join(f"import {p}" for p in PACKAGES if p != "simulator.cli")
    code += "\nprint(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    loaded = json.loads(_python(code))
    assert not set(heavy) & set(loaded)
