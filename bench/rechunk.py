"""A dense matrix from chunks of rows to chunks of columns, and copied, in 256 MiB, beside dask, tensorstore by hand and
rows at a time with zarr-python. From Zarr v3 (zstd) to Zarr v3.

    build/venv/bin/python bench/rechunk.py [--rows 16000] [--runs 3] [--small] [case …]

The peers sync nothing; Lamella syncs its target before it appears.
"""

from pathlib import Path

from harness import Case, Work, once, options, report

BUDGET = "256MiB"
SETUP = "import shutil\nshutil.rmtree({target!r}, ignore_errors=True)\nN = {rows}\n"
CHECK = """
import zarr
result = zarr.open_array({target!r}, mode='r')[:: N // 7, :: N // 11]
"""
OPEN_TENSORSTORE = """
import tensorstore as ts
def store(path, **more):
    return ts.open({{'driver': 'zarr3', 'kvstore': {{'driver': 'file', 'path': path}}, **more}}).result()
"""
ZSTD = (
    "[{{'name': 'bytes', 'configuration': {{'endian': 'little'}}}},"
    " {{'name': 'zstd', 'configuration': {{'level': 3}}}}]"
)
BODIES = {
    "lamella": (
        "import lamella as lm",
        "lm.convert({source!r}, {target!r}, chunks={chunks}, shards='none', codec='zstd:3', memory={budget!r})",
    ),
    # As large as the budget allows on the way, by dask's own plan.
    "dask": (
        "import dask, dask.array as da\ndask.config.set(scheduler='threads')",
        "x = da.from_zarr({source!r})\nif x.chunksize != {chunks}:\n    x = x.rechunk({chunks}, balance=False)\n"
        "x.to_zarr({target!r}, compressors=[{{'name': 'zstd', 'configuration': {{'level': 3}}}}])",
    ),
    # Blocks of whole target chunks that fill a third of the budget.
    "tensorstore": (
        OPEN_TENSORSTORE,
        "a = store({source!r})\n"
        "b = store({target!r}, create=True, metadata={{'shape': [N, N], 'data_type': 'float32', 'codecs': " + ZSTD + ","
        " 'chunk_grid': {{'name': 'regular', 'configuration': {{'chunk_shape': {chunks}}}}}}})\n"
        "axis = 0 if {chunks}[0] < N else 1\n"
        "step = max((85 << 20) // (4 * N) // {chunks}[axis], 1) * {chunks}[axis]\n"
        "for at in range(0, N, step):\n"
        "    box = tuple(slice(at, min(at + step, N)) if i == axis else slice(0, N) for i in range(2))\n"
        "    b[box].write(a[box].read().result()).result()",
    ),
    "zarr": (
        "import zarr",
        "a = zarr.open_array({source!r}, mode='r')\n"
        "b = zarr.create_array({target!r}, shape=a.shape, dtype=a.dtype, chunks={chunks},"
        " compressors=zarr.codecs.ZstdCodec(level=3))\n"
        "axis = 0 if {chunks}[0] < N else 1\n"
        "step = max((85 << 20) // (4 * N) // {chunks}[axis], 1) * {chunks}[axis]\n"
        "for at in range(0, N, step):\n"
        "    box = tuple(slice(at, min(at + step, N)) if i == axis else slice(0, N) for i in range(2))\n"
        "    b[box] = a[box]",
    ),
}


def make(path: Path, rows: int, chunks: tuple[int, int]) -> None:
    """Counts as of cells and genes: nine of ten are zero."""
    import numpy as np
    import zarr

    array = zarr.create_array(
        path, shape=(rows, rows), dtype="f4", chunks=chunks, compressors=zarr.codecs.ZstdCodec(level=3)
    )
    random = np.random.default_rng(0)
    for at in range(0, rows, 1000):
        block = random.poisson(0.1, (min(1000, rows - at), rows))
        array[at : at + len(block)] = block.astype("f4")


def work(program: str, source: Path, target: Path, rows: int, chunks: tuple[int, int]) -> Work:
    values = {"source": str(source), "target": str(target), "rows": rows, "chunks": chunks, "budget": BUDGET}
    setup, body = BODIES[program]
    return Work((body + CHECK).format(**values), (SETUP + setup).format(**values))


def main() -> None:
    chosen = options(__doc__, rows=16000)
    rows = 1000 if chosen.small else chosen.rows
    flat, tall = (rows // 160 or 1, rows), (rows, rows // 160 or 1)
    source = once(chosen.data / f"rows-{rows}.zarr", lambda fresh: make(fresh, rows, flat))
    cases = []
    for name, chunks, peers in (
        ("rows to columns", tall, ("dask", "tensorstore", "zarr")),
        ("copy", flat, ("dask", "tensorstore", "zarr")),
    ):
        target = chosen.data / "rechunked.zarr"
        works = {program: work(program, source, target, rows, chunks) for program in ("lamella", *peers)}
        cases.append(Case(name, works.pop("lamella"), works, rows * rows * 4, [source]))
    report(f"{rows} × {rows} float32 in {BUDGET}", cases, chosen)


if __name__ == "__main__":
    main()
