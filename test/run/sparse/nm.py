"""Products with N:M matrices on emulated GPUs, over random patterns: exact results, and no bank conflicts.

Use: nm.py TILE_RUN [--patterns=N] [--seed=N] [--chips=sm_80,gfx942,cpu] [--vectors]. Element-, vector- and block-wise patterns, as a matrix or as
a vector is multiplied by them, from the left and from the right, in f32, f16, bf16 and i8; sizes are 0, 1, odd and even, known
or not. A program multiplies by PER_PROGRAM patterns of one form. Numbers are small and whole: every sum is exact. What has a
matrix instruction (2 of 4 a sparse one) must be done by it. Bank conflicts are what the emulator counts in all kernels of a
program (docs/numerics.md); the first program that has some is printed. On the CPU, sizes are larger: programs whose dense factor
leaves the innermost cache must copy its rows there.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PER_PROGRAM = 10
# n, m, lines that share, elements kept together
FORMS = [(2, 4, 1, 1), (2, 4, 1, 1), (1, 4, 1, 1), (3, 32, 1, 1), (16, 32, 1, 1), (8, 32, 1, 1), (8, 16, 1, 1), (5, 8, 1, 1), (3, 32, 4, 1), (2, 4, 8, 1), (8, 32, 16, 1),
         (3, 32, 32, 1), (7, 8, 64, 1), (3, 3, 12, 1), (4, 8, 4, 4), (8, 32, 8, 2), (16, 32, 16, 4), (6, 12, 64, 3)]
TYPES = {"f32": ["f32"], "f16": ["f16", "f32"], "bf16": ["bf16", "f32"], "i8": ["i8", "i32"]}
KINDS = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}


def hold(x, kind):
    return (x.astype("f4").view("u4") >> 16).astype("u2") if kind == "bf16" else x.astype(KINDS[kind])


def held(x):
    return (x.astype("u4") << 16).view("f4").astype("f8") if x.dtype == np.uint16 else x.astype("f8")


def pattern(rng, form, lines, inner, kind):
    """Components, and the dense matrix whose axis of windows is `inner`."""
    n, m, u, v = form
    groups, windows = -(-lines // u), -(-inner // m)
    free = np.tile(np.arange(m // v), (groups, windows, 1))
    places = np.sort(rng.permuted(free, axis=2)[:, :, :n // v], axis=2).astype("i1")
    at = (np.arange(windows)[:, None, None] * m + places[..., None] * v + np.arange(v)).reshape(groups, windows * n)
    values = rng.integers(-3, 4, (groups, windows * n, u))
    values[at >= inner] = 0
    values.transpose(1, 0, 2).reshape(windows * n, groups * u)[:, lines:] = 0
    dense = np.zeros((groups, windows * m, u), np.int64)
    np.put_along_axis(dense, at[..., None], values, axis=1)
    dense = dense.transpose(0, 2, 1).reshape(groups * u, windows * m)[:lines, :inner]
    dense = dense.copy()
    return places, hold(values.reshape(groups, windows, n, u), kind), dense


def case(rng, is_cpu, vector=None):
    """Number `vector` of the products with a vector; None: any product."""
    form = FORMS[rng.integers(len(FORMS)) if vector is None else vector % len(FORMS)]
    n, m, u, v = form
    kind = str(rng.choice(list(TYPES)))
    out = str(rng.choice(TYPES[kind]))
    out = "f32" if is_cpu and kind == "bf16" else out  # 8 bits hold no sum of many terms
    is_vector, is_right, is_open = rng.random() < 0.3, rng.random() < 0.3, rng.random() < 0.3
    lines, inner, columns = (int(rng.choice(sizes)) for sizes in (
        ((1, 7, 33, 70, 300), (0, 67, 96, 130, 515, 1024, 1030), (1, 16, 37, 64, 130, 257)) if is_cpu else
        ((1, 7, 16, 33, 70), (0, 5, 32, 67, 130), (1, 3, 16, 33, 64))))
    if vector is not None:
        is_vector, inner = True, int(rng.choice((96, 1024, 1030)))
        kind, out, is_open = ("f32", "f32", False) if vector < len(FORMS) else (kind, out, is_open)
    columns = 1 if is_vector else columns
    b = rng.integers(-3, 4, (inner, columns))
    arguments, results, body, wants = [], [], [], []

    def argument(array, kind_, shape):
        name = f"%a{len(arguments)}"
        type_ = f"tensor<{''.join(f'{s}x' for s in shape)}{kind_}>"
        arguments.append((name, type_, array))
        return name, type_

    def size(s):
        return "?" if is_open else s

    dense_b = b[:, 0] if is_vector else b.T.copy() if is_right else b
    x, x_type = argument(hold(dense_b, kind), kind, [size(s) for s in dense_b.shape])
    for i in range(PER_PROGRAM):
        places, values, dense = pattern(rng, form, lines, inner, kind)
        groups, windows, units = places.shape
        p, p_type = argument(places, "i8", [size(groups), size(windows), units])
        w, w_type = argument(values, kind, [size(groups), size(windows), n, u])
        start = rng.integers(-3, 4, (lines, columns))
        c = start[:, 0] if is_vector else start.T.copy() if is_right else start
        y, y_type = argument(hold(c, out), out, [size(s) for s in c.shape])
        shape, axis = ((inner, lines), 0) if is_right and not is_vector else ((lines, inner), 1)
        vector = [u, v] if axis == 1 else [v, u]
        sparse = f"tensor<{size(shape[0])}x{size(shape[1])}x{kind}, #sparse.nm<n = {n}, m = {m}, axis = {axis}, vector = [{vector[0]}, {vector[1]}]>>"
        sizes = f" sizes [%s{i}_0, %s{i}_1]" if is_open else ""
        for j in range(2 * is_open):
            body.append(f"%s{i}_{j} = arith.constant {shape[j]} : index")
        body.append(f"%w{i} = sparse.assemble({p}, {w}){sizes} : {p_type}, {w_type} -> {sparse}")
        if is_vector:
            body.append(f"%r{i} = sparse.spmv %w{i}, {x}, {y} : {sparse}, {x_type}, {y_type}")
        elif is_right:
            body.append(f"%r{i} = sparse.spmm {x}, %w{i}, {y} : {x_type}, {sparse}, {y_type}")
        else:
            body.append(f"%r{i} = sparse.spmm %w{i}, {x}, {y} : {sparse}, {x_type}, {y_type}")
        want = dense @ b + start
        wants.append(want[:, 0] if is_vector else want.T if is_right else want)
        results.append((f"%r{i}", y_type))
    kinds = ", ".join(type_ for _, type_ in results)
    head = ", ".join(f"{name}: {type_}" for name, type_, _ in arguments)
    text = f"func.func @main({head}) -> ({kinds}) {{\n  " + "\n  ".join(body) + f"\n  return {', '.join(r for r, _ in results)} : {kinds}\n}}\n"
    name = f"{n}:{m} [{u}, {v}] {kind} into {out}, {lines}x{inner} by {columns}{' from the right' * is_right}{' open' * is_open}"
    by_instruction = not is_cpu and kind != "f32" and (form == (2, 4, 1, 1) or u >= 4) and lines and inner
    return name, text, [array for _, _, array in arguments], wants, "two_of_four" if form == (2, 4, 1, 1) else "shared_rows", by_instruction


def run(work):
    options, chip, number = work
    name, text, arrays, wants, kernel, by_instruction = case(np.random.default_rng([options.seed, number]), chip == "cpu", number if options.vectors else None)
    name = f"{chip}, program {number}: {name}"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "p.mlir").write_text(text)
        command = [options.tile_run, folder / "p.mlir", f"--target={'cpu' if chip == 'cpu' else f'emulate:{chip}'}", f"--stats={folder}/stats.json"]
        for i, array in enumerate(arrays):
            np.save(folder / f"in{i}.npy", array)
            command.append(f"--in={folder}/in{i}.npy")
        command += [f"--out={folder}/out{i}.npy" for i in range(len(wants))]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return 0, 0, f"{name}: {done.stderr[:1000]}"
        for i, want in enumerate(wants):
            got = np.load(folder / f"out{i}.npy")
            if got.shape != want.shape or not (held(got) == held(want.astype(got.dtype)) if got.dtype.kind == "i" and got.dtype != np.uint16
                                               else held(got) == want).all():
                return 0, 0, f"{name}: pattern {i} is wrong\n{held(got)}\nwant\n{want}"
        stats = json.loads((folder / "stats.json").read_text())
        if chip == "cpu":
            return any(("spmv_places" if options.vectors else "spmm_windows") in key for key in stats["kernels"]), 0, None
        made = [value["mma_instructions"] for key, value in stats["kernels"].items() if f"spmm_{kernel}" in key]
        if by_instruction and not (made and made[0] > 0):
            return 0, 0, f"{name}: not by a matrix instruction: {list(stats['kernels'])}"
        conflicts = {key: value["shared_bank_conflicts"] for key, value in stats["kernels"].items() if value["shared_bank_conflicts"]}
        return bool(by_instruction), sum(conflicts.values()), f"{name}: bank conflicts {conflicts}" if conflicts else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_run")
    parser.add_argument("--patterns", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chips", default="sm_80,gfx942")
    parser.add_argument("--vectors", action="store_true", help="products with vectors only; tells which look places up in registers")
    options = parser.parse_args()
    how = "tables" if options.vectors else "rows in the cache", "matrix instructions"
    chips, programs = options.chips.split(","), -(-options.patterns // PER_PROGRAM)
    with ThreadPoolExecutor(2) as pool:
        for chip in chips:
            done = list(pool.map(run, [(options, chip, number) for number in range(programs)]))
            said = [text for _, _, text in done if text]
            print(*said[:5], sep="\n", end="\n" * bool(said))
            print(f"{chip}: {programs * PER_PROGRAM} patterns, {len(said)} programs wrong, {sum(made for made, _, _ in done)} of {programs} programs "
                  f"by {how[chip != 'cpu']}, {sum(conflicts for _, conflicts, _ in done)} bank conflicts")
            options.failed = getattr(options, "failed", False) or bool(said) or not programs
    return options.failed


sys.exit(main())
