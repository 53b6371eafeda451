"""Products of csr shared by rows and by entries, against numpy: power-law matrices with empty rows and one full row.

Use: sparse_split.py TILE_OPT TILE_RUN. Values are small integers, so every order of summation is exact; another case draws
fractions and asks for the same bits on one thread and two.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

OPT, RUN = sys.argv[1:3]
# rows, columns, entries a row at least, columns of the dense factor
CASES = [(300, 9000, 0, 3), (1, 9000, 0, 17), (4097, 7, 0, 1), (2000, 700, 3, 33), (0, 5, 0, 4), (5, 0, 0, 4)]


def pattern(rng, rows, columns, least):
    """Lengths of a power law, a third of the rows empty, the last but one full."""
    lengths = np.minimum(least + (columns / (1 + rng.permutation(rows)) ** 1.1).astype(int), columns)
    lengths[rng.random(rows) < 1 / 3] = 0
    if rows > 1:
        lengths[-2] = columns
    return [np.sort(rng.choice(columns, length, replace=False)) for length in lengths]


def program(rows, columns, n, positions, entries, element):
    given = "%p: tensor<{}xi32>, ".format(rows + 1) if positions is None else ""
    constant = "" if positions is None else f"  %p = arith.constant dense<[{', '.join(map(str, positions))}]> : tensor<{rows + 1}xi32>\n"
    a, x, y = f"tensor<{rows}x{columns}x{element}, #sparse.csr>", f"tensor<{columns}x{n}x{element}>", f"tensor<{rows}x{n}x{element}>"
    return f"""func.func @main({given}%i: tensor<{entries}xi32>, %v: tensor<{entries}x{element}>, %x: {x}, %y: {y}) -> {y} {{
{constant}  %a = sparse.assemble(%p, %i, %v) : tensor<{rows + 1}xi32>, tensor<{entries}xi32>, tensor<{entries}x{element}> -> {a}
  %r = sparse.spmm %a, %x, %y : {a}, {x}, {y}
  return %r : {y}
}}"""


def lowered(text, split):
    done = subprocess.run([OPT, f"--convert-sparse-to-tile=split={split}"], input=text, capture_output=True, text=True, check=True)
    return done.stdout


def run(folder, text, arrays, target, threads=2):
    (folder / "p.mlir").write_text(text)
    flags = []
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
        flags.append(f"--in={folder / f'{i}.npy'}")
    subprocess.run([RUN, folder / "p.mlir", f"--target={target}", f"--threads={threads}", *flags, f"--out={folder / 'out.npy'}"], check=True)
    return np.load(folder / "out.npy")


def main():
    rng, wrong, runs = np.random.default_rng(5), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows, columns, least, n in CASES:
            places = pattern(rng, rows, columns, least)
            positions = np.concatenate([[0], np.cumsum([len(p) for p in places])]).astype("i4")
            coordinates = np.concatenate([*places, []]).astype("i4")
            dense, values = np.zeros((rows, columns)), rng.integers(-8, 9, len(coordinates))
            dense[np.repeat(np.arange(rows), np.diff(positions)), coordinates] = values
            x, y = rng.integers(-8, 9, (columns, n)), rng.integers(-8, 9, (rows, n))
            arrays = [positions, coordinates, values.astype("f4"), x.astype("f4"), y.astype("f4")]
            text = program(rows, columns, n, None, len(coordinates), "f32")
            for split, target in (("rows", "cpu"), ("entries", "cpu"), ("run-time", "cpu"), ("entries", "interpret")):
                if target == "interpret" and len(coordinates) * n > 30000:
                    continue
                runs += 1
                if not np.array_equal(run(folder, lowered(text, split), arrays, target), dense @ x + y):
                    wrong += 1
                    print(f"{rows} rows, {columns} columns: {split} on {target} is wrong")
            floats = [positions, coordinates, rng.normal(size=len(coordinates)).astype("f4"), rng.normal(size=x.shape).astype("f4"), y.astype("f4")]
            once, twice = (run(folder, lowered(text, "entries"), floats, "cpu", threads) for threads in (1, 2))
            runs += 1
            if once.tobytes() != twice.tobytes():
                wrong += 1
                print(f"{rows} rows, {columns} columns: other bits on two threads")
    print(f"{runs} runs, {wrong} wrong")


main()
