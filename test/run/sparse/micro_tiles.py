"""Run-time micro-tiles against numpy: detect, sread, swrite alone, and PIT's product put together from them.

Use: micro_tiles.py TILE_RUN [--seed=N] [--rounds=M] [--target=T]. Per round one program detects along either axis, dense or
by a mask, in groups or all lines, and packs and writes back by a list; others are PIT's products of a matrix of which whole
slices are zero: along k (columns of the left factor, rows of the right), along m (rows of left factor and result), and along k
for each group of rows by itself. Values are small integers, so that every answer is exact. Sizes are 0, 1, odd and prime; of
slices none, some or all are listed.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIZES = (0, 1, 2, 3, 5, 7, 13, 16, 33, 70)
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32, "i64": np.int64}


def ceil(a, b):
    return -(-a // b)


def tensor(rng, shape, element, encoding=""):
    isOpen = rng.random() < 0.5
    return f"tensor<{''.join(f'{chr(63) if isOpen else n}x' for n in shape)}{element}{encoding}>"


def draw(rng, shape, dtype, axis, by, lines):
    """Small integers; of the micro-tiles none, some or all are zero, and some that are not hold a single element."""
    dense = rng.integers(-3, 4, shape).astype(dtype)
    density = rng.choice([0.0, 0.2, 0.6, 1.0])
    for group in range(0, shape[1 - axis], lines):
        for unit in range(0, shape[axis], by):
            at = [slice(group, group + lines)] * 2
            at[axis] = slice(unit, unit + by)
            if rng.random() >= density:
                dense[tuple(at)] = 0
                if rng.random() < 0.2 * density:
                    dense[tuple(at)].flat[-1] = 1
                    dense[group if axis else unit, unit if axis else group] = -1
    return dense


def detected(stored, axis, by, lines):
    """positions, coordinates of a matrix that says what is stored."""
    lists = []
    stored = stored if axis else stored.T
    for group in range(0, stored.shape[0], lines) if lines else [0]:
        rows = stored[group:group + lines] if lines else stored
        lists.append([u for u in range(ceil(stored.shape[1], by)) if rows[:, u * by:(u + 1) * by].any()])
    return np.cumsum([0] + [len(x) for x in lists]), np.array(sum(lists, []), int)


def packed(a, axis, by, units):
    padded = np.pad(a, [(0, ceil(n, by) * by - n if i == axis else 0) for i, n in enumerate(a.shape)])
    places = (np.asarray(units, int)[:, None] * by + np.arange(by)).ravel()
    return padded.take(places, axis)


def ops(rng, element):
    """A program of the ops by themselves, its arrays and what comes out."""
    rows, columns, axis, by = int(rng.choice(SIZES)), int(rng.choice(SIZES)), int(rng.integers(2)), int(rng.choice([1, 2, 3, 8]))
    lines, index, position = int(rng.choice([0, 1, 4, 5, 32])), *rng.choice(["i32", "i64"], 2)
    shape, across = (rows, columns), (columns, rows)[axis]
    dense = draw(rng, shape, DTYPES[element], axis, by, lines or max(across, 1))
    kind, stored, text, source = tensor(rng, shape, element), dense != 0, "", "%a"
    detectedKind = kind
    if rng.random() < 0.5:
        tile = [int(n) for n in rng.choice([1, 2, 3, 5], 2)]
        detectedKind, source = f"{kind[:-1]}, #sparse.mask<tile = {tile}>>", "%w"
        text = f"  %w = sparse.pack %a : {kind} -> {detectedKind}\n"
        high, wide = ceil(rows, tile[0]) * tile[0], ceil(columns, tile[1]) * tile[1]
        cells = np.pad(stored, ((0, high - rows), (0, wide - columns))).reshape(high // tile[0], tile[0], wide // tile[1], tile[1]).any(axis=(1, 3))
        stored = np.kron(cells, np.ones(tile, bool)).astype(bool)[:rows, :columns]
    isOpen = lines and "?" in kind
    found = f"tensor<{'?' if isOpen else ceil(across, lines) + 1 if lines else 2}x{position}>"
    text += f"  %p, %c = sparse.detect {source} along {axis} by {by}{f' lines {lines}' if lines else ''} : {detectedKind} -> {found}, tensor<?x{index}>\n"
    positions, coordinates = detected(stored, axis, by, lines)
    # A list in any order, in part.
    units = ceil(shape[axis], by)
    listed = rng.permutation(units)[:int(rng.integers(units + 1))]
    init = rng.integers(-3, 4, shape).astype(dense.dtype)
    there = f"tensor<{len(listed) if rng.random() < 0.5 else '?'}x{index}>"
    size = "?" if "?" in there else len(listed) * by
    across = "?" if "?" in kind else shape[1 - axis]
    slices = f"tensor<{size if axis == 0 else across}x{across if axis == 0 else size}x{element}>"
    text += f"  %s = sparse.sread %a[%l] along {axis} by {by} : {kind}, {there} -> {slices}\n"
    text += f"  %r = sparse.swrite %s, %i[%l] along {axis} by {by} : {slices}, {kind}, {there}\n"
    head = f"%a: {kind}, %i: {kind}, %l: {there}"
    results = [found, f"tensor<?x{index}>", slices, kind]
    want = init.copy()
    for u in listed:
        at = [slice(None)] * 2
        at[axis] = slice(u * by, (u + 1) * by)
        want[tuple(at)] = dense[tuple(at)]
    return (f"func.func @main({head}) -> ({', '.join(results)}) {{\n{text}  return %p, %c, %s, %r : {', '.join(results)}\n}}\n",
            [dense, init, listed.astype(index.replace("i", "int"))], [positions, coordinates, packed(dense, axis, by, listed), want])


def product(rng, element, form):
    """PIT's product in one of its forms; the result starts as init, so what is not written can be told from zeros."""
    m, n, k = (int(rng.choice(SIZES)) for _ in range(3))
    by, lines = int(rng.choice([1, 2, 5])), int(rng.choice([1, 4, 32]))
    axis = 0 if form == "m" else 1
    dense = draw(rng, (m, k), DTYPES[element], axis, by, lines if form == "groups" else max(m, k, 1))
    b, init = (rng.integers(-3, 4, shape).astype(dense.dtype) for shape in ((k, n), (m, n)))
    a, x, y, e = (f"tensor<?x?x{element}>",) * 3 + (element,)
    head = f"func.func @main(%a: {a}, %b: {x}, %c: {y}) -> {y} {{\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
    if form == "k":
        body = f"""  %p, %l = sparse.detect %a along 1 by {by} : {a} -> tensor<2xi32>, tensor<?xi32>
  %s = sparse.sread %a[%l] along 1 by {by} : {a}, tensor<?xi32> -> {a}
  %t = sparse.sread %b[%l] along 0 by {by} : {x}, tensor<?xi32> -> {x}
  %r = linalg.matmul ins(%s, %t : {a}, {x}) outs(%c : {y}) -> {y}
"""
    elif form == "m":
        body = f"""  %p, %l = sparse.detect %a along 0 by {by} : {a} -> tensor<2xi32>, tensor<?xi32>
  %s = sparse.sread %a[%l] along 0 by {by} : {a}, tensor<?xi32> -> {a}
  %t = sparse.sread %c[%l] along 0 by {by} : {y}, tensor<?xi32> -> {y}
  %d = linalg.matmul ins(%s, %b : {a}, {x}) outs(%t : {y}) -> {y}
  %r = sparse.swrite %d, %c[%l] along 0 by {by} : {y}, {y}, tensor<?xi32>
"""
    else:
        body = f"""  %p, %l = sparse.detect %a along 1 by {by} lines {lines} : {a} -> tensor<?xi32>, tensor<?xi32>
  %lines = arith.constant {lines} : index
  %m = tensor.dim %a, %c0 : {a}
  %k = tensor.dim %a, %c1 : {a}
  %n = tensor.dim %c, %c1 : {y}
  %r = scf.for %i = %c0 to %m step %lines iter_args(%it = %c) -> ({y}) {{
    %g = arith.divui %i, %lines : index
    %h = arith.addi %g, %c1 : index
    %p0 = tensor.extract %p[%g] : tensor<?xi32>
    %p1 = tensor.extract %p[%h] : tensor<?xi32>
    %begin = arith.index_cast %p0 : i32 to index
    %end = arith.index_cast %p1 : i32 to index
    %count = arith.subi %end, %begin : index
    %left = arith.subi %m, %i : index
    %rows = arith.minsi %left, %lines : index
    %own = tensor.extract_slice %l[%begin] [%count] [1] : tensor<?xi32> to tensor<?xi32>
    %ag = tensor.extract_slice %a[%i, 0] [%rows, %k] [1, 1] : {a} to {a}
    %cg = tensor.extract_slice %it[%i, 0] [%rows, %n] [1, 1] : {y} to {y}
    %s = sparse.sread %ag[%own] along 1 by {by} : {a}, tensor<?xi32> -> {a}
    %t = sparse.sread %b[%own] along 0 by {by} : {x}, tensor<?xi32> -> {x}
    %d = linalg.matmul ins(%s, %t : {a}, {x}) outs(%cg : {y}) -> {y}
    %next = tensor.insert_slice %d into %it[%i, 0] [%rows, %n] [1, 1] : {y} into {y}
    scf.yield %next : {y}
  }}
"""
    want = dense.astype("f8") @ b.astype("f8") + init.astype("f8")
    return head + body + f"  return %r : {y}\n}}\n", [dense, b, init], [want.astype(init.dtype)]


def run(options, folder, text, arrays, wanted):
    (folder / "program.mlir").write_text(text)
    command = [options.tile_run, folder / "program.mlir", f"--target={options.target}"]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command.append(f"--in={folder / f'in{i}.npy'}")
    command += [f"--out={folder / f'out{i}.npy'}" for i in range(len(wanted))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return f"status {done.returncode}: {done.stderr[:2000]}"
    for i, want in enumerate(wanted):
        got = np.load(folder / f"out{i}.npy")
        if got.shape != want.shape or not (got == want).all():
            return f"result {i} is wrong\n{got}\nwant\n{want}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--target", default="interpret")
    options = parser.parse_args()
    ran = failed = 0
    forms = ["ops", "k", "m", "groups"]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            for form in forms:
                rng = np.random.default_rng([options.seed, number, forms.index(form)])
                element = str(rng.choice(list(DTYPES)))
                program = ops(rng, element) if form == "ops" else product(rng, "f32" if element == "f64" else element, form)
                wrong = run(options, Path(folder), *program)
                ran += 1
                if wrong:
                    failed += 1
                    print(f"seed {options.seed}, round {number}, {form} of {element}:", wrong, program[0], sep="\n")
    print(f"{ran} programs, {failed} wrong")
    return failed > 0 or ran == 0


if __name__ == "__main__":
    sys.exit(main())
