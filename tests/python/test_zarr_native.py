"""Every array that zarr-python can write goes through convert, and comes out equal in each kind of Zarr."""

from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT
from lamella_run import done

zarr = pytest.importorskip("zarr", minversion="3.4")
pytestmark = pytest.mark.filterwarnings("ignore")

TARGETS = {
    "v2": ("out.zarr", ["--zarr-format", "2"]),
    "v3": ("out.zarr", ["--shards", "none"]),
    "other-codec": ("out.zarr", ["--codec", "gzip:1", "--shards", "none"]),
    "zip": ("out.zarr.zip", []),
}


def open_store(path: Path):
    store = zarr.storage.ZipStore(path, mode="r") if path.suffix == ".zip" else path
    return zarr.open_group(store, mode="r", use_consolidated=False)


def elements(array) -> np.ndarray:
    data = array[...]
    kind = np.asarray(data).dtype.kind
    return np.asarray(data, dtype=object) if kind in "OT" or isinstance(data, str) else np.asarray(data)


def expect_equal(ours, theirs):
    names = sorted(name for name, item in theirs.members(max_depth=None) if isinstance(item, zarr.Array))
    assert names == sorted(name for name, item in ours.members(max_depth=None) if isinstance(item, zarr.Array))
    for name in names:
        assert ours[name].shape == theirs[name].shape, name
        np.testing.assert_array_equal(elements(ours[name]), elements(theirs[name]), err_msg=name)
        assert dict(ours[name].attrs) == dict(theirs[name].attrs), name


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("version", ["v2", "v3"])
def test_fixtures_survive(program, tmp_path, version, target):
    source = ROOT / "tests/data/zarr" / f"{version}.zip"
    name, options = TARGETS[target]
    done(program, "convert", source, tmp_path / name, *options)
    expect_equal(open_store(tmp_path / name), open_store(source))


def test_records_of_mixed_byte_order(program, tmp_path):
    dtype = [("a", ">i4"), ("b", "<f8"), ("u", "<U3"), ("s", "S2")]
    data = np.array([(1, 2.5, "x", b"k"), (-2, 0, "grü", b""), (3, -1, "", b"zz")], dtype=dtype)
    source = zarr.open_group(tmp_path / "in.zarr", mode="w", zarr_format=2)
    source.create_array("r", shape=data.shape, dtype=data.dtype, chunks=(2,))[...] = data
    for version in (2, 3):
        done(program, "convert", tmp_path / "in.zarr", tmp_path / f"{version}.zarr", "--zarr-format", version)
        found = open_store(tmp_path / f"{version}.zarr")["r"][...]
        assert found.tolist() == data.tolist()


def test_shards_are_cut_anew(program, tmp_path):
    data = np.arange(40 * 30, dtype="f4").reshape(40, 30)
    source = zarr.open_group(tmp_path / "in.zarr", mode="w")
    source.create_array("a", shape=data.shape, dtype=data.dtype, chunks=(5, 3), shards=(20, 6))[...] = data
    done(program, "convert", tmp_path / "in.zarr", tmp_path / "out.zarr", "--chunks", "4,10", "--shards", "16,20")
    found = open_store(tmp_path / "out.zarr")["a"]
    assert (found.chunks, found.shards) == ((4, 10), (16, 20))
    np.testing.assert_array_equal(found[...], data)
