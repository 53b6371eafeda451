#!/usr/bin/env python3
"""What imported kernels cost: time and instructions beside kernels by hand, and compile time beside Triton's.

    .venv/bin/python test/benchmark/imported_kernels.py [--build=build] [--repeat=7] [--peer-python=PYTHON]

add: a sum of 1,000,003 numbers, imported from TTIR, beside a kernel with views by hand: the time on one thread of this
CPU, in turns, medians; and instructions of the launch on an emulated sm_80. chain: processor time from the text of a
kernel of 1,000 ops to tile kernels, less that of a kernel of 17 ops. ptx: processor time of whole processes, from TTIR
to PTX for sm_80, beside Triton's process (with --peer-python, which has the package). Exit status 1 when a bar is missed.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
INPUTS = ROOT / "test/run/triton/Inputs"
COUNT = 1000003

BY_HAND = """
tile.kernel private @add(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %out: memref<?xf32>) {
  %i = tile.program_id 0
  %xn = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<?xf32> to memref<?xf32>
  %yn = memref.reinterpret_cast %y to offset: [0], sizes: [%n], strides: [1] : memref<?xf32> to memref<?xf32>
  %on = memref.reinterpret_cast %out to offset: [0], sizes: [%n], strides: [1] : memref<?xf32> to memref<?xf32>
  %xv = tile.view %xn : memref<?xf32> to !tile.view<1024xf32>
  %yv = tile.view %yn : memref<?xf32> to !tile.view<1024xf32>
  %ov = tile.view %on : memref<?xf32> to !tile.view<1024xf32>
  %a = tile.load %xv[%i] : !tile.view<1024xf32> -> tensor<1024xf32>
  %b = tile.load %yv[%i] : !tile.view<1024xf32> -> tensor<1024xf32>
  %c = arith.addf %a, %b : tensor<1024xf32>
  tile.store %c, %ov[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.return
}
func.func @launch_add(%x: memref<?xf32>, %y: memref<?xf32>, %out: memref<?xf32>, %n: i32, %g0: index, %g1: index, %g2: index) {
  %count = arith.index_cast %n : i32 to index
  tile.launch @add grid(%g0, %g1, %g2) ins(%x, %y, %count : memref<?xf32>, memref<?xf32>, index) outs(%out : memref<?xf32>)
  return
}
"""

TRITON = """
import os, sys, tempfile
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
import triton
from triton.backends.compiler import GPUTarget
triton.compile(sys.argv[1], target=GPUTarget("cuda", 80, 32), options={"ptx_version": 80})
"""


def report(title, value, unit, bar):
    met = value <= bar
    print(f"{title:64} {value:8.2f} {unit}; the bar is {bar:g}: {'met' if met else 'missed'}", flush=True)
    return met


def stats_of(program, target, *flags):
    names = [folder / f"{i}.npy" for i in range(7)]
    command = [options.build / "bin/tile-run", program, "--entry=launch_add", f"--target={target}", f"--stats={folder}/stats.json",
               f"--out={folder}/out.npz", *(f"--in={name}" for name in names), *flags]
    subprocess.run(command, check=True)
    with np.load(folder / "out.npz") as file:
        assert np.array_equal(file["argument2"], x + y), program
    return json.loads((folder / "stats.json").read_text())


def processor_ms(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def chain(count):
    """A kernel of so many ops on elements, besides 16 for places, a load and a store."""
    kinds = ("addf", "mulf", "subf", "maxnumf")
    line = "tensor<1024xf32>"
    places = "tensor<1024x!tt.ptr<f32>>"
    ops = [f"    %v{i + 1} = arith.{kinds[i % 4]} %v{i}, %v{max(0, i - 3)} : {line}" for i in range(count)]
    return "\n".join([
        "module {", "  tt.func public @chain(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {",
        "    %c = arith.constant 1024 : i32", "    %p = tt.get_program_id x : i32", "    %b = arith.muli %p, %c : i32",
        "    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>",
        "    %s = tt.splat %b : i32 -> tensor<1024xi32>", "    %at = arith.addi %s, %r : tensor<1024xi32>",
        "    %nn = tt.splat %n : i32 -> tensor<1024xi32>", "    %m = arith.cmpi slt, %at, %nn : tensor<1024xi32>",
        f"    %xs = tt.splat %x : !tt.ptr<f32> -> {places}", f"    %xp = tt.addptr %xs, %at : {places}, tensor<1024xi32>",
        f"    %v0 = tt.load %xp, %m : {places}", *ops, f"    %os = tt.splat %o : !tt.ptr<f32> -> {places}",
        f"    %op = tt.addptr %os, %at : {places}, tensor<1024xi32>", f"    tt.store %op, %v{count}, %m : {places}", "    tt.return", "  }", "}"])


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", type=Path, default=ROOT / "build")
parser.add_argument("--repeat", type=int, default=11)
parser.add_argument("--peer-python", type=Path)
options = parser.parse_args()
all_met = True
with tempfile.TemporaryDirectory() as scratch:
    folder = Path(scratch)
    x, y = (np.random.default_rng(seed).standard_normal(COUNT).astype(np.float32) for seed in (1, 2))
    for i, value in enumerate([x, y, np.zeros_like(x), np.int32(COUNT), np.int64(-(-COUNT // 1024)), np.int64(1), np.int64(1)]):
        np.save(folder / f"{i}.npy", value)
    by_hand = folder / "by_hand.mlir"
    by_hand.write_text(BY_HAND)
    programs, times = [by_hand, INPUTS / "add.ttir"], [[], []]
    for _ in range(options.repeat):
        for k in range(2):
            times[k].append(stats_of(programs[k], "cpu", "--threads=1", "--repeat=100")["time_ms_median"])
    ratio = statistics.median(b / a for a, b in zip(*times))
    all_met &= report(f"add of {COUNT} on the CPU, imported over by hand", ratio, "x", 1.05)
    counts = [stats_of(program, "emulate:sm_80")["instructions"] for program in programs]
    all_met &= report(f"add of {COUNT}, instructions on sm_80, imported over by hand", counts[1] / counts[0], "x", 1.05)
    costs = []
    for count in (1, 984):
        text = folder / f"chain_{count}.ttir"
        text.write_text(chain(count))
        command = [options.build / "bin/tile-translate", text, "--import-ttir", "-o", folder / "chain.mlir"]
        costs.append(statistics.median(processor_ms(command) for _ in range(options.repeat)))
    all_met &= report(f"1,000 ops to tile kernels (the process takes {costs[1]:.0f} ms)", costs[1] - costs[0], "ms", 50)
    for name in ("add", "softmax", "layernorm", "matmul", "attention") if options.peer_python else ():
        ours, theirs = [], []
        (folder / "by_triton.py").write_text(TRITON)
        for _ in range(min(options.repeat, 5)):
            ours.append(processor_ms([options.build / "bin/tile-translate", INPUTS / f"{name}.ttir", "--tile-to-ptx", "--chip=sm_80",
                                      "-o", folder / "out.ptx"]))
            theirs.append(processor_ms([options.peer_python, folder / "by_triton.py", INPUTS / f"{name}.ttir"]))
        a, b = statistics.median(ours), statistics.median(theirs)
        all_met &= report(f"{name} to PTX: {a:.0f} ms, Triton {b:.0f} ms", a / b, "x", 0.35)
sys.exit(0 if all_met else 1)
