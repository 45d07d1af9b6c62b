"""Conversions beside the peers, in turns, each in a fresh process: seconds (median of RUNS, min and max), peak resident
memory of the whole process, and the ratio. Results are compared before anything is printed.

    build/venv/bin/python bench/convert.py [--runs 3] [--data build/data] [case …]
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

from harness import processor

ROOT = Path(__file__).resolve().parents[1]
LAMELLA = ROOT / "build/release/src/cli/lamella"
LAUNCHER = """
import os, resource, subprocess, sys, time
begin = time.perf_counter()
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(status, time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
# What a user of the peer writes; the time of importing is not counted against it.
PEER = """
import sys, time, warnings
warnings.simplefilter("ignore")
import anndata, scipy.sparse, h5py, zarr
source, target = sys.argv[1:3]
begin = time.perf_counter()
{body}
print(time.perf_counter() - begin, file=sys.stderr)
"""
READ_WRITE = """
backed = "r" if {backed} else None
data = anndata.read_h5ad(source, backed=backed) if source.endswith(".h5ad") else anndata.read_zarr(source)
data.write_h5ad(target{options}) if target.endswith(".h5ad") else data.write_zarr(target)
"""
TO_CSC = """
data = anndata.read_h5ad(source)
data.X = data.X.tocsc()
data.write_h5ad(target)
"""

CASES = {
    # name: source, target, options of lamella, what the peer does
    "dense h5ad → h5ad": ("dense.h5ad", "h5ad", ["--memory", "64MiB"], READ_WRITE.format(backed=True, options="")),
    "dense h5ad → zarr": ("dense.h5ad", "zarr", ["--memory", "64MiB"], READ_WRITE.format(backed=True, options="")),
    "dense gzip h5ad → h5ad": (
        "dense-gzip.h5ad",
        "h5ad",
        ["--memory", "64MiB"],
        READ_WRITE.format(backed=True, options=""),
    ),
    "dense gzip h5ad → zarr": (
        "dense-gzip.h5ad",
        "zarr",
        ["--memory", "64MiB"],
        READ_WRITE.format(backed=True, options=""),
    ),
    "CSR h5ad → zarr": ("csr.h5ad", "zarr", ["--memory", "256MiB"], READ_WRITE.format(backed=False, options="")),
    "CSR zarr → gzip h5ad": (
        "csr.zarr",
        "h5ad",
        ["--memory", "256MiB", "--codec", "gzip:4"],
        READ_WRITE.format(backed=False, options=', compression="gzip"'),
    ),
    "CSR → CSC h5ad": ("csr.h5ad", "h5ad", ["--memory", "256MiB", "--sparse", "csc"], TO_CSC),
}


def make_data(folder: Path) -> None:
    """A dense 10 000 × 10 000 float64, and a CSR of 3·10⁷ entries with the row lengths of real cells."""
    import anndata
    import numpy as np
    import pandas as pd
    import scipy.sparse as sp

    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "csr.zarr").exists():
        return
    random = np.random.default_rng(0)
    dense = anndata.AnnData(
        np.round(random.random((10_000, 10_000)), 2),
        obs=pd.DataFrame(index=[f"c{n}" for n in range(10_000)]),
        var=pd.DataFrame(index=[f"g{n}" for n in range(10_000)]),
    )
    dense.write_h5ad(folder / "dense.h5ad")
    dense.write_h5ad(folder / "dense-gzip.h5ad", compression="gzip")
    # Rows of the real file, drawn again and again; the counts jittered.
    real = anndata.read_h5ad(ROOT / "tests/data/real/10x_pbmc68k_reduced.h5ad").raw.X.tocsr()
    rows = real[random.integers(0, real.shape[0], int(30_000_000 / (real.nnz / real.shape[0])))]
    rows.data = np.maximum(1, rows.data + random.integers(0, 3, rows.nnz)).astype("f4")
    cells = anndata.AnnData(sp.csr_matrix(rows), obs=pd.DataFrame(index=[f"c{n}" for n in range(rows.shape[0])]))
    cells.write_h5ad(folder / "csr.h5ad")
    cells.write_zarr(folder / "csr.zarr")


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def measure(command: list[str]) -> tuple[float, int]:
    """Seconds of the whole process, or what it says of itself on stderr, and its peak in bytes."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, *command], capture_output=True, text=True, check=True
    )
    status, seconds, kilobytes = done.stdout.split()
    if status != "0":
        raise SystemExit(f"{command}: {done.stderr}")
    own = done.stderr.strip().splitlines()
    return float(own[-1]) if own and command[0] == sys.executable else float(seconds), int(kilobytes) * 1024


def equal(left: Path, right: Path) -> bool:
    import anndata
    import numpy as np

    one, two = (anndata.read_h5ad(p) if p.suffix == ".h5ad" else anndata.read_zarr(p) for p in (left, right))
    if hasattr(one.X, "indptr"):
        return all(np.array_equal(getattr(one.X, part), getattr(two.X, part)) for part in ("data", "indices", "indptr"))
    return np.array_equal(one.X, two.X) and list(one.obs_names) == list(two.obs_names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, default=ROOT / "build/data")
    parser.add_argument("case", nargs="*", help="parts of names; default: all")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    make_data(options.data)
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, warm page cache, median of {options.runs} (min–max)\n")
    print("| case | lamella s | peak MiB | anndata s | peak MiB | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for name, (source, kind, extra, body) in CASES.items():
        if options.case and not any(part in name for part in options.case):
            continue
        ours, theirs = options.data / f"ours.{kind}", options.data / f"theirs.{kind}"
        results = {"ours": [], "theirs": []}
        for _ in range(options.runs):
            remove(ours)
            remove(theirs)
            path = str(options.data / source)
            results["ours"].append(measure([str(LAMELLA), "convert", path, str(ours), "--quiet", *extra]))
            results["theirs"].append(measure([sys.executable, "-c", PEER.format(body=body), path, str(theirs)]))
        if not equal(ours, theirs):
            raise SystemExit(f"{name}: the results differ")
        cells = []
        for runs in results.values():
            seconds = sorted(run[0] for run in runs)
            cells.append(f"{statistics.median(seconds):.2f} ({seconds[0]:.2f}–{seconds[-1]:.2f})")
            cells.append(f"{max(run[1] for run in runs) / 2**20:.0f}")
        ratio = statistics.median(b[0] / a[0] for a, b in zip(results["ours"], results["theirs"], strict=True))
        print(f"| {name} | {' | '.join(cells)} | {ratio:.1f}× |", flush=True)
        remove(ours)
        remove(theirs)


if __name__ == "__main__":
    main()
