"""tessera.from_triton: kernels of Triton called on arrays. Needs the package triton."""
import importlib.util
import os

import numpy as np
import pytest

import tessera

pytest.importorskip("triton")

PATH = os.path.join(os.path.dirname(__file__), "..", "..", "run", "triton", "Inputs", "kernels.py")
SPEC = importlib.util.spec_from_file_location("triton_kernels", PATH)
kernels = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(kernels)
TARGETS = ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]


@pytest.mark.parametrize("target", TARGETS)
def test_add(target):
    add = tessera.from_triton(kernels.add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256})
    x, y = np.random.default_rng(1).normal(size=(2, 1003)).astype(np.float32)
    out = np.zeros(1003, np.float32)
    add[lambda meta: (-(-meta["n"] // meta["BLOCK"]), )](x, y, out, 1003, target=target)
    assert np.array_equal(out, x + y)


def test_softmax_of_a_matrix():
    softmax = tessera.from_triton(
        kernels.softmax, {"out": "*fp32", "x": "*fp32", **dict.fromkeys(("stride_x", "stride_out", "rows", "columns"), "i32")},
        {"BLOCK": 1024})
    x = np.random.default_rng(2).normal(size=(7, 333)).astype(np.float32)
    out = np.zeros_like(x)
    softmax[3](out, x, 333, 333, 7, 333)
    e = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


def test_what_does_not_fit():
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}
    with pytest.raises(ValueError, match="the signature lacks BLOCK"):
        tessera.from_triton(kernels.add, signature)
    with pytest.raises(ValueError, match="the kernel has no parameter z"):
        tessera.from_triton(kernels.add, {**signature, "z": "i32"}, {"BLOCK": 256})
    with pytest.raises(ValueError, match="'n' has the type 'int'"):
        tessera.from_triton(kernels.add, {**signature, "n": "int"}, {"BLOCK": 256})
    add = tessera.from_triton(kernels.add, signature, {"BLOCK": 256})
    x = np.zeros((4, 8), np.float32)
    with pytest.raises(ValueError, match="not contiguous"):
        add[1](x[:, :4], x, x, 16)
    with pytest.raises(TypeError, match="needs its argument 'n'"):
        add[1](x, x, x)
