"""Where things are: the data, the program, and stores that more than one file of tests wants."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT / "tests" / "data" / "real"
REAL_FILES = sorted(path for path in REAL.iterdir() if path.suffix in {".h5ad", ".zip"})


def pytest_collection_modifyitems(items):
    if os.environ.get("LAMELLA_BIG") == "1":
        return
    for item in items:
        if "big" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="LAMELLA_BIG=1 runs it"))


@pytest.fixture(scope="session")
def program() -> str:
    """The command line: of the release build, else of the environment."""
    for path in (ROOT / "build/release/lamella", ROOT / "build/release/src/cli/lamella"):
        if path.is_file():
            return str(path)
    installed = Path(sysconfig.get_path("scripts")) / "lamella"
    found = str(installed) if installed.exists() else shutil.which("lamella")
    assert found, "no lamella program: build it first (make build)"
    return found


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Path:
    """Where `cmake --install` of the release build went."""
    build = ROOT / "build/release"
    if not (build / "cmake_install.cmake").exists():
        pytest.skip("no release build (make build)")
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], check=True, capture_output=True)
    return prefix


DTYPES = ["<f8", "<f4", "<f2", "<i8", "<i4", "<u2", "|u1", "|i1", "|b1", "<c8", ">f4", ">i8", "|S5"]


def write_hdf5(path: Path, data: np.ndarray, **options) -> Path:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=data, **options)
    return path


def write_zarr(path: Path, data: np.ndarray, version: int = 3, **options) -> Path:
    import zarr

    root = zarr.open_group(path, mode="w", zarr_format=version)
    root.create_array("a", data=data, **options)
    return path


def values(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Deterministic values of a dtype."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "SU":
        return np.array([f"w{n % 37}" for n in range(int(np.prod(shape)))]).astype(dtype).reshape(shape)
    if dtype.kind == "c":
        return (random.integers(-99, 99, shape) + 1j * random.integers(-99, 99, shape)).astype(dtype)
    return random.integers(0, 120, shape).astype(dtype)
