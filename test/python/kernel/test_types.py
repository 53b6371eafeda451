"""The package's types hold, by mypy's strict rules."""
import subprocess
import sys
from pathlib import Path

import pytest

import tessera


def test_mypy_is_content(tmp_path):
    pytest.importorskip("mypy")
    package = Path(tessera.__file__).parent
    command = [sys.executable, "-m", "mypy", "--python-version=3.10", f"--cache-dir={tmp_path}", "-p", "tessera",
               f"--config-file={package.parents[1] / 'pyproject.toml'}"]
    done = subprocess.run(command, cwd=package.parent, capture_output=True, text=True,
                          env={"MYPYPATH": f"{package.parent}:{package.parent / 'runtime'}"})
    assert done.stdout.startswith("Success"), done.stdout + done.stderr
