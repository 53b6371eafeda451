"""Plants defects in kernels of Triton and looks for them without a GPU: planted.py TILE_RUN. Prints what is not found.

Each row: kernel, what is replaced in its text and by what, where it is run, and words of the finding. The kernels without
the defects run without findings (kernels.test).
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

tool = sys.argv[1]
inputs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
n, rows, columns = 2500, 5, 700
rng = np.random.default_rng(3)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32).ravel()


ADD = ([floats(n), floats(n), np.zeros(n, np.float32), np.int32(n)], (3, 1, 1))
SOFTMAX = ([np.zeros(rows * columns, np.float32), floats(rows, columns), np.int32(columns), np.int32(columns),
            np.int32(rows), np.int32(columns)], (2, 1, 1))
OUTSIDE, RACE, POISON = r"out of bounds|outside", r"race", r"poison"
PLANTED = [
    ("add", "tt.store %1, %8, %inside_5 :", "tt.store %1, %8 :", "emulate:sm_80", ADD, OUTSIDE),
    ("add", "tt.store %1, %8, %inside_5 :", "tt.store %1, %8 :", "interpret", ADD, OUTSIDE),
    ("add", "tt.load %3, %inside_5 :", "tt.load %3 :", "emulate:gfx942", ADD, OUTSIDE),
    ("add", "tt.load %6, %inside_5 :", "tt.load %6 :", "interpret", ADD, OUTSIDE),
    ("add", "arith.cmpi slt, %at_4, %inside", "arith.cmpi sle, %at_4, %inside", "emulate:sm_80", ADD, OUTSIDE),
    ("add", "tt.make_range {end = 1024 : i32, start = 0 : i32}", "tt.make_range {end = 1023 : i32, start = -1 : i32}",
     "emulate:sm_80", ADD, OUTSIDE),
    ("add", "%at_1 = arith.muli %at_0, %at :", "%at_1 = arith.subi %at_0, %at_0 :", "emulate:sm_80", ADD, RACE),
    ("add", "%at_1 = arith.muli %at_0, %at :", "%at_1 = arith.subi %at_0, %at_0 :", "emulate:gfx942", ADD, RACE),
    ("softmax", "tt.load %v_4, %v_0, %cst :", "tt.load %v_4, %v_0 :", "interpret", SOFTMAX, POISON),
    ("softmax", "tt.load %v_4, %v_0, %cst :", "tt.load %v_4 :", "emulate:sm_80", SOFTMAX, OUTSIDE),
    ("softmax", "scf.for %row = %0 to", "scf.for %row = %zero to", "emulate:sm_80", SOFTMAX, RACE),
]
found = wrong = 0
with tempfile.TemporaryDirectory() as scratch:
    for kernel, old, new, target, (arguments, grid), words in PLANTED:
        with open(f"{inputs}/{kernel}.ttir", encoding="utf-8") as file:
            text = file.read()
        assert text.count(old) == 1, (kernel, old, text.count(old))
        text = text.replace(old, new)
        if "%zero" in new:
            text = text.replace("%at = tt.make_range", "%zero = arith.constant 0 : i32\n    %at = tt.make_range", 1)
        with open(f"{scratch}/k.ttir", "w", encoding="utf-8") as file:
            file.write(text)
        command = [tool, f"{scratch}/k.ttir", f"--entry=launch_{kernel}", f"--target={target}", f"--out={scratch}/o.npz"]
        for number, argument in enumerate([*arguments, *(np.int64(size) for size in grid)]):
            np.save(f"{scratch}/{number}.npy", argument)
            command.append(f"--in={scratch}/{number}.npy")
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        good = run.returncode == 1 and re.search(words, run.stderr)
        found, wrong = found + bool(good), wrong + (not good)
        if not good:
            print(f"{kernel}: '{old}' as '{new}' on {target}: exit {run.returncode}: {run.stderr[:300]}")
print(f"{found} found, {wrong} not found")
