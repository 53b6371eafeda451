"""Runs the kernels of Inputs/ beside the script and compares them with numpy: what scripts of test/run share.

Prints one line for each output that is wrong, then how many were right.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

INPUTS = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "Inputs")
SUFFIX = next(os.path.splitext(name)[1] for name in os.listdir(INPUTS) if name.endswith((".ttir", ".tileirbc", ".mlir")))
tile_run, targets = sys.argv[1], sys.argv[2:]
random = np.random.default_rng(7)
counts = {"right": 0, "wrong": 0}


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def count(good, text):
    counts["right" if good else "wrong"] += 1
    if not good:
        print(text)


def launch(kernel, arguments, grid, target, expect=None, version=""):
    """What the arrays among the arguments hold afterwards, by number. Nothing, if the run ends with an error."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [tile_run, f"{INPUTS}/{kernel}{version}{SUFFIX}", f"--entry=launch_{kernel}", f"--target={target}",
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


def judge(kernel, arguments, grid, expected, version=""):
    """expected: by number of the argument, the array and its tolerance. version: behind the file's name."""
    for target in targets:
        seen = launch(kernel, arguments, grid, target, version=version)
        for number, (value, tolerance) in expected.items():
            value = np.asarray(value, np.float64).ravel()
            good = number in seen and np.all(np.abs(seen[number] - value) <= tolerance * (1 + np.abs(value)))
            count(good, f"{kernel}{version} on {target}: argument {number} is wrong")


def report():
    print(f"{counts['right']} right, {counts['wrong']} wrong")
