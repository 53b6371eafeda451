"""Kernels drawn as Python source (draw.py) equal numpy's evaluation on four targets.

DRAWN_KERNELS=FIRST:COUNT draws others; ./dev check --long draws 500."""
import importlib.util
import os

import numpy as np
import pytest
from draw import Draw, by_numpy, module_source
from kernels import TARGETS

FIRST, COUNT = map(int, os.environ.get("DRAWN_KERNELS", "0:4").split(":"))


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_equals_numpy(seed, tmp_path, monkeypatch):
    pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")
    monkeypatch.setenv("TESSERA_CACHE", "none")
    text = module_source([seed])
    path = tmp_path / f"drawn_{seed}.py"
    path.write_text(text)
    right = by_numpy(text, seed)
    kernel = getattr(load(path), f"kernel_{seed}")
    for target in TARGETS:
        arrays = Draw(seed).arrays(seed)
        kernel[3, 2](*arrays, W=seed % 5, target=target)
        np.testing.assert_allclose(arrays[3], right[3], rtol=2e-3, atol=2e-3, err_msg=target)
        np.testing.assert_array_equal(arrays[4], right[4], err_msg=target)
