"""Kernels on PyTorch's tensors: without a copy on the CPU, and on the judges."""
import pytest

import tessera as ts

torch = pytest.importorskip("torch")
pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")
TARGETS = ["cpu", "interpret", "emulate:sm_80"]


@ts.kernel
def axpy(a: ts.f32, x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"]):
    i = ts.program_id(0)
    ts.store(y, i, a * ts.load(x, i, 16) + ts.load(y, i, 16))


@ts.kernel
def doubled(x, y):
    ts.store(y, 0, ts.load(x, 0, 16) * 2)


@pytest.mark.parametrize("target", TARGETS)
def test_tensors_are_written_in_place(target):
    x, y = torch.randn(37), torch.randn(37)
    right = 1.5 * x + y
    axpy[3](1.5, x, y, target=target)
    torch.testing.assert_close(y, right)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64"])
def test_types(target, dtype):
    x = torch.arange(-8, 8).to(getattr(torch, dtype))
    y = torch.zeros_like(x)
    doubled[1](x, y, target=target)
    torch.testing.assert_close(y, 2 * x)


def test_strides_are_refused():
    with pytest.raises((TypeError, ValueError), match="'x'"):
        doubled[1](torch.zeros(32)[::2], torch.zeros(16))


def test_tensors_with_gradients_are_refused():
    with pytest.raises((TypeError, ValueError), match="'x'"):
        doubled[1](torch.zeros(16, requires_grad=True), torch.zeros(16))
    y = torch.zeros(16)
    doubled[1](torch.ones(16, requires_grad=True).detach(), y)
    torch.testing.assert_close(y, torch.full((16, ), 2.0))


def test_tensors_of_a_subclass():
    class Mine(torch.Tensor):
        pass

    y = torch.zeros(16)
    doubled[1](torch.ones(16).as_subclass(Mine), y)
    torch.testing.assert_close(y, torch.full((16, ), 2.0))
