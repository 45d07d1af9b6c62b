"""Files as anndata wrote them before 0.8, made with h5py alone."""

from pathlib import Path

import h5py
import numpy as np
import scipy.sparse as sp

TEXT = h5py.string_dtype()


def graph(rows: int) -> sp.csr_matrix:
    return sp.random(rows, rows, 0.2, "csr", random_state=1)


def _sparse_0_6(file: h5py.File, path: str, matrix) -> None:
    group = file.create_group(path)
    group.attrs["h5sparse_format"] = matrix.format.encode()
    group.attrs["h5sparse_shape"] = np.array(matrix.shape)
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(matrix, part), maxshape=(None,), compression="gzip")


def _annotation_0_6(file: h5py.File, rows: int, columns: int) -> None:
    fields = [("index", "S6"), ("count", "i8"), ("louvain", "i1"), ("flag", "?"), ("one", "i1"), ("text", "S4")]
    obs = np.zeros(rows, dtype=fields)
    obs["index"] = [f"c{n}".encode() for n in range(rows)]
    obs["louvain"] = np.arange(rows) % 3
    obs["louvain"][5] = -1
    obs["flag"] = np.arange(rows) % 2
    obs["text"] = b"abc"
    file.create_dataset("obs", data=obs, compression="gzip")
    # A column of the same name whose numbers are no codes of those categories.
    var = np.zeros(columns, dtype=[("index", "S9"), ("n_cells", "i4"), ("louvain", "i1")])
    var["index"] = [f"gene{n}".encode() for n in range(columns)]
    var["louvain"] = 7
    file["var"] = var
    obsm = np.zeros(rows, dtype=[("X_pca", "f4", (5,)), ("X_umap", "f8", (2,)), ("single", "f8", (1,))])
    obsm["X_pca"] = np.arange(rows * 5).reshape(rows, 5)
    file["obsm"] = obsm
    file["varm"] = np.zeros(columns, dtype=[("PCs", "f8", (5,))])


def write_0_6(path: Path, rows: int = 12, columns: int = 7) -> Path:
    """Annotation as records, categories in uns, raw beside the rest, no encodings."""
    counts = sp.random(rows, columns, 0.4, "csr", dtype="f4", random_state=0)
    with h5py.File(path, "w") as file:
        _sparse_0_6(file, "X", counts)
        _annotation_0_6(file, rows, columns)
        uns = file.create_group("uns")
        uns["louvain_categories"] = np.array([b"0", b"1", b"2"])
        uns["one_categories"] = np.array([b"single"])
        uns["unused_categories"] = np.array([b"x", b"y"])
        uns["louvain_colors"] = np.array([b"#111111", b"#222222", b"#333333"])
        uns["pca/variance"] = np.arange(5.0)
        uns["pca/flag"] = np.array([True])
        uns["pca/name"] = np.array([b"arpack"])
        uns["neighbors/params/n_neighbors"] = np.array([15])
        for name in ("distances", "connectivities"):
            _sparse_0_6(file, f"uns/neighbors/{name}", graph(rows))
        names = np.zeros(4, dtype=[("0", "S10"), ("1", "S10")])
        names["0"] = b"gene1"
        uns["rank_genes_groups/names"] = names
        uns["rank_genes_groups/scores"] = np.zeros(4, dtype=[("0", "f4"), ("1", "f4")])
        _sparse_0_6(file, "raw.X", counts.tocsc())
        raw_var = np.zeros(columns, dtype=[("index", "S9"), ("n_cells", "i4")])
        raw_var["index"] = file["var"]["index"]
        file["raw.var"] = raw_var
        file["raw.varm"] = np.zeros(columns, dtype=[("q", "f4", (2,))])
        file["raw.cat"] = np.arange(3)
    return path


def _encode(element, kind: str, version: str, **more) -> None:
    element.attrs["encoding-type"] = kind
    element.attrs["encoding-version"] = version
    for name, value in more.items():
        element.attrs[name] = value


def _sparse_0_7(file: h5py.File, path: str, matrix) -> None:
    group = file.create_group(path)
    _encode(group, matrix.format + "_matrix", "0.1.0", shape=np.array(matrix.shape))
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(matrix, part), maxshape=(None,), compression="lzf")


def _frame_0_7(file: h5py.File, path: str, length: int) -> None:
    frame = file.create_group(path)
    _encode(frame, "dataframe", "0.1.0", _index="index")
    frame.attrs["column-order"] = np.array(["number", "kind", "text", "level"], dtype=object)
    frame.create_dataset("index", data=[f"{path}{n}" for n in range(length)], dtype=TEXT)
    frame["number"] = np.arange(length)
    frame.create_dataset("text", data=["q"] * length, dtype=TEXT)
    categories = frame.create_group("__categories")
    categories.create_dataset("kind", data=["u", "v"], dtype=TEXT).attrs["ordered"] = np.bool_(True)
    categories["level"] = np.array([1, 5])
    categories["level"].attrs["ordered"] = np.bool_(False)
    for name in ("kind", "level"):
        frame[name] = (np.arange(length) % 2).astype("i1")
        frame[name].attrs["categories"] = categories[name].ref


def write_0_7(path: Path, rows: int = 12, columns: int = 7) -> Path:
    """Frames with their categories apart, found by object reference; no encodings on root, dicts and arrays."""
    with h5py.File(path, "w") as file:
        for name, length in (("obs", rows), ("var", columns), ("raw/var", columns)):
            _frame_0_7(file, name, length)
        file["X"] = np.ones((rows, columns), "f4")
        for name in ("obsm", "varm", "layers", "obsp", "varp"):
            file.create_group(name)
        uns = file.create_group("uns")
        uns["int"] = 3
        uns["bool"] = True
        uns["empty"] = np.zeros(0)
        uns["deep/er"] = 1.5
        uns.create_dataset("text", data="text", dtype=TEXT)
        uns.create_dataset("list", data=["a"], dtype=TEXT)
        for name in ("distances", "connectivities"):
            _sparse_0_7(file, f"uns/neighbors/{name}", graph(rows))
        _encode(file["raw"], "raw", "0.1.0", shape=np.array([rows, columns]))
        _sparse_0_7(file, "raw/X", sp.random(rows, columns, 0.2, "csr", random_state=1))
    return path
