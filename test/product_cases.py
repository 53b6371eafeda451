"""Runs scripts of products: cases with a name, a program and data, judged by ptxas, the interpreter, the emulator or a GPU.

    sys.exit(main(sys.argv[1:], all_cases(), Runner()))

A case has `name`, program() -> its text, and data() -> (arguments as they lie in memory, the expected result).
"""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PLAIN = {"f16": "f2", "f32": "f4", "i8": "i1", "i32": "i4"}


def encoded(array, element):
    """The array's bits in that type; small integers, exact in every type."""
    array = np.ascontiguousarray(array)
    if element in PLAIN:
        return array.astype(PLAIN[element])
    if element == "bf16":
        return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    bits, bias = {"f8E4M3FN": (3, 7), "f8E5M2": (2, 15)}[element]
    half = array.astype(np.float16).view(np.uint16)  # f16: 5 bits of exponent, bias 15, 10 of mantissa
    sign, exponent, mantissa = half >> 15, (half >> 10) & 31, (half >> (10 - bits)) & ((1 << bits) - 1)
    exponent = np.where(exponent, exponent - 15 + bias, 0)
    return ((sign << 7) | (exponent << bits) | mantissa).astype(np.uint8)


class Runner:
    """SCRIPT print CASE | list | ptx BUILD [CASE…] | run TARGET BUILD [CASE…]; `pipeline` runs ahead, if there is one."""

    def __init__(self, pipeline=None):
        self.passes = [f"--pass-pipeline={pipeline}"] if pipeline else []

    def fault(self, case, ptx):
        """What is wrong with the PTX of a case, beside what ptxas says of it."""
        return ""

    def fault_of_statistics(self, case, path):
        """What is wrong with what the passes counted for the interpreter."""
        return ""

    def prepared(self, source, folder, build):
        """The program after the passes, and what went wrong."""
        if not self.passes:
            return source, ""
        prepared = folder / "prepared.mlir"
        return prepared, call([build / "bin/tile-opt", source, *self.passes, "-o", prepared])

    def assemble(self, case, build, folder):
        source, said = self.prepared(write(case, folder), folder, build)
        ptx = folder / "case.ptx"
        said = said or call([build / "bin/tile-translate", source, "--tile-to-ptx", "--chip=sm_90a", "-o", ptx])
        if said:
            return said
        path = os.environ["PATH"] + ":/usr/local/cuda/bin"
        done = subprocess.run(["ptxas", "-v", "-arch=sm_90a", ptx, "-o", folder / "case.cubin"], capture_output=True,
                              text=True, env={**os.environ, "PATH": path})
        said = done.stdout + done.stderr
        if done.returncode or "(C75" in said or "0 bytes spill stores, 0 bytes spill loads" not in said:
            return said or "ptxas failed"
        return self.fault(case, ptx.read_text())

    def run(self, case, target, build, folder):
        source, said, statistics = write(case, folder), "", folder / "stats.json"
        arguments, result = case.data()
        flags = [f"--in={folder}/in{i}.npy" for i in range(len(arguments))]
        for i, array in enumerate(arguments):
            np.save(folder / f"in{i}.npy", array)
        np.save(folder / "out.npy", result)
        if target == "interpret":
            flags += self.passes  # tile-run runs them, and counts
        else:
            source, said = self.prepared(source, folder, build)
        said = said or call([build / "bin/tile-run", source, f"--target={target}", *flags, f"--stats={statistics}",
                             f"--check-against={folder}/out.npy", "--rtol=0", "--atol=0", "--timeout=60"])
        return said or (self.fault_of_statistics(case, statistics) if target == "interpret" else "")


def write(case, folder):
    source = folder / "case.mlir"
    source.write_text(case.program())
    return source


def call(command):
    """What a command that failed says."""
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stderr + done.stdout or "failed without a word") if done.returncode else ""


def main(arguments, cases, runner):
    cases = {case.name: case for case in cases}
    if arguments[0] == "list":
        print("\n".join(cases))
        return 0
    if arguments[0] == "print":
        print(cases[arguments[1]].program(), end="")
        return 0
    target, rest = (arguments[1], arguments[2:]) if arguments[0] == "run" else (None, arguments[1:])
    build, wrong = Path(rest[0]).resolve(), 0
    for name in rest[1:] or cases:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            said = runner.run(cases[name], target, build, folder) if target else runner.assemble(cases[name], build, folder)
        wrong += bool(said)
        print(f"{name}: {'wrong: ' + said[:1500] if said else 'right'}")
    print(f"{wrong} wrong")
    return wrong > 0
