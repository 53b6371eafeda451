"""Calls a packed bench program through bench.py's own way in, with arrays of the device's memory that look like PyTorch's tensors.

  call_program.py FOLDER      what pack.py --bench made
"""
import ctypes
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, sys.argv[1])
import bench  # noqa: E402
from bench_cases import CASES  # noqa: E402


class Tensor:
    def __init__(self, library, values):
        library._mlir_memref_to_llvm_alloc.restype = ctypes.c_void_p
        memory = library._mlir_memref_to_llvm_alloc(ctypes.c_size_t(values.nbytes))
        self.array = np.ctypeslib.as_array((ctypes.c_float * values.size).from_address(memory)).reshape(values.shape)
        self.array[:] = values
        self.shape = values.shape

    def stride(self):
        return [step // self.array.itemsize for step in self.array.strides]

    def data_ptr(self):
        return self.array.ctypes.data


case = next(case for case in CASES if case.name == "softmax f32 4096x1024")
x = np.random.default_rng(7).uniform(-1, 1, (4096, 1024)).astype("f4")
with tempfile.TemporaryDirectory() as folder:
    runtime = bench.build_runtime(Path(folder))
    ours = bench.Ours(runtime, Path(sys.argv[1]) / "bench" / f"{case.file}.so")
    y = Tensor(ours.library, np.full_like(x, np.nan))
    ours.bind([Tensor(ours.library, x), y])()
exact = np.exp(x.astype("f8"))
exact /= exact.sum(1, keepdims=True)
error = np.linalg.norm(y.array - exact) / np.linalg.norm(exact)
assert error <= case.tolerance, error
