"""Writes small HDF5 files, one for each libver, and what h5py reads from them as JSON.

make_fixtures.py tests/data/hdf5        the files of the C++ tests
make_fixtures.py FOLDER big             every libver, and indexes of many blocks and pages
"""

import json
import sys
from pathlib import Path

import h5py
import numpy as np

SMALL = ["earliest", "v108", "v110", "latest"]  # v112 and v114 hold the same structures as v110
ALL = ["earliest", "v108", "v110", "v112", "v114", "latest"]


def expected(file):
    out = {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset) or item.shape is None or item.dtype.kind == "O" or item.dtype.hasobject:
            if isinstance(item, h5py.Dataset) and item.shape is not None and h5py.check_string_dtype(item.dtype):
                values = np.asarray(item[()], dtype=object).reshape(-1)
                out[name] = {"shape": list(item.shape), "strings": [v.decode() for v in values]}
            return
        data = np.ascontiguousarray(item[()]).tobytes()
        out[name] = (
            {"shape": list(item.shape), "hex": data.hex()}
            if len(data) <= 256
            else {"shape": list(item.shape), "sum": sum(data) % (1 << 32), "bytes": len(data)}
        )

    file.visititems(visit)
    return out


def write_types(group):
    rng = np.random.default_rng(1)
    for code in ["i1", "u1", "<i2", ">i2", "<u4", ">u8", "<i8", "<f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c16", "?"]:
        data = (rng.random(7) * 100).astype(code)
        group[f"type_{np.dtype(code).name}_{'big' if '>' in code else 'little'}"] = data
    group["longdouble"] = np.arange(3, dtype=np.longdouble) / 3
    group["fixed"] = np.array([b"a", b"bcd", b""], dtype="S3")
    group["strings"] = np.array(["x", "", "grün", "a" * 300], dtype=h5py.string_dtype())
    group.create_dataset("ascii", data=["p", "q"], dtype=h5py.string_dtype("ascii"))
    group["scalar"] = 3.5
    group["scalar_string"] = "hello"
    group["void"] = np.array([b"abc", b"def"], dtype="V3")
    group["record"] = np.array([(1, 2.5, b"k"), (2, -1, b"zz")], dtype=[("a", "<i4"), ("b", ">f8"), ("s", "S2")])
    group["record_array"] = np.zeros(2, dtype=[("m", "<i2", (2, 3)), ("n", "u1")])
    group["enum"] = np.array([1, 2, 1], dtype=h5py.enum_dtype({"A": 1, "B": 2}, basetype="i2"))
    group["null"] = h5py.Empty("f4")
    group["dates"] = np.array([1, 2], dtype="M8[s]").astype(h5py.opaque_dtype("M8[s]"))
    group.create_dataset("vlen_u1", (2,), dtype=h5py.vlen_dtype("u1"))[0] = np.arange(5, dtype="u1")
    record = np.array([(b"one", 1), (b"two", 2)], dtype=[("s", h5py.string_dtype()), ("v", "i4")])
    group["record_strings"] = record
    group["empty"] = np.zeros((0, 4), "f4")


def write_layouts(group, big):
    data = np.arange(17 * 11, dtype="<i4").reshape(17, 11)
    group["contiguous"] = data
    group.create_dataset("unallocated", (5, 6), "f4", fillvalue=2.5)
    group.create_dataset("single", data=data, chunks=(17, 11))
    group.create_dataset("single_gzip", data=data, chunks=(17, 11), compression="gzip")
    group.create_dataset(
        "larger_chunk", data=data, chunks=(20, 16), maxshape=(None, 20), shuffle=True, compression="gzip"
    )
    group.create_dataset("fixed", data=data, chunks=(4, 4))
    group.create_dataset("fixed_filtered", data=data, chunks=(4, 4), shuffle=True, compression="gzip", fletcher32=True)
    group.create_dataset("fixed_max", data=data, chunks=(4, 4), maxshape=(40, 30))
    group.create_dataset("extensible", data=data, chunks=(2, 3), maxshape=(None, 11))
    group.create_dataset("extensible_second", data=data, chunks=(2, 3), maxshape=(20, None), compression="lzf")
    group.create_dataset("tree", data=data, chunks=(2, 3), maxshape=(None, None))
    group.create_dataset("tree_filtered", data=data, chunks=(2, 3), maxshape=(None, None), compression="gzip")
    sparse = group.create_dataset("holes", (50, 50), "i2", chunks=(5, 5), maxshape=(None, None), fillvalue=-7)
    sparse[12:14, 33] = 4
    space = h5py.h5s.create_simple((10, 9), (12, 9))
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 4))
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    early = h5py.h5d.create(group.id, b"implicit", h5py.h5t.NATIVE_INT16, space, plist)
    h5py.Dataset(early)[:] = np.arange(90).reshape(10, 9)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    compact = h5py.h5d.create(group.id, b"compact", h5py.h5t.NATIVE_INT16, h5py.h5s.create_simple((6,)), plist)
    h5py.Dataset(compact)[:] = np.arange(6)
    if big:
        n = 5000
        many = np.arange(n, dtype="u1")
        group.create_dataset("paged_fixed", data=many, chunks=(2,))
        group.create_dataset("extensible_paged", (400000,), "u1", chunks=(2,), maxshape=(None,))
        for at in (0, 9, 300, 2500, 80000, 399998):
            group["extensible_paged"][at] = 7
        group.create_dataset("deep_tree", data=many[:900].reshape(30, 30), chunks=(1, 1), maxshape=(None, None))


def write_tree(group):
    group.create_group("a/b/c")["leaf"] = 1
    group["hard"] = group["a/b/c/leaf"]
    group["soft"] = h5py.SoftLink("a/b")
    group["soft_absolute"] = h5py.SoftLink(group.name + "/a/b/c/leaf")
    group["dangling"] = h5py.SoftLink("nowhere/x")
    group["outside"] = h5py.ExternalLink("other.h5", "/x")
    many = group.create_group("many")
    for i in range(40):
        many[f"child{i:03d}"] = group["a"]
    ordered = group.create_group("ordered", track_order=True)
    for name in "zmaqb":
        ordered.attrs[name] = name
        ordered.create_group(name)
    dense = group.create_group("dense", track_order=True)
    for i in range(30):
        dense.attrs[f"k{(i * 7) % 30}"] = np.arange(i)
        dense[f"g{(i * 7) % 30}"] = group["a"]
    dense.attrs["large"] = np.arange(600, dtype="i8")  # a huge object of the fractal heap


def write_attributes(group):
    attrs = group.attrs
    attrs["text"] = "grün"
    attrs["bytes"] = np.bytes_(b"abc")
    attrs["list"] = ["a", "bb", ""]
    attrs["number"] = -3
    attrs["big"] = np.uint64(2**64 - 1)
    attrs["float"] = 2.5
    attrs["half"] = np.float16(1.5)
    attrs["swapped"] = np.array([1, 2], dtype=">i4")
    attrs["yes"] = True
    attrs["matrix"] = np.arange(6).reshape(2, 3)
    attrs["complex"] = np.complex64(1 + 2j)
    attrs["nothing"] = h5py.Empty("f8")
    attrs["no_items"] = np.zeros(0)
    group["target"] = [1, 2]
    attrs["reference"] = group["target"].ref
    group.file["committed"] = np.dtype("<i2")
    group.create_dataset("of_committed", (3,), dtype=group.file["committed"])[:] = [5, 6, 7]
    for i in range(12):
        attrs[f"fill{i}"] = i


def main(folder, big):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for version in ALL if big else SMALL:
        with h5py.File(
            folder / f"{version}.h5",
            "w",
            libver=version if version == "earliest" else (version, version),
            userblock_size=512 if version == "v110" else 0,
        ) as file:
            write_types(file.create_group("types"))
            write_layouts(file.create_group("layouts"), big)
            write_tree(file.create_group("tree"))
            write_attributes(file.create_group("attributes"))
        with h5py.File(folder / f"{version}.h5") as file:
            (folder / f"{version}.json").write_text(json.dumps(expected(file), indent=0) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], len(sys.argv) > 2)
