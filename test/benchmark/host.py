#!/usr/bin/env python3
"""What the host costs: calling a compiled program that does nothing, and compiling programs in process.

    .venv/bin/python test/benchmark/host.py [--build=build] [--repeat=7]

The call is what tile-run's --stats time: a tessera_call of the packed entry, the clock read around it included. Compile
time is compile_ms: passes, translation, optimization, code generation; medians over runs, with the fastest and slowest.
Exit status 1 when a bar is missed.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples/transformer"))
import model  # noqa: E402

EMPTY = """
func.func @main(%x: tensor<4x4xf32>) {
  return
}
"""
GEMM = """
func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %c : tensor<512x512xf32>
}
"""


def measure(key, program, flags=(), runs=None):
    seen = []
    for _ in range(runs or options.repeat):
        stats = folder / "stats.json"
        subprocess.run([f"{options.build}/bin/tile-run", program, f"--stats={stats}", *flags], check=True)
        seen.append(json.loads(stats.read_text())[key])
    return seen


def report(title, seen, scale, unit, bar):
    seen = sorted(scale * value for value in seen)
    median = statistics.median(seen)
    met = median < bar
    print(f"{title:52} {median:8.2f} {unit}  ({seen[0]:.2f} to {seen[-1]:.2f}); the bar is {bar:g} {unit}: {'met' if met else 'missed'}")
    return met


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default="build")
parser.add_argument("--repeat", type=int, default=7)
options = parser.parse_args()
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "empty.mlir").write_text(EMPTY)
    (folder / "gemm.mlir").write_text(GEMM)
    inputs = []
    for i, array in enumerate(model.arguments()):
        np.save(folder / f"{i}.npy", array)
        inputs.append(f"--in={folder}/{i}.npy")
    met = report("a call of a compiled empty program", measure("time_ms_median", folder / "empty.mlir", ["--repeat=20001"]), 1e3, "us", 2)
    met &= report("compiling a static f32 GEMM 512^3", measure("compile_ms", folder / "gemm.mlir"), 1e-3, "s", 0.3)
    met &= report("compiling the transformer block", measure("compile_ms", ROOT / "examples/transformer/transformer.mlir", inputs), 1e-3, "s", 2)
sys.exit(0 if met else 1)
