"""Hundreds of small stores as one, in the time that their metadata take: the case in which opening is what costs.

python examples/python/many_stores.py [stores]
"""

import sys
import tempfile
import time
from pathlib import Path

import anndata
import numpy as np
import scipy.sparse as sp

import lamella as lm


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            genes = np.sort(random.choice(600, 500, replace=False))
            adata = anndata.AnnData(sp.random(100, 500, 0.05, "csr", dtype="f4", random_state=number))
            adata.obs_names = [f"{number}-{cell}" for cell in range(100)]
            adata.var_names = [f"gene{gene}" for gene in genes]
            adata.write_h5ad(Path(folder, f"{number:04}.h5ad"))
        begin = time.perf_counter()
        everything = lm.concat(sorted(Path(folder).iterdir()), join="outer")
        print(f"{count} stores opened and concatenated to {everything.shape} in {time.perf_counter() - begin:.2f} s")
        begin = time.perf_counter()
        print(f"cells that have gene7: {everything[:, ['gene7']].X.count_nonzero()}")
        print(f"which took {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
