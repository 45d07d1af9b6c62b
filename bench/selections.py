"""Selections of a dense matrix: random boxes, random rows, strides, scattered rows and columns; HDF5 beside h5py, Zarr
beside zarr-python with the zarrs pipeline and tensorstore. Opening is not counted: it is bench/open.py's.

    build/venv/bin/python bench/selections.py [--runs 3] [--small] [case …]
"""

from pathlib import Path

from harness import Case, Work, once, options, report

PICK = "rng = np.random.default_rng(2)\nR, C = {rows}, {columns}\n"
# The same selection for all: `x` is the array, `fancy` selects rows and columns independently.
SELECTIONS = {
    "100 random boxes of 100 × 100": """
corners = [(int(rng.integers(0, R - 100)), int(rng.integers(0, C - 100))) for _ in range(100)]
result = [take(x, (slice(i, i + 100), slice(j, j + 100))) for i, j in corners]
""",
    "500 random rows, one by one": """
result = [take(x, (int(i), slice(None))) for i in rng.integers(0, R, 500)]
""",
    "1000 random rows at once": """
result = fancy(x, np.sort(rng.choice(R, min(1000, R), replace=False)), None)
""",
    "every 7th row": "result = take(x, (slice(0, R, 7), slice(None)))\n",
    "every 7th column": "result = take(x, (slice(None), slice(0, C, 7)))\n",
    "300 rows × 40 columns": """
result = fancy(x, np.sort(rng.choice(R, 300, replace=False)), np.sort(rng.choice(C, 40, replace=False)))
""",
}
OURS = """
def take(x, key):
    return x[key]
def fancy(x, rows, columns):
    return x[rows] if columns is None else x[rows, columns]
"""
H5PY = """
def take(x, key):
    return x[key]
def fancy(x, rows, columns):
    # h5py takes one list of indices; the rest is numpy's.
    return x[rows] if columns is None else x[rows][:, columns]
"""
ZARR = """
def take(x, key):
    return x[key]
def fancy(x, rows, columns):
    return x.oindex[rows] if columns is None else x.oindex[rows, columns]
"""
TENSORSTORE = """
def take(x, key):
    return x[key].read().result()
def fancy(x, rows, columns):
    return (x.oindex[rows] if columns is None else x.oindex[rows, columns]).read().result()
"""


def matrix(rows: int, columns: int):
    from hdf5_read import real_matrix

    dense = real_matrix(rows * 260)[:rows].toarray()
    return dense[:, :columns]


def make(path: Path, rows: int, columns: int) -> None:
    import h5py
    import zarr

    dense = matrix(rows, columns)
    path.mkdir()
    with h5py.File(path / "x.h5", "w") as file:
        file.create_dataset("gzip", data=dense, chunks=(128, 256), compression="gzip", compression_opts=4)
        file.create_dataset("contiguous", data=dense)
    zarr.create_array(path / "x.zarr", data=dense, chunks=(128, 256), compressors=zarr.codecs.ZstdCodec(level=3))


def main() -> None:
    chosen = options(__doc__)
    rows, columns = (2000, 512) if chosen.small else (100_000, 765)
    folder = once(chosen.data / f"selections-{rows}", lambda path: make(path, rows, columns))
    hdf5, store = str(folder / "x.h5"), str(folder / "x.zarr")
    pick = PICK.format(rows=rows, columns=columns)
    cases = []
    for name, selection in SELECTIONS.items():
        for element in ("gzip", "contiguous"):
            ours = Work(selection, f"import lamella as lm\nx = lm.open({hdf5!r}, {element!r})\n{OURS}{pick}")
            peer = Work(selection, f"import h5py\nx = h5py.File({hdf5!r})[{element!r}]\n{H5PY}{pick}")
            cases.append(Case(f"{name}, HDF5 {element}", ours, {"h5py": peer}, 0, [Path(hdf5)]))
        opened = f"x = zarr.open_array({store!r}, mode='r')\n{ZARR}{pick}"
        zarrs = "import zarr, zarrs\nzarr.config.set({'codec_pipeline.path': 'zarrs.ZarrsCodecPipeline'})\n"
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": store}}
        peers = {
            "zarr": Work(selection, "import zarr\n" + opened),
            "zarrs": Work(selection, zarrs + opened),
            "tensorstore": Work(
                selection, f"import tensorstore as ts\nx = ts.open({spec!r}).result()\n{TENSORSTORE}{pick}"
            ),
        }
        ours = Work(selection, f"import lamella as lm\nx = lm.open({store!r})\n{OURS}{pick}")
        cases.append(Case(f"{name}, Zarr zstd", ours, peers, 0, [Path(store)]))
    report(f"selections of {rows} × {columns} float32", cases, chosen)


if __name__ == "__main__":
    main()
