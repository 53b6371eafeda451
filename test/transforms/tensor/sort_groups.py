"""Constant weights whose groups are in any order along k (act-order, g_idx), against numpy in 64 bits: sorted where groups are of one
size, read scale by scale where not; every width of codes, rows of n and one row or several, on each target.

Usage: sort_groups.py TILE_RUN TARGET…    prints a line for each program: + where it was sorted, - where not.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

CASES = [(1, 48, 256, 32, 4, "even"), (7, 48, 256, 32, 4, "even"), (3, 33, 192, 64, 2, "even"), (5, 20, 96, 48, 8, "even"), (2, 40, 128, 32, 4, "uneven"),
         (4, 24, 128, 32, 8, "uneven"), (2, 16, 128, 32, 4, "neighbours")]


def program(m, n, k, group, bits, codes, scales, zeros, order):
    real, narrow, groups = f"tensor<{n}x{k}xf32", f"tensor<{n}x{k}xi{bits}>", k // group
    few = f"tensor<{n}x{groups}x"
    return f"""#q = #tile.quantized<codes = ui{bits}, group = [1, {group}], scale = f32, zero = ui{bits}, order = i32>
func.func @main(%x: tensor<{m}x{k}xf32>) -> tensor<{m}x{n}xf32> {{
  %c = arith.constant dense<"0x{codes.astype("u1").tobytes().hex()}"> : {narrow}
  %s = arith.constant dense<"0x{scales.tobytes().hex()}"> : {few}f32>
  %z = arith.constant dense<"0x{zeros.astype("u1").tobytes().hex()}"> : {few}i{bits}>
  %o = arith.constant dense<[{", ".join(map(str, order))}]> : tensor<{k}xi32>
  %w = tile.assemble_quantized(%c, %s, %z, %o) : {narrow}, {few}f32>, {few}i{bits}>, tensor<{k}xi32> -> {real}, #q>
  %d = tile.dequantize %w : {real}, #q> -> {real}>
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %d : tensor<{m}x{k}xf32>, {real}>) outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
"""


def main():
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for m, n, k, group, bits, kind in CASES:
            groups = k // group
            codes, zeros = rng.integers(0, 2 ** bits, (n, k)), rng.integers(0, 2 ** bits, (n, groups))
            scales, x = rng.uniform(.01, .1, (n, groups)).astype("f4"), rng.standard_normal((m, k)).astype("f4")
            order = np.repeat(np.arange(groups), group)
            order = order if kind == "neighbours" else rng.permutation(order) if kind == "even" else rng.integers(0, groups, k)
            expected = x.astype("f8") @ ((codes - zeros[:, order]) * scales.astype("f8")[:, order]).T
            with open("p.mlir", "w") as file:
                file.write(program(m, n, k, group, bits, codes, scales, zeros, order))
            np.save("x.npy", x)
            for target in sys.argv[2:]:
                run = subprocess.run([sys.argv[1], "p.mlir", "--in=x.npy", "--out=y.npy", f"--target={target}", "--stats=s.json"], capture_output=True, text=True)
                right = not run.returncode and not np.abs(np.load("y.npy") - expected).max() > 1e-5 * np.abs(expected).max()
                passes = json.load(open("s.json"))["passes"] if right else {}
                is_sorted = sum(p.get("sorted", 0) for key, p in passes.items() if "sort-groups" in key)
                found = sum(p.get("found", 0) for key, p in passes.items() if "low-bit" in key)
                print(f"{target} {m} {bits} {kind}: {'right' if right and found == is_sorted else 'wrong'} {'+' if is_sorted else '-'}", run.stderr[:500])


main()
