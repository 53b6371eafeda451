"""What the emulator's kernel tests share: lowering a kernel by upstream passes, running it, and breaking it.

  kernel = Kernel(TILE_RUN, "emulate:sm_80", text, pipeline)
  outputs, stats = kernel.run([a, b, c])          numpy arrays in, all of them back, and the counters
  kernel.check_mutants([a, b, c], ["nvvm.barrier0", …], equivalent={…})

A mutant is the lowered kernel without one op that synchronizes. Each must be found (exit 1 and a finding that names a
line of the program), or stand in `equivalent`, by its number among the ops of all names, with the reason why it is
right; then it must give no finding and the same outputs. Seeds do not matter: races are found by order, not by luck.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FINDING = re.compile(r"\.mlir:\d+:\d+: error: (race|read before the copy landed|overwrite of a copy in flight|"
                     r"uninitialized read|divergence|deadlock|bad operand|memory of another block)")


class Kernel:
    def __init__(self, tile_run, target, text, pipeline=None):
        self.command = [tile_run, f"--target={target}"]
        self.folder = Path(tempfile.mkdtemp())
        self.text = text if not pipeline else self.lower(tile_run, text, pipeline)

    def lower(self, tile_run, text, pipeline):
        tile_opt = str(Path(tile_run).with_name("tile-opt"))
        done = subprocess.run([tile_opt, "-", f"--pass-pipeline={pipeline}"], input=text, text=True,
                              capture_output=True)
        if done.returncode:
            sys.exit(f"the kernel was not lowered:\n{done.stderr}")
        return done.stdout

    def start(self, text, arrays, flags=()):
        file = self.folder / "kernel.mlir"
        file.write_text(text)
        command = [*self.command, str(file), f"--stats={self.folder}/stats.json", *flags]
        for i, array in enumerate(arrays):
            np.save(self.folder / f"in{i}.npy", array)
            command += [f"--in={self.folder}/in{i}.npy", f"--out={self.folder}/out{i}.npy"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def run(self, arrays, flags=()):
        done = self.start(self.text, arrays, flags)
        if done.returncode or done.stderr:
            sys.exit(f"a right kernel was refused:\n{done.stderr}")
        return self.outputs(arrays), json.loads((self.folder / "stats.json").read_text())

    def outputs(self, arrays):
        return [np.load(self.folder / f"out{i}.npy") for i in range(len(arrays))]

    def mutants(self, ops):
        """(number, line number, op, text without that line) of each op that stands alone on its line."""
        lines = self.text.splitlines(keepends=True)
        number = 0
        for at, line in enumerate(lines):
            op = next((op for op in ops if re.match(rf"\s*{re.escape(op)}(?![\w.])", line)), None)
            if op:
                yield number, at + 1, op, "".join(lines[:at] + ["\n"] + lines[at + 1:])
                number += 1

    def check_mutants(self, arrays, ops, equivalent=None):
        equivalent, seen, right = equivalent or {}, 0, self.run(arrays)[0]
        for number, line, op, text in self.mutants(ops):
            done = self.start(text, arrays)
            seen += 1
            if number in equivalent:
                same = not done.returncode and all(np.array_equal(a, b) for a, b in zip(self.outputs(arrays), right))
                if not same:
                    sys.exit(f"mutant {number} (no {op}, line {line}) is not equivalent:\n{done.stderr}")
            elif not done.returncode or not FINDING.search(done.stderr):
                sys.exit(f"mutant {number} (no {op}, line {line}) was not found:\n{done.stderr}")
        return seen
