"""Shared memory by lifetimes: how many bytes each kernel takes, and that every barrier that passes memory on is needed.

Each kernel of Inputs/lifetimes.mlir is right, takes as much shared memory as is said below, and without any one of its
barriers and waits is found wrong by the emulator, with a place. The tiles are so large that buffers pass their places on.
Use: lifetimes.py BUILD CHIP.
"""
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "emulator"))
from mutants import MutatedKernels  # noqa: E402

BUILD, CHIP = sys.argv[1:]
random = np.random.default_rng(1)
failures = []


class Counted(MutatedKernels):
    def lower(self, program):
        lowered = super().lower(program)
        self.bytes = int(re.search(r"_shared\(\).*array<(\d+) x i8>", lowered).group(1))
        return lowered

    def host_program(self, name, grid):
        """The layouts' names stay."""
        layouts = "".join(line for line in self.source.splitlines(True) if line.startswith("#"))
        return layouts + super().host_program(name, grid).replace(layouts, "")


def uniform(*shape):
    return random.uniform(-1, 1, shape).astype("f8")


def check(name, arguments, want, shared):
    kernels.run(name, arguments, (1,))
    known = kernels.results[name]
    print(f"{name}: {kernels.bytes} bytes shared, {len(known)} mutants, {known.count('found')} found")
    if not np.array_equal(arguments[-1], want) or kernels.bytes != shared or not known or set(known) != {"found"}:
        failures.append(name)
        print(f"{name} is wrong: {shared} bytes wanted, each mutant found: {known}")


kernels = Counted(os.path.join(HERE, "Inputs", "lifetimes.mlir"), BUILD, CHIP)
x, y = uniform(32, 32), uniform(32, 32)
check("in_turn", [x, y, np.zeros_like(x)], x - y, 8192)
x = uniform(128, 32)
parts = x.reshape(4, 32, 32)
check("loop_then_exchange", [x, np.zeros((32, 32), "f8")], ((parts[0] + parts[1]) + parts[2]) + parts[3], 24576)  # a ring of two, and an exchange
x = uniform(32, 32)
check("unread_copy", [x, np.zeros_like(x)], x, 8192)
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
