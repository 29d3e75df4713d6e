"""Embedders side by side: how fast, how large, and whether what means the same is found.

Each in a process of its own with one thread. Speed: the texts of ``tests/data/paraphrases.jsonl``, all different, so
nothing is found in a store of vectors; processor time, since other work must not count. ``python -m bench.embedders
SPEC…`` prints a table of any embedders (``endpoint:model=NAME`` among them).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memory.embedders.base import make_embedder
from simulator.core.protocols import Embedder

SPECS = ("hash", "minilm", "minilm:engine=int8", "minilm:engine=numpy", "wordllama", "wordllama:dimension=64")
GROUPS = ("en", "en-hard", "zh", "en-zh")
_PAIRS = Path(__file__).resolve().parents[1] / "tests" / "data" / "paraphrases.jsonl"
_QUERIES = 300


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def one(spec: str) -> dict[str, float]:
    """Figures of one embedder, in this process."""
    pairs = [json.loads(line) for line in _PAIRS.read_text("utf-8").splitlines()]
    begun = _cpu_s()
    made = make_embedder(spec)
    made.embed(["a first text"])
    load_s = _cpu_s() - begun
    texts = [p[side] for p in pairs if p["group"].startswith("en") for side in ("past", "asked")]
    longer = [f"{p['past']} | {p['asked']}" for p in pairs if p["group"].startswith("en")]
    took_s = []
    for i in range(_QUERIES):
        begun = _cpu_s()
        made.embed([f"{texts[i]} {i}"])
        took_s.append(_cpu_s() - begun)
    took_s.sort()
    found = {
        "texts_per_cpu_s": _rate(made, texts),
        "longer_texts_per_cpu_s": _rate(made, longer),
        "query_cpu_p50_ms": took_s[_QUERIES // 2] * 1e3,
        "query_cpu_p99_ms": took_s[_QUERIES * 99 // 100] * 1e3,
        "load_cpu_s": load_s,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "dimension": made.dimension,
        "characters": sum(map(len, texts)) / len(texts),
        "longer_characters": sum(map(len, longer)) / len(longer),
    }
    return found | _recalls(made, pairs)


def _rate(made: Embedder, texts: Sequence[str]) -> float:
    new = list(dict.fromkeys(texts))
    begun = _cpu_s()
    made.embed(new)
    return len(new) / (_cpu_s() - begun)


def _recalls(made: Embedder, pairs: Sequence[dict[str, str]]) -> dict[str, float]:
    """Recall at 1 and 5 of each group, among the past texts of its own group, and among those of all."""
    past = made.embed([p["past"] for p in pairs])
    asked = made.embed([p["asked"] for p in pairs])
    found: dict[str, float] = {}
    for group in GROUPS:
        of = np.array([i for i, p in enumerate(pairs) if p["group"] == group])
        for pool, scores in (("", asked[of] @ past[of].T), ("_of_all", asked[of] @ past.T)):
            right = (asked[of] * past[of]).sum(axis=1) - 1e-6  # ties with itself, added in another order
            ahead = (scores > right[:, None]).sum(axis=1) - 1
            for k in (1, 5):
                found[f"{group}_recall_{k}{pool}"] = float((ahead < k).mean())
    return found


def _apart(spec: str) -> dict[str, float] | None:
    """In a fresh process; None where the embedder cannot be had here."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "RAYON")}
    done = subprocess.run([sys.executable, "-m", "bench.embedders", "--one", spec], capture_output=True, text=True,
                          check=False, env={**os.environ, **threads})  # fmt: skip
    if done.returncode:
        print(f"{spec}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure() -> dict[str, float]:
    """What must hold of the sentence model, and what stands beside it."""
    figures: dict[str, float] = {}
    for spec in SPECS:
        found = _apart(spec)
        name = spec.replace(":engine=", "_").replace(":dimension=", "_")
        figures |= {f"{name}.{key}": value for key, value in (found or {}).items() if "zh" not in key}
    return figures


def main(specs: Sequence[str]) -> None:
    heads = (
        "embedder",
        "numbers",
        "texts a CPU second: short, longer",
        "a query's CPU ms, p50, p99",
        "load CPU s",
        "MB",
    )
    recalls = [f"{group} R@1, R@5" for group in (*GROUPS, "en among all")]
    print("| " + " | ".join([*heads, *recalls]) + " |")
    print("|---|---|---|---|---|---|" + "---|" * (len(GROUPS) + 1))
    size = ""
    for spec in specs or SPECS:
        f = _apart(spec)
        if f is not None:
            speeds = f"{f['texts_per_cpu_s']:,.0f}, {f['longer_texts_per_cpu_s']:,.0f}"
            cells = [f"`{spec}`", f"{f['dimension']:.0f}", speeds,
                     f"{f['query_cpu_p50_ms']:.2f}, {f['query_cpu_p99_ms']:.2f}", f"{f['load_cpu_s']:.2f}",
                     f"{f['rss_mb']:.0f}"]  # fmt: skip
            cells += [f"{f[f'{g}_recall_1']:.3f}, {f[f'{g}_recall_5']:.3f}" for g in GROUPS]
            cells.append(f"{f['en_recall_1_of_all']:.3f}, {f['en_recall_5_of_all']:.3f}")
            print("| " + " | ".join(cells) + " |", flush=True)
            size = f"short texts: {f['characters']:.0f} characters, longer ones: {f['longer_characters']:.0f}"
    print(size)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2])))
    else:
        main(sys.argv[1:])
