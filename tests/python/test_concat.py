"""lm.concat beside anndata.concat of the same objects in memory: the same result, element by element."""

import os
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from anndata.tests.helpers import assert_equal

import lamella as lm

warnings.filterwarnings("ignore", category=FutureWarning)


def canonical(matrix):
    """Sparse matrices with sorted rows, no zeros and no duplicates: anndata's come in any order."""
    if sp.issparse(matrix):
        matrix = matrix.tocsr(copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        matrix.sort_indices()
    return matrix


def assert_same(ours: anndata.AnnData, theirs: anndata.AnnData, dtypes: bool = True) -> None:
    def matrices(adata):
        out = {"X": adata.X}
        for name in ("layers", "obsm", "varm", "obsp", "varp"):
            out |= {f"{name}/{key}": value for key, value in getattr(adata, name).items()}
        if adata.raw is not None:
            out["raw/X"] = adata.raw.X
        return {key: value for key, value in out.items() if value is not None}

    def frames(a, b):
        # An index without names is one of objects to pandas, and makes others so that it is put to.
        pd.testing.assert_frame_equal(a, b, check_index_type=a.index.dtype == b.index.dtype)
        assert a.index.tolist() == b.index.tolist()

    frames(ours.obs, theirs.obs)
    frames(ours.var, theirs.var)
    a, b = matrices(ours), matrices(theirs)
    if theirs.n_obs == 0:
        a.pop("raw/X", None)  # anndata has no raw of no rows
        b.pop("raw/X", None)
    assert set(a) == set(b)
    for key in b:
        assert sp.issparse(a[key]) == sp.issparse(b[key]), key
        if isinstance(b[key], pd.DataFrame):
            frames(a[key], b[key])
            continue
        if dtypes:
            assert a[key].dtype == b[key].dtype, key
        x, y = canonical(a[key]), canonical(b[key])
        if sp.issparse(x):
            x, y = x.toarray(), y.toarray()
        np.testing.assert_array_equal(x, y, err_msg=key)
    assert_equal(dict(ours.uns), dict(theirs.uns), exact=True)
    if theirs.raw is not None:
        frames(ours.raw.var, theirs.raw.var)


COLUMN_KINDS = ["int", "float", "bool", "str", "cat", "cat2", "ordered", "Int64", "boolean", "f4", "u1"]


def column(random: np.random.Generator, kind: str, n: int):
    words = np.array(["c2", "c10", "b", "Ä", "x y", "c1"])
    match kind:
        case "int":
            return random.integers(-5, 5, n)
        case "u1":
            return random.integers(0, 200, n).astype("u1")
        case "float":
            return np.where(random.random(n) < 0.2, np.nan, random.random(n))
        case "f4":
            return random.random(n).astype("f4")
        case "bool":
            return random.random(n) < 0.5
        case "str":
            return pd.array(random.choice(words, n).tolist(), dtype="str")
        case "cat":
            return pd.Categorical(random.choice(words[: random.integers(1, 6)], n))
        case "cat2":
            some = random.permutation(words)[: random.integers(1, 6)]
            values = random.choice(some, n).astype(object)
            values[random.random(n) < 0.2] = None
            return pd.Categorical(values, categories=some)
        case "ordered":
            return pd.Categorical(random.choice(words[:3], n), categories=words[:3], ordered=True)
        case "Int64":
            return pd.arrays.IntegerArray(random.integers(0, 9, n), random.random(n) < 0.3)
        case "boolean":
            return pd.arrays.BooleanArray(random.random(n) < 0.5, random.random(n) < 0.3)
    raise AssertionError(kind)


def matrix(random: np.random.Generator, shape: tuple[int, int], kind: str, dtype: str):
    dense = np.where(random.random(shape) < 0.4, random.integers(1, 9, shape), 0).astype(dtype)
    match kind:
        case "dense":
            return dense
        case "csr":
            return sp.csr_matrix(dense)
        case "csc":
            return sp.csc_matrix(dense)
    raise AssertionError(kind)


NUMBERS = ["f4", "f8", "i4", "i8", "u1"]


def stores(random: np.random.Generator, count: int) -> list[anndata.AnnData]:
    """Some AnnData that have much in common, but not all."""
    same_genes = random.random() < 0.5
    kinds = {name: random.choice(COLUMN_KINDS) for name in ("a", "b", "c")}
    layer_kinds = {name: random.choice(["dense", "csr", "csc", "mixed"]) for name in ("X", "l1", "l2")}
    dtypes = {name: random.choice([*NUMBERS, "mixed"]) for name in layer_kinds}
    out = []
    for number in range(count):
        n, k = int(random.integers(0 if number else 1, 7)), 5 if same_genes else int(random.integers(1, 6))
        genes = (
            [f"g{i}" for i in range(k)] if same_genes else random.permutation([f"g{i}" for i in range(7)])[:k].tolist()
        )
        adata = anndata.AnnData(
            obs=pd.DataFrame(index=pd.Index([f"s{number}c{i}" for i in range(n)])),
            var=pd.DataFrame(index=pd.Index(genes)),
        )
        for name, kind in kinds.items():
            if random.random() < 0.8:
                adata.obs[name] = column(random, kind, n)
            if random.random() < 0.8:
                adata.var[name] = column(np.random.default_rng(3), kind, k)
        for name, kind in layer_kinds.items():
            if random.random() < 0.25:
                continue
            form = random.choice(["dense", "csr", "csc"]) if kind == "mixed" else kind
            dtype = random.choice(NUMBERS) if dtypes[name] == "mixed" else dtypes[name]
            made = matrix(random, (n, k), form, dtype)
            if name == "X":
                adata.X = made
            else:
                adata.layers[name] = made
        if random.random() < 0.7:
            adata.obsm["m"] = random.random((n, int(random.integers(1, 4)))).astype("f4")
        if random.random() < 0.7:
            adata.obsm["df"] = pd.DataFrame(
                {"p": column(random, "int", n), "q": column(random, "cat", n)}, index=adata.obs_names
            )
        if random.random() < 0.6:
            adata.varm["v"] = np.ones((k, 2))
        if random.random() < 0.6:
            adata.obsp["d"] = sp.random(n, n, 0.3, "csr", random_state=1)
        if random.random() < 0.6:
            adata.varp["e"] = np.ones((k, k))
        adata.uns["same"] = {"x": 1, "inner": {"y": "text", "z": np.arange(3)}}
        adata.uns["differs"] = number
        if random.random() < 0.5:
            adata.uns["some"] = {"only": np.float32(number), "list": np.array(["a", "b"])}
        out.append(adata)
    if random.random() < 0.5:
        for adata in out:
            if adata.X is not None and adata.n_obs:  # anndata loses the raw of no rows when it reads
                adata.raw = adata.copy()
    return out


def written(adatas, folder, form):
    paths = []
    for number, adata in enumerate(adatas):
        path = folder / f"{number}.{form if form != 'mixed' else ['h5ad', 'zarr'][number % 2]}"
        if path.suffix == ".h5ad":
            adata.write_h5ad(path)
        else:
            adata.write_zarr(path)
        paths.append(path)
    return paths


def read_one(path):
    """As anndata reads it, with strings as objects whatever the format."""
    adata = anndata.read_h5ad(path) if path.suffix == ".h5ad" else anndata.read_zarr(path)
    for element in adata.uns.values():
        if isinstance(element, dict) and "list" in element:
            element["list"] = element["list"].astype(object)
    return adata


def theirs_of(adatas, **options):
    """What anndata gives, or why not."""
    try:
        return anndata.concat([adata.copy() for adata in adatas], **options)
    except Exception as error:
        return error


def object_columns(adata) -> bool:
    frames = [adata.obs, adata.var, *(v for v in adata.obsm.values() if isinstance(v, pd.DataFrame))]
    return any(frame[name].dtype == object for frame in frames for name in frame.columns)


@pytest.mark.parametrize("seed", range(int(os.environ.get("LAMELLA_CONCAT_SEEDS", "80"))))
def test_the_same_as_anndata(tmp_path, seed):
    random = np.random.default_rng(seed)
    adatas = stores(random, int(random.integers(1, 4)))
    merges = [None, "same", "unique", "first", "only"]
    options = {
        "join": ["inner", "outer"][random.integers(2)],
        "axis": ["obs", "obs", "var"][random.integers(3)],
        "merge": merges[random.integers(5)],
        "uns_merge": merges[random.integers(5)],
        "label": [None, "batch", "a"][random.integers(3)],
        "index_unique": [None, "-"][random.integers(2)],
        "pairwise": bool(random.integers(2)),
        "fill_value": [None, None, 0, 5, -1.5][random.integers(5)],
    }
    paths = written(adatas, tmp_path, ["h5ad", "zarr", "mixed"][random.integers(3)])
    read = [read_one(path) for path in paths]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = theirs_of(read, **options)
        if isinstance(theirs, Exception):
            pytest.skip(f"anndata refuses: {theirs}")
        if object_columns(theirs):
            pytest.skip("a column of objects, which no store can hold")
        ours = lm.concat(paths, **options)
        assert_same(ours.to_memory(), theirs)
        assert_same(ours.to_anndata(lazy=True, chunks=(7, 5)).to_memory(), theirs)
        target = tmp_path / ["out.h5ad", "out.zarr"][random.integers(2)]
        ours.write(target, memory="64MiB")
        back = read_one(target)
        assert_same(back, theirs)


def ragged(seed: int, n: int, shape: int):
    import awkward as ak

    random = np.random.default_rng(seed)

    def record():
        return {
            "a": int(random.integers(9)),
            "b": random.choice(["foo", "x", ""]),
            "c": [1.5] * int(random.integers(3)),
        }

    lists = [
        lambda: [record() for _ in range(random.integers(3))],
        lambda: [None if random.random() < 0.3 else random.random() for _ in range(random.integers(4))],
        lambda: None if random.random() < 0.3 else [[int(random.integers(5))] * int(random.integers(3))],
        lambda: [["text", 2.5, "more"][int(random.integers(3))] for _ in range(random.integers(3))],
        lambda: {"x": random.random(), "y": (1, "t")},
    ]
    first = [["text", 1.5]] if shape == 3 else []  # the order of the types in a union
    return ak.Array(first + [lists[shape]() for _ in range(n - len(first))])


@pytest.mark.parametrize("form", ["h5ad", "zarr"])
@pytest.mark.parametrize("shape", range(5))
def test_awkward(tmp_path, shape, form):
    ak = pytest.importorskip("awkward")
    adatas, paths = [], []
    for i, n in enumerate((30, 25, 28)):
        array = ragged(i, n, shape)
        adatas.append(anndata.AnnData(np.zeros((n, 2), "f4"), obsm={"awk": array}))
        adatas[-1].obs_names = [f"{i}-{j}" for j in range(n)]
        paths.append(tmp_path / f"{i}.{form}")
        adatas[-1].write_h5ad(paths[-1]) if form == "h5ad" else adatas[-1].write_zarr(paths[-1])
    types = {str(a.obsm["awk"].type).split("*", 1)[1] for a in adatas}
    assert len(types) == 1, types
    wanted = ak.to_list(anndata.concat(adatas).obsm["awk"])
    both = lm.concat(paths)
    assert ak.to_list(both.to_memory().obsm["awk"]) == wanted
    rows = [70, 3, 3, 29, 30, -1]
    target = tmp_path / f"out.{form}"
    both[rows].write(target)
    read = anndata.read_h5ad if form == "h5ad" else anndata.read_zarr
    assert ak.to_list(read(target).obsm["awk"]) == [wanted[row] for row in rows]
    assert ak.to_list(lm.open(paths[0])[::-2].to_memory().obsm["awk"]) == ak.to_list(adatas[0].obsm["awk"])[::-2]


def test_awkward_that_some_lack(tmp_path):
    ak = pytest.importorskip("awkward")
    a = anndata.AnnData(np.zeros((3, 2)), obsm={"awk": ak.Array([[1], [2, 3], []])})
    b, c = anndata.AnnData(np.zeros((2, 2))), anndata.AnnData(np.zeros((3, 2)), obsm={"awk": np.zeros((3, 1))})
    for name, one in zip("abc", (a, b, c), strict=True):
        one.obs_names = [f"{name}{i}" for i in range(one.n_obs)]
        one.write_h5ad(tmp_path / f"{name}.h5ad")
    both = lm.concat([tmp_path / "b.h5ad", tmp_path / "a.h5ad", tmp_path / "b.h5ad"], join="outer", index_unique="-")
    assert ak.to_list(both.to_memory().obsm["awk"]) == [None, None, [1], [2, 3], [], None, None]
    with pytest.raises(lm.UnsupportedError, match="Cannot concatenate an AwkwardArray with other array types"):
        lm.concat([tmp_path / "a.h5ad", tmp_path / "c.h5ad"]).obsm["awk"]
