"""Runs the TTIR of Inputs/ and compares it with numpy: what kernels.py and operations.py share.

Prints one line for each output that is wrong, then how many were right.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
tile_run, targets = sys.argv[1], sys.argv[2:]
random = np.random.default_rng(7)
counts = {"right": 0, "wrong": 0}


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def count(good, text):
    counts["right" if good else "wrong"] += 1
    if not good:
        print(text)


def launch(kernel, arguments, grid, target, expect=None):
    """What the arrays among the arguments hold afterwards, by number. Nothing, if the run ends with an error."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [tile_run, f"{INPUTS}/{kernel}.ttir", f"--entry=launch_{kernel}", f"--target={target}",
                   f"--out={scratch}/out.npz"]
        for number, argument in enumerate([*arguments, *(np.int64(size) for size in grid)]):
            np.save(f"{scratch}/{number}.npy", argument)
            command.append(f"--in={scratch}/{number}.npy")
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            if not expect or expect not in run.stderr:
                print(run.stderr)
            return {}
        with np.load(f"{scratch}/out.npz") as file:
            return {int(name.removeprefix("argument")): file[name] for name in file.files}


def judge(kernel, arguments, grid, expected):
    """expected: by number of the argument, the array and its tolerance."""
    for target in targets:
        seen = launch(kernel, arguments, grid, target)
        for number, (value, tolerance) in expected.items():
            value = np.asarray(value, np.float64).ravel()
            good = number in seen and np.all(np.abs(seen[number] - value) <= tolerance * (1 + np.abs(value)))
            count(good, f"{kernel} on {target}: argument {number} is wrong")


def report():
    print(f"{counts['right']} right, {counts['wrong']} wrong")
