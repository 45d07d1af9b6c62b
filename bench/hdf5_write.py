"""Writing HDF5 datasets, beside h5py: from an uncompressed file into one with a filter. Lamella syncs its target,
and so does the peer here (`os.fsync`); reading the source is a part of both. Sizes are told with the names.

    build/venv/bin/python bench/hdf5_write.py [--runs 3] [--small] [case …]
"""

from pathlib import Path

from harness import Case, Work, once, options, report

LAMELLA = """
lm.convert({source!r}, {target!r}, overwrite=True, codec={codec!r}, chunks={chunks!r}, memory="512MiB")
file = h5py.File({target!r})
result = [file["x"].shape, file["x"].chunks]
"""
H5PY = """
with h5py.File({source!r}) as source, h5py.File({target!r}, "w") as target:
    target.create_dataset("x", data=source["x"][...], chunks={chunks!r}, **{options!r})
descriptor = os.open({target!r}, os.O_RDONLY)
os.fsync(descriptor)
os.close(descriptor)
file = h5py.File({target!r})
result = [file["x"].shape, file["x"].chunks]
"""
CODECS = {
    "gzip-4": ("gzip:4", {"compression": "gzip", "compression_opts": 4}),
    "gzip-4 shuffle": ("shuffle,gzip:4", {"compression": "gzip", "compression_opts": 4, "shuffle": True}),
    "gzip without a level": ("gzip", {"compression": "gzip"}),
    "uncompressed chunks": ("none", {}),
}


def make(path: Path, entries: int) -> None:
    import h5py
    from hdf5_read import real_matrix

    matrix = real_matrix(entries)
    path.mkdir()
    for name, data in {
        "values": matrix.data,
        "indices": matrix.indices.astype("i4"),
        "dense": matrix[: entries // matrix.shape[1]].toarray(),
    }.items():
        with h5py.File(path / f"{name}.h5", "w") as file:
            file.create_dataset("x", data=data)


def check(ours: Path, theirs: Path) -> float:
    """How many times as large ours is; both hold the same."""
    import h5py
    import numpy as np

    with h5py.File(ours) as one, h5py.File(theirs) as two:
        if not np.array_equal(one["x"][...], two["x"][...]):
            raise SystemExit(f"{ours} and {theirs} differ")
    return ours.stat().st_size / theirs.stat().st_size


def main() -> None:
    import h5py

    chosen = options(__doc__)
    entries = 1_000_000 if chosen.small else 30_000_000
    folder = once(chosen.data / f"write-{entries}", lambda path: make(path, entries))
    ours, theirs = folder / "ours.h5", folder / "theirs.h5"
    cases = []
    for kind in ("values", "indices", "dense"):
        source = folder / f"{kind}.h5"
        with h5py.File(source) as file:
            shape, nbytes = file["x"].shape, file["x"].nbytes
        chunks = (min(65536, shape[0]),) if len(shape) == 1 else (min(512, shape[0]), 256)
        for name, (codec, filter_options) in CODECS.items():
            names = {"source": str(source), "chunks": chunks, "codec": codec, "options": filter_options}
            cases.append(
                Case(
                    f"{name}, {kind}",
                    Work(LAMELLA.format(target=str(ours), **names), "import h5py, lamella as lm"),
                    {"h5py": Work(H5PY.format(target=str(theirs), **names), "import h5py, os")},
                    nbytes,
                    [source],
                    check=lambda: f"size {check(ours, theirs):.2f}×",
                )
            )
    report("HDF5 datasets written with a sync", cases, chosen)


if __name__ == "__main__":
    main()
