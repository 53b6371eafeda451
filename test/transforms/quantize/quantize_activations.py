"""tile-quantize-activations against numpy: the same codes of rows, exact sums of integers, scales and steps at the end; on the CPU,
by the interpreter, and for a few programs on emulated GPUs. Rows of zeros, of tiny numbers and with nan are among them.

Usage: quantize_activations.py TILE_OPT TILE_RUN [--only=TEXT]    prints one line per case and how many were wrong.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "run", "products"))
from low_bit import Program  # noqa: E402

PROGRAMS = {
    "nibbles": Program(1, 37, 192), "nibbles-7": Program(7, 40, 256, group=128), "nibbles-33": Program(33, 33, 96),
    "bytes": Program(3, 45, 96, bits=8, group=48), "signed-bytes": Program(2, 19, 256, bits=8, zero="none", group=128),
    "crumbs": Program(2, 50, 256, bits=2, group=128), "bits": Program(5, 24, 256, bits=1, zero="float", group=128),
    "float-zeros": Program(4, 40, 64, zero="float", group=16), "half-scales": Program(2, 31, 128, scale="f16", group=64),
    "one-scale": Program(2, 35, 64, scale="tensor", zero="none"), "row-scales": Program(3, 26, 96, group=96),
    "by-k": Program(2, 48, 128, rows_of="k"), "by-k-zeros": Program(3, 30, 64, rows_of="k", zero="float"),
    "packed-zeros": Program(2, 64, 256, rows_of="k", zero="packed", group=64),
    "nibbles-16": Program(16, 80, 512, group=128), "crumbs-9": Program(9, 33, 512, bits=2, group=64), "bits-16": Program(16, 48, 1024, bits=1, group=128),
    "signed-19": Program(19, 33, 256, bits=8, zero="none", group=128), "crumb-zeros-9": Program(9, 33, 512, bits=2, zero="float", group=128),
    "half-scales-12": Program(12, 31, 256, scale="f16", group=64), "row-scales-1": Program(1, 26, 1024, group=1024),
}
# The integers of these meet in one kernel of a CPU with vpdpbusd; the others' groups fill no vectors of codes.
IN_ONE_KERNEL = ("nibbles-7", "nibbles-16", "signed-bytes", "crumbs", "half-scales", "crumbs-9", "bits-16", "signed-19", "crumb-zeros-9",
                 "half-scales-12", "row-scales-1")
HAS_DOTS = "avx512_vnni" in open("/proc/cpuinfo").read()
ON_GPUS = ("nibbles", "crumbs")
BY_ROW = ("nibbles-7", "one-scale", "by-k-zeros", "bits", "packed-zeros")


def rows(x, group):
    """Codes of rows and the step of each group, as the pass says: everything but the division by 127 rounds once."""
    cut = x.reshape(len(x), -1, group)
    largest = abs(cut).max(2).astype("f4")
    with np.errstate(all="ignore"):
        inverse = np.where(largest >= np.float32(2 ** -119), np.float32(127) / largest, np.float32(0)).astype("f4")
        steps = (largest / np.float32(127)).astype("f4")
        codes = np.fmin(np.fmax(np.rint(cut * inverse[:, :, None]), -127), 127)
    return np.where(np.isnan(codes), 0, codes).reshape(len(x), -1), steps


def expected(program, arguments, exact_of, per):
    """`exact_of(x)`: the product in 64 bits, which is linear in x."""
    x = arguments[0]
    group = program.k if per == "row" else program.group
    codes, steps = rows(x, group)
    return exact_of(codes * np.repeat(steps.astype("f8"), group, 1))


def main():
    tile_opt, tile_run = sys.argv[1:3]
    only = sys.argv[3].partition("=")[2] if len(sys.argv) > 3 else ""
    rng, wrong = np.random.default_rng(11), 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, program in PROGRAMS.items():
            for per in ("group", "row"):
                if only not in name or (per == "row" and name not in BY_ROW):
                    continue
                arguments, _ = program.data(rng)
                x = arguments[0]
                if len(x) > 2:
                    x[0, : program.group] = 0
                    x[1] *= np.float32(1e-38)
                weights = program_weights(program, arguments)
                want = expected(program, arguments, lambda rows: rows @ weights, per)
                if len(x) > 2:
                    x[2, 5] = np.nan
                    want[2] = np.nan
                with open("p.mlir", "w") as file:
                    file.write(program.text())
                passes = f"builtin.module(func.func(tile-quantize-activations{{per={per}}}))"
                made = subprocess.run([tile_opt, "p.mlir", f"--pass-pipeline={passes}", "-o", "q.mlir"], capture_output=True, text=True)
                flags = []
                for i, argument in enumerate(arguments):
                    np.save(f"{i}.npy", argument.view("i1") if argument.dtype == np.uint8 else argument)
                    flags.append(f"--in={i}.npy")
                targets = ["cpu"] + (["emulate:sm_80", "emulate:gfx942"] if name in ON_GPUS and per == "group" else [])
                for target in targets:
                    run = subprocess.run([tile_run, "q.mlir", *flags, "--out=r.npy", "--stats=s.json", f"--target={target}", "--check-against=interpret"], capture_output=True, text=True)
                    right = made.returncode == 0 and run.returncode == 0
                    if right:
                        got = np.load("r.npy")
                        bound = 1e-5 * np.nanmax(abs(want))
                        right = (np.isnan(got) == np.isnan(want)).all() and not np.nanmax(abs(got - want)) > bound
                        right = right and "arith.muli" in open("q.mlir").read()
                        if target == "cpu" and HAS_DOTS:
                            kernels = json.load(open("s.json"))["kernels"]
                            right = right and any("coded_dots" in kernel for kernel in kernels) == (name in IN_ONE_KERNEL)
                    print(f"{name} {per} {target}: {'right' if right else 'WRONG'}", "" if right else made.stderr + run.stderr)
                    wrong += not right
    print(f"{wrong} wrong")
    return wrong > 0


def program_weights(program, arguments):
    """k × n in 64 bits."""
    codes = arguments[1] if program.rows_of == "n" else arguments[1].T
    codes = (codes[:, :, None] >> (np.arange(program.per_byte) * program.bits) & 2 ** program.bits - 1).reshape(program.n, program.k).astype("f8")
    if program.zero == "none" and program.bits == 8:
        codes = codes - 256 * (codes > 127)
    flat = (lambda a: a[:, :, 0]) if program.rows_of == "n" else (lambda a: a[:, 0, :].T)
    scale = arguments[2] if program.scale == "tensor" else flat(arguments[2])
    if program.zero == "packed":
        packed = arguments[3]
        zero = np.stack([packed & 15, packed >> 4], -1).reshape(len(packed), -1).T + 1
    else:
        zero = 0 if program.zero == "none" else flat(arguments[3])
    spread = lambda a: np.repeat(np.asarray(a, "f8"), program.group, 1) if np.ndim(a) else float(a)
    return ((codes - spread(zero)) * spread(scale)).T


if __name__ == "__main__":
    sys.exit(main())
