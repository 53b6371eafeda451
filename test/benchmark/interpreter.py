#!/usr/bin/env python3
"""How fast the interpreter is: scalar operations per second of programs of several kinds.

    .venv/bin/python test/benchmark/interpreter.py [--build=build] [--repeat=5]

Counted are the program's arithmetic operations on elements (a multiply-add is two), not loads, stores and loop control.
Time is tile-run's processor time (it has one thread) less that of an empty program; medians over interleaved runs, with
the slowest and the fastest.
Exit status 1 when any is below the bar.
"""
import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
BAR = 20.0  # million operations per second
EMPTY = "func.func @main() {\n  return\n}\n"
SCALARS = """
func.func @main(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.999 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
    %b = arith.index_cast %i : index to i32
    %c = arith.sitofp %b : i32 to f32
    %d = arith.mulf %a, %factor : f32
    %e = arith.addf %d, %c : f32
    scf.yield %e : f32
  }
  return %r : f32
}
"""
MATMUL = """
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>)
    -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
"""
GELU = """
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 0.70710678 : f32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<?xf32>) {
  ^bb0(%e: f32):
    %0 = arith.mulf %e, %root : f32
    %1 = math.erf %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.mulf %2, %e : f32
    %4 = arith.mulf %3, %half : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
GEMM = """
func.func @main(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %bias: memref<?xf32>, %c: memref<?x?xf16>) {
  %g = arith.constant 2 : index
  tile.launch @gemm_bias_relu grid(%g, %g) ins(%a, %b, %bias : memref<?x?xf16>, memref<?x?xf16>, memref<?xf32>)
    outs(%c : memref<?x?xf16>)
  return
}
"""
SOFTMAX = """
func.func @main(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %g = arith.constant 64 : index
  tile.launch @softmax grid(%g) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}
"""


def kernel(name):
    return (ROOT / "test/dialects/tile/programs" / f"{name}.mlir").read_text()


def programs():
    """Name, text, arguments, operations."""
    random = np.random.default_rng(5)

    def floats(*shape, dtype="f4"):
        return random.normal(size=shape).astype(dtype)

    n, square, wide = 1_000_000, (256, 256), (256, 4096)
    yield "scalars in a loop (scf.for, arith)", SCALARS, [np.int64(n)], 4 * n
    yield "linalg.matmul 256^3, f32", MATMUL, [floats(*square) for _ in range(3)], 2 * 256**3
    yield "linalg.generic, gelu of 1 M elements, f32", GELU, [floats(n)], 5 * n
    yield ("tile kernel: GEMM 256^3 with bias and relu, f16", kernel("gemm_bias_relu") + GEMM,
           [floats(*square, dtype="f2"), floats(*square, dtype="f2"), floats(256), floats(*square, dtype="f2")],
           2 * 256**3 + 2 * 256**2)
    yield "tile kernel: softmax of 256 rows of 4096, f32", kernel("softmax") + SOFTMAX, [floats(*wide), floats(*wide)], 5 * 2**20


def command(folder, number, text, arguments):
    program = folder / f"{number}.mlir"
    program.write_text(text)
    line = [f"{options.build}/bin/tile-run", str(program), "--target=interpret"]
    for i, argument in enumerate(arguments):
        np.save(folder / f"{number}.{i}.npy", argument)
        line.append(f"--in={folder}/{number}.{i}.npy")
    return line


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(line):
    start = cpu()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    return cpu() - start


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default="build")
parser.add_argument("--repeat", type=int, default=5)
options = parser.parse_args()
with tempfile.TemporaryDirectory() as name:
    cases = list(programs())
    lines = [command(Path(name), "empty", EMPTY, [])]
    lines += [command(Path(name), i, text, arguments) for i, (_, text, arguments, _) in enumerate(cases)]
    times = [[seconds(line) for line in lines] for _ in range(options.repeat)]
empty, *columns = zip(*times)
least = float("inf")
for (title, _, _, operations), column in zip(cases, columns):
    rates = sorted(operations / 1e6 / max(t - statistics.median(empty), 1e-6) for t in column)
    rate = statistics.median(rates)
    least = min(least, rate)
    print(f"{title:48} {rate:7.1f} M scalar operations/s   ({rates[0]:.1f} to {rates[-1]:.1f})")
print(f"interpreter: {least:.1f} M scalar operations/s or more; the bar is {BAR:.0f}: {'met' if least >= BAR else 'missed'}")
sys.exit(0 if least >= BAR else 1)
