"""Tiles of sizes that are no powers of two: spread over lanes and warps, counted by the emulator.

Each kernel must give numpy's result, read and write at most 1.1 times what it has to, and be converted to at most so
many ops. Use: spread.py BUILD [CHIP...]. Prints a line per kernel; the last is 'N wrong'.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
from kernel_harness import EmulatedKernels  # noqa: E402

BUILD, CHIPS = sys.argv[1], sys.argv[2:] or ["sm_80"]
RUN = os.path.join(HERE, "..", "..", "run", "kernels", "Inputs")
random = np.random.default_rng(3)
failures = []


class Counted(EmulatedKernels):
    def __init__(self, folder, chip):
        super().__init__(f"{folder}/kernels.mlir", BUILD, chip)
        self.folder = folder
        kind = "rocdl" if chip.startswith("gfx") else "nvvm"
        self.convert = ("builtin.module(tile.kernel(tile-assign-layouts{chip=%s},canonicalize,cse),convert-tile-to-%s{chip=%s})"
                        % (chip, kind, chip))
        self.passes.append(f"--stats={folder}/stats.json")

    def ops(self, name):
        """Ops of the device function, and seconds to make it."""
        start = time.monotonic()
        done = subprocess.run([f"{BUILD}/bin/tile-opt", "-", f"--pass-pipeline={self.convert}"], check=True, text=True,
                              input=self.host_program(name, (1,)), stdout=subprocess.PIPE)
        seconds = time.monotonic() - start
        device = re.search(r"gpu\.module.*?^  }$", done.stdout, re.S | re.M).group(0)
        return len(re.findall(r"^\s+(?:%\S.* = )?\"?[a-z]+\.[a-z_.]+", device, re.M)), seconds

    def count(self, name, arguments, grid, wants, tolerance, limit):
        held = [a.copy() for a in arguments]
        self.run(name, held, grid)
        with open(f"{self.folder}/stats.json") as file:
            stats = json.load(file)
        right = all((np.abs(held[i].astype("f8") - want) <= tolerance * (1 + np.abs(want))).all()
                    for i, want in wants.items())
        read = sum(a.nbytes for i, a in enumerate(arguments) if i not in wants)
        written = sum(a.nbytes for i, a in enumerate(arguments) if i in wants)
        moved, ideal = stats["global_bytes_read"] + stats["global_bytes_written"], read + written
        ops, seconds = self.ops(name)
        shared = stats["kernels"][name]["shared_memory_bytes"]
        print(f"{name} {self.target}: {ops} ops, {moved} bytes of {ideal}, {stats['global_transactions']} transactions, "
              f"{stats['instructions']} instructions, {shared} bytes shared, {seconds:.2f} s, right: {right}")
        if not right or moved > 1.1 * ideal or ops > limit:
            failures.append(f"{name} on {self.target}")


def empty(*shape, dtype="f4"):
    return np.full(shape, np.nan, dtype)


def uniform(*shape, dtype="f4"):
    return random.uniform(-1, 1, shape).astype(dtype)


def all_kernels(chip):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/kernels.mlir", "w") as out:
            for source in (f"{HERE}/Inputs/spread.mlir", f"{RUN}/reductions.mlir"):
                with open(source) as file:
                    text = file.read()
                out.write(text if "spread" in source else
                          re.search(r"^tile\.kernel @sums\b.*?^}\n", text, re.S | re.M).group(0))
        kernels = Counted(folder, chip)
        x = uniform(8, 1000) * 5
        e = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
        kernels.count("softmax_1000", [x, empty(8, 1000)], (2,), {1: e / e.sum(axis=1, keepdims=True)}, 2e-6, 3000)
        x, gamma, beta = uniform(64, 777), uniform(777), uniform(777)
        d = x.astype("f8") - x.astype("f8").mean(axis=1, keepdims=True)
        want = d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta
        kernels.count("layernorm_777", [x, gamma, beta, empty(64, 777)], (2,), {3: want}, 2e-5, 15000)
        x = uniform(5, 7, 83)
        sums = [x.astype("f8").sum(axis=axes) for axes in (0, 1, 2, (0, 1), (0, 2), (0, 1, 2))]
        kernels.count("sums", [x] + [empty(*s.shape) for s in sums], (1,), dict(enumerate(sums, 1)), 1e-5, 4500)
        x = uniform(83, 37)
        kernels.count("transpose_83", [x, empty(37, 83)], (1,), {1: x.T}, 0, 2000)
        x = uniform(9, 20, 61)
        kernels.count("permute_61", [x, empty(61, 9, 20)], (1,), {1: x.transpose(2, 0, 1)}, 0, 10000)
        x, y = random.integers(-99, 99, (5, 45), "i4"), random.integers(1, 9, (5, 45), "i4")
        kernels.count("remainders_45", [x, y, np.zeros_like(x)], (1,), {2: np.fmod(x, y)}, 0, 1000)
        x = uniform(3, 333)
        kernels.count("scan_333", [x, empty(3, 333)], (3,), {1: np.cumsum(x.astype("f8"), axis=1)}, 1e-5, 1000)


for chip in CHIPS:
    all_kernels(chip)
print(f"{len(failures)} wrong: {', '.join(failures)}" if failures else "0 wrong")
sys.exit(1 if failures else 0)
