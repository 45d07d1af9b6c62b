"""Two large stores, of which one lacks a layer, as one: what takes half a minute elsewhere takes milliseconds.

python examples/python/missing_layer.py [rows] [genes]
"""

import sys
import tempfile
import time
from pathlib import Path

import anndata
import numpy as np
import scipy.sparse as sp

import lamella as lm


def store(path: Path, rows: int, genes: int, layer: bool) -> Path:
    taken = max(genes // 50, 1)
    indices = np.sort(np.random.default_rng(0).integers(0, genes, (rows, taken), dtype="i4"), axis=1)
    x = sp.csr_matrix((np.ones(rows * taken, "f4"), indices.ravel(), np.arange(rows + 1) * taken), (rows, genes))
    adata = anndata.AnnData(x, layers={"counts": x} if layer else {})
    adata.obs_names = [f"{path.stem}-{row}" for row in range(rows)]
    adata.write_h5ad(path)
    return path


def main() -> None:
    rows, genes = (int(argument) for argument in (sys.argv[1:3] or ("20000", "5000")))
    with tempfile.TemporaryDirectory() as folder:
        paths = [store(Path(folder, name), rows, genes, name == "a.h5ad") for name in ("a.h5ad", "b.h5ad")]
        stores = [lm.open(path) for path in paths]
        begin = time.perf_counter()
        both = lm.concat(stores, join="outer")
        print(f"concatenated to {both.shape} in {(time.perf_counter() - begin) * 1000:.1f} ms")
        counts = both.layers["counts"]
        print(counts, "stored in the first half:", counts[:rows].nnz, "and in the second:", counts[rows:].nnz)
        print(both.write(Path(folder, "both.zarr"), memory="256MiB"))


if __name__ == "__main__":
    main()
