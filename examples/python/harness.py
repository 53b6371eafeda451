"""Runs an example's case on targets, and compares what the kernel wrote with numpy's result.

python3 examples/python/softmax.py                      # on cpu, interpret, emulate:sm_80 and emulate:gfx942
python3 examples/python/softmax.py emulate:sm_90a
python3 examples/python/softmax.py --time cpu           # also the time of a call
"""
import importlib.util
import sys
import time
from pathlib import Path

import numpy as np

TARGETS = ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]
if importlib.util.find_spec("tessera") is None:  # not installed: that of this clone
    sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))


def run(case, atol=1e-5):
    """case(rng): kernel[grid], its arrays, {number of an array: what it must hold}, its constants."""
    is_timed, name = "--time" in sys.argv, Path(sys.argv[0]).stem
    for target in [word for word in sys.argv[1:] if word != "--time"] or TARGETS:
        launch, arrays, right, *constants = case(np.random.default_rng(0))
        named = {"target": target, **(constants[0] if constants else {})}
        launch(*arrays, **named)
        error = max(float(abs(arrays[at] - wanted).max()) for at, wanted in right.items())
        said = f", {microseconds(lambda: launch(*arrays, **named)):.1f} us a call" if is_timed else ""
        print(f"{name} on {target}: largest difference {error:.1e}{said}")
        if not error <= atol:
            sys.exit(f"{target}: wrong: {error} is more than {atol}")


def microseconds(call):
    """Of one call, the median of 50."""
    times = []
    for _ in range(50):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e6
