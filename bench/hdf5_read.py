"""Reading HDF5 datasets whole, beside h5py (with hdf5plugin) and anndata: into new numpy arrays, opening included.

build/venv/bin/python bench/hdf5_read.py [--runs 3] [--small] [case …]
"""

from pathlib import Path

from harness import ROOT, Case, Work, once, options, pread_seconds, report


def real_matrix(entries: int, seed: int = 0):
    """A CSR with about that many entries: rows of the real file, drawn again and again."""
    import anndata
    import numpy as np

    real = anndata.read_h5ad(ROOT / "tests/data/real/10x_pbmc68k_reduced.h5ad").raw.X.tocsr()
    rows = np.random.default_rng(seed).integers(0, real.shape[0], entries * real.shape[0] // real.nnz)
    return real[rows]


def filters() -> dict[str, dict]:
    import hdf5plugin

    return {
        "gzip-4": {"compression": "gzip", "compression_opts": 4},
        "gzip-4 shuffle": {"compression": "gzip", "compression_opts": 4, "shuffle": True},
        "lzf": {"compression": "lzf"},
        "zstd": dict(hdf5plugin.Zstd(clevel=3)),
        "blosc": dict(hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=hdf5plugin.Blosc.SHUFFLE)),
        "chunks": {},
    }


def make_numbers(path: Path, entries: int) -> None:
    """data and indices (1-d), and a dense block of the same matrix, each with every filter, and dense contiguous."""
    import h5py

    matrix = real_matrix(entries)
    dense = matrix[: entries // matrix.shape[1]].toarray()
    with h5py.File(path, "w") as file:
        for name, filter_options in filters().items():
            file.create_dataset(f"{name}/data", data=matrix.data, chunks=True, **filter_options)
            file.create_dataset(f"{name}/indices", data=matrix.indices.astype("i4"), chunks=True, **filter_options)
            rows = max(1, (1 << 20) // (dense.shape[1] * 4))
            file.create_dataset(f"{name}/dense", data=dense, chunks=(min(rows, len(dense)), 256), **filter_options)
    with h5py.File(path.with_name("contiguous.h5"), "w") as file:
        file.create_dataset("dense", data=dense)


def make_strings(path: Path, count: int) -> None:
    import h5py
    import numpy as np

    letters = np.random.default_rng(0).integers(0, 4, (count, 16))
    barcodes = np.array(list("ACGT"))[letters].view("U16").ravel()
    with h5py.File(path, "w") as file:
        file.create_dataset("names", data=[f"{code}-1" for code in barcodes], dtype=h5py.string_dtype())


def make_table(path: Path, rows: int) -> None:
    import anndata
    import h5py
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(0)
    columns: dict = {f"score{n}": random.normal(size=rows) for n in range(120)}
    columns |= {f"count{n}": random.integers(0, 9999, rows).astype("i4") for n in range(60)}
    columns |= {f"group{n}": pd.Categorical(random.choice(list("abcdef"), rows)) for n in range(20)}
    index = pd.Index([f"cell{n}" for n in range(rows)])
    with h5py.File(path, "w") as file:
        anndata.io.write_elem(file, "obs", pd.DataFrame(columns, index=index))


def numbers_case(name: str, path: Path, parts: list[str], nbytes: int, limit=None) -> Case:
    read = f"[file[name][...] for name in {parts!r}]"
    return Case(
        name,
        Work(f"file = lm.open({str(path)!r})\nresult = {read}", "import lamella as lm"),
        {"h5py": Work(f"file = h5py.File({str(path)!r})\nresult = {read}", "import h5py, hdf5plugin")},
        nbytes,
        [path],
        limit,
    )


def cases(folder: Path, small: bool) -> list[Case]:
    import h5py

    numbers = once(folder / "numbers.h5", lambda path: make_numbers(path, 2_000_000 if small else 60_000_000))
    contiguous = numbers.with_name("contiguous.h5")
    strings = once(folder / "strings.h5", lambda path: make_strings(path, 20_000 if small else 1_000_000))
    table = once(folder / "table.h5", lambda path: make_table(path, 1000 if small else 100_000))
    found = []
    with h5py.File(numbers) as file:
        for name in file:
            for kind, parts in {"1-d": ["indices", "data"], "dense": ["dense"]}.items():
                paths = [f"{name}/{part}" for part in parts]
                nbytes = sum(file[path].nbytes for path in paths)
                share = nbytes / contiguous.stat().st_size
                limit = (
                    (lambda share=share: share * pread_seconds(contiguous, fresh=True)) if name == "chunks" else None
                )
                found.append(numbers_case(f"{name}, {kind}", numbers, paths, nbytes, limit))
    size = contiguous.stat().st_size
    fresh = numbers_case("contiguous", contiguous, ["dense"], size, lambda: pread_seconds(contiguous, fresh=True))
    again = numbers_case("contiguous, own buffer", contiguous, ["dense"], size, lambda: pread_seconds(contiguous))
    again.ours.setup += f"\nout = np.ones_like(lm.open({str(contiguous)!r}, 'dense')[...])"
    again.ours.body = f"result = lm.open({str(contiguous)!r}, 'dense').read(..., out=out)"
    again.peers["h5py"].setup += f"\nout = np.ones_like(h5py.File({str(contiguous)!r})['dense'][...])"
    again.peers["h5py"].body = f"h5py.File({str(contiguous)!r})['dense'].read_direct(out)\nresult = out"
    names = Case(
        "vlen strings",
        Work(f"result = lm.open({str(strings)!r}, 'names')[...]", "import lamella as lm"),
        {"h5py": Work(f"result = h5py.File({str(strings)!r})['names'].asstr()[...]", "import h5py")},
        0,
        [strings],
    )
    frame = Case(
        "200 columns",
        Work(
            f"""
obs = lm.open({str(table)!r})["obs"]
result = {{}}
for name in obs:
    column = obs[name]
    is_category = "categories" in names(column)
    result[name] = [column["codes"][...], plain(column["categories"])] if is_category else plain(column)
""",
            """
import lamella as lm
def names(node):
    return list(node) if isinstance(node, lm.Group) else []
def plain(node):
    return node["values"][...] if "values" in names(node) else node[...]
""",
        ),
        {
            "anndata": Work(
                f"""
frame = anndata.io.read_elem(h5py.File({str(table)!r})["obs"])
result = {{"_index": frame.index}}
for name, column in frame.items():
    plain = column.dtype != "category"
    result[name] = column.to_numpy() if plain else [column.cat.codes.to_numpy(), column.cat.categories]
""",
                "import anndata, h5py",
            )
        },
        0,
        [table],
    )
    return [*found, fresh, again, names, frame]


def main() -> None:
    chosen = options(__doc__)
    folder = chosen.data / ("hdf5-small" if chosen.small else "hdf5")
    report("HDF5 datasets read whole", cases(folder, chosen.small), chosen)


if __name__ == "__main__":
    main()
