"""sparse.prune against brute force: what stays of each window, of run-time values with ties, nan and zeros, for every kind of window;
dense again, as a product's factor, and its bits; on the interpreter, the CPU and an emulated GPU.

Usage: prune_at_run_time.py TILE_RUN TARGET…    prints a line for each program.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

# rows, columns, n, m, axis, vector, element, squares
CASES = [
    (16, 32, 2, 4, 1, (1, 1), "f32", False), (12, 24, 1, 2, 0, (1, 1), "f32", False), (32, 64, 3, 32, 1, (16, 1), "f32", False),
    (16, 24, 4, 8, 0, (2, 4), "f32", False), (8, 128, 20, 64, 1, (1, 1), "f32", False), (6, 96, 5, 96, 1, (2, 1), "f32", True),
    (16, 16, 2, 4, 1, (1, 1), "f16", False), (8, 40, 4, 10, 1, (4, 2), "f16", True), (4, 6, 3, 3, 0 + 1, (1, 1), "f32", False),
    (4, 512, 100, 256, 1, (1, 1), "f32", False),
]


def brute_force(w, n, m, axis, vector, squares):
    """Windows run along `axis`; all elements of a place are summed in the order of the matrix."""
    a = w if axis == 1 else w.T
    lines, together = (vector[0], vector[1]) if axis == 1 else (vector[1], vector[0])
    kept = np.zeros_like(a)
    for row in range(0, a.shape[0], lines):
        for column in range(0, a.shape[1], m):
            window = a[row:row + lines, column:column + m].astype("f4")
            sizes = (window * window if squares else np.abs(window)).reshape(lines, m // together, together).sum((0, 2), dtype="f4")
            order = sorted(range(m // together), key=lambda p: (not np.isnan(sizes[p]), -np.nan_to_num(sizes[p], nan=0), p))
            for place in order[:n // together]:
                here = slice(column + place * together, column + (place + 1) * together)
                kept[row:row + lines, here] = a[row:row + lines, here]
    return kept if axis == 1 else kept.T


def program(rows, columns, n, m, axis, vector, element, squares):
    dense = f"tensor<{rows}x{columns}x{element}>"
    sparse = f"tensor<{rows}x{columns}x{element}, #sparse.nm<n = {n}, m = {m}, axis = {axis}, vector = [{vector[0]}, {vector[1]}]>>"
    wide = f"tensor<{rows}x5xf32>"
    return f"""func.func @main(%w: {dense}, %x: tensor<{columns}x5x{element}>, %y: {wide}) -> ({dense}, {wide}) {{
  %p = sparse.prune %w {'squares ' if squares else ''}: {dense} -> {sparse}
  %d = sparse.unpack %p : {sparse} -> {dense}
  %r = linalg.matmul ins(%d, %x : {dense}, tensor<{columns}x5x{element}>) outs(%y : {wide}) -> {wide}
  return %d, %r : {dense}, {wide}
}}
"""


def main():
    tool, targets = sys.argv[1], sys.argv[2:]
    rng = np.random.default_rng(9)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in CASES:
            rows, columns, *_, element, squares = case
            kind = {"f32": "f4", "f16": "f2"}[element]
            w = (rng.integers(-6, 7, (rows, columns)) / 4).astype(kind)  # many ties, and sums are exact
            w[1, 3], w[2, 0] = np.nan, -0.0
            x, y = rng.integers(-3, 4, (columns, 5)).astype(kind), rng.integers(-3, 4, (rows, 5)).astype("f4")
            expected = brute_force(w, *case[2:6], squares)
            for name, array in (("w", w), ("x", x), ("y", y)):
                np.save(f"{name}.npy", array)
            with open("p.mlir", "w") as file:
                file.write(program(*case))
            for target in targets:
                run = subprocess.run([tool, "p.mlir", "--in=w.npy", "--in=x.npy", "--in=y.npy", "--out=d.npy", "--out=r.npy", f"--target={target}"], capture_output=True, text=True)
                right = run.returncode == 0 and np.array_equal(np.load("d.npy"), expected, equal_nan=True)
                right = right and np.allclose(np.load("r.npy"), expected.astype("f4") @ x.astype("f4") + y, equal_nan=True)
                print(f"{target} {case[2]}:{case[3]} along {case[4]} of {list(case[5])} {element}{' squares' * squares}: {'right' if right else 'wrong'}", run.stderr[:500])


main()
