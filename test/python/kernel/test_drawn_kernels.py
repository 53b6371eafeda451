"""Kernels drawn as Python source (draw.py) equal numpy's evaluation on four targets.

DRAWN_KERNELS=FIRST:COUNT draws others; ./dev check --long draws 500, ./dev bench reliability new ones."""
import os

import draw
import pytest
from kernels import TARGETS

FIRST, COUNT = map(int, os.environ.get("DRAWN_KERNELS", "0:12").split(":"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_equals_numpy(seed, tmp_path, monkeypatch):
    pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")
    monkeypatch.setenv("TESSERA_CACHE", "none")
    for target in TARGETS:
        draw.run(seed, target, tmp_path)
