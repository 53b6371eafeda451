"""Kernels of one function each as TTIR, read back: their results are the interpreter's before, bit for bit.

narrow.py TILE_RUN TILE_TRANSLATE TARGET…
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

tile_run, translate, *targets = sys.argv[1:]
NEAR = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.3, 0.7, 1e-9, 8388607.5, 8388609.0, -4194303.5, 1e20, 448.0, 464.0, 480.0, -65504.0, 3e38,
        np.inf, -np.inf, np.nan, 0.001953125, 0.0009765625, 6.1e-5, 2.0**-127, 2.0**-130, 6.5, -0.26, 5.0, 0.75]
BODIES = {
    "trunc": "%w = math.trunc %v : tensor<32xf32>",
    "roundeven": "%w = math.roundeven %v : tensor<32xf32>",
    "round": "%w = math.round %v : tensor<32xf32>",
    "copysign": "%w = math.copysign %c, %v : tensor<32xf32>",
    "e4m3": "%n = arith.truncf %v : tensor<32xf32> to tensor<32xf8E4M3FN>\n %w = arith.extf %n : tensor<32xf8E4M3FN> to tensor<32xf32>",
    "scale": "%n = arith.truncf %v : tensor<32xf32> to tensor<32xf8E8M0FNU>\n %w = arith.extf %n : tensor<32xf8E8M0FNU> to tensor<32xf32>",
    "e2m1": "%n = arith.truncf %v : tensor<32xf32> to tensor<32xf4E2M1FN>\n %w = arith.extf %n : tensor<32xf4E2M1FN> to tensor<32xf32>",
}
numbers = np.array(NEAR, np.float32)
HAS = dict.fromkeys(BODIES, np.full(32, True)) | {"scale": numbers >= 2.0**-127, "e2m1": ~np.isnan(numbers)}  # what the format has
TEXT = """tile.kernel @f(%x: memref<32xf32>, %y: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<3.25> : tensor<32xf32>
  %X = tile.view %x : memref<32xf32> to !tile.view<32xf32>
  %Y = tile.view %y : memref<32xf32> to !tile.view<32xf32>
  %v = tile.load %X[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  BODY
  tile.store %w, %Y[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
func.func @launch(%x: memref<32xf32>, %y: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @f grid(%c1) ins(%x : memref<32xf32>) outs(%y : memref<32xf32>)
  return
}
"""


def run(file, entry, target, inputs, folder):
    subprocess.run([tile_run, file, f"--entry={entry}", f"--target={target}", *inputs, f"--out={folder}/out.npz"], check=True)
    with np.load(f"{folder}/out.npz") as out:
        return out["argument1"].view(np.uint32), np.isnan(out["argument1"])


with tempfile.TemporaryDirectory() as folder:
    np.save(f"{folder}/x.npy", numbers)
    np.save(f"{folder}/y.npy", np.zeros(32, np.float32))
    np.save(f"{folder}/one.npy", np.int64(1))
    arrays, one = [f"--in={folder}/{name}.npy" for name in ("x", "y")], f"--in={folder}/one.npy"
    for name, body in BODIES.items():
        with open(f"{folder}/f.mlir", "w", encoding="utf-8") as file:
            file.write(TEXT.replace("BODY", body))
        wanted, nan = run(f"{folder}/f.mlir", "launch", "interpret", arrays, folder)
        subprocess.run([translate, f"{folder}/f.mlir", "--tile-to-ttir", "-o", f"{folder}/f.ttir"], check=True)
        for target in targets:
            seen, seen_nan = run(f"{folder}/f.ttir", "launch_f", target, [*arrays, one, one, one], folder)
            good = np.array_equal(nan[HAS[name]], seen_nan[HAS[name]]) and np.array_equal(wanted[~nan & HAS[name]], seen[~nan & HAS[name]])
            print(f"{name} on {target} is {'equal' if good else 'wrong'}", *([] if good else [wanted, seen]))
