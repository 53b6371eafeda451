"""Two layers, the second one's inputs in the order that sparse-search-permutation finds: the function is the same, and n of each m keep
more. Closes what part of the gap to the optimum of rows by themselves.

Usage: search_permutation.py TILE_OPT TILE_RUN
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

rng = np.random.default_rng(3)


def dense(array):
    return f'dense<"0x{array.astype("<f4").tobytes().hex().upper()}"> : tensor<{"x".join(map(str, array.shape))}xf32>'


def program(w, b, v):
    k, h, n = w.shape[0], *v.shape
    x, mid, out = f"tensor<5x{k}xf32>", f"tensor<5x{h}xf32>", f"tensor<5x{n}xf32>"
    return f"""func.func @main(%x: {x}) -> {out} {{
  %w = arith.constant {dense(w)}
  %b = arith.constant {dense(b)}
  %v = arith.constant {dense(v)}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {mid}
  %s = linalg.broadcast ins(%b : tensor<{h}xf32>) outs(%e : {mid}) dimensions = [0]
  %h = linalg.matmul ins(%x, %w : {x}, tensor<{k}x{h}xf32>) outs(%s : {mid}) -> {mid}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%h : {mid}) outs(%e : {mid}) {{
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  }} -> {mid}
  %f = tensor.empty() : {out}
  %z = linalg.fill ins(%zero : f32) outs(%f : {out}) -> {out}
  %y = linalg.matmul ins(%r, %v : {mid}, tensor<{h}x{n}xf32>) outs(%z : {out}) -> {out}
  return %y : {out}
}}
"""


def kept(v, n, m, lines):
    """The share of magnitudes that n of each m inputs keep, and that of the largest n / m of each group of outputs."""
    scores = abs(v).reshape(v.shape[0], -1, lines).sum(2)
    windows = np.sort(scores.reshape(-1, m, scores.shape[1]), 1)[:, m - n:].sum()
    free = np.sort(scores, 0)[v.shape[0] - v.shape[0] * n // m:].sum()
    return windows / scores.sum(), free / scores.sum()


def run(tool, folder, name, x):
    np.save(folder / "x.npy", x)
    subprocess.run([tool, folder / name, "--target=interpret", f"--in={folder}/x.npy", f"--out={folder}/y.npy"], check=True)
    return np.load(folder / "y.npy")


def main():
    opt, tool = sys.argv[1:]
    wrong = 0
    cases = {"normal": (rng.normal(size=(64, 64)), 2, 4, 1), "scaled": (rng.normal(size=(64, 64)) * np.exp(rng.normal(size=64)), 2, 4, 1),
             "lines": (rng.normal(size=(40, 30)), 1, 4, 2), "ragged": (rng.normal(size=(22, 7)), 3, 8, 1)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, (v, n, m, lines) in cases.items():
            w, b, x = rng.normal(size=(9, v.shape[0])), rng.normal(size=v.shape[0]), rng.normal(size=(5, 9)).astype("f4")
            (folder / "a.mlir").write_text(program(w, b, v))
            done = subprocess.run([opt, folder / "a.mlir", "-o", folder / "b.mlir", "--pass-pipeline=builtin.module(func.func("
                                   f"sparse-search-permutation{{n={n} m={m} vector={lines},1 escapes=8 remarks=true}}))"], capture_output=True, text=True, check=True)
            after, before = map(float, re.search(r"remark: ([\d.]+) of the magnitudes are kept in place of ([\d.]+)", done.stderr).groups())
            pruned = subprocess.run([opt, folder / "b.mlir", "--pass-pipeline=builtin.module(func.func(canonicalize))"], capture_output=True, text=True, check=True)
            y, z = (run(tool, folder, f, x) for f in ("a.mlir", "b.mlir"))
            same = np.allclose(y, z, rtol=1e-4, atol=1e-4) and not np.array_equal(pruned.stdout, (folder / "a.mlir").read_text())
            whole = v.shape[0] // m * m
            seen, free = kept(v[:whole], n, m, lines)
            share = whole == v.shape[0]
            right = same and after > before and (not share or abs(seen - before) < 2e-4)
            wrong += not right
            print(f"{name}: {'right' if right else 'wrong'}, {before:.3f} -> {after:.3f}, {(after - before) / (free - before):.2f} of the gap")
    print(f"{len(cases)} programs, {wrong} wrong")


if __name__ == "__main__":
    main()
