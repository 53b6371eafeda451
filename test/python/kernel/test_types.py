"""The package's types hold, by mypy's strict rules."""
import subprocess
import sys
from pathlib import Path

import pytest

import tessera


def test_mypy_is_content(tmp_path):
    pytest.importorskip("mypy")
    package = Path(tessera.__file__).parent
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version=3.10", f"--cache-dir={tmp_path}", "-p", "tessera"]
    done = subprocess.run(command, cwd=package.parent, capture_output=True, text=True,
                          env={"MYPYPATH": f"{package.parent}:{package.parent / 'runtime'}"})
    missing = ("[import-not-found]", "[import-untyped]")  # PyTorch and JAX need not be there; scipy has no types
    wrong = [line for line in done.stdout.splitlines() if ": error:" in line and not line.endswith(missing)]
    assert not wrong, "\n".join(wrong)
    assert "checked" in done.stdout or "Success" in done.stdout, done.stdout + done.stderr
