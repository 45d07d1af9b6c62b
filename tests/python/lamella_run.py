"""Runs the command line as a child and watches it: status, output, peak resident memory, time."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import anndata
import numpy as np
import scipy.sparse as sp


class Run(NamedTuple):
    status: int
    out: str
    err: str
    peak: int  # bytes
    seconds: float


# The peak that the kernel keeps of a child counts what it shared with its parent before the exec, and pytest is large:
# a small interpreter of its own starts the program and tells on a descriptor of its own.
LAUNCHER = """
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
with os.fdopen(int(sys.argv[1]), "w") as out:
    out.write(f"{status} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}")
"""


def run(program: str, *arguments, cwd=None, env=None) -> Run:
    """The peak is that of this one child, code and metadata included."""
    begin = time.perf_counter()
    told, tell = os.pipe()
    child = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, str(tell), program, *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        env=env,
        pass_fds=[tell],
    )
    os.close(tell)
    with os.fdopen(told) as pipe:
        status, kilobytes = map(int, pipe.read().split())
    return Run(status, child.stdout.decode(), child.stderr.decode(), kilobytes * 1024, time.perf_counter() - begin)


def done(program: str, *arguments, **options) -> Run:
    result = run(program, *arguments, **options)
    assert result.status == 0, result.err
    return result


def read(path: Path) -> anndata.AnnData:
    if path.suffix in {".zarr", ".zip"}:
        import zarr

        return anndata.read_zarr(zarr.storage.ZipStore(path, mode="r") if path.suffix == ".zip" else path)
    return anndata.read_h5ad(path)


def tree_bytes(path: Path) -> dict[str, bytes]:
    """Every file of a store, by its path inside."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def small_anndata(rows: int = 211, columns: int = 93, seed: int = 0) -> anndata.AnnData:
    """Something of everything that a conversion has to carry."""
    import pandas as pd

    random = np.random.default_rng(seed)
    counts = sp.random(rows, columns, 0.15, format="csr", dtype="f4", random_state=seed)
    obs = pd.DataFrame(
        {
            "age": random.integers(0, 90, rows),
            "batch": pd.Categorical([f"b{n % 3}" for n in range(rows)]),
            "flag": random.random(rows) > 0.5,
            "score": random.normal(size=rows),
            "maybe": pd.array([None if n % 7 == 0 else n for n in range(rows)], dtype="Int32"),
        },
        index=[f"cell{n}" for n in range(rows)],
    )
    return anndata.AnnData(
        X=counts,
        obs=obs,
        var=pd.DataFrame(index=[f"gene{n}" for n in range(columns)]),
        obsm={"pca": random.normal(size=(rows, 5))},
        varm={"loadings": random.normal(size=(columns, 2)).astype("f4")},
        layers={"dense": counts.toarray(), "csc": counts.tocsc()},
        obsp={"graph": sp.random(rows, rows, 0.02, format="csr", random_state=seed)},
        uns={"a": {"b": {"c": np.arange(4)}, "text": "größer"}, "pi": 3.14, "list": np.array(["x", "yy", ""])},
    )
