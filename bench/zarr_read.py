"""Reading a Zarr v3 volume of uint16, zstd and blosc, sharded and not: whole, chunk by chunk, and random boxes of 64³,
beside zarr-python, its fused pipeline, the zarrs pipeline and tensorstore. Opening included.

    build/venv/bin/python bench/zarr_read.py [--edge 1024] [--runs 3] [--small] [case …]
"""

from pathlib import Path

from harness import Case, Work, once, options, report

CHUNK = 64
LAYOUTS = {"plain": None, "sharded": 256}  # edge of the shards
OPEN = {
    "lamella": ("import lamella as lm", "x = lm.open({path!r})"),
    "zarr": ("import zarr", "x = zarr.open_array({path!r}, mode='r')"),
    "fused": (
        "import zarr\nzarr.config.set({{'codec_pipeline.path': 'zarr.core.codec_pipeline.FusedCodecPipeline'}})",
        "x = zarr.open_array({path!r}, mode='r')",
    ),
    "zarrs": (
        "import zarr, zarrs\nzarr.config.set({{'codec_pipeline.path': 'zarrs.ZarrsCodecPipeline'}})",
        "x = zarr.open_array({path!r}, mode='r')",
    ),
    "tensorstore": (
        "import tensorstore as ts",
        "x = ts.open({{'driver': 'zarr3', 'kvstore': {{'driver': 'file', 'path': {path!r}}}}}).result()",
    ),
}
READS = {
    "all": "result = x[...]",
    "chunk by chunk": """
result = [int(read(x, (slice(i, i + C), slice(j, j + C), slice(k, k + C))).sum())
          for i in range(0, N, C) for j in range(0, N, C) for k in range(0, N, C)]
""",
    "random boxes": """
corners = np.random.default_rng(1).integers(0, N - C + 1, (100, 3)).tolist()
result = [int(read(x, tuple(slice(at, at + C) for at in corner)).sum()) for corner in corners]
""",
}


def volume(edge: int, plane: int):
    """Blurred spots under the shot noise of a camera, one slab of planes: compresses as a micrograph does."""
    import numpy as np

    random = np.random.default_rng(plane)
    coarse = random.random((edge // 16 + 2, edge // 16 + 2)) ** 4 * 900 + 120
    smooth = np.kron(coarse, np.ones((16, 16)))[:edge, :edge]
    return random.poisson(np.broadcast_to(smooth, (CHUNK, edge, edge))).astype("u2")


def make(path: Path, edge: int, codec: str, shard: int | None) -> None:
    import zarr

    compressor = zarr.codecs.ZstdCodec(level=3) if codec == "zstd" else zarr.codecs.BloscCodec(cname="lz4", clevel=5)
    array = zarr.create_array(
        path,
        shape=(edge,) * 3,
        dtype="u2",
        chunks=(CHUNK,) * 3,
        shards=shard and (min(shard, edge),) * 3,
        compressors=compressor,
    )
    for plane in range(0, edge, shard or CHUNK):
        for at in range(plane, min(plane + (shard or CHUNK), edge), CHUNK):
            array[at : at + CHUNK] = volume(edge, at)


def work(peer: str, path: Path, edge: int, read: str) -> Work:
    setup, opening = (text.format(path=str(path)) for text in OPEN[peer])
    take = "x[box].read().result()" if peer == "tensorstore" else "x[box]"
    body = READS[read]
    if peer == "tensorstore" and read == "all":
        body = "result = x.read().result()"
    helpers = f"\nN, C = {edge}, {CHUNK}\ndef read(x, box):\n    return {take}\n"
    return Work(opening + "\n" + body, setup + helpers)


def main() -> None:
    chosen = options(__doc__, edge=1024)
    edge = 128 if chosen.small else chosen.edge
    cases = []
    for layout, shard in LAYOUTS.items():
        for codec in ("zstd", "blosc"):
            path = chosen.data / f"volume-{edge}-{codec}-{layout}.zarr"
            once(path, lambda fresh, codec=codec, shard=shard: make(fresh, edge, codec, shard))
            for read in READS:
                nbytes = 2 * (CHUNK**3 * 100 if read == "random boxes" else edge**3)
                peers = {peer: work(peer, path, edge, read) for peer in OPEN if peer != "lamella"}
                cases.append(
                    Case(f"{codec} {layout}, {read}", work("lamella", path, edge, read), peers, nbytes, [path])
                )
    report(f"{edge}³ uint16, chunks of {CHUNK}³", cases, chosen)


if __name__ == "__main__":
    main()
