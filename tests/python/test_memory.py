"""The budget holds: peak resident memory of the whole child process, as the kernel counts it."""

import h5py
import numpy as np
import pytest

import lamella as lm

from generate import make
from lamella_run import done, run

MIB = 1 << 20


def convert_within(program, source, target, budget: int, *options):
    result = done(program, "convert", source, target, "--memory", budget, *options)
    assert result.peak <= budget, f"{result.peak / MIB:.1f} MiB of {budget / MIB:.0f}"
    return result


def sampled_equal(source, target, element="X"):
    """A few hundred rows of a dense element."""
    ours = lm.open(target, element)
    with h5py.File(source) as file:
        rows = np.random.default_rng(0).integers(0, ours.shape[0], 100)
        for row in rows:
            np.testing.assert_array_equal(ours[int(row)], file[element][int(row)])


@pytest.mark.parametrize("target", ["out.h5ad", "out.zarr"])
@pytest.mark.parametrize("source", ["dense-contiguous.h5ad", "dense-gzip.h5ad"])
def test_dense_of_800_megabytes_in_64(program, tmp_path, source, target):
    path = make(source)
    convert_within(program, path, tmp_path / target, 64 * MIB)
    sampled_equal(path, tmp_path / target)


def test_row_chunks_to_column_chunks(program, tmp_path):
    path = make("dense-rows.h5ad")
    convert_within(program, path, tmp_path / "out.h5ad", 64 * MIB, "--chunks", "4000,10")
    sampled_equal(path, tmp_path / "out.h5ad")


def test_a_chunk_larger_than_the_budget(program, tmp_path):
    path = make("dense-one-chunk.h5ad")  # one chunk of 128 MB
    result = run(program, "convert", path, tmp_path / "out.zarr", "--memory", 64 * MIB, "--chunks", "500,500")
    if result.status == 0:
        assert result.peak <= 64 * MIB
        sampled_equal(path, tmp_path / "out.zarr")
    else:
        assert "would do" in result.err
        assert not (tmp_path / "out.zarr").exists()


def sparse_rows(path, element="X"):
    group = lm.open(path, element)
    return group["data"], group["indices"], group["indptr"]


def test_csr(program, tmp_path):
    path = make("csr-3e7.h5ad")
    convert_within(program, path, tmp_path / "out.zarr", 64 * MIB)
    for ours, theirs in zip(sparse_rows(tmp_path / "out.zarr"), sparse_rows(path), strict=True):
        assert (ours[:] == theirs[:]).all()


def test_csr_to_csc(program, tmp_path):
    path = make("csr-3e7.h5ad")
    convert_within(program, path, tmp_path / "out.h5ad", 128 * MIB, "--sparse", "csc")
    data, indices, indptr = sparse_rows(tmp_path / "out.h5ad")
    from scipy.sparse import csr_matrix

    theirs = [part[:] for part in sparse_rows(path)]
    matrix = csr_matrix(tuple(theirs), shape=tuple(lm.open(path, "X").attrs["shape"])).tocsc()
    assert (indptr[:] == matrix.indptr).all()
    assert (indices[:] == matrix.indices).all()
    assert (data[:] == matrix.data).all()


@pytest.mark.big
@pytest.mark.parametrize("options", [[], ["--sparse", "csc"]])
def test_csr_of_3e8(program, tmp_path, options):
    convert_within(program, make("csr-3e8.h5ad"), tmp_path / "out.zarr", 256 * MIB, *options)
