"""Draws docs/speed.svg, the picture of the README, from the tables of bench/RESULTS.md.

python bench/picture.py
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What is drawn: a label, how the row begins, and the peer whose ratio counts.
ROWS = [
    (
        "1000 small .h5ad opened and concatenated",
        "lazy: 1000 stores opened and concatenated, h5ad",
        "anndata read_lazy",
    ),
    ("30 stores concatenated into Zarr", "write: 30 × 4000 cells, the same genes → zarr", "concat_on_disk"),
    ("gzip .h5ad written anew", "dense gzip h5ad → h5ad", "anndata"),
    ("a sharded Zarr volume read chunk by chunk", "zstd sharded, chunk by chunk", "zarr"),
    ("1000 random rows of a gzip .h5ad matrix", "1000 random rows at once, HDF5 gzip", "h5py"),
]
WIDTH, ROW, LEFT, TOP = 720, 46, 16, 44


def ratio_of(text: str, row: str, peer: str) -> float:
    """Peer over Lamella, from whichever kind of table the row stands in."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("| \n").split("|")]
        if not cells[0].startswith(row):
            continue
        within = re.search(rf"(?:^|<br>){re.escape(peer)} [^<]*\*\*([\d.]+)×\*\*", cells[-1])
        if within:
            return float(within[1])
        if cells[-1].endswith("×") and (peer in cells or peer == "anndata"):
            return float(cells[-1][:-1])
    raise SystemExit(f"bench/RESULTS.md has no ratio of {peer} for '{row}'")


def draw(bars: list[tuple[str, str, float]]) -> str:
    longest = max(ratio for _, _, ratio in bars)
    room = WIDTH - 2 * LEFT - 90
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{TOP + ROW * len(bars)}" '
        'font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">Times faster than the usual tool</text>',
    ]
    for i, (label, peer, ratio) in enumerate(bars):
        y = TOP + ROW * i
        # By its root, or the longest would hide the others.
        width = max(room * (ratio / longest) ** 0.5, 2)
        parts += [
            f'<text x="{LEFT}" y="{y + 12}" fill="#333">{label} <tspan fill="#888">beside {peer}</tspan></text>',
            f'<rect x="{LEFT}" y="{y + 18}" width="{width:.0f}" height="14" rx="2" fill="#3b7dd8"/>',
            f'<text x="{LEFT + width + 6:.0f}" y="{y + 30}" font-weight="bold">{ratio:g}×</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    text = (ROOT / "bench/RESULTS.md").read_text()
    bars = [(label, peer, ratio_of(text, row, peer)) for label, row, peer in ROWS]
    (ROOT / "docs/speed.svg").write_text(draw(bars))
    for label, peer, ratio in bars:
        print(f"{ratio:6.1f}×  {label} (beside {peer})")


if __name__ == "__main__":
    main()
