"""What the benchmarks share: data that is made once, runs in fresh processes in turns, equal results, one table.

A run is a piece of Python of its own: `setup` is not timed, `body` is, and leaves what it read in `result`.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAUNCHER = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
RUN = """
import json, sys, time, warnings, zlib
warnings.simplefilter("ignore")
import numpy as np

def digest(value):
    "The same for the same values, whatever holds them."
    if isinstance(value, dict):
        return [[name, digest(value[name])] for name in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [digest(item) for item in value]
    value = np.asarray(value)
    if value.dtype.kind not in "biufc":
        return [list(value.shape), zlib.crc32("\\0".join(map(str, value.ravel().tolist())).encode())]
    value = np.ascontiguousarray(value, value.dtype.newbyteorder("="))
    return [str(value.dtype), list(value.shape), zlib.crc32(value.reshape(-1).view("u1"))]

{setup}
begin = time.perf_counter()
{body}
seconds = time.perf_counter() - begin
print(json.dumps([seconds, digest(result)]))
"""


@dataclass
class Work:
    """What one program does for a case."""

    body: str
    setup: str = ""


@dataclass
class Case:
    name: str
    ours: Work
    peers: dict[str, Work]
    nbytes: int = 0  # that the result has, for rates; 0: none are shown
    files: list[Path] = field(default_factory=list)  # read once before, so that all find them in the page cache
    limit: Callable[[], float] | None = None  # seconds that the machine needs at least; None: time within the codecs
    check: Callable[[], str] | None = None  # looks at what the last runs wrote, and says something of it


def options(doc: str, **extra) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="little data: does it work at all?")
    parser.add_argument("--data", type=Path, default=ROOT / "build/data")
    parser.add_argument("case", nargs="*", help="parts of names; default: all")
    for name, value in extra.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    return parser.parse_args()


def once(path: Path, make: Callable[[Path], None]) -> Path:
    """The file or folder at `path`; made under another name first, so that it is there whole or not at all."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name("making-" + path.name)
        subprocess.run(["rm", "-rf", str(fresh)], check=True)
        make(fresh)
        fresh.rename(path)
    return path


def run(work: Work, env: dict[str, str] | None = None) -> tuple[float, object, int, str]:
    """Seconds of the body, digest of its result, peak resident bytes of the process, what it wrote to stderr."""
    code = RUN.format(setup=work.setup, body=work.body)
    command = [sys.executable, "-I", "-S", "-c", LAUNCHER, sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | (env or {}))
    *told, last = done.stdout.strip().splitlines()
    status, kilobytes = map(int, last.split())
    if status != 0:
        raise SystemExit(f"{work.body}\n{done.stderr}")
    seconds, result = json.loads(told[-1])
    return seconds, result, kilobytes * 1024, done.stderr


def codec_seconds(stderr: str, threads: int) -> float:
    """The least that decoding and encoding take when nothing else is done: from the table of LAMELLA_PROFILE."""
    stages = {name: float(seconds) for name, seconds in re.findall(r"^(\w+) +([\d.]+) ", stderr, re.MULTILINE)}
    return (stages["decode"] + stages["encode"]) / threads


def pread_seconds(path: Path, threads: int = 2, fresh: bool = False, piece: int = 4 << 20) -> float:
    """Reading a file in pieces, each thread into one buffer again and again, or all into new memory."""
    import numpy as np

    size = path.stat().st_size
    descriptor = os.open(path, os.O_RDONLY)
    whole = np.empty(size if fresh else 0, "u1")
    buffers = [np.zeros(piece, "u1") for _ in range(threads)]

    def work(thread: int) -> None:
        for at in range(thread * piece, size, threads * piece):
            target = whole[at : at + piece] if fresh else buffers[thread]
            os.preadv(descriptor, [memoryview(target)], at)

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - begin
    os.close(descriptor)
    return seconds


def memcpy_rate(threads: int = 1, size: int = 64 << 20) -> float:
    """Bytes a second of numpy's copy between two warm buffers of each thread."""
    import numpy as np

    pairs = [(np.ones(size, "u1"), np.ones(size, "u1")) for _ in range(threads)]
    workers = [threading.Thread(target=lambda pair=pair: [np.copyto(*pair) for _ in range(8)]) for pair in pairs]
    begin = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return 8 * threads * size / (time.perf_counter() - begin)


def warm(files: list[Path]) -> None:
    for path in files:
        for file in [path] if path.is_file() else filter(Path.is_file, path.rglob("*")):
            with file.open("rb", buffering=0) as opened:
                while opened.read(4 << 20):
                    pass


def processor() -> str:
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    return f"{names[0] if names else platform.processor()} × {len(names)}"


def seconds_text(runs: list[float]) -> str:
    factor, digits = (1, 2) if min(runs) >= 0.1 else (1000, 2)
    unit = "s" if factor == 1 else "ms"
    low, high = min(runs) * factor, max(runs) * factor
    return f"{statistics.median(runs) * factor:.{digits}f} {unit} ({low:.{digits}f}–{high:.{digits}f})"


def measure(case: Case, times: int) -> str:
    """One row of the table. Ratios above 1 are Lamella's gain over the fastest peer; results must be equal."""
    warm(case.files)
    works = {"lamella": case.ours, **case.peers}
    seconds, peaks, results = {name: [] for name in works}, dict.fromkeys(works, 0), {}
    for _ in range(times):
        for name, work in works.items():
            took, result, peak, _ = run(work)
            seconds[name].append(took)
            peaks[name] = max(peaks[name], peak)
            if results.setdefault("lamella", result) != result:
                raise SystemExit(f"{case.name}: what {name} read differs")
    threads = len(os.sched_getaffinity(0))
    ours = statistics.median(seconds["lamella"])
    if case.limit:
        least = statistics.median(case.limit() for _ in range(times))
    else:
        least = codec_seconds(run(case.ours, {"LAMELLA_PROFILE": "1"})[3], threads)
    rate = f"{case.nbytes / ours / 1e9:.2f}" if case.nbytes else "–"
    cells = [case.name, seconds_text(seconds["lamella"]), rate, f"{peaks['lamella'] >> 20}"]
    for name in case.peers:
        ratio = statistics.median(b / a for a, b in zip(seconds["lamella"], seconds[name], strict=True))
        cells.append(f"{name} {seconds_text(seconds[name])}, {peaks[name] >> 20} MiB: **{ratio:.1f}×**")
    if case.check:
        cells[0] += f" ({case.check()})"
    share = f"{min(least / ours, 9.99):.0%}" if least > 0 else "–"
    return f"| {' | '.join(cells[:4])} | {share} | {'<br>'.join(cells[4:])} |"


def report(title: str, cases: list[Case], chosen: argparse.Namespace) -> None:
    rates = ", ".join(f"{memcpy_rate(threads) / 1e9:.1f}" for threads in (1, 2))
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, {title}, warm page cache, median of {chosen.runs} (min–max);")
    print(f"memcpy {rates} GB/s on one and two threads\n")
    print("| case | lamella | GB/s | peak MiB | of the limit | peers and how many times slower |")
    print("| --- | --- | --- | --- | --- | --- |")
    for case in cases:
        if not chosen.case or any(part in case.name for part in chosen.case):
            print(measure(case, chosen.runs), flush=True)
