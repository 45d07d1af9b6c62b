"""Opening: a store of 2000 elements and every one of them, the 100 000 chunks of an HDF5 dataset, a consolidated Zarr
of 10 000 arrays; beside h5py, zarr-python and anndata. What is timed is in a fresh process, imports aside.

    build/venv/bin/python bench/open.py [--runs 3] [--small] [case …]
"""

from pathlib import Path

from harness import Case, Work, once, options, report

WALK = """
def walk(group, is_group):
    shapes = {}
    for name in group:
        item = group[name]
        if is_group(item):
            for below, shape in walk(item, is_group).items():
                shapes[name + "/" + below] = shape
        else:
            shapes[name] = list(item.shape)
    return shapes
"""


def make_elements(path: Path, count: int) -> None:
    """As an AnnData with many entries of uns: groups of ten small datasets each."""
    import h5py
    import numpy as np

    with h5py.File(path, "w") as file:
        for n in range(count // 10):
            group = file.create_group(f"uns/run{n}")
            group.attrs["encoding-type"] = "dict"
            for k in range(10):
                item = group.create_dataset(f"value{k}", data=np.arange(k + 3))
                item.attrs["encoding-type"] = "array"


def make_chunks(path: Path, count: int) -> None:
    import h5py
    import numpy as np

    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(count * 256, dtype="i4"), chunks=(256,))


def make_arrays(path: Path, count: int) -> None:
    import zarr

    root = zarr.create_group(path)
    for n in range(count // 100):
        group = root.create_group(f"group{n}")
        for k in range(100):
            group.create_array(f"a{k}", shape=(k + 1, 4), dtype="f4", chunks=(k + 1, 4))
    zarr.consolidate_metadata(path)


def main() -> None:
    chosen = options(__doc__)
    small = chosen.small
    elements, chunks, arrays = (200, 2000, 200) if small else (2000, 100_000, 10_000)
    h5 = once(chosen.data / f"elements-{elements}.h5", lambda path: make_elements(path, elements))
    many = once(chosen.data / f"chunks-{chunks}.h5", lambda path: make_chunks(path, chunks))
    store = once(chosen.data / f"arrays-{arrays}.zarr", lambda path: make_arrays(path, arrays))
    ours = "import lamella as lm\n" + WALK
    is_group = "lambda item: isinstance(item, lm.Group)"
    cases = [
        Case(
            f"{elements} elements of an HDF5 file",
            Work(f"result = walk(lm.open({str(h5)!r}), {is_group})", ours),
            {
                "h5py": Work(
                    f"result = walk(h5py.File({str(h5)!r}), lambda item: isinstance(item, h5py.Group))",
                    "import h5py\n" + WALK,
                )
            },
            files=[h5],
        ),
        Case(
            f"{chunks} chunks listed",
            Work(f"result = lm.info({str(many)!r}, 'x')['stored_bytes']", "import lamella as lm"),
            {
                "h5py": Work(
                    f"seen = []\nh5py.File({str(many)!r})['x'].id.chunk_iter(seen.append)\n"
                    "result = sum(chunk.size for chunk in seen)",
                    "import h5py",
                )
            },
            files=[many],
        ),
        Case(
            f"a Zarr group of {arrays} arrays, opened",
            Work(f"result = sorted(lm.open({str(store)!r}))", "import lamella as lm"),
            {"zarr": Work(f"result = sorted(zarr.open_group({str(store)!r}, mode='r'))", "import zarr")},
            files=[store],
        ),
        Case(
            f"a Zarr group of {arrays} arrays, each",
            Work(f"result = walk(lm.open({str(store)!r}), {is_group})", ours),
            {
                "zarr": Work(
                    f"result = walk(zarr.open_group({str(store)!r}, mode='r'),"
                    " lambda item: isinstance(item, zarr.Group))",
                    "import zarr\n" + WALK,
                )
            },
            files=[store],
        ),
    ]
    report("opening", cases, chosen)


if __name__ == "__main__":
    main()
