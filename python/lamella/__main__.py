"""`python -m lamella …` runs the command line, which is a program of its own."""

import os
import shutil
import sys
import sysconfig

from .errors import NotFoundError


def main() -> None:
    beside = os.path.join(sysconfig.get_path("scripts"), "lamella")
    program = beside if os.path.exists(beside) else shutil.which("lamella")
    if program is None:
        raise NotFoundError("the lamella program is not installed; `pip install` of the package brings it")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
