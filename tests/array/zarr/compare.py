"""Checks through zarr-python and tensorstore that the stores of sink_test.cc hold what written.h says.

compare.py FOLDER     with v2 and v3
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import zarr

try:
    import tensorstore
except ImportError:
    tensorstore = None

TYPES = "|b1 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 <f2 <f4 <f8 <c8 <c16 |S3 |V4 <U2 <M8[ns] <m8[25s]"
BIG = ">i2 >u8 >f4 >c16 >U2 >M8[s]"
CODECS = ["none", "gzip:4", "blosc:lz4:5:shuffle", "blosc:zstd:3:bitshuffle", "zstd:5", "crc32c"]
RECORD = [("a", "<i4"), ("b", "<f8"), ("s", "S2")]


def value(i):
    return 0 if i // 40 % 3 == 0 else i // 3 * 37 % 101


def text(i):
    n = value(i)
    return "" if n == 0 else ("grün " if n % 2 == 0 else "red ") + str(n)


def elements(dtype, shape):
    dtype = np.dtype(dtype)
    numbers = [value(i) for i in range(int(np.prod(shape)))]
    if dtype.names:
        out = np.zeros(len(numbers), dtype)
        for name in dtype.names:
            out[name] = elements(dtype[name], len(numbers))
        return out.reshape(shape)
    if dtype.kind in "SV":
        return np.array([str(n).encode() if n else b"" for n in numbers], dtype="S4").astype(dtype).reshape(shape)
    if dtype.kind == "U":
        letters = [chr(ord("a") + n % 20) * (dtype.itemsize // 4) if n else "" for n in numbers]
        return np.array(letters, dtype=dtype).reshape(shape)
    return np.array(numbers, dtype="i8").astype(dtype).reshape(shape)


def arrays(version):
    for name in TYPES.split() + (BIG.split() if version == 2 else []):
        yield f"type {name}", elements(name, (150,))
    yield "record", elements(RECORD, (150,))
    for name in [f"codec {codec}" for codec in CODECS] + ["transpose", "big"]:
        yield name, elements("<i4", (17, 11))
    yield "fill", elements("<f4", (17, 11))
    yield "empty", elements("<i4", (0, 3))
    yield "scalar", elements("<f8", ())
    yield "contiguous", elements("<i4", (7, 0, 3))
    yield "null", np.zeros((), "?")
    if version == 3:
        yield "sharded", elements("<i4", (17, 11))
        yield "sharded bytes", elements("i1", (17, 11, 3))
        yield "names", elements("<i4", (17, 11))


def strings(version):
    names = ["strings", "bytes", "scalar string"] + (["sharded strings"] if version == 3 else [])
    shapes = {"strings": (15, 10), "bytes": (150,), "scalar string": (), "sharded strings": (15, 10)}
    for name in names:
        texts = [text(i) for i in range(int(np.prod(shapes[name])))]
        yield name, [t.encode() for t in texts] if name == "bytes" else texts, shapes[name]


def check_tensorstore(path, data, version):
    spec = {"driver": "zarr3" if version == 3 else "zarr", "kvstore": {"driver": "file", "path": str(path)}}
    found = tensorstore.open(spec, read=True).result().read().result()
    np.testing.assert_array_equal(found, data, err_msg=str(path))


def check(folder, version):
    root = zarr.open_consolidated(folder, mode="r") if version == 2 else zarr.open_group(folder, mode="r")
    assert root.metadata.zarr_format == version
    assert root.metadata.consolidated_metadata is not None
    assert root.attrs["text"] == "grün" and np.isnan(root.attrs["nan"]) and root.attrs["large"] == 2**64 - 1
    assert root.attrs["map"] == {"b": None, "a": [1, 2.5, "x"]}
    seen = {}
    for plain in (root, zarr.open_group(folder, mode="r", use_consolidated=False)):
        for name, data in arrays(version):
            item = plain[f"inner/{name}"]
            assert item.attrs["large"] == 2**64 - 1
            assert item.shape == data.shape, name
            np.testing.assert_array_equal(item[...], data, err_msg=name)
            seen[name] = item
        for name, expected, shape in strings(version):
            item = plain[f"inner/{name}"]
            assert item.shape == shape
            found = np.asarray(item[...], dtype=object).reshape(-1).tolist()
            assert found == expected, name
            seen[name] = item
    assert sorted(seen) == sorted(root["inner"].array_keys())
    assert np.isnan(seen["fill"].fill_value)
    assert seen["type <m8[25s]"].dtype == "<m8[25s]"
    if version == 3:
        assert seen["names"].metadata.dimension_names == ("y", None)
        assert seen["sharded"].shards == (8, 6) and seen["sharded"].chunks == (2, 3)
    if tensorstore is None:
        return
    for name, data in arrays(version):
        if data.dtype.kind in "biufc" and not data.dtype.names and name != "codec crc32c":
            check_tensorstore(folder / "inner" / name, data, version)


warnings.simplefilter("ignore")
for number in (2, 3):
    check(Path(sys.argv[1]) / f"v{number}", number)
