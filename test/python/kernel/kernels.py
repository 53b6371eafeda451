"""Runs a kernel on every target that needs no device, and compares what it wrote with what numpy says."""
import numpy as np

TARGETS = ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]


def run(kernel, grid, arrays, expected, targets=TARGETS, rtol=2e-6, atol=2e-6, **constants):
    """arrays: the kernel's, those that it writes included; expected: a list with None for what is not compared."""
    for target in targets:
        given = [np.array(array) if isinstance(array, np.ndarray) else array for array in arrays]
        kernel[grid](*given, target=target, **constants)
        for array, wanted in zip(given, expected):
            if wanted is not None:
                np.testing.assert_allclose(array, wanted, rtol=rtol, atol=atol, err_msg=target)


def data(*shape, seed=0, dtype="f4"):
    rng = np.random.default_rng(seed + sum(shape))
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(-50, 50, shape).astype(dtype)
