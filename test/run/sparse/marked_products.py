"""Products of two csr matrices into a csr pattern against numpy. Use: marked_products.py FOLDER_OF_TOOLS [--mutant]

One compiled program per form and type runs on matrices with empty rows, full rows, no entries, and more columns than rows;
entries of the pattern that no term reaches are zero, and columns that the pattern lacks hold infinities.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

FORMS = [("f32", "", ""), ("i32", "transpose", ""), ("f64", "", "transpose"), ("f32", "", "transpose"), ("i32", "", "transpose")]
SHARES = [(0, .2, .3), (.3, .2, .3), (1, 1, 1), (.1, .3, 0), (.02, .5, .9)]
DTYPES = {"f32": "f4", "f64": "f8", "i32": "i4"}


def draw(rng, shape, share, dtype):
    matrix = rng.integers(1, 5, shape).astype(dtype) * rng.choice([1, -1], shape).astype(dtype)
    matrix[rng.random(shape) >= share] = 0
    matrix[rng.random(shape[0]) < .2] = 0  # empty rows
    return matrix


def main():
    mutant, tools = "--mutant" in sys.argv, Path(sys.argv[1])
    runs = wrong = 0
    for number, (element, left, right) in enumerate(FORMS):
        rng, kind = np.random.default_rng(number), f"tensor<?x?x{element}, #sparse.csr>"
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "p.mlir").write_text(
                f"func.func @main(%a: {kind}, %b: {kind}, %p: {kind}) -> {kind} {{\n"
                f"  %r = sparse.spgemm %a {left}, %b {right}, %p : {kind}, {kind}, {kind}\n  return %r : {kind}\n}}\n")
            subprocess.run([tools / "tile-translate", folder / "p.mlir", "--tile-to-program", "-o", folder / "p.so"], check=True)
            for shares in SHARES:
                m, k, n = (int(rng.integers(1, 60)) for _ in range(3))
                a, b, p = (draw(rng, shape, share, DTYPES[element]) for shape, share in zip(((m, k), (k, n), (m, n)), shares))
                want = np.where(p != 0, a @ b, 0)
                if element != "i32":
                    b[(b != 0) & ~(p != 0).any(0)] = np.inf  # columns without a place in the pattern
                for i, matrix in enumerate((a.T if left else a, b.T if right else b, p)):
                    sp.save_npz(folder / f"{i}.npz", sp.csr_matrix(matrix))
                done = subprocess.run([tools / "tile-exec", folder / "p.so", "--threads=2", f"--out={folder / 'r.npz'}"] +
                                      [f"--in={folder / f'{i}.npz'}" for i in range(3)], capture_output=True, text=True)
                seen = sp.load_npz(folder / "r.npz").toarray() if done.returncode == 0 else None
                runs += 1
                if seen is None or not (seen == want + mutant * (p != 0)).all():
                    wrong += 1
                    print(f"{element} {shares} {(m, k, n)}: {done.stderr}\n{seen}\nwanted\n{want}")
    print(f"{runs} products, {wrong} wrong")
    return bool(wrong)


sys.exit(main())
