"""Products of #sparse.mask against numpy. Use: mask_products.py TILE_RUN TARGET… [--mutant]

Per tile one program of open sizes runs under several masks: none, all, few, most. Sizes do not divide by tiles, and
rows of the dense factor that no tile of a group of rows names hold infinities and nans, which take no part there.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TILES = [((32, 1), "f32"), ((8, 4), "f32"), ((5, 1), "f64"), ((3, 2), "i32"), ((1, 7), "f32"), ((16, 1), "f16")]
DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i32": "i4"}


def draw(rng, tile, element, share):
    rows, inner, columns = 32 * int(rng.integers(1, 3)) + 5, int(rng.choice([20, 43, 150])), int(rng.choice([1, 17, 40, 70]))
    mask = rng.random((-(-rows // tile[0]), -(-inner // tile[1]))) < share
    a, b, c = (rng.integers(-3, 4, s).astype(DTYPES[element]) for s in ((rows, inner), (inner, columns), (rows, columns)))
    if share == .95:  # a column that is never named, where most are: a dense product would meet its nans
        mask[:, int(rng.integers(mask.shape[1]))] = False
    if element != "i32":
        unused = ~np.repeat(mask.any(0), tile[1])[:inner]
        b[unused] = rng.choice([np.inf, -np.inf, np.nan], (int(unused.sum()), columns))
    shown = np.repeat(np.repeat(mask, tile[0], 0), tile[1], 1)[:rows, :inner]
    a = np.where(shown, a, 0).astype(a.dtype)
    used = np.where(np.isfinite(b), b, 0) if element != "i32" else b
    return [mask, a, b, c], (a @ used + c).astype(c.dtype)


def main():
    mutant = "--mutant" in sys.argv
    tile_run, targets = sys.argv[1], [t for t in sys.argv[2:] if t != "--mutant"]
    runs = wrong = 0
    for number, (tile, element) in enumerate(TILES):
        rng = np.random.default_rng(number)
        matrix, dense = f"tensor<?x?x{element}, #sparse.mask<tile = [{tile[0]}, {tile[1]}]>>", f"tensor<?x?x{element}>"
        program = (f"func.func @main(%m: tensor<?x?xi1>, %v: {dense}, %b: {dense}, %c: {dense}) -> {dense} {{\n"
                   f"  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
                   f"  %h = tensor.dim %v, %c0 : {dense}\n  %w = tensor.dim %v, %c1 : {dense}\n"
                   f"  %a = sparse.assemble(%m, %v) sizes [%h, %w] : tensor<?x?xi1>, {dense} -> {matrix}\n"
                   f"  %r = sparse.spmm %a, %b, %c : {matrix}, {dense}, {dense}\n  return %r : {dense}\n}}\n")
        for share in (0, 1, .1, .6, .95):
            arrays, want = draw(rng, tile, element, share)
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                (folder / "program.mlir").write_text(program)
                files = []
                for i, array in enumerate(arrays):
                    np.save(folder / f"{i}.npy", array)
                    files.append(f"--in={folder / f'{i}.npy'}")
                for target in targets:
                    done = subprocess.run([tile_run, folder / "program.mlir", f"--target={target}", f"--out={folder / 'r.npy'}"] + files,
                                          capture_output=True, text=True)
                    seen = np.load(folder / "r.npy") if done.returncode == 0 else None
                    runs += 1
                    if seen is None or not (seen == want + mutant).all():
                        wrong += 1
                        print(f"{tile} {element} {share} on {target}: {done.stderr}\n{seen}\nwanted\n{want}")
    print(f"{runs} products, {wrong} wrong")
    return bool(wrong)


sys.exit(main())
