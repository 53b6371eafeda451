"""Bytes that a masked product reads on an emulated GPU. Use: mask_traffic.py TILE_RUN TARGET…

512 x 512 by 512 x 64 in f32, micro-tiles of 32 lines and a column. At most a tenth more is read than each listed micro-tile once, the rows of the
other factor that it meets, the mask and the lists; in two launches, without conflicts in shared memory.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

M, K, N, LINES = 512, 512, 64, 32
MATRIX = f"tensor<{M}x{K}xf32, #sparse.mask<tile = [{LINES}, 1]>>"
PROGRAM = f"""
func.func @main(%m: tensor<{M // LINES}x{K}xi1>, %x: tensor<{M}x{K}xf32>, %b: tensor<{K}x{N}xf32>) -> tensor<{M}x{N}xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{M}x{N}xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %a = sparse.assemble(%m, %x) : tensor<{M // LINES}x{K}xi1>, tensor<{M}x{K}xf32> -> {MATRIX}
  %r = sparse.spmm %a, %b, %c : {MATRIX}, tensor<{K}x{N}xf32>, tensor<{M}x{N}xf32>
  return %r : tensor<{M}x{N}xf32>
}}
"""


def main():
    wrong = 0
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "program.mlir").write_text(PROGRAM)
        for share in (.1, .2, .5):
            mask = rng.random((M // LINES, K)) < share
            x, b = rng.integers(-3, 4, (M, K)).astype("f4"), rng.integers(-3, 4, (K, N)).astype("f4")
            x = np.where(np.repeat(mask, LINES, 0), x, 0).astype("f4")
            for i, array in enumerate((mask, x, b)):
                np.save(folder / f"{i}.npy", array)
            listed = int(mask.sum())
            needed = listed * (LINES + N) * 4 + listed * 4 + mask.nbytes
            for target in sys.argv[2:]:
                subprocess.run([sys.argv[1], folder / "program.mlir", f"--target={target}", f"--out={folder / 'r.npy'}",
                                f"--stats={folder / 's.json'}", *[f"--in={folder / f'{i}.npy'}" for i in range(3)]], check=True)
                stats = json.loads((folder / "s.json").read_text())
                read = stats["global_bytes_read"]
                isRight = (np.load(folder / "r.npy") == x @ b).all()
                print(f"{target} {share}: {read} bytes, {read / needed:.3f} of what is needed, {stats['launches']} launches")
                wrong += not (isRight and read <= 1.1 * needed and stats["launches"] <= 2 and stats["shared_bank_conflicts"] == 0)
    print(f"{wrong} wrong")
    return bool(wrong)


sys.exit(main())
