"""convert knows every encoding: the same elements, encodings and types as anndata writes, from every layout and age."""

import json
import shutil
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import zarr
from anndata.io import read_elem
from anndata.tests.helpers import assert_equal
from packaging.version import Version

from lamella_run import done, read, run
from old_layouts import write_0_6, write_0_7

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(Version(anndata.__version__) < Version("0.13"), reason="compares with what anndata 0.13 writes"),
]

ROWS, COLUMNS = 23, 11
TARGETS = {
    "h5ad": ("out.h5ad", []),
    "zarr3": ("out.zarr", []),
    "zarr2": ("out.zarr", ["--zarr-format", "2"]),
}


def every_other(values: list, dtype) -> pd.api.extensions.ExtensionArray:
    return pd.array([None if n % 3 == 0 else value for n, value in enumerate(values)], dtype=dtype)


def columns() -> dict:
    steps = np.arange(ROWS)
    names = [f"n{n}" for n in steps]
    return {
        "i1": steps.astype("i1"),
        "u2": steps.astype("u2"),
        "f2": steps.astype("f2"),
        "flag": steps % 2 == 0,
        "text": [f"ü{n}" for n in steps],
        "text_gaps": every_other(names, "str"),
        "text_na": every_other(names, "string"),
        "kind": pd.Categorical([f"c{n % 3}" for n in steps]),
        "kind_ordered": pd.Categorical([None if n % 4 == 0 else f"c{n % 3}" for n in steps], ordered=True),
        "kind_int": pd.Categorical(steps % 5),
        "kind_float": pd.Categorical(steps % 5 / 2),
        "kind_bool": pd.Categorical(steps % 2 == 0),
        "kind_none": pd.Categorical([None] * ROWS, categories=[]),
        "gaps_int": every_other(list(steps), "Int16"),
        "gaps_uint": every_other(list(steps), "UInt64"),
        "gaps_bool": every_other(list(steps % 2 == 0), "boolean"),
    }


def unstructured() -> dict:
    records = np.zeros(5, dtype=[("name", "O"), ("score", "f4"), ("rank", "i8")])
    records["name"] = ["a", "bb", "ü", "", "long name"]
    return {
        "none": None,
        "scalars": {
            "int": 3,
            "i2": np.int16(4),
            "f": 2.5,
            "c": np.complex64(1 + 2j),
            "flag": True,
            "no": np.bool_(False),
        },
        "text": "grüße",
        "no_text": "",
        "matrix": np.arange(6).reshape(2, 3),
        "texts": np.array(["a", "b", "ü"]),
        "text_matrix": np.array([["a", "b"], ["c", ""]], dtype=object),
        "nothing": np.zeros(0),
        "no_texts": np.array([], dtype=object),
        "bytes": np.array([b"ab", b"c"]),
        "deep": {"a": {"b": {"c": {"d": np.float16(1)}}}},
        "empty": {},
        "records": records,
        "frame": pd.DataFrame({"a": [1, 2]}),
        "no_columns": pd.DataFrame(index=["a", "b"]),
        "numbered": pd.DataFrame({"q": ["a", "b"]}, index=pd.Index([5, 6], name="ix")),
        "kinds": pd.Categorical(["a", "b", "a"]),
        "gaps": pd.array([1, None], dtype="Int64"),
        "text_gaps": pd.array(["a", None], dtype="string"),
        "sparse": sp.csr_matrix(np.eye(3)),
        "inner": anndata.AnnData(np.ones((2, 2))),
    }


def zoo() -> anndata.AnnData:
    """Every encoding and every type that anndata writes."""
    counts = sp.random(ROWS, COLUMNS, 0.3, "csr", dtype="f4", random_state=0)
    dense = counts.toarray()
    index = pd.Index([f"cell{n}" for n in range(ROWS)], name="barcode")
    data = anndata.AnnData(
        counts,
        obs=pd.DataFrame(columns(), index=index),
        var=pd.DataFrame(index=[f"gene{n}" for n in range(COLUMNS)]),
        layers={
            "f4": dense,
            "f2": dense.astype("f2"),
            "complex": dense + 1j,
            "bool": dense > 0,
            "csc": counts.tocsc(),
            "array": sp.csr_array(counts.astype("i8")),
            "empty": sp.csr_matrix(counts.shape),
            "sparse_bool": counts > 0,
        },
        obsm={
            "frame": pd.DataFrame({"a": np.arange(ROWS) / 7, "t": ["q"] * ROWS}, index=index),
            "three": np.arange(ROWS * 6.0).reshape(ROWS, 3, 2),
            "no_width": np.zeros((ROWS, 0)),
            "sparse": sp.random(ROWS, 4, 0.5, "csc", random_state=1),
        },
        varm={"p": np.ones((COLUMNS, 2))},
        obsp={"graph": sp.random(ROWS, ROWS, 0.1, "csr", random_state=2)},
        varp={"v": np.eye(COLUMNS)},
        uns=unstructured(),
    )
    awkward = pytest.importorskip("awkward")
    data.obsm["ragged"] = awkward.Array([[{"x": n, "y": [1.5] * n}] * (n % 3) for n in range(ROWS)])
    data.raw = data.copy()
    return data


def write(data: anndata.AnnData, path: Path, kind: str) -> Path:
    if kind == "h5ad":
        data.write_h5ad(path, convert_strings_to_categoricals=False)
    else:
        anndata.settings.zarr_write_format = int(kind[-1])
        data.write_zarr(path, convert_strings_to_categoricals=False)
        anndata.settings.reset("zarr_write_format")
    return path


def hdf5_tree(path: Path) -> dict:
    tree = {}
    with h5py.File(path) as file:

        def visit(name, node):
            attributes = {
                key: (np.asarray(value).tolist(), str(node.attrs.get_id(key).dtype), node.attrs.get_id(key).shape)
                for key, value in sorted(node.attrs.items())
            }
            tree[name] = (getattr(node, "shape", "group"), str(getattr(node, "dtype", "")), attributes)

        visit("", file)
        file.visititems(visit)
    return tree


def zarr_tree(path: Path) -> dict:
    tree = {}

    def visit(name, node):
        tree[name] = (
            getattr(node, "shape", "group"),
            str(getattr(node, "dtype", "")),
            dict(sorted(node.attrs.items())),
        )
        if isinstance(node, zarr.Group):
            for key in node:
                visit(f"{name}/{key}" if name else key, node[key])

    visit("", zarr.open_group(path, mode="r", use_consolidated=False))
    # anndata says in Zarr that there is no raw, which its readers of before 0.12 do not understand.
    if tree.get("raw", [()])[0] == ():
        tree.pop("raw", None)
    return tree


def tree_of(path: Path) -> dict:
    return hdf5_tree(path) if path.suffix == ".h5ad" else zarr_tree(path)


def assert_same_tree(ours: Path, theirs: Path) -> None:
    """The same nodes, encodings, types and attributes."""
    ours, theirs = tree_of(ours), tree_of(theirs)
    assert ours.keys() == theirs.keys()
    assert ours == theirs


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> dict[str, Path]:
    folder, data = tmp_path_factory.mktemp("zoo"), zoo()
    names = {"h5ad": "in.h5ad", "zarr3": "in3.zarr", "zarr2": "in2.zarr"}
    return {kind: write(data, folder / name, kind) for kind, name in names.items()}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", TARGETS)
def test_every_encoding_in_every_direction(program, stores, tmp_path, source, target):
    name, options = TARGETS[target]
    done(program, "convert", stores[source], tmp_path / name, *options)
    assert_equal(read(tmp_path / name), read(stores[source]), exact=True)
    assert_same_tree(tmp_path / name, stores[target])


def test_every_encoding_in_a_zip(program, stores, tmp_path):
    done(program, "convert", stores["h5ad"], tmp_path / "out.zarr.zip")
    done(program, "convert", tmp_path / "out.zarr.zip", tmp_path / "back.h5ad")
    expected = read(stores["h5ad"])
    assert_equal(read(tmp_path / "out.zarr.zip"), expected, exact=True)
    assert hdf5_tree(tmp_path / "back.h5ad") == hdf5_tree(stores["h5ad"])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("make", [write_0_6, write_0_7])
def test_old_layouts_become_the_current_one(program, tmp_path, make, target):
    source = make(tmp_path / "old.h5ad")
    name, options = TARGETS[target]
    done(program, "convert", source, tmp_path / name, *options)
    expected = read(source)
    assert set(expected.obsp) == {"distances", "connectivities"}
    assert_equal(read(tmp_path / name), expected, exact=True)
    assert_same_tree(tmp_path / name, write(expected, tmp_path / f"theirs-{name}", target))


@pytest.mark.parametrize("element, kind", [("obs", pd.DataFrame), ("/obsm/", dict), ("raw.X", sp.csc_matrix)])
def test_a_part_of_an_old_layout(program, tmp_path, element, kind):
    source = write_0_6(tmp_path / "old.h5ad")
    done(program, "convert", source, tmp_path / "out.zarr", "--element", element)
    part = read_elem(zarr.open(tmp_path / "out.zarr", mode="r"))
    assert isinstance(part, kind)
    if element == "obs":
        pd.testing.assert_frame_equal(part, read(source).obs)


@pytest.mark.parametrize("target", ["h5ad", "zarr3"])
def test_big_endian_values(program, tmp_path, target):
    dense = np.arange(12.0).reshape(4, 3).astype(">f4")
    data = anndata.AnnData(dense, obsm={"m": dense.astype(">i8")}, uns={"c": (dense + 1j).astype(">c16")})
    source = write(data, tmp_path / "in.h5ad", "h5ad")
    name, options = TARGETS[target]
    done(program, "convert", source, tmp_path / name, *options)
    got = read(tmp_path / name)
    order = ">" if target == "h5ad" else "<"
    assert got.X.dtype == np.dtype(order + "f4")
    np.testing.assert_array_equal(got.X, dense)
    np.testing.assert_array_equal(got.obsm["m"], dense)
    np.testing.assert_array_equal(got.uns["c"], dense + 1j)


def changed(store: Path, folder: Path, change) -> Path:
    """A copy of a file, after change(file)."""
    path = folder / "changed.h5ad"
    shutil.copy(store, path)
    with h5py.File(path, "a") as file:
        change(file)
    return path


def encode(node, kind: str, version: str) -> None:
    node.attrs["encoding-type"] = kind
    node.attrs["encoding-version"] = version


def add_unknowns(file: h5py.File) -> None:
    for parent in ("", "obs", "raw", "X", "obs/kind"):
        file[f"{parent}/extra"] = np.arange(2)
        file[parent or "/"].attrs["note"] = "kept"
    file["future"] = np.arange(3)
    encode(file["future"], "future-array", "9.9.9")


@pytest.mark.parametrize("target", TARGETS)
def test_what_nobody_knows_survives(program, stores, tmp_path, target):
    source = changed(stores["h5ad"], tmp_path, add_unknowns)
    name, options = TARGETS[target]
    done(program, "convert", source, tmp_path / name, *options)
    tree = tree_of(tmp_path / name)
    for parent in ("", "obs", "raw", "X", "obs/kind"):
        assert tree[f"{parent}/extra".strip("/")][0] == (2,)
        note = tree[parent][2]["note"]
        assert note == "kept" or note[0] == "kept"
    assert "9.9.9" in str(tree["future"][2])
    refused = run(program, "convert", source, tmp_path / "dense.zarr", "--sparse", "dense")
    assert refused.status == 1 and "extra" in refused.err


@pytest.mark.parametrize("dtype", ["u2", "i4", "f4", "f8"])
def test_the_shape_of_a_sparse_matrix_in_any_type(program, stores, tmp_path, dtype):
    def change(file):
        file["X"].attrs["shape"] = np.array(file["X"].attrs["shape"], dtype)

    done(program, "convert", changed(stores["h5ad"], tmp_path, change), tmp_path / "out.h5ad")
    assert hdf5_tree(tmp_path / "out.h5ad") == hdf5_tree(stores["h5ad"])


def without(*names: str):
    def change(file):
        for name in names:
            del file[name]

    return change


def with_array(name: str, values: np.ndarray):
    def change(file):
        del file[name]
        file[name] = values
        encode(file[name], "array", "0.2.0")

    return change


def with_attribute(name: str, attribute: str, value):
    def change(file):
        file[name].attrs.pop(attribute)
        if value is not None:
            file[name].attrs[attribute] = value

    return change


FAULTS = {
    "no indptr": (without("X/indptr"), "/X"),
    "no index": (without("obs/barcode"), "barcode"),
    "index not named": (with_attribute("obs", "_index", None), "/obs"),
    "no column": (without("obs/i1"), "i1"),
    "no obs": (without("obs"), "obs"),
    "no codes": (without("obs/kind/codes"), "/obs/kind"),
    "no categories": (without("obs/kind/categories"), "/obs/kind"),
    "no mask": (without("obs/gaps_int/mask"), "/obs/gaps_int"),
    "short mask": (with_array("obs/gaps_int/mask", np.zeros(4, bool)), "/obs/gaps_int"),
    "short column": (with_array("obs/i1", np.arange(5)), "/obs/i1"),
    "short layer": (with_array("layers/f4", np.ones((5, COLUMNS))), "/layers/f4"),
    "narrow layer": (with_array("layers/f4", np.ones((ROWS, 2))), "/layers/f4"),
    "short obsm": (with_array("obsm/three", np.ones((5, 2))), "/obsm/three"),
    "wide obsp": (with_array("obsp/graph", np.ones((ROWS, 2))), "/obsp/graph"),
    "another shape": (with_attribute("X", "shape", np.array([ROWS + 1, COLUMNS])), "/X"),
    "no shape": (with_attribute("X", "shape", None), "/X"),
    "half a row": (with_attribute("X", "shape", np.array([ROWS + 0.5, COLUMNS])), "/X"),
    "shape of nothing": (with_attribute("X", "shape", np.array([np.nan, 1e300])), "/X"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named_before_anything_is_written(program, stores, tmp_path, fault):
    change, name = FAULTS[fault]
    source = changed(stores["h5ad"], tmp_path, change)
    result = run(program, "convert", source, tmp_path / "out.zarr")
    assert result.status == 1 and "changed.h5ad" in result.err and name in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changed.h5ad"]
    done(program, "info", source)


def test_whatever_may_be_missing_is_made(program, stores, tmp_path):
    optional = ("X", "uns", "layers", "obsm", "obsp", "varm", "varp", "raw")
    source = changed(stores["h5ad"], tmp_path, without(*optional))
    done(program, "convert", source, tmp_path / "out.h5ad")
    with h5py.File(tmp_path / "out.h5ad") as file:
        assert set(file) == {"obs", "var", "uns", "layers", "obsm", "obsp", "varm", "varp"}
    assert read(tmp_path / "out.h5ad").X is None


def string_encodings(path: Path) -> dict[str, str]:
    names = ("obs/barcode", "obs/text", "obs/kind/categories", "raw/var/_index", "uns/numbered/q", "uns/texts")
    tree = zarr_tree(path)
    return {name: tree[name][2]["encoding-type"] for name in names}


def test_strings_nullable_plain_or_as_they_were(program, stores, tmp_path):
    gone = ("text_gaps", "text_na")

    def drop(file):
        for name in gone:
            del file["obs"][name]
        file["obs"].attrs["column-order"] = [name for name in columns() if name not in gone]

    source = changed(stores["h5ad"], tmp_path, drop)
    done(program, "convert", source, tmp_path / "plain.zarr", "--strings", "plain")
    assert set(string_encodings(tmp_path / "plain.zarr").values()) == {"string-array"}
    for strings in ("nullable", "keep"):
        done(program, "convert", tmp_path / "plain.zarr", tmp_path / f"{strings}.zarr", "--strings", strings)
    assert string_encodings(tmp_path / "keep.zarr") == string_encodings(tmp_path / "plain.zarr")
    nullable = string_encodings(tmp_path / "nullable.zarr")
    assert {name for name, kind in nullable.items() if kind == "string-array"} == {"obs/kind/categories", "uns/texts"}
    assert_equal(read(tmp_path / "nullable.zarr"), read(source), exact=True)


def test_plain_strings_refuse_gaps(program, stores, tmp_path):
    result = run(program, "convert", stores["h5ad"], tmp_path / "out.zarr", "--strings", "plain")
    assert result.status == 1 and "/obs/text_" in result.err and "missing" in result.err


ELEMENTS = [
    "obs",
    "obs/kind",
    "obs/i1",
    "obs/text",
    "X",
    "X/data",
    "layers/f4",
    "uns",
    "uns/text",
    "uns/none",
    "obsm/frame",
]


@pytest.mark.parametrize("target", ["h5ad", "zarr3"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_an_element_becomes_the_root(program, stores, tmp_path, element, target):
    name, options = TARGETS[target]
    done(program, "convert", stores["h5ad"], tmp_path / name, "--element", element, *options)
    with h5py.File(stores["h5ad"]) as file:
        expected = read_elem(file[element])
        is_array = isinstance(file[element], h5py.Dataset)
    if target == "zarr3":
        got = read_elem(zarr.open(tmp_path / name, mode="r"))
    else:
        with h5py.File(tmp_path / name) as file:  # an HDF5 file has a group for its root
            got = read_elem(file[element.split("/")[-1]] if is_array else file["/"])
    if isinstance(expected, str):
        assert got == expected
    elif expected is not None:
        assert_equal(got, expected)
    else:
        assert got is None


REFUSED = {
    "an object": (lambda root: root.attrs.update({"mine": {"a": 1}}), "mine"),
    "null": (lambda root: root.attrs.update({"mine": None}), "mine"),
    "unlike things": (lambda root: root.attrs.update({"mine": [1, "a"]}), "mine"),
    "dates": (lambda root: root.create_array("uns/day", data=np.array(["2020-01-01"], "M8[ns]")), "/uns/day"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_hdf5_refuses_by_name_what_it_cannot_hold(program, stores, tmp_path, what):
    change, name = REFUSED[what]
    source = shutil.copytree(stores["zarr3"], tmp_path / "in.zarr")
    change(zarr.open_group(source, mode="a", use_consolidated=False))
    (tmp_path / "out").mkdir()
    result = run(program, "convert", source, tmp_path / "out" / "x.h5ad")
    assert result.status == 1 and name in result.err
    assert not any((tmp_path / "out").iterdir())
    done(program, "convert", source, tmp_path / "out.zarr")


def test_hdf5_enums_become_integers_in_zarr(program, tmp_path):
    kinds = h5py.enum_dtype({"A": 0, "B": 1, "C": 2}, basetype="i1")
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("e", data=np.array([0, 1, 2], "i1"), dtype=kinds)
    done(program, "convert", tmp_path / "in.h5", tmp_path / "out.zarr")
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "out.zarr")["e"][:], np.array([0, 1, 2], "i1"))
    done(program, "convert", tmp_path / "in.h5", tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as file:
        assert h5py.check_enum_dtype(file["e"].dtype) == {"A": 0, "B": 1, "C": 2}


def test_info_tells_sizes_and_ratios_of_what_has_them(program, stores):
    tree = json.loads(done(program, "info", stores["h5ad"], "--json").out)
    nodes = {}

    def visit(node):
        nodes[node["path"]] = node
        for child in node.get("children", []):
            visit(child)

    visit(tree)
    assert nodes["/layers/f4"]["ratio"] == 1 and nodes["/layers/f4"]["dtype"] == "<f4"
    assert nodes["/X"]["encoding"] == "csr_matrix" and nodes["/X"]["shape"] == [ROWS, COLUMNS]
    assert "decoded_bytes" not in nodes["/obs/text/values"]
    assert nodes["/obs"]["ratio"] == 1  # strings do not count
    assert nodes["/uns/records"]["fields"][0] == ["name", "string"]
    assert nodes["/uns/none"]["dtype"] == "null"


def test_info_goes_on_beside_what_cannot_be_opened(program, tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["a"] = np.arange(3)
        file["b"] = h5py.ExternalLink("other.h5", "/x")
        file["c/d"] = np.arange(3)
        file["c/loop"] = file["c"]
    tree = json.loads(done(program, "info", tmp_path / "in.h5", "--json").out)
    errors = {node["path"]: node.get("error") for node in tree["children"]}
    assert errors["/a"] is None and "other.h5" in errors["/b"] and errors["/c"] is None
    assert "! " in done(program, "info", tmp_path / "in.h5").out


def test_groups_nested_without_end_are_refused(program, tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_group("/".join("n" * 400))
    result = run(program, "convert", tmp_path / "in.h5", tmp_path / "out.zarr")
    assert result.status == 1 and "256 levels" in result.err
    done(program, "info", tmp_path / "in.h5")
