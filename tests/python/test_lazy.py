"""The lazy AnnData beside what anndata reads: every real file of every era, selections, tables, arithmetic, pickles."""

import concurrent.futures
import importlib.util
import multiprocessing
import pickle
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zarr
from anndata.tests.helpers import assert_equal

import lamella as lm

from conftest import REAL_FILES
from old_layouts import write_0_6, write_0_7

warnings.filterwarnings("ignore", category=FutureWarning)


def read(path):
    if path.suffix == ".h5ad":
        return anndata.read_h5ad(path)
    return anndata.read_zarr(zarr.storage.ZipStore(path, mode="r") if path.suffix == ".zip" else path)


def without_nan(adata):
    """assert_equal does not know that NaN is NaN in arrays of varm."""
    for mapping in (adata.obsm, adata.varm):
        for key, value in mapping.items():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                mapping[key] = np.nan_to_num(value, nan=-7.0)
    return adata


def assert_same(ours, theirs):
    assert_equal(without_nan(ours), without_nan(theirs), exact=True)


@pytest.fixture(scope="module", params=["h5ad", "zarr"])
def stored(request, tmp_path_factory):
    """A store with everything, and what anndata has of it."""
    random = np.random.default_rng(0)
    n, k = 40, 17
    dense = random.random((n, k)).astype("f4")
    sparse = sp.random(n, k, 0.3, "csr", dtype="f4", random_state=1)
    adata = anndata.AnnData(
        sparse,
        obs=pd.DataFrame(
            {
                "kind": pd.Categorical(random.choice(["B", "T", "NK"], n), categories=["B", "T", "NK", "never"]),
                "score": random.random(n),
                "text": random.choice(["x", "y"], n),
                "whole": pd.array(np.where(random.random(n) < 0.2, None, 3), dtype="Int64"),
            },
            index=[f"cell{i}" for i in range(n)],
        ),
        var=pd.DataFrame({"length": np.arange(k)}, index=[f"gene{i}" for i in range(k)]),
        layers={"dense": dense, "csc": sparse.tocsc(), "counts": (dense * 10).astype("i4")},
        obsm={"pca": dense[:, :3], "frame": pd.DataFrame({"a": np.arange(n)}, index=[f"cell{i}" for i in range(n)])},
        varm={"load": random.random((k, 2))},
        obsp={"graph": sp.random(n, n, 0.2, "csr", random_state=2)},
        varp={"corr": random.random((k, k))},
        uns={"kind_colors": np.array(["#1", "#2", "#3", "#4"]), "deep": {"er": {"x": 1.5, "y": "text"}}, "none": None},
    )
    adata.raw = adata.copy()
    path = tmp_path_factory.mktemp("lazy") / f"a.{request.param}"
    adata.write_h5ad(path) if request.param == "h5ad" else adata.write_zarr(path)
    return path, read(path)


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.name)
def test_real_files_equal_what_anndata_reads(path):
    lazy = lm.open(path)
    theirs = read(path)
    assert_same(lazy.to_memory(), theirs.copy())
    random = np.random.default_rng(0)
    obs, var = random.integers(0, theirs.n_obs, 20), random.permutation(theirs.n_vars)[: theirs.n_vars // 2]
    assert_same(lazy[obs, var].to_memory(), theirs[obs, var].copy())
    assert str(theirs.n_obs) in repr(lazy) and "<table>" in lazy._repr_html_()


@pytest.mark.parametrize("make", [write_0_6, write_0_7])
def test_old_layouts(tmp_path, make):
    path = make(tmp_path / "old.h5ad")
    assert_same(lm.open(path).to_memory(), read(path))


SELECTIONS = {
    "slices": (slice(3, 30, 4), slice(None, None, -1)),
    "positions": ([5, 3, 3, -1], [0, 16, 2]),
    "names": (["cell7", "cell3"], "gene4"),
    "one": (4, 5),
    "name slices": (slice("cell3", "cell9"), slice(None)),
    "empty": ([], [1]),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_selections(stored, name):
    path, theirs = stored
    obs, var = SELECTIONS[name]
    lazy = lm.open(path)[obs, var]
    wanted = theirs[obs, var].copy()
    assert lazy.shape == wanted.shape
    if name == "empty":
        assert lazy.to_memory().var_names.tolist() == wanted.var_names.tolist()
        return
    assert_same(lazy.to_memory(), wanted)


def test_masks_and_views_of_views(stored):
    path, theirs = stored
    lazy = lm.open(path)
    mask = lazy.obs["kind"] == "T"
    np.testing.assert_array_equal(mask, theirs.obs["kind"] == "T")
    assert_same(lazy[mask].to_memory(), theirs[mask].copy())
    assert_same(lazy[mask][::-1][[1, 0]].to_memory(), theirs[mask][::-1][[1, 0]].copy())
    assert_same(lazy[theirs.obs["score"] > 0.5, theirs.var["length"] < 9].to_memory(),
                theirs[theirs.obs["score"] > 0.5, theirs.var["length"] < 9].copy())  # fmt: skip


def test_names_that_are_not_there(stored):
    lazy = lm.open(stored[0])
    with pytest.raises(KeyError, match="nobody"):
        lazy[["cell1", "nobody"]]
    with pytest.raises(IndexError):
        lazy[:, 99]
    with pytest.raises(IndexError):
        lazy[0, 0, 0]
    with pytest.raises(lm.NotFoundError, match="nothing"):
        lazy.layers["nothing"]


def test_tables(stored):
    path, theirs = stored
    obs = lm.open(path).obs
    assert obs.columns == list(theirs.obs) and obs.shape == theirs.obs.shape
    pd.testing.assert_frame_equal(obs.to_pandas(), theirs.obs)
    pd.testing.assert_frame_equal(obs[["text", "score"]].to_pandas(), theirs.obs[["text", "score"]])
    for name in theirs.obs:
        pd.testing.assert_series_equal(obs[name].to_pandas(), theirs.obs[name])
    pd.testing.assert_series_equal(obs.kind.to_pandas(), theirs.obs.kind)
    assert obs["kind"].kind == "categorical" and list(obs["kind"].categories) == ["B", "T", "NK", "never"]
    np.testing.assert_array_equal(obs["score"] > 0.5, theirs.obs["score"] > 0.5)
    np.testing.assert_array_equal(obs["whole"] == 3, (theirs.obs["whole"] == 3).fillna(False).to_numpy(bool))
    np.testing.assert_array_equal(obs["text"].isin(["x"]), theirs.obs["text"].isin(["x"]))
    with pytest.raises(KeyError, match="score"):
        obs["absent"]
    with pytest.raises(AttributeError, match="to_pandas"):
        obs["score"].rolling  # noqa: B018


@pytest.mark.parametrize("layer", [None, "dense", "csc", "counts"])
def test_matrices(stored, layer):
    path, theirs = stored
    lazy = lm.open(path)
    matrix = lazy.X if layer is None else lazy.layers[layer]
    full = theirs.X if layer is None else theirs.layers[layer]
    plain = full.toarray() if sp.issparse(full) else full
    assert matrix.format == (full.format if sp.issparse(full) else "dense")
    assert type(matrix[...]) is type(full)
    np.testing.assert_array_equal(np.asarray(matrix), plain)
    for rows, columns in [(slice(3, 9), slice(None)), ([4, 4, 1], [0, 5]), (slice(None), slice(2, 3)), ([], [])]:
        part = matrix[rows, columns]
        wanted = plain[rows][:, columns] if rows != [] else np.empty((0, 0))
        np.testing.assert_array_equal(part.toarray() if sp.issparse(part) else part, wanted)
    assert matrix[3, 4] == plain[3, 4]
    np.testing.assert_array_equal(np.asarray(matrix.T), plain.T)
    np.testing.assert_array_equal(np.asarray(matrix.astype("f8") * 2), plain.astype("f8") * 2)
    np.testing.assert_allclose(np.asarray(matrix.log1p()), np.log1p(plain.astype(matrix.log1p().dtype)), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(matrix.scale_rows(np.arange(40)).scale_columns(np.arange(17) + 1)),
                               plain * np.arange(40)[:, None] * (np.arange(17) + 1), rtol=1e-5)  # fmt: skip
    sums = plain.astype("f8").sum(1)
    target = np.median(sums[sums > 0])
    np.testing.assert_allclose(np.asarray(matrix.normalize_total()),
                               plain * (target / np.where(sums > 0, sums, target))[:, None], rtol=1e-5)  # fmt: skip
    for axis in (0, 1, None):
        np.testing.assert_allclose(matrix.sum(axis), plain.astype("f8").sum(axis), rtol=1e-6)
        np.testing.assert_allclose(matrix.mean(axis), plain.astype("f8").mean(axis), rtol=1e-6)
        np.testing.assert_array_equal(matrix.max(axis), plain.max(axis))
        np.testing.assert_array_equal(matrix.min(axis), plain.min(axis))
        np.testing.assert_array_equal(matrix.count_nonzero(axis), (plain != 0).sum(axis))
    np.testing.assert_allclose(matrix.var(0), plain.astype("f8").var(0), atol=1e-6)
    if matrix.format == "dense":
        np.testing.assert_allclose(
            np.asarray(matrix.add_columns(np.arange(17)) + 1), plain + np.arange(17) + 1, rtol=1e-6
        )
    else:
        with pytest.raises(lm.UnsupportedError, match="fill"):
            matrix + 1
        np.testing.assert_array_equal(matrix.tocsr()[...].toarray(), plain)
        np.testing.assert_array_equal(matrix.tocsc()[...].toarray(), plain)


@pytest.mark.parametrize("layer", [None, "dense", "csc"])
@pytest.mark.parametrize("chunks", [(7, 5), (40, 17), (40, 1), (1, 17)])
def test_dask(stored, layer, chunks):
    pytest.importorskip("dask")
    path, theirs = stored
    lazy = lm.open(path)
    matrix = lazy.X if layer is None else lazy.layers[layer]
    full = theirs.X if layer is None else theirs.layers[layer]
    array = matrix.to_dask(chunks)
    assert array.shape == full.shape and array.dtype == full.dtype and array.chunks[0][0] == chunks[0]
    blocks = array if layer == "dense" else array.map_blocks(lambda block: block.toarray(), dtype=full.dtype)
    np.testing.assert_array_equal(blocks.compute(), full.toarray() if sp.issparse(full) else full)


@pytest.mark.parametrize("layer", [None, "dense", "csc"])
def test_dask_over_cupy(stored, layer):
    cupy = pytest.importorskip("cupy")
    path, theirs = stored
    matrix = lm.open(path).X if layer is None else lm.open(path).layers[layer]
    full = theirs.X if layer is None else theirs.layers[layer]
    block = matrix.to_dask((40, 17), backend="cupy").compute()
    np.testing.assert_array_equal(cupy.asnumpy(block if layer == "dense" else block.toarray()), np.asarray(matrix))
    assert full.shape == block.shape


def test_cupy_is_asked_for_by_name(stored):
    with pytest.raises(lm.InvalidError, match="backend"):
        lm.open(stored[0]).X.to_dask(backend="jax")
    if importlib.util.find_spec("cupy") is None:
        with pytest.raises(lm.UnsupportedError, match="cupy"):
            lm.open(stored[0]).X.to_dask(backend="cupy")


def test_anndata_over_dask(stored):
    pytest.importorskip("dask")
    path, theirs = stored
    adata = lm.open(path)[5:20].to_anndata(lazy=True)
    assert isinstance(adata, anndata.AnnData) and type(adata.X).__module__.startswith("dask")
    assert_same(adata.to_memory(), theirs[5:20].copy())


def _work(lazy):
    return float(lazy.X.sum()), lazy.obs["score"].to_pandas().sum()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pickles_open_again_where_they_land(stored, method):
    path, _ = stored
    lazy = lm.open(path)
    cut = lazy[10:30][::2, [3, 1]]
    assert len(pickle.dumps(cut)) < 1500
    assert_same(pickle.loads(pickle.dumps(cut)).to_memory(), cut.to_memory())
    matrix = pickle.loads(pickle.dumps(cut.X.log1p() * 2))
    np.testing.assert_array_equal(np.asarray(matrix), np.asarray(cut.X.log1p() * 2))
    both = lm.concat([lazy, path], index_unique="-")
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        for one, got in zip([lazy, cut, both], pool.map(_work, [lazy, cut, both]), strict=True):
            np.testing.assert_allclose(got, _work(one))


def test_handles(stored):
    path, theirs = stored
    if path.suffix == ".h5ad":
        with h5py.File(path) as file:
            lazy, column = lm.open(file), lm.open(file["obs/score"])
        np.testing.assert_array_equal(column[...], theirs.obs["score"])
    else:
        lazy = lm.open(zarr.open_group(path, mode="r"))
    assert_same(lazy.to_memory(), theirs.copy())
    with pytest.raises(lm.InvalidError, match="path"):
        lm.open(3)


@pytest.mark.parametrize("target", ["out.h5ad", "out.zarr", "out.zarr.zip"])
def test_writing_a_selection(stored, tmp_path, target):
    path, theirs = stored
    cut = lm.open(path)[[3, 1, 1, 30], 2:9]
    cut.write(tmp_path / target, memory="64MiB")
    back = read(tmp_path / target)
    wanted = theirs[[3, 1, 1, 30], 2:9].to_memory()
    np.testing.assert_array_equal(back.X.toarray(), wanted.X.toarray())
    pd.testing.assert_frame_equal(back.obs.drop(columns="kind"), wanted.obs.drop(columns="kind"))
    assert back.obs["kind"].tolist() == wanted.obs["kind"].tolist()
    for name in wanted.layers:
        a, b = back.layers[name], wanted.layers[name]
        np.testing.assert_array_equal(a.toarray() if sp.issparse(a) else a, b.toarray() if sp.issparse(b) else b)
    np.testing.assert_array_equal(back.obsp["graph"].toarray(), wanted.obsp["graph"].toarray())


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    """Chunks of X that are broken do no harm until somebody reads them."""
    path = tmp_path / "a.h5ad"
    anndata.AnnData(np.ones((50, 40)), obs=pd.DataFrame({"a": np.arange(50)})).write_h5ad(path, compression="gzip")
    with h5py.File(path) as file:
        spots = [file["X"].id.get_chunk_info(i) for i in range(file["X"].id.get_num_chunks())]
    with open(path, "r+b") as raw:
        for spot in spots:
            raw.seek(spot.byte_offset)
            raw.write(b"\xff" * min(spot.size, 16))
    lazy = lm.open(path)
    both = lm.concat([lazy, lazy[::-1]], index_unique="-")
    assert both[:10].X.shape == (10, 40) and both.X.T.log1p().shape == (40, 100)
    assert both.obs["a"].to_pandas().tolist() == [*range(50), *reversed(range(50))]
    with pytest.raises(lm.CorruptError, match="X"):
        both.X[0]
