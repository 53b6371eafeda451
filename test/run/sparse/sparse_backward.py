"""Backward products of spmm and sddmm against finite differences of the forward ones. Use: sparse_backward.py TILE_RUN [--target=T] [--only=FORMAT]

For L = sum(G ∘ forward): of C = A·B   dA = G·Bᵀ where A stores entries (sddmm), dB = Aᵀ·G (spmm);
of C = mean over stored entries        dB = Aᵀ·(G / entries of each row);
of S = (Q·Kᵀ where P stores entries)   dQ = H·K, dK = Hᵀ·Q, where H has S's slopes (spmm).
numpy's forward product is taken twice for each element, moved by 1 up and down; it is linear in it, so half the difference
is the slope, and exact (values are integers in f64) but for the mean.
"""
import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from sparse import FORMATS, draw, integers, product

M, K, N = 7, 9, 3


def program(text):
    a, ab, b, c, q = f"tensor<{M}x{K}xf64, {text}>", f"tensor<{M}x{K}xf64>", f"tensor<{K}x{N}xf64>", f"tensor<{M}x{N}xf64>", f"tensor<{M}xf64>"
    return f"""func.func @backward(%da: {ab}, %b: {b}, %g: {c}, %q: {c}, %k: {b}, %zb: {b}, %zc: {c}, %zm: {q}) -> ({ab}, {b}, {b}, {c}, {b}) {{
  %a = sparse.pack %da : {ab} -> {a}
  %dA = sparse.sddmm %g, %b transpose, %a : {c}, {b}, {a}
  %dAd = sparse.unpack %dA : {a} -> {ab}
  %dB = sparse.spmm %a transpose, %g, %zb : {a}, {c}, {b}
  %ones = sparse.map %a : {a} {{
  ^bb0(%v: f64, %i: index, %j: index):
    %one = arith.constant 1.0 : f64
    sparse.yield %one : f64
  }}
  %entries = sparse.reduce add %ones along 1, %zm : {a}, {q}
  %shared = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%g, %entries : {c}, {q}) outs(%zc : {c}) {{
  ^bb0(%x: f64, %n: f64, %unused: f64):
    %least = arith.constant 1.0 : f64
    %d = arith.maximumf %n, %least : f64
    %y = arith.divf %x, %d : f64
    linalg.yield %y : f64
  }} -> {c}
  %dBmean = sparse.spmm %a transpose, %shared, %zb : {a}, {c}, {b}
  %dQ = sparse.spmm %a, %k, %zc : {a}, {b}, {c}
  %dK = sparse.spmm %a transpose, %q, %zb : {a}, {c}, {b}
  return %dAd, %dB, %dBmean, %dQ, %dK : {ab}, {b}, {b}, {c}, {b}
}}
"""


def run(tile_run, target, folder, text, arrays, results):
    (folder / "program.mlir").write_text(program(text))
    command = [tile_run, folder / "program.mlir", f"--target={target}", "--entry=backward"]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command.append(f"--in={folder / f'in{i}.npy'}")
    done = subprocess.run([*command, *(f"--out={folder / f'out{i}.npy'}" for i in range(results))], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [np.load(folder / f"out{i}.npy") for i in range(results)]


def slopes(forward, x, places):
    """Of a number by the elements of an array at some places."""
    result = np.zeros_like(x)
    for place in places:
        moved = [x.copy(), x.copy()]
        moved[0][place] += 1
        moved[1][place] -= 1
        result[place] = (forward(moved[0]) - forward(moved[1])) / 2
    return result


def everywhere(x):
    return list(np.ndindex(x.shape))


def check(tool, fmt, rng):
    a = draw(rng, (M, K), np.float64)
    a, stored = fmt.fill(a, a != 0, rng)
    b, g, q, k = (integers(rng, shape, "f8") for shape in ((K, N), (M, N), (M, N), (K, N)))

    def spmm(a, b, semiring="add_mul"):
        return product(semiring, [(a, stored)], b, np.zeros((M, N)))

    want = {
        "dA": slopes(lambda x: (g * spmm(x, b)).sum(), a, list(zip(*np.nonzero(stored)))),
        "dB": slopes(lambda x: (g * spmm(a, x)).sum(), b, everywhere(b)),
        "dB of the mean": slopes(lambda x: (g * spmm(a, x, "mean_mul")).sum(), b, everywhere(b)),
        "dQ": slopes(lambda x: (a * (x @ k.T) * stored).sum(), q, everywhere(q)),
        "dK": slopes(lambda x: (a * (q @ x.T) * stored).sum(), k, everywhere(k)),
    }
    seen = tool(fmt.text, (a, b, g, q, k, np.zeros((K, N)), np.zeros((M, N)), np.zeros(M)), len(want))
    return [name for name, x in zip(want, seen) if not (np.abs(x - want[name]) <= 1e-9 * ("mean" in name)).all()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_run")
    parser.add_argument("--target", default="interpret")
    parser.add_argument("--only", choices=FORMATS)
    options = parser.parse_args()
    failed = ran = 0
    for index, (key, fmt) in enumerate(FORMATS.items()):
        if options.only not in (None, key):
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(partial(run, options.tile_run, options.target, Path(folder)), fmt, np.random.default_rng([6, index]))
        ran, failed = ran + 1, failed + bool(wrong)
        if wrong:
            print(f"{key}: {', '.join(wrong)} wrong")
    print(f"{ran} formats, {failed} wrong")
    return failed > 0


sys.exit(main())
