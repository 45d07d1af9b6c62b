"""The layers point one way, and the map of the architecture shows what is there."""

import re

from conftest import ROOT

SOURCES = ROOT / "src"
# Each folder may include those named here, and itself.
BELOW = {
    "base": set(),
    "store": {"base"},
    "codec": {"base"},
    "array": {"base", "store", "codec"},
}
BELOW["lazy"] = BELOW["array"] | {"array"}
BELOW["matrix"] = BELOW["lazy"] | {"lazy"}
BELOW["plan"] = BELOW["matrix"] | {"matrix"}
BELOW["anndata"] = BELOW["plan"] | {"plan"}
BELOW["cli"] = BELOW["python"] = BELOW["anndata"] | {"anndata"}


def folders():
    return {path.name for path in SOURCES.iterdir() if path.is_dir() and any(path.rglob("*.cc"))}


def test_layers_point_one_way():
    wrong = []
    for file in sorted(SOURCES.rglob("*.[ch]*")):
        layer = file.relative_to(SOURCES).parts[0]
        if layer not in BELOW:
            continue
        for name in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            other = name.split("/")[0]
            if other in BELOW and other != layer and other not in BELOW[layer]:
                wrong.append(f"{file.relative_to(ROOT)} includes {name}")
    assert not wrong


def test_formats_do_not_know_each_other():
    for file in (SOURCES / "array/zarr").glob("*"):
        assert '"array/hdf5/' not in file.read_text()
    for file in (SOURCES / "array/hdf5").rglob("*.[ch]*"):
        assert '"array/zarr/' not in file.read_text()


def test_the_map_shows_what_is_there():
    page = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE)
    assert set(rows) == folders() == set(BELOW)
    for header in re.findall(r"`((?:array|plan|matrix)/[\w/]+\.(?:h|cc))`", page):
        assert (SOURCES / header).is_file(), header


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
