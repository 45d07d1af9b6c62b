"""Concatenations beside anndata: what they cost before anything is read, and written out, in fresh processes in turns.

    build/venv/bin/python bench/concat.py [--runs 3] [--data build/data] [--small] [case …]

Times of the cases "lazy" are of the call alone, in one process a run, after the imports. Those of "write" are of the
whole program for Lamella, and of read + concatenate + write for anndata. Peaks are of the whole process.
"""

import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from harness import LAUNCHER, ROOT, options, processor

LAMELLA = ROOT / "build/release/src/cli/lamella"

MAKE = """
import sys, warnings
warnings.simplefilter("ignore")
import anndata, numpy as np, pandas as pd, scipy.sparse as sp
from pathlib import Path
folder, count, rows, genes, differing, layers, form = Path(sys.argv[1]), *map(int, sys.argv[2:7]), sys.argv[7]
random = np.random.default_rng(0)

def sparse(rows, genes):
    "Some 5 % of the genes in each row, at most 200."
    taken = min(genes // 20, 200)
    indices = np.sort(random.integers(0, genes, (rows, taken), dtype="i4"), axis=1)
    x = sp.csr_matrix(
        (random.integers(1, 50, rows * taken).astype("f4"), indices.ravel(), np.arange(rows + 1) * taken), (rows, genes)
    )
    x.sum_duplicates()
    return x

folder.mkdir(parents=True)
for number in range(count):
    names = [f"gene{i}" for i in range(genes)]
    if differing:
        names = [f"gene{i}" for i in sorted(random.permutation(genes + genes // 5)[:genes])]
    x = sparse(rows, genes)
    adata = anndata.AnnData(
        x,
        obs=pd.DataFrame(
            {
                "type": pd.Categorical(random.choice([f"t{i + number % 3}" for i in range(9)], rows)),
                "n": np.arange(rows),
            },
            index=[f"cell{i}" for i in range(rows)],
        ),
        var=pd.DataFrame({"length": np.arange(genes)}, index=names),
    )
    if layers and number == 0:
        adata.layers["counts"] = x
    path = folder / f"{number:04}.{form}"
    adata.write_h5ad(path) if form == "h5ad" else adata.write_zarr(path)
"""

# {setup} is not timed.
RUN = """
import glob, json, sys, time, warnings
warnings.simplefilter("ignore")
import anndata, numpy as np
from anndata.experimental import read_lazy, concat_on_disk
import lamella as lm
paths = sorted(glob.glob(sys.argv[1] + "/*"))
target = sys.argv[2]
{setup}
begin = time.perf_counter()
{body}
print(json.dumps(time.perf_counter() - begin), file=sys.stderr)
"""
READ = "[anndata.read_h5ad(p) if p.endswith('.h5ad') else anndata.read_zarr(p) for p in paths]"
OUT = "{} ; a.write_h5ad(target) if target.endswith('.h5ad') else a.write_zarr(target)"


def data(root: Path, name: str, count: int, rows: int, genes: int, differing: bool, layers: bool, form: str) -> Path:
    folder = root / f"concat-{name}-{count}-{rows}-{genes}-{form}"
    if not folder.exists():
        made = folder.with_suffix(".part")
        shutil.rmtree(made, ignore_errors=True)
        arguments = map(str, [made, count, rows, genes, int(differing), int(layers), form])
        subprocess.run([sys.executable, "-c", MAKE, *arguments], check=True)
        made.rename(folder)
    return folder


def measured(command: list[str], timed: bool) -> tuple[float, int]:
    """Seconds, and the peak in bytes."""
    import time

    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", LAUNCHER, *command], capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    status, peak = map(int, done.stdout.split()[-2:])
    if status != 0:
        raise RuntimeError(done.stderr[-2000:])
    return (float(done.stderr.strip().splitlines()[-1]) if timed else seconds), peak * 1024


def python(folder: Path, target: Path, body: str, setup: str = "") -> list[str]:
    return [sys.executable, "-c", RUN.format(setup=setup, body=body), str(folder), str(target)]


def show(name: str, results: dict[str, list[tuple[float, int]]]) -> None:
    ours = statistics.median(seconds for seconds, _ in results["lamella"])
    for program, runs in results.items():
        seconds = [one for one, _ in runs]
        middle = statistics.median(seconds)
        ratio = f"{middle / ours:.1f}×" if program != "lamella" else ""
        peak = max(peak for _, peak in runs) / 2**20
        print(
            f"| {name} | {program} | {middle:.3f} | {min(seconds):.3f}–{max(seconds):.3f} | {peak:.0f} | {ratio} |",
            flush=True,
        )


def clear(target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True) if target.is_dir() else target.unlink(missing_ok=True)


def lazy_cases(root: Path, small: bool):
    rows, count = (2_000, 20) if small else (100_000, 1_000)
    for form in ("h5ad", "zarr"):
        two = data(root, "two", 2, rows, 10_000 if not small else 500, False, True, form)
        ours = python(two, Path("-"), "lm.concat(stores, join='outer')", "stores = [lm.open(p) for p in paths]")
        theirs = python(
            two, Path("-"), "anndata.concat(stores, join='outer')", "stores = [read_lazy(p) for p in paths]"
        )
        yield f"lazy: one of two lacks a layer, {form}", {"lamella": ours, "anndata read_lazy": theirs}
    for form in ("h5ad", "zarr"):
        many = data(root, "many", count, 100, 500, True, False, form)
        ours = python(many, Path("-"), "lm.concat(paths, join='outer')")
        theirs = python(many, Path("-"), "anndata.concat([read_lazy(p) for p in paths], join='outer')")
        yield f"lazy: {count} stores opened and concatenated, {form}", {"lamella": ours, "anndata read_lazy": theirs}


def write_cases(root: Path, small: bool):
    rows, genes = (500, 300) if small else (4_000, 10_000)
    for differing in (False, True):
        thirty = data(root, "genes" if differing else "same", 30, rows, genes, differing, False, "h5ad")
        for ending in ("h5ad", "zarr"):
            target = root / f"concat-out.{ending}"
            sources = sorted(map(str, thirty.iterdir()))
            join = "outer" if differing else "inner"
            programs = {
                "lamella": [
                    str(LAMELLA), "concat", *sources, "-o", str(target), "--join", join, "--label", "batch",
                    "--memory", "256MiB", "--quiet",
                ],
                "anndata.concat": python(
                    thirty, target, OUT.format(f"a = anndata.concat({READ}, join='{join}', label='batch')")
                ),
                "concat_on_disk": python(
                    thirty, target, f"concat_on_disk(paths, target, join='{join}', label='batch')"
                ),
            }  # fmt: skip
            what = "differing genes, outer" if differing else "the same genes"
            yield f"write: 30 × {rows} cells, {what} → {ending}", programs


def check(ours: Path, theirs: Path) -> None:
    """The last outputs have the same sums."""
    program = (
        "import anndata, sys, numpy as np\n"
        "a, b = [anndata.read_h5ad(p) if p.endswith('.h5ad') else anndata.read_zarr(p) for p in sys.argv[1:]]\n"
        "assert a.shape == b.shape and abs(a.X - b.X).nnz == 0 and a.obs.equals(b.obs)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(ours), str(theirs)], check=True)


def main() -> None:
    given = options(__doc__)
    given.data.mkdir(parents=True, exist_ok=True)
    print(f"{processor()}; median of {given.runs}\n")
    print("| case | program | seconds | min–max | peak MiB | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for cases in (lazy_cases, write_cases):
        for name, programs in cases(given.data, given.small):
            if given.case and not any(part in name for part in given.case):
                continue
            results: dict[str, list[tuple[float, int]]] = {program: [] for program in programs}
            writes = name.startswith("write")
            target = given.data / f"concat-out.{name.rsplit(' ', 1)[-1]}"
            kept = target.with_name("concat-ours" + target.suffix)
            for _ in range(given.runs):
                for program, command in programs.items():
                    clear(target)
                    results[program].append(measured(command, timed=command[0] == sys.executable))
                    if writes and program == "lamella":
                        clear(kept)
                        target.rename(kept)
                    if writes and program == "anndata.concat":
                        check(kept, target)
            clear(target)
            clear(kept)
            show(name, results)


if __name__ == "__main__":
    main()
