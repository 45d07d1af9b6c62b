"""Runs every benchmark of this folder, one after the other."""

import subprocess
import sys
from pathlib import Path

for script in sorted(Path(__file__).parent.glob("*.py")):
    if script.name not in ("run.py", "harness.py"):
        print(f"\n## {script.stem}\n", flush=True)
        subprocess.run([sys.executable, str(script)], check=True)
