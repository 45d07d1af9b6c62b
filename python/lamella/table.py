"""A lazy table: obs, var, or a data frame in obsm. Columns are read when they are asked for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .elements import column_names, in_memory, read_frame, read_index, read_index_name
from .errors import NotFoundError

if TYPE_CHECKING:
    import pandas as pd


class Column:
    """One column of a table. Comparisons read it and give a mask, as those of a pandas Series do."""

    def __init__(self, table: "Table", name: str):
        self.name = name
        self._table = table
        self._tree = table._tree().child(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Column, (self._table, self.name)

    @property
    def kind(self) -> str:
        """ "categorical", "string", "nullable", or "array"."""
        encoding = self._tree.encoding
        if encoding == "categorical":
            return encoding
        if encoding in ("string-array", "nullable-string-array"):
            return "string"
        return "nullable" if encoding.startswith("nullable-") else "array"

    @property
    def categories(self) -> "pd.Index":
        """Of a categorical column. Reads the categories, not the codes."""
        import pandas as pd

        if self.kind != "categorical":
            raise AttributeError(f"the column {self.name!r} is not categorical")
        return pd.Index(in_memory(self._tree.child("categories")))

    def __len__(self) -> int:
        return len(self._table)

    def to_pandas(self) -> "pd.Series":
        import pandas as pd

        return pd.Series(in_memory(self._tree), index=self._table.index, name=self.name)

    to_memory = to_pandas

    @property
    def values(self) -> Any:
        """The values without the index: numpy, or a pandas array."""
        return in_memory(self._tree)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a lazy column has to be read: copy=False is not possible")
        return np.asarray(self.to_pandas(), dtype=dtype)

    def _compare(self, method: str, other: Any) -> np.ndarray:
        mask = getattr(self.to_pandas(), method)(other)
        return mask.fillna(False).to_numpy(dtype=bool) if mask.dtype != bool else mask.to_numpy()

    def __eq__(self, other: object) -> np.ndarray:  # type: ignore[override]
        return self._compare("eq", other)

    def __ne__(self, other: object) -> np.ndarray:  # type: ignore[override]
        return self._compare("ne", other)

    def __lt__(self, other: Any) -> np.ndarray:
        return self._compare("lt", other)

    def __le__(self, other: Any) -> np.ndarray:
        return self._compare("le", other)

    def __gt__(self, other: Any) -> np.ndarray:
        return self._compare("gt", other)

    def __ge__(self, other: Any) -> np.ndarray:
        return self._compare("ge", other)

    __hash__ = None  # type: ignore[assignment]

    def isin(self, values: Any) -> np.ndarray:
        return self._compare("isin", values)

    def isna(self) -> np.ndarray:
        return self.to_pandas().isna().to_numpy()

    def notna(self) -> np.ndarray:
        return ~self.isna()

    def unique(self) -> Any:
        return self.to_pandas().unique()

    def value_counts(self, **options: Any) -> "pd.Series":
        return self.to_pandas().value_counts(**options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"a lazy column has no {name!r}; use .to_pandas().{name}")

    def __repr__(self) -> str:
        return f"<lamella.Column {self.name!r}: {self.kind}, {len(self)} rows>"


class Table:
    """A mapping of names to columns, and an index. `table["x"]` is lazy, `table.to_pandas()` reads."""

    def __init__(self, owner: Any, path: tuple[str, ...], columns: list[str] | None = None):
        self._owner = owner  # has _tree(path); pickles
        self._path = path
        self._columns = columns
        self._index: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self._owner, self._path, self._columns)

    def _tree(self) -> Any:
        return self._owner._tree(self._path)

    @property
    def columns(self) -> list[str]:
        return column_names(self._tree()) if self._columns is None else list(self._columns)

    def keys(self) -> list[str]:
        return self.columns

    @property
    def index(self) -> "pd.Index":
        if self._index is None:
            self._index = read_index(self._tree())
        return self._index

    @property
    def index_name(self) -> str | None:
        return read_index_name(self._tree())

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self), len(self.columns))

    def __len__(self) -> int:
        return self._tree().length

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: Any) -> Any:
        """A lazy column by its name, a table by a list of names."""
        if isinstance(name, (list, tuple)):
            for one in name:
                self[one]
            return Table(self._owner, self._path, list(name))
        if not isinstance(name, str) or name not in self.columns:
            raise NotFoundError(f"{self._tree().name}: has no column {name!r}; it has {', '.join(self.columns)}")
        return Column(self, name)

    def __getattr__(self, name: str) -> Column:
        if name.startswith("_") or name not in self.columns:
            raise AttributeError(f"a lazy table has no {name!r}, and no column of that name; try to_pandas()")
        return Column(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self.columns if name.isidentifier())]

    def to_pandas(self) -> "pd.DataFrame":
        return read_frame(self._tree(), self._columns)

    to_memory = to_pandas

    def head(self, n: int = 5) -> "pd.DataFrame":
        """The first rows, in memory."""
        return self.to_pandas().head(n)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name} ({self[name].kind})" for name in self.columns)
        return f"<lamella.Table of {len(self)} rows: {kinds or 'no columns'}>"
