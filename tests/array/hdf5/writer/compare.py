"""Checks through h5py and the HDF5 tools that the files of sink_test.cc hold what zoo.h says.

compare.py FOLDER     with zoo.h5, plugins.h5 and limits.h5
"""

import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

INTEGERS = "|i1 <i2 >i2 <i4 >i4 <i8 >i8 |u1 <u2 >u2 <u4 >u4 <u8 >u8"
OTHERS = "<f2 >f2 <f4 >f4 <f8 >f8 <f16 <c8 >c8 <c16 <c32 |b1 |S3 |V4"
RECORD = {"a": "i1", "inner": [("x", "<f4"), ("y", ">i2")], "grid": ("<u2", (2, 3)), "text": "O", "fixed": "S5"}


def value(i):
    return i // 3 * 37 % 101


def text(i):
    n = value(i)
    if n % 5 == 0:
        return b""
    return (("grün " if n % 2 == 0 else "red ") + str(n) + "." * (n % 7 * n)).encode()


def values(dtype, shape):
    n = int(np.prod(shape))
    numbers = [value(i) for i in range(n)]
    if dtype.kind in "SV":
        return np.array([str(v).encode() for v in numbers], dtype=dtype).reshape(shape)
    if dtype.kind == "c":
        numbers = [complex(v) for v in numbers]
    return np.array(numbers, dtype=np.int64 if dtype.kind in "iu" else None).astype(dtype).reshape(shape)


def check_array(item, dtype, shape, chunks=None, maxshape=None, filters=()):
    dtype = np.dtype(dtype)
    assert item.shape == shape, (item.name, item.shape)
    assert item.dtype == dtype, (item.name, item.dtype)
    assert item.chunks == chunks, (item.name, item.chunks)
    assert item.maxshape == (maxshape or shape), (item.name, item.maxshape)
    pipeline = item.id.get_create_plist()
    found = tuple(pipeline.get_filter(i)[0] for i in range(pipeline.get_nfilters()))
    assert found == filters, (item.name, found)
    np.testing.assert_array_equal(item[()], values(dtype, shape), err_msg=item.name)
    # Chunks of other shapes than the stored ones, one at a time
    for i in range(min(shape[0], 3) if shape else 0):
        np.testing.assert_array_equal(item[i], values(dtype, shape)[i], err_msg=item.name)


def check_strings(item, shape, chunks=None, filters=()):
    info = h5py.check_string_dtype(item.dtype)
    assert info.encoding == "utf-8" and info.length is None
    assert item.shape == shape and item.chunks == chunks
    pipeline = item.id.get_create_plist()
    assert tuple(pipeline.get_filter(i)[0] for i in range(pipeline.get_nfilters())) == filters
    expected = [text(i) for i in range(int(np.prod(shape)))]
    assert list(np.asarray(item[()], dtype=object).reshape(-1)) == expected, item.name


def check_record_type(dtype):
    # h5py gives strings 8 bytes in memory, so the offsets differ from the stored ones
    assert list(dtype.names) == list(RECORD)
    for name, wanted in RECORD.items():
        assert dtype[name] == np.dtype(wanted), (name, dtype[name])


def check_record(item):
    check_record_type(item.dtype)
    assert item.shape == (5,)
    for i, row in enumerate(item[()]):
        assert row["a"] == value(i) and row["text"] == text(i) and row["fixed"] == str(value(i)).encode()
        assert row["inner"]["x"] == value(i) and row["inner"]["y"] == value(i)
        assert row["grid"].reshape(-1).tolist() == [value(i + k) for k in range(6)]


def check_deep_record(item):
    inner = np.dtype([("m", "u1", (3,))])
    assert list(item.dtype.names) == ["a", "deep", "inner", "one"]
    assert item.dtype["deep"] == np.dtype(("<u2", (2, 1, 2, 1, 2, 1)))
    assert item.dtype["inner"] == np.dtype((inner, (2,))) and item.dtype["one"] == inner
    for i, row in enumerate(item[()]):
        assert row["deep"].reshape(-1).tolist() == [value(i + k) for k in range(8)]
        assert row["inner"]["m"].tolist() == [[value(i + k + j) for j in range(3)] for k in range(2)]
        assert row["a"] == value(i) and row["one"]["m"].tolist() == [value(i + j) for j in range(3)]


def check_types(group):
    for name in f"{INTEGERS} {OTHERS}".split():
        check_array(group[name], name, (7,))
        check_array(group["chunked " + name], name, (7,), (3,), filters=(1,))
    enum = group["enum"]
    assert h5py.check_enum_dtype(enum.dtype) == {"NONE": 0, "SOME": 37, "LESS": -5} and enum.dtype == "<i2"
    assert enum[()].tolist() == [value(i) for i in range(4)]
    check_strings(group["strings"], (300,))
    check_strings(group["chunked strings"], (20, 17), (6, 5), (1,))
    check_strings(group["plain chunked strings"], (300,), (70,))
    assert h5py.check_vlen_dtype(group["vlen bytes"].dtype) == np.uint8
    assert [bytes(v) for v in group["vlen bytes"][()]] == [text(i) for i in range(9)]
    check_record(group["record"])
    check_record(group["chunked record"])
    check_deep_record(group["deep record"])
    assert group["scalar"][()] == value(0) and group["scalar string"][()] == text(0)
    assert group["null"].shape is None and group["null"].dtype == "f4"


def check_layouts(group):
    check_array(group["matrix"], "<i4", (17, 11))
    check_array(group["gzip"], "<i4", (17, 11), (5, 4), filters=(1,))
    assert group["gzip"].compression_opts == 4
    check_array(group["shuffle"], "<i4", (9, 8, 7), (2, 3, 4), filters=(2, 1))
    check_array(group["none"], "<i4", (17, 11), (5, 4))
    check_array(group["fletcher32"], "<i4", (17, 11), (5, 4), filters=(1, 3))
    check_array(group["lzf"], "<i4", (500,), (100,), filters=(32000,))
    check_array(group["lzf of little"], "<i4", (5,), (2,), filters=(32000,))
    check_array(group["shuffled lzf of little"], "<i4", (5,), (2,), filters=(2, 32000))
    assert group["lzf of little"].id.get_chunk_info(0).filter_mask == 1
    check_array(group["empty"], "<i4", (0,))
    check_array(group["empty wide"], "<i4", (3, 0))
    check_array(group["empty chunked"], "<i4", (0, 3), (1, 3), filters=(1,))
    check_array(group["unlimited"], "<i4", (10,), (4,), (None,), filters=(1,))
    check_array(group["limited"], "<i4", (3, 4), (2, 8), (None, 8))
    check_array(group["filled"], "<i4", (12,), (3,), filters=(1,))
    assert group["filled"].fillvalue == value(3) and group["filled"].id.get_num_chunks() == 3
    check_array(group["large chunk"], "<i4", (3,), (100,), filters=(1,))
    check_array(group["deep"], "<i4", (1,) * 32, (1,) * 32)
    check_array(group["deep contiguous"], "<i4", (1,) * 32)


def check_attributes(group):
    attrs = group.attrs
    assert attrs["text"] == "grün" and attrs["empty text"] == "" and list(attrs["texts"]) == ["a", "", "ccc"]
    expected = {
        "yes": np.bool_(True),
        "int": np.int64(-3),
        "large": np.uint64(2**64 - 1),
        "float": 0.5,
        "none": np.zeros(0),
        "matrix": np.arange(1, 7).reshape(2, 3),
        "mixed": np.array([1, 2.5]),
        "größe": np.int64(1),
        "big-endian": np.array([1, 2], ">i2"),
        "half": np.float16(1.5),
        "complex": np.array([1 + 2j, 3 - 4j]),
        "fixed": np.bytes_(b"abc"),
        "opaque": np.void(b"a\xff"),
        "no rows": np.zeros((0, 3), "i4"),
    }
    for name, wanted in expected.items():
        found = attrs[name]
        assert np.asarray(found).shape == np.asarray(wanted).shape, name
        assert np.array_equal(found, wanted), (name, found)
        stored = attrs.get_id(name).dtype
        assert stored == np.asarray(wanted).dtype or (name == "fixed" and stored == "S5"), (name, stored)
    assert isinstance(attrs["null"], h5py.Empty) and attrs["null"].dtype == "f8"
    assert attrs["enum"] == 37 and h5py.check_enum_dtype(attrs.get_id("enum").dtype)["SOME"] == 37
    check_record_type(attrs.get_id("record").dtype)
    record = attrs["record"]
    assert record["text"] in (b"t", "t") and record["grid"].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert record["inner"]["y"] == 2
    assert group.file[attrs["reference"]].name == "/attributes/member"
    references = attrs["references"]
    assert [group.file[r].name if r else None for r in references] == ["/types", "/", None, "/attributes"]
    assert group.file[group["member"].attrs["back"]].name == "/attributes"


def check_zoo(file):
    assert list(file.attrs.items()) == [("encoding-type", "zoo")]
    assert sorted(file) == ["attributes", "groups", "layouts", "types"]
    check_types(file["types"])
    check_layouts(file["layouts"])
    check_attributes(file["attributes"])
    assert sorted(file["groups"]) == ["deep", "empty", "ä"] and len(file["groups/empty"]) == 0
    assert len(file["groups/deep" + "/g" * 39]) == 0


def check_plugins(file):
    import hdf5plugin  # noqa: F401 registers the filters

    numbers = {
        "zstd": 32015,
        "blosc:lz4:5:shuffle": 32001,
        "blosc:zstd:3:bitshuffle": 32001,
        "lz4": 32004,
        "bitshuffle:lz4": 32008,
    }
    assert sorted(file) == sorted(numbers)
    for name, number in numbers.items():
        check_array(file[name], "<i4", (500, 8), (100, 5), filters=(number,))


def check_limits(file):
    check_array(file["chunks"], "<i2", (5000,), (1,))
    check_array(file["square"], "<i2", (90, 90), (1, 1))
    members = file["members"]
    assert len(members) == 1000 and set(members) == {f"m{i}" for i in range(1000)}
    assert all(members[f"m{i}"][()] == 0 for i in range(1000))
    for item in (file["wide"], file["wide/member"]):
        assert item.attrs["small"] == 1 and item.attrs["größe"] == "x" and len(item.attrs) == 4
        assert item.attrs["column-order"].tolist() == [f"column {i}" for i in range(20000)]
        assert file[item.attrs["self"]].name == "/wide"
    many = file["many"].attrs
    assert len(many) == 6000 and all(many[f"a{i}"] == i for i in range(0, 6000, 97))


def check_grows(path):
    """The library goes on with the file: new members, attributes, rows, deletions."""
    with h5py.File(path, "r+") as file:
        for i in range(50):
            file["groups/empty"][f"new {i}"] = np.arange(i)
        file["types/new"] = "x"
        del file["types/strings"]
        file["layouts/unlimited"].resize((40,))
        file["layouts/unlimited"][10:] = np.arange(30)
        file["attributes"].attrs["text"] = "another, longer one"
        file["attributes"].attrs["more"] = np.arange(100)
    with h5py.File(path) as file:
        assert len(file["groups/empty"]) == 50 and file["groups/empty/new 49"][48] == 48
        assert file["types/new"][()] == b"x" and "strings" not in file["types"]
        assert file["layouts/unlimited"][:10].tolist() == [value(i) for i in range(10)]
        assert file["layouts/unlimited"][10:].tolist() == list(range(30))
        assert file["attributes"].attrs["text"] == "another, longer one" and file["attributes"].attrs["more"][99] == 99


def check_wide_grows(path):
    with h5py.File(path, "r+") as file:
        file["members/new"] = 1
        file["wide/new"] = 1
        file["wide"].attrs["new"] = "y"
        del file["wide/member"].attrs["column-order"]
    with h5py.File(path) as file:
        assert len(file["members"]) == 1001 and file["wide"].attrs["new"] == "y" and len(file["wide"].attrs) == 5
        assert len(file["wide/member"].attrs) == 3


def check_tool(*command):
    if shutil.which(command[0]) is None:
        return
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0 and not done.stderr.strip(), (command, done.returncode, done.stderr[-2000:])


def main(folder):
    folder = Path(folder)
    for name, check in {"zoo": check_zoo, "plugins": check_plugins, "limits": check_limits}.items():
        path = str(folder / f"{name}.h5")
        with h5py.File(path) as file:
            check(file)
        check_tool("h5ls", "-r", "-v", path)
        check_tool("h5stat", path)
        check_tool("h5dump", "-H", "-p", path)
        if name == "limits":
            check_tool("h5dump", "-d", "/square", path)
    # The tools print no opaque fill values or lzf, so the values of each group that they can read
    path = str(folder / "zoo.h5")
    with h5py.File(path) as file:
        plain = [f"/types/{name}" for name in file["types"] if "<c32" not in name]
        plain += [f"/layouts/{name}" for name in file["layouts"] if "lzf" not in name]
        plain = [name for name in plain if "fletcher32" not in name]
    for name in plain:
        check_tool("h5dump", "-d", name, path)
    check_tool("h5dump", "-N", "text", path)
    for name, grows in {"zoo": check_grows, "limits": check_wide_grows}.items():
        copy = folder / f"{name} copy.h5"
        shutil.copy(folder / f"{name}.h5", copy)
        grows(copy)
        check_tool("h5ls", "-r", "-v", str(copy))


if __name__ == "__main__":
    main(sys.argv[1])
