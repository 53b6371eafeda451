"""Runs an example's case on targets, and compares what the kernel wrote with numpy's result.

python3 examples/python/softmax.py                                   # cpu, interpret, emulate:sm_80, emulate:gfx942
python3 examples/python/softmax.py emulate:sm_90a
"""
import sys

import numpy as np

TARGETS = ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]


def run(case, atol=1e-5):
    """case(rng): kernel[grid], its arrays, {number of an array: what it must hold}, its constants."""
    for target in sys.argv[1:] or TARGETS:
        launch, arrays, right, *constants = case(np.random.default_rng(0))
        launch(*arrays, target=target, **(constants[0] if constants else {}))
        error = max(float(abs(arrays[at] - wanted).max()) for at, wanted in right.items())
        print(f"{case.__module__ if case.__module__ != '__main__' else sys.argv[0].rpartition('/')[2][:-3]} on {target}: "
              f"largest difference {error:.1e}")
        if not error <= atol:
            sys.exit(f"{target}: wrong: {error} is more than {atol}")
