"""tessera.from_cutile: kernels of cuTile called on arrays. Needs the package cuda-tile."""
import importlib.util
import os

import numpy as np
import pytest

import tessera

pytest.importorskip("cuda.tile")

PATH = os.path.join(os.path.dirname(__file__), "..", "..", "run", "cuda_tile", "Inputs", "make.py")
SPEC = importlib.util.spec_from_file_location("cutile_kernels", PATH)
kernels = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(kernels)
TARGETS = ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]
random = np.random.default_rng(3)


@pytest.mark.parametrize("target", TARGETS)
def test_add(target):
    add = tessera.from_cutile(kernels.add, dict.fromkeys(("x", "y", "out"), "f32[:]"), {"n": 128})
    x, y = random.normal(size=(2, 1003)).astype(np.float32)
    out = np.zeros(1003, np.float32)
    add[lambda meta: -(-meta["x"].shape[0] // meta["n"])](x, y, out=out, target=target)
    assert np.array_equal(out, x + y)


@pytest.mark.parametrize("target", ["cpu", "emulate:sm_80"])
def test_matmul(target):
    product = tessera.from_cutile(kernels.matmul, {"a": "f16[:, :]", "b": "f16[:,:]", "c": "f32[:, :]"}, {"tm": 32, "tn": 16, "tk": 32})
    a, b = random.normal(size=(37, 50)).astype(np.float16), random.normal(size=(50, 21)).astype(np.float16)
    c = np.zeros((37, 21), np.float32)
    product[2, 2](a, b, c, target=target)
    assert np.allclose(c, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-3)


def test_numbers():
    control = tessera.from_cutile(kernels.control, {"x": "f32[:]", "y": "f32[:]", "limit": "i32"}, {"n": 32})
    x, y = random.normal(size=64).astype(np.float32), np.zeros(64, np.float32)
    control[1](x, y, 3)
    assert np.array_equal(y[:32], x[:32] * 8) and not y[32:].any()


def test_bytecode():
    add = tessera.from_cutile(kernels.add, dict.fromkeys(("x", "y", "out"), "f32[:]"), {"n": 128})
    assert add.bytecode.startswith(b"\x7fTileIR")
    assert "cuda_tile.entry @kernel" in tessera.parse(add.bytecode).text()
    with pytest.raises(tessera.Error, match="byte"):
        tessera.parse(add.bytecode[:100])


def test_what_does_not_fit():
    signature = dict.fromkeys(("x", "y", "out"), "f32[:]")
    with pytest.raises(ValueError, match="the signature lacks n"):
        tessera.from_cutile(kernels.add, signature)
    with pytest.raises(ValueError, match="the kernel has no parameter z"):
        tessera.from_cutile(kernels.add, {**signature, "z": "i32"}, {"n": 128})
    with pytest.raises(ValueError, match="'x' has the type 'float'"):
        tessera.from_cutile(kernels.add, {**signature, "x": "float"}, {"n": 128})
    add = tessera.from_cutile(kernels.add, signature, {"n": 128})
    x = np.zeros((4, 8), np.float32)
    with pytest.raises(ValueError, match="'x' has 2 dimensions, expected 1"):
        add[1](x, x, x)
    with pytest.raises(ValueError, match="not contiguous"):
        add[1](x[:, 0], x[:, 0], x[:, 0])
    with pytest.raises(TypeError, match="needs its argument 'out'"):
        add[1](x.ravel(), x.ravel())
