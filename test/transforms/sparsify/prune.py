"""sparse-prune-nm and sparse-pack-nm against brute force. Use: prune.py TILE_OPT TILE_RUN [--rounds=N]

Per round: constant weights of small integers, drawn with many ties, are pruned and packed, and multiplied by the identity,
which gives back what was kept. The judge tries every choice of n of each m (at most 8) and takes the first that keeps the
highest sum of magnitudes or of squares.
"""
import argparse
import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i8": "i1", "i32": "i4"}


def brute_force(lines, n, m, u, v, power):
    """`lines` along which the windows run, pruned."""
    out = np.zeros_like(lines)
    for g in range(0, lines.shape[0], u):
        for w in range(0, lines.shape[1], m):
            def score(places):
                return sum(abs(int(x)) ** power for p in places for x in lines[g:g + u, w + p * v:min(w + p * v + v, w + m)].flat)
            best = max(score(c) for c in itertools.combinations(range(m // v), n // v))
            kept = next(c for c in itertools.combinations(range(m // v), n // v) if score(c) == best)
            for p in kept:
                out[g:g + u, w + p * v:w + p * v + v] = lines[g:g + u, w + p * v:w + p * v + v]
    return out


def draw(rng):
    v = int(rng.choice([1, 1, 2, 4]))
    m = v * int(rng.integers(1, 8 // v + 1))
    n = v * int(rng.integers(1, m // v + 1))
    rows, columns = (int(rng.choice([1, 2, 3, 5, 8, 13, 17])) for _ in range(2))
    return n, m, int(rng.choice([1, 2, 4, 8])), v, rows, columns


def check(rng, tools, folder):
    n, m, u, v, rows, columns = draw(rng)
    element, score, right = str(rng.choice(list(DTYPES))), str(rng.choice(["l1", "l2"])), bool(rng.random() < 0.5)
    weights = rng.integers(-4, 5, (rows, columns))
    dense = "dense<" + str(weights.astype(float if element[0] == "f" else int).tolist()) + ">"
    w, e = f"tensor<{rows}x{columns}x{element}>", element
    one = f"tensor<{rows}x{rows}x{e}>" if right else f"tensor<{columns}x{columns}x{e}>"
    ins = f"%x, %w : {one}, {w}" if right else f"%w, %x : {w}, {one}"
    program = (f"func.func @main(%x: {one}, %y: {w}) -> {w} {{\n  %w = arith.constant {dense} : {w}\n"
               f"  %r = linalg.matmul ins({ins}) outs(%y : {w}) -> {w}\n  return %r : {w}\n}}\n")
    (folder / "program.mlir").write_text(program)
    passes = f"builtin.module(func.func(sparse-prune-nm{{n={n} m={m} vector={u},{v} score={score}}},sparse-pack-nm))"
    done = subprocess.run([tools.tile_opt, folder / "program.mlir", f"--pass-pipeline={passes}"], capture_output=True, text=True)
    what = f"{n}:{m} of {rows}x{columns} {element}, vector {u},{v}, score {score}, {'right' if right else 'left'}"
    if done.returncode or "sparse.assemble" not in done.stdout or "sparse.pack" in done.stdout:
        return f"{what}: not pruned and packed: {done.stderr}"
    (folder / "packed.mlir").write_text(done.stdout)
    np.save(folder / "x.npy", np.eye(rows if right else columns, dtype=DTYPES[element]))
    np.save(folder / "y.npy", np.zeros((rows, columns), DTYPES[element]))
    target = str(rng.choice(["cpu", "interpret"]))
    done = subprocess.run([tools.tile_run, folder / "packed.mlir", f"--target={target}", f"--in={folder / 'x.npy'}",
                           f"--in={folder / 'y.npy'}", f"--out={folder / 'r.npy'}"], capture_output=True, text=True)
    if done.returncode:
        return f"{what}: {done.stderr}"
    seen = np.load(folder / "r.npy")
    wanted = brute_force(weights.T if right else weights, n, m, u, v, 1 if score == "l1" else 2)
    wanted = wanted.T if right else wanted
    return None if (seen == wanted).all() else f"{what}:\n{weights}\nbecame\n{seen}\nwant\n{wanted}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_opt")
    parser.add_argument("tile_run")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    tools = parser.parse_args()
    wrong = []
    for number in range(tools.rounds):
        with tempfile.TemporaryDirectory() as folder:
            wrong += filter(None, [check(np.random.default_rng([tools.seed, number]), tools, Path(folder))])
    print(*wrong[:3], sep="\n")
    print(f"{tools.rounds} matrices, {len(wrong)} wrong")
    return bool(wrong)


sys.exit(main())
