"""Writes small Zarr stores through zarr-python, and what it reads from them as JSON.

make_fixtures.py tests/data/zarr        v2.zip, v3.zip with v2.json, v3.json
"""

import json
import sys
import warnings
import zipfile
from pathlib import Path

import numcodecs
import numpy as np
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)

TYPES = "? i1 u1 <i2 >i2 <u4 >u8 <i8 <f2 <f4 >f4 <f8 <c8 >c16 S3 <U2 >U2 V3 <M8[ns] <m8[25s]"
RECORD = [("a", "<i4"), ("b", "<f8"), ("s", "S2"), ("u", "<U2")]
FILLS = [("f4", np.nan), ("f8", -np.inf), ("f2", 0.1), ("c8", 1 - 2j), ("i8", -(2**63)), ("u8", 2**64 - 1), ("?", True)]
FILLS += [("S3", b"ab"), ("<U2", "gö"), ("<M8[s]", np.datetime64(3, "s")), ("<M8[s]", np.datetime64("NaT", "s"))]


def values(dtype, shape):
    n = int(np.prod(shape))
    numbers = np.arange(n, dtype="i8") // 3 * 37 % 101
    if np.dtype(dtype).kind in "mM":
        return numbers.astype(dtype).reshape(shape)
    if np.dtype(dtype).kind == "V":
        return numbers.astype("S3").astype(dtype).reshape(shape)
    return numbers.astype(dtype).reshape(shape)


def put(group, name, data, **options):
    group.create_array(name, shape=data.shape, dtype=data.dtype, **{"chunks": data.shape, **options})[...] = data


def write_types(group):
    for dtype in TYPES.split():
        data = values(dtype, (7,))
        group.create_array(f"type {dtype.replace('>', 'big ')}", shape=(7,), dtype=dtype, chunks=(3,))[...] = data
    group.create_array("record", shape=(2,), dtype=RECORD, chunks=(2,))[...] = np.array(
        [(1, 2.5, b"k", "ö"), (2, -1, b"zz", "")], dtype=RECORD
    )
    strings = group.create_array("strings", shape=(5, 3), dtype="str", chunks=(2, 2))
    strings[...] = np.array(["x", "", "grün", "a" * 300, "b"] * 3, dtype=object).reshape(5, 3)
    group.create_array("string scalar", shape=(), dtype="str")[...] = "hello"
    group.create_array("string fill", shape=(4,), dtype="str", chunks=(2,), fill_value="none")[:1] = "some"
    group.create_array("scalar", shape=(), dtype="f8")[...] = 3.5
    group.create_array("empty", shape=(0, 4), dtype="f4", chunks=(1, 4))
    group.create_array("absent", shape=(3, 4), dtype="f4", chunks=(2, 2))
    for number, (dtype, fill) in enumerate(FILLS):
        group.create_array(f"fill {number}", shape=(3,), dtype=dtype, chunks=(2,), fill_value=fill)


def write_attributes(group):
    group.attrs.update(
        {
            "text": "grün",
            "n": 2**63 - 1,
            "x": 0.5,
            "nan": float("nan"),
            "none": None,
            "list": [1, [2.5, "a"]],
            "map": {"b": 1, "a": {}},
        }
    )
    group.create_group("group with words").create_group("inner").attrs["deep"] = True


def write_v2(root):
    write_types(root)
    data = values("<i4", (17, 11))
    compressors = {
        "none": None,
        "gzip": numcodecs.GZip(4),
        "zlib": numcodecs.Zlib(1),
        "zstd": numcodecs.Zstd(3),
        "zstd checksum": numcodecs.Zstd(3, checksum=True),
        "lz4": numcodecs.LZ4(),
        "crc32c": numcodecs.CRC32C(),
    }
    for cname in ("lz4", "lz4hc", "zstd", "zlib", "blosclz"):
        for shuffle in (0, 1, 2, -1):
            compressors[f"blosc {cname} {shuffle}"] = numcodecs.Blosc(cname, 5, shuffle)
    for name, compressor in compressors.items():
        put(root, f"codec {name}", data, chunks=(9, 6), compressors=compressor)
    filters = {
        "delta": [numcodecs.Delta("<i4")],
        "delta i8": [numcodecs.Delta("<i4", "<i8"), numcodecs.Shuffle(8)],
        "shuffle": [numcodecs.Shuffle(4)],
        "fletcher32": [numcodecs.Fletcher32()],
        "crc32": [numcodecs.CRC32()],
        "adler32": [numcodecs.Adler32()],
        "astype": [numcodecs.AsType("<i2", "<i4")],
    }
    for name, chain in filters.items():
        put(root, f"filter {name}", data, chunks=(9, 6), filters=chain, compressors=numcodecs.Zlib(1))
    put(
        root,
        "filter scale",
        values("<f8", (17, 11)),
        chunks=(9, 6),
        filters=[numcodecs.FixedScaleOffset(1, 10, "<f8", "<i2")],
    )
    put(root, "filter packbits", values("?", (17, 11)), chunks=(9, 6), filters=[numcodecs.PackBits()])
    put(root, "order F", data, chunks=(9, 6), order="F")
    put(root, "order F cube", values("<i4", (3, 4, 5)), chunks=(2, 3, 4), order="F")
    put(root, "slash", data, chunks=(9, 6), chunk_key_encoding={"name": "v2", "separator": "/"})


def write_v3(root):
    write_types(root)
    data = values("<i4", (17, 11))
    chains = {
        "none": [BytesCodec()],
        "big": [BytesCodec(endian="big")],
        "gzip": [BytesCodec(), GzipCodec(level=4)],
        "zstd checksum": [BytesCodec(), ZstdCodec(level=3, checksum=True)],
        "blosc": [BytesCodec(), BloscCodec(cname="lz4", typesize=4, shuffle="bitshuffle")],
        "crc32c": [BytesCodec(), Crc32cCodec()],
        "transpose": [TransposeCodec(order=(1, 0)), BytesCodec(endian="big"), ZstdCodec()],
    }
    for name, chain in chains.items():
        old(root, f"codec {name}", data, (9, 6), chain)
    cube = values("<i4", (3, 4, 5))
    old(root, "transpose cube", cube, (2, 3, 4), [TransposeCodec(order=(2, 0, 1)), BytesCodec()])
    put(root, "separator", data, chunks=(9, 6), chunk_key_encoding={"name": "default", "separator": "."})
    put(root, "keys of v2", data, chunks=(9, 6), chunk_key_encoding={"name": "v2", "separator": "/"})
    put(root, "names", data, chunks=(9, 6), dimension_names=["y", None])
    put(root, "sharded", data, chunks=(2, 3), shards=(8, 6))
    put(
        root,
        "sharded strings",
        np.array(["a", "", "grün"] * 7, dtype=object).astype(np.dtypes.StringDType()),
        chunks=(3,),
        shards=(9,),
    )
    holes = root.create_array(
        "sharded with holes", shape=(20, 6), dtype="f4", chunks=(2, 3), shards=(8, 6), fill_value=-1
    )
    holes[3, 4] = 7
    inner = [BytesCodec(), GzipCodec()]
    start = ShardingCodec(chunk_shape=(2, 3), codecs=inner, index_location="start")
    old(root, "sharded start", data, (8, 6), [start])
    nested = ShardingCodec(chunk_shape=(4, 6), codecs=[ShardingCodec(chunk_shape=(2, 3), codecs=inner)])
    old(root, "sharded nested", data, (8, 6), [nested])
    old(
        root,
        "sharded transposed",
        data,
        (6, 6),
        [TransposeCodec(order=(1, 0)), ShardingCodec(chunk_shape=(3, 2), codecs=inner)],
    )
    old(root, "sharded gzip", data, (8, 6), [ShardingCodec(chunk_shape=(2, 3), codecs=inner), GzipCodec()])


def old(group, name, data, chunks, codecs):
    from zarr.core.array import AsyncArray  # the only door to a list of codecs as it is
    from zarr.core.sync import sync

    array = sync(
        AsyncArray._create(
            group.store_path / name,
            shape=data.shape,
            dtype=data.dtype,
            chunk_shape=chunks,
            codecs=codecs,
            zarr_format=3,
        )
    )
    zarr.Array(array)[...] = data


def expected(root):
    out = {}
    for name, item in sorted(root.members(max_depth=None)):
        if isinstance(item, zarr.Group):
            continue
        data = item[...]
        if isinstance(data, str):
            data = np.array(data, dtype=object)
        if data.dtype.kind in "OT":
            out[name] = {
                "shape": list(item.shape),
                "strings": [str(v) for v in np.asarray(data, dtype=object).reshape(-1)],
            }
        else:
            big = item.metadata.zarr_format != 3
            data = np.ascontiguousarray(data).astype(item.dtype if big else item.dtype.newbyteorder("<"))
            out[name] = {"shape": list(item.shape), "hex": data.tobytes().hex()}
    return out


def main(folder):
    warnings.simplefilter("ignore")
    for version, write in ((2, write_v2), (3, write_v3)):
        path = folder / f"v{version}.zip"
        path.unlink(missing_ok=True)
        memory = zarr.storage.MemoryStore()
        root = zarr.create_group(memory, zarr_format=version)
        write(root)
        write_attributes(root)
        # As ZipStore lays it out, but compressed where that helps: metadata are most of it.
        with zipfile.ZipFile(path, "w") as out:
            for number, (key, value) in enumerate(sorted(memory._store_dict.items())):
                info = zipfile.ZipInfo(key, (2020, 1, 1, 0, 0, 0))
                out.writestr(info, value.to_bytes(), zipfile.ZIP_DEFLATED if number % 8 else zipfile.ZIP_STORED)
        text = json.dumps(expected(zarr.open_group(memory, mode="r")), indent=0)
        (folder / f"v{version}.json").write_text(text + "\n")


main(Path(sys.argv[1]))
