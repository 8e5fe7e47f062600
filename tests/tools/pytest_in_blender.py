"""Runs pytest inside a Blender executable: blender --background ... --python this_file -- PYTEST_ARGUMENTS."""

from __future__ import annotations

import os
import sys

import pytest


def main() -> None:
    arguments = sys.argv[sys.argv.index("--") + 1 :]
    code = pytest.main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    # Blender's own shutdown must not turn a passed run into a failed one, or the reverse.
    os._exit(int(code))


main()
