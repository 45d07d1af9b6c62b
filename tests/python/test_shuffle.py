"""Shuffle by trial: where nobody names a codec, what makes an array smaller is taken. h5py and zarr tell what it is."""

import json

import anndata
import h5py
import numpy as np
import pytest
import scipy.sparse as sp
import zarr

from conftest import write_hdf5, write_zarr
from lamella_run import done, tree_bytes

random = np.random.default_rng(3)
ROWS, COLUMNS = 600, 500
# Sorted indices gain by shuffling; few values in random order (as log-normalised counts are) lose.
RISING = np.cumsum(random.integers(1, 90, ROWS * COLUMNS)).astype("i4").reshape(ROWS, COLUMNS)
LEVELS = np.log1p(random.poisson(0.7, (ROWS, COLUMNS)) * random.choice([0.9, 1.3, 2.1], (ROWS, 1))).astype("f4")
SAMPLES = {"rising": (RISING, True), "levels": (LEVELS, False)}

# The target, and the two codecs that are tried, as the command line spells them.
TARGETS = {
    "zarr3": ("out.zarr", [], "zstd:0", "blosc:zstd:2:shuffle"),
    "zarr3-flat": ("out.zarr", ["--shards", "none"], "zstd:0", "blosc:zstd:2:shuffle"),
    "zarr2": ("out.zarr", ["--zarr-format", "2"], "blosc:lz4:5:noshuffle", "blosc:lz4:5:shuffle"),
    "hdf5": ("out.h5", [], "gzip", "shuffle,gzip"),
}


def shuffles(path) -> bool:
    """As the peers see the array `a`."""
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            assert file["a"].compression == "gzip"
            return file["a"].shuffle
    array = zarr.open(path, mode="r")["a"]
    compressor = array.compressors[-1]
    if type(compressor).__name__ == "ZstdCodec":
        return False
    kind = getattr(compressor, "shuffle", 0)
    return getattr(kind, "value", kind) in (1, "shuffle")


def content(path) -> np.ndarray:
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            return file["a"][...]
    return zarr.open(path, mode="r")["a"][...]


def source_for(target: str, folder, data):
    """Without a codec that the target would take over."""
    if target == "hdf5":
        return write_zarr(folder / "in.zarr", data, chunks=(100, 250))
    return write_hdf5(folder / "in.h5", data, chunks=(100, 250))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_what_is_smaller_is_taken(program, tmp_path, target, sample):
    name, options, plain, shuffled = TARGETS[target]
    data, gains = SAMPLES[sample]
    source = source_for(target, tmp_path, data)
    path = tmp_path / name
    done(program, "convert", source, path, *options)
    np.testing.assert_array_equal(content(path), data)
    assert shuffles(path) == gains
    # Naming the codec gives the same bytes, and the other would have been larger.
    sizes = {}
    for codec in (plain, shuffled):
        other = tmp_path / f"named-{len(sizes)}{path.suffix}"
        done(program, "convert", source, other, *options, "--codec", codec)
        sizes[codec] = sum(map(len, tree_bytes(other).values()))
        assert (tree_bytes(other) == tree_bytes(path)) == ((codec == shuffled) == gains)
    assert (sizes[shuffled] < sizes[plain]) == gains


def test_the_plan_and_info_say_which(program, tmp_path):
    source = write_hdf5(tmp_path / "in.h5", RISING)
    plan = json.loads(done(program, "convert", source, tmp_path / "out.zarr", "--dry-run", "--json").out)
    done(program, "convert", source, tmp_path / "out.zarr")
    told = json.loads(done(program, "info", tmp_path / "out.zarr", "a", "--json").out)["codec"]
    assert [one["codec"] for one in plan["elements"]] == [told]
    assert told.startswith("blosc:zstd:2")


@pytest.mark.parametrize("codec", ["gzip", "lzf"])
def test_the_codec_of_the_source_is_kept(program, tmp_path, codec):
    source = write_hdf5(tmp_path / "in.h5", RISING, chunks=(100, 250), compression=codec)
    done(program, "convert", source, tmp_path / "out.h5", "--chunks", "200,250")
    with h5py.File(tmp_path / "out.h5") as file:
        assert (file["a"].compression, file["a"].shuffle) == (codec, False)


@pytest.mark.parametrize("dtype", ["u1", "?", "S3"])
def test_other_elements_are_not_tried(program, tmp_path, dtype):
    source = write_hdf5(tmp_path / "in.h5", (RISING % 100).astype(dtype))
    done(program, "convert", source, tmp_path / "out.zarr")
    assert not shuffles(tmp_path / "out.zarr")


def test_parts_of_a_transposed_matrix(program, tmp_path):
    data = sp.random(2000, 300, 0.2, format="csr", dtype="f4", random_state=0)
    data.data = LEVELS.ravel()[: data.nnz]
    anndata.AnnData(data).write_h5ad(tmp_path / "in.h5ad")
    done(program, "convert", tmp_path / "in.h5ad", tmp_path / "out.zarr", "--sparse", "csc")
    root = zarr.open(tmp_path / "out.zarr", mode="r")["X"]
    assert type(root["indices"].compressors[0]).__name__ == "BloscCodec"
    assert type(root["data"].compressors[0]).__name__ == "ZstdCodec"
    read = anndata.read_zarr(tmp_path / "out.zarr").X
    np.testing.assert_array_equal(read.toarray(), data.toarray())


def test_a_sample_of_columns_does_not_cost_a_pass(program, tmp_path):
    data = np.tile(RISING[:, :256].astype("i8"), (40, 1))  # 49 MB
    for name, options in {"rows.h5": {"chunks": (8, 256)}, "one.h5": {}}.items():
        source = write_hdf5(tmp_path / name, data, **options)
        plan = done(
            program, "convert", source, tmp_path / "o.zarr", "--chunks", "24000,4", "--dry-run", "--json", "--profile"
        )
        stages = {stage["stage"]: stage["bytes"] for stage in json.loads(plan.out)["profile"]["stages"]}
        assert stages["read"] < data.nbytes, name
