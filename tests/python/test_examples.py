"""The examples run, on little."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/python"


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("missing_layer.py", ["300", "100"], "concatenated to (600, 100)"),
        ("different_genes.py", [], "outer: (400, 17516)"),
        ("many_stores.py", ["12"], "12 stores opened"),
    ],
)
def test_example(name, arguments, says):
    done = subprocess.run([sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
