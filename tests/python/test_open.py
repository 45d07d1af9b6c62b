"""Opening: what is there, and what numpy would call it. The oracles are h5py, zarr-python and anndata's own readers."""

import numpy as np
import pytest

import lamella as lm

from conftest import DTYPES, REAL, REAL_FILES, values, write_hdf5, write_zarr


def walk(group, prefix=""):
    for name, node in group.items():
        yield f"{prefix}{name}", node
        if isinstance(node, lm.Group):
            yield from walk(node, f"{prefix}{name}/")


def same(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    if ours.dtype.names:
        assert ours.dtype.names == theirs.dtype.names
        for name in ours.dtype.names:
            same(ours[name], theirs[name])
    elif ours.dtype == object or theirs.dtype.kind in "OT":
        plain = lambda x: x.decode() if isinstance(x, bytes) else x  # noqa: E731
        assert [plain(x) for x in ours.ravel().tolist()] == [plain(x) for x in theirs.ravel().tolist()]
    else:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("path", [path for path in REAL_FILES if path.suffix == ".h5ad"], ids=lambda path: path.name)
def test_every_array_of_the_real_hdf5_files_equals_h5py(path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("hdf5plugin")
    store = lm.open(path)
    with h5py.File(path) as file:
        names = []
        file.visit(names.append)
        assert sorted(name for name, _ in walk(store)) == sorted(names)
        for name, node in walk(store):
            theirs = file[name]
            assert set(node.attrs) == set(theirs.attrs), name
            if isinstance(node, lm.Group):
                assert isinstance(theirs, h5py.Group)
                continue
            assert node.shape == theirs.shape
            assert node.chunks == theirs.chunks
            whole = theirs[()]
            if h5py.check_enum_dtype(theirs.dtype):
                whole = whole.astype(bool)
            elif isinstance(whole, bytes):
                whole = whole.decode()  # h5py leaves the text of a scalar undecoded
            same(node[()], whole)


@pytest.mark.parametrize("path", [path for path in REAL_FILES if path.suffix == ".zip"], ids=lambda path: path.name)
def test_every_array_of_the_real_zarr_files_equals_zarr_python(path):
    zarr = pytest.importorskip("zarr")
    store = lm.open(path)
    theirs = zarr.open_group(zarr.storage.ZipStore(path, mode="r"), mode="r")
    assert set(store) == set(theirs.keys())
    for name, node in walk(store):
        assert dict(node.attrs) == dict(theirs[name].attrs), name
        if isinstance(node, lm.Array):
            assert node.chunks == theirs[name].chunks
            same(node[()], theirs[name][()])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("write", [write_hdf5, write_zarr], ids=["hdf5", "zarr"])
def test_dtypes_come_as_they_are(tmp_path, write, dtype):
    data = values((7, 5), dtype)
    array = lm.open(write(tmp_path / "a", data, chunks=(3, 2)), "a")
    # The types of Zarr v3 have no byte order.
    assert array.dtype == (data.dtype.newbyteorder("=") if write is write_zarr else data.dtype)
    assert array.nbytes == data.nbytes
    assert (array.ndim, array.size, len(array)) == (2, 35, 7)
    np.testing.assert_array_equal(array[...], data)


def test_layout_is_told(tmp_path):
    data = np.zeros((64, 64), "f4")
    array = lm.open(write_zarr(tmp_path / "a.zarr", data, chunks=(8, 8), shards=(32, 32)), "a")
    assert (array.chunks, array.shards) == ((8, 8), (32, 32))
    array = lm.open(write_hdf5(tmp_path / "a.h5", data), "a")
    assert (array.chunks, array.shards, array.codec) == (None, None, "none")
    array = lm.open(write_hdf5(tmp_path / "b.h5", data, chunks=(8, 8), compression="gzip", shuffle=True), "a")
    assert (array.chunks, array.codec) == ((8, 8), "shuffle, zlib:4")


def test_records_and_strings(tmp_path):
    h5py = pytest.importorskip("h5py")
    text = h5py.string_dtype()
    records = np.array([(1, "one", 1.5), (2, "zwei", 2.5)], dtype=[("n", "<i4"), ("word", text), ("x", "<f8")])
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["records"] = records
        file["words"] = np.array(["a", "", "größer"], dtype=text)
        file["scalar"] = "hello"
        file["nothing"] = h5py.Empty("f4")
    store = lm.open(tmp_path / "a.h5")
    assert store["words"][:].tolist() == ["a", "", "größer"]
    assert store["words"][[2, 0]].tolist() == ["größer", "a"]
    assert store["scalar"][()] == "hello"
    assert store["nothing"][()] is None
    read = store["records"][::-1]
    assert read["n"].tolist() == [2, 1]
    assert read["word"].tolist() == ["zwei", "one"]
    assert read["x"].tolist() == [2.5, 1.5]


def test_groups_are_mappings(tmp_path):
    store = lm.open(REAL / "10x_pbmc68k_reduced.h5ad")
    assert "obs" in store and "raw/X/data" in store and "nonsense" not in store and 3 not in store
    assert list(store) == store.keys() and len(store) == store.n_obs == 700
    assert len(store.group) == len(list(store.group)) == len(store.keys())
    assert store["raw"]["X"]["data"].name == "/raw/X/data" == store["/raw/X/data"].name
    assert store.name == "/" and store.attrs["encoding-type"] == "anndata"
    assert "AnnData" in repr(store) and "Group" in repr(store.group) and "Array" in repr(store["X"])
    with pytest.raises(TypeError):
        store.group[0]


def test_errors_have_the_closest_built_in_type(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.h5ad"):
        lm.open(tmp_path / "missing.h5ad")
    store = lm.open(REAL / "10x_pbmc68k_reduced.h5ad")
    with pytest.raises(KeyError, match="nothing"):
        store["obs/nothing"]
    (tmp_path / "text.h5").write_text("no store at all")
    with pytest.raises(lm.Error) as caught:
        lm.open(tmp_path / "text.h5")
    assert "text.h5" in str(caught.value)
    broken = bytearray((REAL / "scvi-brainlarge_dataset_test.h5ad").read_bytes())
    broken[8:200] = b"\xff" * 192
    (tmp_path / "broken.h5ad").write_bytes(broken)
    with pytest.raises(lm.Error):
        list(lm.open(tmp_path / "broken.h5ad"))
    for name in lm.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(lm, name), lm.Error)
