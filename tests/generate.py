"""Larger inputs, made of the small real files, the same on every machine. They go to build/data and stay there.

python tests/generate.py NAME…    prints where each is
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT / "tests/data/real"
CACHE = Path(os.environ.get("LAMELLA_DATA", ROOT / "build/data"))


def _attributes(element, kind: str, version: str, **more) -> None:
    element.attrs["encoding-type"] = kind
    element.attrs["encoding-version"] = version
    for name, value in more.items():
        element.attrs[name] = value


def _frame(file: h5py.File, name: str, length: int) -> None:
    frame = file.create_group(name)
    _attributes(frame, "dataframe", "0.2.0", _index="_index")
    frame.attrs.create("column-order", [], dtype=h5py.string_dtype())
    index = frame.create_dataset("_index", data=[f"{name}{n}" for n in range(length)], dtype=h5py.string_dtype())
    _attributes(index, "string-array", "0.2.0")


def _anndata(file: h5py.File, rows: int, columns: int) -> None:
    _attributes(file, "anndata", "0.1.0")
    _frame(file, "obs", rows)
    _frame(file, "var", columns)


def dense(path: Path, rows: int = 10_000, columns: int = 10_000, **options) -> None:
    """float64 of real digits: the counts of scvi's cells, resampled and jittered, block by block."""
    with h5py.File(REAL / "scvi-pbmc_5k_protein_v3.h5ad") as source:
        cells = source["X"][:, :columns].astype("f8")
    random = np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        _anndata(file, rows, columns)
        x = file.create_dataset("X", (rows, columns), "f8", **options)
        _attributes(x, "array", "0.2.0")
        for start in range(0, rows, 500):
            count = min(500, rows - start)
            block = cells[random.integers(0, len(cells), count)]
            x[start : start + count] = np.log1p(block) * random.uniform(0.5, 1.5, (count, 1)).round(3)


def csr(path: Path, nnz: int, columns: int = 32_000, **options) -> None:
    """CSR counts of about `nnz` non-zeros: rows of the PBMC matrix, resampled; columns spread over the full width."""
    with h5py.File(REAL / "10x_pbmc68k_reduced.h5ad") as source:
        group = source["raw/X"]
        data, indices, indptr = group["data"][:], group["indices"][:], group["indptr"][:]
    random = np.random.default_rng(2)
    spread = np.sort(random.choice(columns, int(indices.max()) + 1, replace=False)).astype("i4")
    lengths = np.diff(indptr)
    rows = int(nnz / lengths.mean())
    chosen = random.integers(0, len(lengths), rows)
    offsets = np.concatenate([[0], np.cumsum(lengths[chosen])]).astype("i8")
    with h5py.File(path, "w") as file:
        _anndata(file, rows, columns)
        x = file.create_group("X")
        _attributes(x, "csr_matrix", "0.1.0", shape=np.array([rows, columns]))
        x["indptr"] = offsets
        stored = {
            "data": x.create_dataset("data", (offsets[-1],), "f4", **options),
            "indices": x.create_dataset("indices", (offsets[-1],), "i4", **options),
        }
        step = 20_000
        for start in range(0, rows, step):
            block = chosen[start : start + step]
            picked = np.concatenate([np.arange(indptr[row], indptr[row + 1]) for row in block])
            region = slice(offsets[start], offsets[min(start + step, rows)])
            stored["data"][region] = data[picked]
            stored["indices"][region] = spread[indices[picked]]


RECIPES: dict[str, Callable[[Path], None]] = {
    "dense-contiguous.h5ad": dense,
    "dense-gzip.h5ad": lambda path: dense(path, chunks=(100, 1000), compression="gzip", compression_opts=1),
    "dense-rows.h5ad": lambda path: dense(path, 4000, 4000, chunks=(10, 4000)),
    "dense-one-chunk.h5ad": lambda path: dense(
        path, 4000, 4000, chunks=(4000, 4000), compression="gzip", compression_opts=1
    ),
    "csr-3e6.h5ad": lambda path: csr(path, 3_000_000, chunks=(50_000,), compression="gzip", compression_opts=1),
    "csr-3e7.h5ad": lambda path: csr(path, 30_000_000),
    "csr-3e8.h5ad": lambda path: csr(path, 300_000_000),
}


def make(name: str) -> Path:
    """The path of an input; made when it is not there yet."""
    path = CACHE / name
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        RECIPES[name](unfinished)
        unfinished.rename(path)
    return path


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(f"{__doc__}\nnames: {', '.join(RECIPES)}")
    for wanted in sys.argv[1:]:
        print(make(wanted))
