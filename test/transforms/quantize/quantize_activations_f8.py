"""tile-quantize-activations with rows of f8 against numpy: the same codes of rows, sums, scales and steps at the end; weights of f8 and
f4, and of integers that the rows' type has exactly; on the CPU, by the interpreter and on emulated GPUs.

Usage: quantize_activations_f8.py TILE_OPT TILE_RUN    prints one line per case, with the operations of matrix instructions.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "run"), os.path.join(HERE, "..", "..", "run", "types")]
import float_formats  # noqa: E402
from narrow_elements import pack  # noqa: E402

# m, n, k, group (0: rows), codes, type of the rows, per, targets
CASES = [
    (1, 33, 128, 32, "f8E4M3FN", "f8E4M3FN", "group", "cpu emulate:gfx942"), (7, 40, 96, 0, "f8E4M3FN", "f8E4M3FN", "row", "cpu emulate:sm_80"),
    (16, 64, 256, 128, "f8E4M3FN", "f8E4M3FN", "row", "cpu emulate:sm_89 emulate:gfx942"), (3, 24, 64, 32, "f8E5M2", "f8E5M2", "group", "cpu emulate:sm_89"),
    (16, 64, 128, 0, "f8E4M3FN", "f8E4M3FN", "row", "cpu emulate:sm_89"), (2, 17, 64, 32, "f4E2M1FN", "f8E4M3FN", "group", "cpu"),
    (5, 32, 128, 32, "i4", "f8E4M3FN", "group", "cpu emulate:sm_89"), (4, 20, 64, 64, "ui2", "f8E5M2", "row", "cpu"),
]
LARGEST = {"f8E4M3FN": 448, "f8E5M2": 57344}


def rounded(x, name):
    """To the nearest number of the type; of two, the one with an even code."""
    values = float_formats.decode(name)[:128]
    values = values[np.isfinite(values)]
    size = np.abs(x)
    high = np.minimum(np.searchsorted(values, size), len(values) - 1)
    low = np.maximum(high - 1, 0)
    up, down = values[high] - size, size - values[low]
    return np.copysign(values[np.where((up < down) | ((up == down) & (high % 2 == 0)), high, low)], x)


def program(m, n, k, group, codes):
    weights = f"tensor<{n}x{k}xf32, #q>"
    return f"""#q = #tile.quantized<codes = {codes}, group = [1, {group}], scale = f32>
func.func @main(%x: tensor<{m}x{k}xf32>, %w: {weights}) -> tensor<{m}x{n}xf32> {{
  %d = tile.dequantize %w : {weights} -> tensor<{n}x{k}xf32>
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %d : tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
"""


def draw(rng, name, shape):
    """As stored, and the numbers."""
    bits = int(name.lstrip("uif")[0])
    codes = rng.integers(0, 1 << bits, shape)
    if name.startswith("f"):
        values = float_formats.decode(name)
        codes = np.where(np.isfinite(values[codes]), codes, 1)
        numbers = values[codes]
    else:
        numbers = np.where((name[0] != "u") & (codes >> (bits - 1) > 0), codes - (1 << bits), codes).astype("f8")
    return codes.astype("u1") if bits == 8 else pack(codes, bits), numbers


def main():
    tile_opt, tile_run = sys.argv[1:]
    rng = np.random.default_rng(17)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for m, n, k, group, codes, rows, per, targets in CASES:
            g = group or k
            stored, numbers = draw(rng, codes, (n, k))
            scale, x = rng.uniform(.01, 1, (n, k // g)).astype("f4"), rng.standard_normal((m, k)).astype("f4")
            if m > 2:
                x[1] *= np.float32(1e-38)
                x[0, :g] = 0
            largest = np.abs(x.reshape(m, -1, k if per == "row" else g)).max(2)
            with np.errstate(all="ignore"):
                inverse = np.where(largest < LARGEST[rows] * 2. ** -127, 0, np.float32(LARGEST[rows]) / largest).astype("f4")
            spread = lambda a, size: np.repeat(a, size, 1)  # noqa: E731
            q = rounded(np.clip(x * spread(inverse, k // inverse.shape[1]), -LARGEST[rows], LARGEST[rows]).astype("f8"), rows)
            steps = spread((largest / np.float32(LARGEST[rows])).astype("f8"), k // inverse.shape[1])
            expected = (q * steps) @ (numbers * spread(scale.astype("f8"), g)).T
            with open("p.mlir", "w") as file:
                file.write(program(m, n, k, group, codes))
            passes = f"builtin.module(tile-expand-quantized,func.func(tile-generalize-named-ops,tile-quantize-activations{{per={per} type={rows} remarks=true}}))"
            made = subprocess.run([tile_opt, "p.mlir", f"--pass-pipeline={passes}", "-o", "q.mlir"], capture_output=True, text=True)
            for name, array in (("x", x), ("w", stored), ("s", scale)):
                np.save(f"{name}.npy", array)
            for target in targets.split():
                run = subprocess.run([tile_run, "q.mlir", "--in=x.npy", "--in=w.npy", "--in=s.npy", "--out=y.npy", "--stats=s.json", f"--target={target}",
                                      "--check-against=interpret"], capture_output=True, text=True)
                right = made.returncode == 0 and run.returncode == 0 and f"multiplies rows of {rows}" in made.stderr
                right = right and not np.abs(np.load("y.npy") - expected).max() > 1e-5 * np.abs(expected).max()
                flops = sum(kernel["mma_flops"] for kernel in json.load(open("s.json"))["kernels"].values()) if right and "emulate" in target else 0
                print(f"{target} {m} x {n} x {k} {codes} by {rows} {per}: {'right' if right else 'wrong'} {'by instruction' if flops >= 2 * m * n * k else ''}",
                      "" if right else run.stderr[:800])


main()
