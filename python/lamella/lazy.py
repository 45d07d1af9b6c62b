"""The lazy AnnData: a stored one, a selection of one, or several concatenated."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from .elements import in_memory, read_index
from .errors import InvalidError, NotFoundError
from .matrix import Matrix
from .nodes import Array, Group, Readable, open_node
from .picks import compose, resolve, whole
from .selection import Picks
from .table import Table

if TYPE_CHECKING:
    import anndata
    import pandas as pd

_ALIGNED = ("layers", "obsm", "varm", "obsp", "varp")
_STANDARD = ("X", "obs", "var", "uns", "raw", *_ALIGNED)


class LazyArray(Readable):
    """An N-d array of a lazy AnnData: reads when it is indexed."""

    def __init__(self, core: Any, source: Any):
        super().__init__(core)
        self._source = source

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_array, (self._source,)

    def to_memory(self) -> Any:
        return self[...]

    def __repr__(self) -> str:
        return f"<lamella.LazyArray {self.shape} {self.dtype}>"


class _Place:
    """An element of a lazy AnnData: what a matrix or an array needs to come back from a pickle."""

    def __init__(self, owner: "AnnData", path: tuple[str, ...]):
        self._owner = owner
        self._path = path

    def _matrix(self) -> Any:
        return self._owner._tree(self._path).matrix

    def _array(self) -> LazyArray:
        return LazyArray(self._owner._tree(self._path).values, self)


def _rebuild_array(place: _Place) -> LazyArray:
    return place._array()


def _lazy(owner: "AnnData", path: tuple[str, ...]) -> Any:
    """The lazy face of an element; what has none (scalars, strings, columns, awkward arrays) is read."""
    tree = owner._tree(path)
    if tree.is_matrix:
        return Matrix(tree.matrix, _Place(owner, path))
    if tree.values is not None and tree.shape and tree.encoding in ("array", "string-array", "rec-array", ""):
        return LazyArray(tree.values, _Place(owner, path))
    if tree.encoding == "dataframe":
        return Table(owner, path)
    if tree.values is None and not tree.is_null and tree.encoding in ("dict", ""):
        return Mapping(owner, path)
    return in_memory(tree)


class Mapping:
    """layers, obsm, uns, and the dicts in it: names to lazy elements."""

    def __init__(self, owner: "AnnData", path: tuple[str, ...]):
        self._owner = owner
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Mapping, (self._owner, self._path)

    def _tree(self) -> Any:
        return self._owner._tree(self._path)

    def keys(self) -> list[str]:
        return self._tree().children()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            there = ", ".join(self.keys()) or "nothing"
            raise NotFoundError(f"{self._tree().name}: has no element {name!r}; it has {there}")
        return _lazy(self._owner, (*self._path, name))

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self.keys() else default

    def values(self) -> list[Any]:
        return [self[name] for name in self]

    def items(self) -> list[tuple[str, Any]]:
        return [(name, self[name]) for name in self]

    def to_memory(self) -> dict[str, Any]:
        return in_memory(self._tree())

    def __repr__(self) -> str:
        return f"<lamella.Mapping {'/'.join(self._path)}: {', '.join(self.keys())}>"


class Raw:
    """`raw` of a lazy AnnData: X, var and varm of all the variables that there once were."""

    def __init__(self, owner: "AnnData"):
        self._owner = owner

    def __reduce__(self) -> tuple[Any, ...]:
        return Raw, (self._owner,)

    @property
    def X(self) -> Any:
        return _lazy(self._owner, ("raw", "X"))

    @property
    def var(self) -> Table:
        return Table(self._owner, ("raw", "var"))

    @property
    def varm(self) -> Mapping:
        return Mapping(self._owner, ("raw", "varm"))

    @property
    def var_names(self) -> "pd.Index":
        return self.var.index

    @property
    def shape(self) -> tuple[int, int]:
        return (self._owner.n_obs, len(self.var))

    def __repr__(self) -> str:
        return f"<lamella.Raw {self.shape[0]} × {self.shape[1]}>"


class AnnData:
    """A lazy AnnData: nothing is read but metadata until an element is.

    It has the attributes of `anndata.AnnData`; matrices are `lamella.Matrix`, tables `lamella.Table`. Indexing it
    gives a lazy selection; `to_memory()` an `anndata.AnnData`. Immutable and thread-safe; it pickles to how it came
    about, and opens again where it lands.
    """

    def __init__(self, store: Any, origin: tuple[Callable[..., "AnnData"], tuple[Any, ...]]):
        self._store = store
        self._origin = origin
        self._cut: tuple[AnnData, Picks, Picks] | None = None  # of a selection: what of, observations, variables
        self._location: str | None = None  # of what lies in a file
        self._names: dict[str, pd.Index] = {}
        self._warnings: list[str] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return self._origin

    # Elements

    def _tree(self, path: tuple[str, ...]) -> Any:
        tree = self._store.root
        for name in path:
            tree = tree.child(name)
            if tree is None:
                raise NotFoundError(f"{self._store.root.name}{'/'.join(path)}: there is no such element")
        return tree

    def _has(self, name: str) -> bool:
        tree = self._store.root.child(name) if name in self._store.root.children() else None
        return tree is not None and not tree.is_null

    @property
    def X(self) -> Matrix | LazyArray | None:
        return _lazy(self, ("X",)) if self._has("X") else None

    @property
    def layers(self) -> Mapping:
        return Mapping(self, ("layers",))

    @property
    def obs(self) -> Table:
        return Table(self, ("obs",))

    @property
    def var(self) -> Table:
        return Table(self, ("var",))

    @property
    def obsm(self) -> Mapping:
        return Mapping(self, ("obsm",))

    @property
    def varm(self) -> Mapping:
        return Mapping(self, ("varm",))

    @property
    def obsp(self) -> Mapping:
        return Mapping(self, ("obsp",))

    @property
    def varp(self) -> Mapping:
        return Mapping(self, ("varp",))

    @property
    def uns(self) -> Mapping:
        return Mapping(self, ("uns",))

    @property
    def raw(self) -> Raw | None:
        return Raw(self) if self._has("raw") else None

    @property
    def n_obs(self) -> int:
        return self._tree(("obs",)).length

    @property
    def n_vars(self) -> int:
        return self._tree(("var",)).length

    @property
    def shape(self) -> tuple[int, int]:
        return (self.n_obs, self.n_vars)

    def __len__(self) -> int:
        return self.n_obs

    def _index(self, name: str) -> "pd.Index":
        if name not in self._names:
            self._names[name] = read_index(self._tree((name,)))
        return self._names[name]

    @property
    def obs_names(self) -> "pd.Index":
        return self._index("obs")

    @property
    def var_names(self) -> "pd.Index":
        return self._index("var")

    def obs_keys(self) -> list[str]:
        return self.obs.columns

    def var_keys(self) -> list[str]:
        return self.var.columns

    @property
    def is_view(self) -> bool:
        """Is it a selection of another?"""
        return self._cut is not None

    # Selections

    def __getitem__(self, key: Any) -> Any:
        """`lazy[obs, var]`: names, positions, masks and slices along either axis, lazily; both axes stay.

        A single string opens an element of the store, as `lm.open(path)[…]` of any other store does: `lazy["obs/age"]`.
        """
        if isinstance(key, str) and self._location is not None and key.strip("/").split("/")[0] in self.group:
            return self.group[key]
        items = key if isinstance(key, tuple) else (key,)
        if len(items) > 2:
            raise IndexError(f"an AnnData has two axes, {len(items)} were indexed")
        if any(item is Ellipsis for item in items):
            items = tuple(slice(None) if item is Ellipsis else item for item in items)
        obs = resolve(items[0], self.n_obs, lambda: self.obs_names, 0)
        var = resolve(items[1], self.n_vars, lambda: self.var_names, 1) if len(items) == 2 else whole(self.n_vars)
        return _subset(self, obs, var)

    # Out

    def to_memory(self) -> "anndata.AnnData":
        """All of it as an `anndata.AnnData`, equal to what anndata reads, or has after the same indexing."""
        from .materialise import to_memory

        return to_memory(self)

    def to_anndata(
        self, lazy: bool = True, chunks: Any = "auto", backend: Literal["numpy", "cupy"] = "numpy"
    ) -> "anndata.AnnData":
        """An `anndata.AnnData` whose matrices are dask arrays over this one; tables and uns are in memory.

        `chunks` and `backend` are those of `Matrix.to_dask`.
        """
        from .materialise import to_dask_anndata, to_memory

        return to_dask_anndata(self, chunks, backend) if lazy else to_memory(self)

    def write(self, path: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
        """Writes it: by the name of the target HDF5, a Zarr directory or zip. Options as of `lamella.convert`."""
        from .conversion import write

        return write(self, path, **options)

    # The store as it is on disk

    @property
    def group(self) -> Group:
        """The elements as they are stored, without AnnData's meaning."""
        if self._location is None:
            raise InvalidError("a selection or a concatenation is not stored anywhere")
        node = open_node(self._location)
        assert isinstance(node, Group)
        return node

    @property
    def attrs(self) -> dict[str, Any]:
        return self._store.root.attributes()

    @property
    def name(self) -> str:
        return "/"

    def keys(self) -> list[str]:
        """The names of the elements of the root."""
        return self.group.keys() if self._location is not None else self._store.root.children()

    def values(self) -> list[Group | Array]:
        return self.group.values()

    def items(self) -> list[tuple[str, Group | Array]]:
        return self.group.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        if self._location is not None:
            return name in self.group
        return name in self.keys()

    def __repr__(self) -> str:
        from .show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .show import as_html

        return as_html(self)


def _subset(base: AnnData, obs: Picks, var: Picks) -> AnnData:
    if base._cut is not None:
        base, outer_obs, outer_var = base._cut
        obs, var = compose(outer_obs, obs), compose(outer_var, var)
    out = AnnData(base._store.subset(obs, var), (_subset, (base, obs, var)))
    out._cut = (base, obs, var)
    return out


def open_anndata(location: str, element: str = "") -> AnnData:
    """Opens the AnnData at a path, or in a group of a store. Only metadata are read."""
    out = AnnData(_core.load(location, element), (open_anndata, (location, element)))
    if not element:
        out._location = location
    return out


def opened_many(locations: list[str]) -> list[AnnData]:
    """The same for many files, several at a time."""
    out = []
    for location, store in zip(locations, _core.load_many(locations), strict=True):
        out.append(AnnData(store, (open_anndata, (location, ""))))
        out[-1]._location = location
    return out
