"""A lazily opened AnnData in other people's processes: pools, Dask workers, torch's DataLoader."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import anndata
import numpy as np
import pytest
import scipy.sparse as sp

import lamella as lm

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", params=["h5ad", "zarr"])
def stored(request, tmp_path_factory) -> tuple[Path, np.ndarray]:
    path = tmp_path_factory.mktemp("processes") / f"a.{request.param}"
    x = sp.random(300, 40, 0.2, "csr", dtype="f4", random_state=0)
    adata = anndata.AnnData(x, layers={"dense": x.toarray()})
    adata.write_h5ad(path) if request.param == "h5ad" else adata.write_zarr(path)
    return path, x.toarray()


def sum_of_rows(task) -> np.ndarray:
    lazy, rows = task
    return np.asarray(lazy[rows].X.to_memory().sum(axis=0)).ravel()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(stored, method):
    path, dense = stored
    lazy = lm.open(path)
    lazy.X.sum(axis=0)  # threads of this process run already
    lazy = lazy[::-1]
    assert len(pickle.dumps(lazy)) < 1500
    tasks = [(lazy, slice(i, i + 50)) for i in range(0, 300, 50)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        sums = list(pool.map(sum_of_rows, tasks))
    np.testing.assert_allclose(sums, [dense[::-1][i : i + 50].sum(axis=0) for i in range(0, 300, 50)], rtol=1e-5)


def test_dask_workers_in_processes(stored):
    distributed = pytest.importorskip("distributed")
    path, dense = stored
    lazy = lm.open(path)[::2]
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster):
        for name in ("X", "dense"):
            matrix = lazy.X if name == "X" else lazy.layers[name]
            doubled = (matrix.to_dask(chunks=(37, 11)) * 2).compute()
            np.testing.assert_array_equal(doubled.toarray() if name == "X" else doubled, 2 * dense[::2])
        over_dask = lazy.to_anndata(lazy=True)
        np.testing.assert_array_equal(over_dask.layers["dense"].compute(), dense[::2])


class Rows:
    """As torch wants a dataset: a length, and items by number."""

    def __init__(self, lazy):
        self.lazy = lazy

    def __len__(self) -> int:
        return self.lazy.shape[0]

    def __getitem__(self, row: int) -> np.ndarray:
        return self.lazy[[row]].X.to_memory().toarray()[0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader(stored, method):
    torch = pytest.importorskip("torch")
    path, dense = stored
    loader = torch.utils.data.DataLoader(
        Rows(lm.open(path)), batch_size=30, num_workers=2, multiprocessing_context=method
    )
    np.testing.assert_array_equal(torch.cat(list(loader)).numpy(), dense)
