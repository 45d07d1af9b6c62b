"""convert: every direction, judged by anndata; whole or not at all; the same bytes however it went."""

import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import anndata
import numpy as np
import pytest
import scipy.sparse as sp
from anndata.tests.helpers import assert_equal
from packaging.version import Version

import lamella as lm

from conftest import REAL, REAL_FILES
from generate import make
from lamella_run import done, read, run, small_anndata, tree_bytes

pytestmark = pytest.mark.filterwarnings("ignore")

# Before 0.13 anndata read the strings that it now writes by default as another dtype than those that it wrote itself.
OLD_PEERS = Version(anndata.__version__) < Version("0.13")
STRINGS = ["--strings", "keep"] if OLD_PEERS else []

TARGETS = {
    "h5ad": ("out.h5ad", []),
    "h5ad-gzip": ("out.h5ad", ["--codec", "gzip:4"]),
    "zarr3": ("out.zarr", ["--zarr-format", "3"]),
    "zarr3-flat": ("out.zarr", ["--shards", "none", "--codec", "zstd:1"]),
    "zarr2": ("out.zarr", ["--zarr-format", "2"]),
    "zip": ("out.zarr.zip", []),
}


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> tuple[Path, anndata.AnnData]:
    data = small_anndata()
    path = tmp_path_factory.mktemp("sample") / "in.h5ad"
    data.write_h5ad(path)
    return path, anndata.read_h5ad(path)


@pytest.mark.parametrize("target", TARGETS)
def test_every_direction_and_back(program, sample, tmp_path, target):
    source, expected = sample
    name, options = TARGETS[target]
    done(program, "convert", source, tmp_path / name, *options, *STRINGS)
    assert_equal(read(tmp_path / name), expected, exact=True)
    done(program, "convert", tmp_path / name, tmp_path / "back.h5ad", *STRINGS)
    assert_equal(read(tmp_path / "back.h5ad"), expected, exact=True)


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("target", ["h5ad", "zarr3", "zarr2"])
def test_real_files(program, path, tmp_path, target):
    name, options = TARGETS[target]
    done(program, "convert", path, tmp_path / name, *options, *STRINGS)
    try:
        written = read(tmp_path / name)
    except ValueError as error:
        if OLD_PEERS and "No Zarr data type" in str(error):
            pytest.skip("zarr before 3.2 knows no records under v3's name")
        raise
    assert_equal(written, read(path), exact=False)


@pytest.mark.parametrize("layout, kind", [("csr", sp.csr_matrix), ("csc", sp.csc_matrix), ("dense", np.ndarray)])
def test_sparse_forms(program, sample, tmp_path, layout, kind):
    source, expected = sample
    done(program, "convert", source, tmp_path / "out.h5ad", "--sparse", layout)
    got = anndata.read_h5ad(tmp_path / "out.h5ad")
    for ours, theirs in [(got.X, expected.X), (got.layers["csc"], expected.layers["csc"])]:
        assert isinstance(ours, kind) or (layout != "dense" and ours.format == layout)
        dense = ours if layout == "dense" else ours.toarray()
        np.testing.assert_array_equal(dense, theirs.toarray())


def test_one_element(program, sample, tmp_path):
    source, expected = sample
    done(program, "convert", source, tmp_path / "x.zarr", "--element", "layers/dense", "--chunks", "50,40")
    array = lm.open(tmp_path / "x.zarr")
    assert isinstance(array, lm.Array) and array.chunks == (50, 40)
    np.testing.assert_array_equal(array[...], expected.layers["dense"])


def test_info_tells_the_tree(program, sample):
    source, _ = sample
    tree = json.loads(done(program, "info", source, "--json").out)
    assert tree == lm.info(source)
    text = done(program, "info", source).out
    for name in ("obs", "csr_matrix", "csc_matrix", "categorical", "uns"):
        assert name in text


def test_same_bytes_for_any_number_of_threads(program, sample, tmp_path):
    source, _ = sample
    for name in ("a.h5ad", "a.zarr"):
        trees = []
        for threads in (1, 2, 2):
            done(program, "convert", source, tmp_path / name, "--threads", threads, "--codec", "zstd:3", "--overwrite")
            trees.append(tree_bytes(tmp_path / name))
        assert trees[0] == trees[1] == trees[2]


def test_row_chunks_to_column_chunks_by_way_of_tiles(program, tmp_path):
    source = make("dense-rows.h5ad")
    plan = json.loads(done(program, "convert", source, tmp_path / "x", *COLUMNS, "--dry-run", "--json").out)
    x = next(one for one in plan["elements"] if one["element"] == "/X")
    assert x["scratch_bytes"] == plan["scratch_bytes"] == 4000 * 4000 * 8
    assert x["passes"] < 1.2
    written = []
    for threads in ("1", "3"):
        done(program, "convert", source, tmp_path / "x.h5ad", *COLUMNS, "--threads", threads)
        written.append((tmp_path / "x.h5ad").read_bytes())
        (tmp_path / "x.h5ad").unlink()
    assert written[0] == written[1]
    for form in ("csr", "csc"):  # columns to rows
        done(program, "convert", source, tmp_path / "tall.h5ad", *COLUMNS, "--overwrite")
        done(program, "convert", tmp_path / "tall.h5ad", tmp_path / "s.h5ad", "--sparse", form, *COLUMNS, "--overwrite")
        both = anndata.read_h5ad(source).X, anndata.read_h5ad(tmp_path / "s.h5ad").X
        assert both[1].format == form
        np.testing.assert_array_equal(both[0], both[1].toarray())


@pytest.mark.parametrize("target", ["x.zarr", "x.h5ad"])
def test_the_plan_knows_the_size_of_the_target(program, tmp_path, target):
    source = make("csr-3e6.h5ad")
    plan = json.loads(done(program, "convert", source, tmp_path / target, "--dry-run", "--json").out)
    result = json.loads(done(program, "convert", source, tmp_path / target, "--json").out)
    assert not plan["expected_is_most"]
    assert result["written_bytes"] / 1.5 < plan["expected_bytes"] < result["written_bytes"] * 1.5


def test_python_writes_the_same_bytes(program, sample, tmp_path):
    source, _ = sample
    done(program, "convert", source, tmp_path / "a.zarr", "--codec", "gzip:2")
    reports = []
    result = lm.convert(source, tmp_path / "b.zarr", codec="gzip:2", progress=lambda *report: reports.append(report))
    assert tree_bytes(tmp_path / "a.zarr") == tree_bytes(tmp_path / "b.zarr")
    assert result["elements"] > 10 and result["written_bytes"] > 0
    assert reports and reports[-1][0] <= reports[-1][1]
    plan = lm.convert(source, tmp_path / "c.zarr", dry_run=True)
    assert plan["elements"] and not (tmp_path / "c.zarr").exists()


def test_an_old_target_stays_unless_told_otherwise(program, sample, tmp_path):
    source, _ = sample
    target = tmp_path / "out.h5ad"
    target.write_text("precious")
    refused = run(program, "convert", source, target)
    assert refused.status == 1 and "out.h5ad" in refused.err and "--overwrite" in refused.err
    assert target.read_text() == "precious"
    with pytest.raises(FileExistsError):
        lm.convert(source, target)
    done(program, "convert", source, target, "--overwrite")
    anndata.read_h5ad(target)
    assert os.listdir(tmp_path) == ["out.h5ad"]


def clear_failure(result, status: int, *words: str) -> None:
    assert result.status == status, result
    assert len(result.err.strip().splitlines()) == 1 or status == 2, result.err
    for word in words:
        assert word in result.err, result.err


def test_errors_are_clear_and_leave_nothing(program, sample, tmp_path):
    source, _ = sample
    out = tmp_path / "out"
    out.mkdir()
    target = out / "x.zarr"
    clear_failure(run(program, "convert", tmp_path / "none.h5ad", target), 1, "none.h5ad")
    clear_failure(run(program, "convert", source, target, "--element", "layers/nope"), 1, "nope")
    clear_failure(run(program, "info", source, "nope"), 1, "nope")
    clear_failure(run(program, "convert", source), 2)
    clear_failure(run(program, "convert", source, target, "--sparse", "triangular"), 2, "triangular")
    clear_failure(run(program, "convert", source, target, "--codec", "zip7"), 2, "zip7")
    clear_failure(run(program, "convert", source, target, "--memory", "lots"), 2, "lots")
    clear_failure(run(program, "frobnicate"), 2)
    clear_failure(run(program, "convert", source, target, "--memory", "1MiB"), 1, "would do")
    clear_failure(run(program, "convert", source, tmp_path / "no/such/folder/x.zarr"), 1, "no/such/folder")
    assert os.listdir(out) == []


def test_an_unsupported_filter_is_named(program, tmp_path):
    h5py = pytest.importorskip("h5py")
    hdf5plugin = pytest.importorskip("hdf5plugin")
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset(
            "a", data=np.arange(1000.0).reshape(10, 100), chunks=(5, 50), **hdf5plugin.Zfp(reversible=True)
        )
    result = run(program, "convert", tmp_path / "in.h5", tmp_path / "out.zarr")
    clear_failure(result, 1, "32013", "a")
    assert sorted(os.listdir(tmp_path)) == ["in.h5"]


def test_a_damaged_chunk_is_named(program, tmp_path):
    import h5py

    with h5py.File(tmp_path / "in.h5", "w") as file:
        a = file.create_dataset("a", data=np.arange(100_000.0), chunks=(10_000,), compression="gzip")
        where = a.id.get_chunk_info(3)
    broken = bytearray((tmp_path / "in.h5").read_bytes())
    broken[where.byte_offset : where.byte_offset + where.size] = bytes(where.size)
    (tmp_path / "in.h5").write_bytes(broken)
    # Another codec, or the chunk would be passed through undecoded.
    result = run(program, "convert", tmp_path / "in.h5", tmp_path / "out.zarr", "--codec", "zstd")
    clear_failure(result, 1, "in.h5", "a", "3")
    assert sorted(os.listdir(tmp_path)) == ["in.h5"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 kB; needs root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", folder], capture_output=True).returncode
    ):
        pytest.skip("needs to mount a small tmpfs")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk(program, small_disk):
    for name in ("x.h5ad", "x.zarr", "x.zarr.zip"):
        result = run(program, "convert", REAL / "10x_pbmc68k_reduced.h5ad", small_disk / name, "--codec", "none")
        clear_failure(result, 1, "x.")
        assert os.listdir(small_disk) == []


def test_a_read_only_folder(program, sample, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    clear_failure(run(program, "convert", sample[0], small_disk / "x.zarr"), 1, "x.zarr")
    assert os.listdir(small_disk) == []


def start(program: str, *arguments) -> subprocess.Popen:
    return subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


COLUMNS = ["--chunks", "4000,10", "--memory", "48MiB"]  # by way of tiles on disk


@pytest.mark.parametrize(
    ("source", "name", "options"),
    [
        ("csr-3e6.h5ad", "x.h5ad", ["--codec", "gzip:6", "--memory", "128MiB"]),
        ("csr-3e6.h5ad", "x.zarr", ["--codec", "gzip:6", "--memory", "128MiB"]),
        ("csr-3e6.h5ad", "x.zarr.zip", ["--codec", "gzip:6", "--memory", "128MiB"]),
        ("dense-rows.h5ad", "x.h5ad", COLUMNS),
    ],
)
def test_killed_runs_resume_to_the_same_bytes(program, tmp_path, source, name, options):
    arguments = ["convert", make(source), tmp_path / name, "--threads", "2", *options]
    took = done(program, *arguments).seconds
    expected = tree_bytes(tmp_path / name)
    remove(tmp_path / name)
    chance = random.Random(name)
    for _ in range(6):
        child = start(program, *arguments, "--resume")
        time.sleep(chance.uniform(0.02, took * 0.8))
        child.kill()
        child.wait()
        if (tmp_path / name).exists():  # it was faster: whole, then
            assert tree_bytes(tmp_path / name) == expected
            remove(tmp_path / name)
    done(program, *arguments, "--resume")
    assert tree_bytes(tmp_path / name) == expected
    assert os.listdir(tmp_path) == [name]


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def test_a_killed_run_leaves_the_old_target(program, sample, tmp_path):
    target = tmp_path / "x.zarr"
    done(program, "convert", sample[0], target)
    before = tree_bytes(target)
    child = start(program, "convert", make("csr-3e6.h5ad"), target, "--overwrite", "--codec", "gzip:9")
    time.sleep(0.15)
    child.kill()
    child.wait()
    assert tree_bytes(target) == before


def test_an_interrupted_run_leaves_nothing(program, tmp_path):
    child = start(program, "convert", make("csr-3e6.h5ad"), tmp_path / "x.zarr", "--codec", "gzip:9")
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 1
    assert os.listdir(tmp_path) == []


def test_ctrl_c_in_python(tmp_path):
    source = make("csr-3e6.h5ad")
    # A shell ignores the signal for what it runs in the background, and children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            lm.convert(source, tmp_path / "x.zarr", codec="gzip:9")
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert os.listdir(tmp_path) == []


def test_an_exception_of_the_callback_stops_the_run(tmp_path):
    def stop(done, total, element):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        lm.convert(make("csr-3e6.h5ad"), tmp_path / "x.zarr", codec="gzip:9", progress=stop)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
@pytest.mark.parametrize("name", ["out.h5ad", "out.zarr", "out.zarr.zip"])
def test_every_matrix_takes_the_form_that_is_asked_for(program, sample, tmp_path, form, name):
    source, expected = sample
    done(program, "convert", source, tmp_path / name, "--sparse", form)
    got = read(tmp_path / name)
    for key in ["X", "dense", "csc"]:
        matrix, wanted = (data.X if key == "X" else data.layers[key] for data in (got, expected))
        assert (matrix.format if sp.issparse(matrix) else "dense") == form
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        np.testing.assert_array_equal(dense, wanted.toarray() if sp.issparse(wanted) else wanted)
        assert dense.dtype == wanted.dtype
    assert isinstance(got.obsm["pca"], np.ndarray)
