"""Kernels that are also run with each of their barriers, waits and fences removed, one at a time.

test/run/kernels/kernels.py --emulate=CHIP --mutants gives every kernel of its corpus to this class, once. A mutant must be found,
with its place in the program, or be equivalent: no finding, and outputs as without the mutation. What is never right is
a wrong answer that nothing says is wrong. Seeds do not matter, races are found by order, not by luck; so an equivalent
mutant is one op too many for these sizes.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from kernel_harness import EmulatedKernels  # noqa: E402

ORDERING = re.compile(r"^\s*(nvvm\.barrier0|nvvm\.cp\.async\.wait\.group|nvvm\.cp\.async\.commit\.group|nvvm\.bar\.warp\.sync|"
                      r"nvvm\.memory\.barrier|rocdl\.s\.barrier(?!\.)|rocdl\.barrier|rocdl\.s\.barrier\.wait|llvm\.fence)\b")
FINDING = re.compile(r"\.mlir:\d+:\d+: error: (race|read before the copy landed|overwrite of a copy in flight|"
                     r"uninitialized read|divergence|deadlock)")


class MutatedKernels(EmulatedKernels):
    results = {}  # kernel -> what is known of each mutant; one that is not found is tried on three calls
    CALLS = 3

    def __init__(self, source, build, chip):
        super().__init__(source, build, chip)
        self.optimizer = os.path.join(build, "bin", "tile-opt")
        self.calls, self.device_passes = {}, None

    def run(self, name, arguments, grid):
        before = [numpy.array(a, order="C") for a in arguments]
        super().run(name, arguments, grid)
        self.calls[name] = self.calls.get(name, 0) + 1
        if self.calls[name] <= self.CALLS:
            self.mutate(name, before, [numpy.array(a, order="C") for a in arguments], grid)

    def lower(self, program):
        """The kernels lowered, the host as it is: the pipeline up to where it turns to the host."""
        def optimize(*flags):
            return subprocess.run([self.optimizer, "-", *flags], input=program, text=True, check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not self.device_passes:
            expansion = optimize(*self.passes, "--dump-pass-pipeline").stderr
            self.device_passes = re.search(r"builtin\.module\(.*?(?=,\s*convert-gpu-launch-to-runtime)", expansion,
                                           re.S).group(0) + ")"
        return optimize(f"--pass-pipeline={self.device_passes}").stdout

    def mutate(self, name, before, after, grid):
        with tempfile.TemporaryDirectory() as folder:
            for i, argument in enumerate(before):
                numpy.save(f"{folder}/in{i}.npy", argument)
            lowered = self.lower(self.host_program(name, grid))
            lines = lowered.splitlines(keepends=True)
            places = [at for at, line in enumerate(lines) if ORDERING.match(line)]
            known = self.results.setdefault(name, ["equivalent"] * len(places))
            for i, at in enumerate(places):
                if known[i] == "equivalent":
                    known[i] = self.judge(folder, lines, at, before, after)

    @classmethod
    def report(cls):
        """Prints a line per kernel; returns the kernels with a mutant that is wrong and silent."""
        for name, known in cls.results.items():
            if known:
                print(f"{name}: {len(known)} mutants, " +
                      ", ".join(f"{known.count(kind)} {kind}" for kind in ("found", "equivalent", "silent")))
        return [name for name, known in cls.results.items() if "silent" in known]

    def judge(self, folder, lines, at, before, after):
        with open(f"{folder}/program.mlir", "w") as file:
            file.write("".join(lines[:at] + ["\n"] + lines[at + 1:]))
        memrefs = [i for i, argument in enumerate(before) if argument.ndim]
        command = [self.tool, f"{folder}/program.mlir", f"--target={self.target}"]
        command += [f"--in={folder}/in{i}.npy" for i in range(len(before))]
        command += [f"--out={folder}/out{i}.npy" for i in memrefs]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=300)
        if done.returncode and not FINDING.search(done.stderr):
            sys.exit(f"a mutant was not run:\n{done.stderr}")
        if done.returncode:
            return "found"
        same = all(numpy.load(f"{folder}/out{i}.npy").tobytes() == after[i].tobytes() for i in memrefs)
        return "equivalent" if same else "silent"
