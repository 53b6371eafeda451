"""Compares imported kernels with Triton's own interpreter, by seeded shapes: interpreted.py TILE_RUN TARGET…

Needs the packages triton and torch: with TRITON_INTERPRET=1 Triton runs the kernels of Inputs/*.py on tensors of the CPU.
"""
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"
import numpy as np  # noqa: E402
import torch  # noqa: E402
from harness import INPUTS, count, launch, normal, random, report, targets  # noqa: E402

import triton.runtime.interpreter as interpreter  # noqa: E402

sys.path.insert(0, INPUTS)
import kernels  # noqa: E402
import operations  # noqa: E402


patch = interpreter._patch_lang_tensor


def with_numbers(tensor):
    """Triton's interpreter makes numbers of arrays of one element, which numpy 2.4 refuses."""
    patch(tensor)
    tensor.__index__ = lambda self: int(self.handle.data.item())


interpreter._patch_lang_tensor = with_numbers


def compare(name, arguments, grid, tolerance, **constants):
    """The arrays after both have run the kernel. Of a result that is no number, ours is none either."""
    kernel = getattr(kernels, name, None) or getattr(operations, name)
    tensors = [torch.from_numpy(a.copy()) if isinstance(a, np.ndarray) and a.ndim else a.item() for a in arguments]
    kernel[grid](*tensors, **constants)
    for target in targets:
        seen = launch(name, arguments, grid, target)
        for number, tensor in enumerate(tensors):
            if not isinstance(tensor, torch.Tensor):
                continue
            wanted = tensor.to(torch.float64).numpy()
            good = number in seen and np.allclose(seen[number].astype(np.float64), wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
            count(good, f"{name} on {target}: argument {number} differs from Triton's interpreter")


def zeros(n, dtype=np.float32):
    return np.zeros(n, dtype)


def numbers(*values):
    return [np.int32(value) for value in values]


def size(low, high):
    return int(random.integers(low, high))


n = size(1, 5000)
compare("add", [normal(n), normal(n), zeros(n), *numbers(n)], (-(-n // 1024), 1, 1), 0, BLOCK=1024)
rows, columns = size(2, 7), size(1, 1024)
compare("softmax", [zeros(rows * columns), normal(rows * columns), *numbers(columns, columns, rows, columns)], (3, 1, 1), 1e-6, BLOCK=1024)
columns = size(100, 700)
compare("layernorm", [normal(rows * columns).astype(np.float16), zeros(rows * columns, np.float16), normal(columns), normal(columns), zeros(rows),
                      zeros(rows), *numbers(columns, columns), np.float32(1e-5)], (rows, 1, 1), 2e-3, BLOCK=256)
m, n, k = size(1, 150), size(1, 150), size(1, 100)
compare("matmul", [normal(m * k).astype(np.float16), normal(k * n).astype(np.float16), zeros(m * n, np.float16),
                   *numbers(m, n, k, k, 1, n, 1, n, 1)], (-(-m // 64) * -(-n // 64), 1, 1), 3e-3, BM=64, BN=64, BK=32, GROUP=8, ACTIVATION="leaky_relu")
n, heads = size(3, 120), 2
q, key, v = (normal(heads * n * 64).astype(np.float16) for _ in range(3))
compare("attention", [q, key, v, zeros(q.size, np.float16), np.float32(0.18), *numbers(n * 64, 64, n, heads)], (-(-n // 64) + 1, heads, 1), 3e-3,
        CAUSAL=True, D=64, BM=64, BN=32)
n = size(3, 9)
compare("control", [normal(n * 64), zeros(3 * 64), *numbers(n, 1)], (3, 1, 1), 1e-5, BLOCK=64)
report()
