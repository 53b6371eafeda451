"""Writes tile kernels in another form and compares what it gives with what the kernels give.

kernels.py TILE_RUN TILE_TRANSLATE FORM TARGET…, as kernels.py tile-run tile-translate cuda-tile=13.4 cpu: of each kernel, the interpreter's results before, and every target's
results after the way through the form, bit for bit (floats to 2e-6, as products have their order).
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

tile_run, translate, form, *targets = sys.argv[1:]
suffix = ".ttir" if form == "ttir" else ".tileirbc"
program = f"{os.path.dirname(os.path.abspath(__file__))}/Inputs/kernels.mlir"
random = np.random.default_rng(11)


def run(file, entry, arguments, target, scratch):
    command = [tile_run, file, f"--entry={entry}", f"--target={target}", f"--out={scratch}/out.npz"]
    for number, argument in enumerate(arguments):
        np.save(f"{scratch}/{number}.npy", argument)
        command.append(f"--in={scratch}/{number}.npy")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    if done.returncode:
        print(done.stderr)
        return {}
    with np.load(f"{scratch}/out.npz") as found:
        return {int(name.removeprefix("argument")): found[name] for name in found.files}


def with_sizes(array, is_open):
    """What stands for a memref: its elements in a row, then each size that its type leaves open."""
    return [array.ravel(), *(np.int64(size) for size, open_ in zip(array.shape, is_open) if open_)]


def compare(kernel, arrays, grid, is_open=(True, True)):
    with tempfile.TemporaryDirectory() as scratch:
        wanted = run(program, f"{kernel}_launch", [*arrays, np.int64(grid)], "interpret", scratch)
        file, flat, places = f"{scratch}/{kernel}{suffix}", [], []
        subprocess.run([translate, program, f"--tile-to-{form}", "-o", file], check=True)
        for array in arrays:
            places.append(len(flat))
            flat += with_sizes(array, is_open)
        for target in targets:
            seen = run(file, f"launch_{kernel}", [*flat, *map(np.int64, (grid, 1, 1))], target, scratch)
            for number, value in wanted.items():
                found = seen.get(places[number], np.full(value.shape, -77)).reshape(value.shape)
                tolerance = 2e-6 if value.dtype.kind == "f" else 0
                good = np.allclose(found, value, rtol=tolerance, atol=tolerance, equal_nan=True)
                print(f"{kernel} on {target}: argument {number} is {'equal' if good else 'wrong'}")


def numbers(size, low=-2**31, high=2**31):
    return random.integers(low, high, size).astype(np.int32)


rows = numbers(12, -3, 14)
compare("cuts", [random.standard_normal((11, 37)).astype(np.float32), rows, np.zeros((10, 16), np.float32)], 3)
compare("turns", [numbers(16, -9, 9), np.zeros(7, np.int32)], 1)
compare("integers", [numbers(61), np.zeros(61, np.int64)], 2)
values = random.standard_normal((21, 16)).astype(np.float32)
values[3, 5], values[17, 2], values[4, 4] = np.nan, np.nan, np.inf
compare("floats", [np.nan_to_num(values, nan=np.nan, posinf=3), np.zeros((21, 16), np.float32)], 2, (True, False))
x, w, q = random.standard_normal((21, 5)).astype(np.float32), random.standard_normal((5, 12)).astype(np.float32), numbers(21, -5, 60)
compare("odd", [x, w, q, np.zeros((21, 12), np.float32), np.zeros(21, np.float32), np.zeros(21, np.int32), np.zeros(5, np.float32)], 4)
compare("lines", [random.standard_normal(30).astype(np.float32), np.zeros(24, np.float32)], 4)
