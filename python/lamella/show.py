"""What a lazy AnnData looks like in a terminal and in a notebook."""

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .lazy import AnnData

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _bytes(size: float) -> str:
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return ""


def _line(name: str, tree: Any) -> tuple[str, str, str, str, str]:
    """Name, kind, shape, dtype, what is known of its storage."""
    shape = " × ".join(map(str, tree.shape))
    if tree.is_matrix:
        matrix = tree.matrix
        chunks = f"chunks {' × '.join(map(str, matrix.chunks))}" if matrix.chunks else ""
        return name, matrix.format, shape, str(matrix.dtype), f"{chunks} {_bytes(matrix.stored_bytes())}".strip()
    if tree.values is not None:
        kind = tree.encoding or "array"
        dtype = tree.values.dtype if isinstance(tree.values.dtype, str) else "records"
        return name, kind, shape, "str" if tree.values.vlen == "str" else str(dtype), ""
    if tree.is_null:
        return name, "null", "", "", ""
    children = tree.children()
    if tree.encoding in ("dict", ""):
        return name, "dict", f"{len(children)} entries", "", ""
    length = tree.length
    return name, tree.encoding, str(length) if length >= 0 else "", "", ""


def _lines(lazy: "AnnData") -> list[tuple[int, tuple[str, str, str, str, str]]]:
    root = lazy._store.root
    out: list[tuple[int, tuple[str, str, str, str, str]]] = []
    for name in ("X", "layers", "obs", "var", "obsm", "varm", "obsp", "varp", "uns", "raw"):
        tree = root.child(name)
        if tree is None or tree.is_null:
            continue
        group = not tree.is_sparse and tree.values is None
        if group and not tree.children():
            continue
        if not group:
            out.append((0, _line(name, tree)))
            continue
        if tree.encoding == "dataframe":
            columns = [str(column) for column in tree.attributes().get("column-order", [])]
            out.append(
                (0, (name, "table", f"{tree.length} rows", "", f"{len(columns)} columns, each read when asked for"))
            )
            out += [(1, _line(column, tree.child(column))) for column in columns[:30]]
            if len(columns) > 30:
                out.append((1, (f"… {len(columns) - 30} more", "", "", "", "")))
            continue
        out.append((0, (name, "", "", "", "")))
        out += [(1, _line(child, tree.child(child))) for child in tree.children()]
    return out


def _title(lazy: "AnnData") -> str:
    inputs = lazy._store.inputs
    where = inputs[0] if len(inputs) == 1 else f"{len(inputs)} stores"
    kind = "selection of" if lazy.is_view else "computed from" if lazy._location is None else "stored in"
    return f"Lazy AnnData, {lazy.n_obs} obs × {lazy.n_vars} vars, {kind} {where}"


def as_text(lazy: "AnnData") -> str:
    lines = [("  " * depth + name, *rest) for depth, (name, *rest) in _lines(lazy)]
    widths = [max((len(line[column]) for line in lines), default=0) for column in range(5)]
    text = [_title(lazy)]
    for line in lines:
        text.append("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    return "\n".join(text)


def as_html(lazy: "AnnData") -> str:
    rows = []
    for depth, (name, *rest) in _lines(lazy):
        cells = "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in rest)
        weight = "normal" if depth else "bold"
        rows.append(
            f"<tr><td style='text-align:left;padding-left:{1 + depth * 1.5}em;font-weight:{weight}'>"
            f"{html.escape(name)}</td>{cells}</tr>"
        )
    head = "".join(
        f"<th style='text-align:left'>{title}</th>" for title in ("element", "kind", "shape", "dtype", "storage")
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div><p>{html.escape(_title(lazy))}</p>{table}</div>"
