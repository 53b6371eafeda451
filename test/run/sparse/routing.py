"""Rows listed by their group and multiplied by its matrix, against numpy. Use: routing.py TILE_RUN [--seed=N] [--rounds=M] [--target=T]

Each program lists the places of drawn numbers (sparse.group) and multiplies rows by the list (sparse.grouped_matmul), gathered and
scattered or not, by matrices as they are or transposed. Groups are idle and crowded, numbers are none, or of no group at all where
the program is partial; sizes are 0, 1, odd and prime. Values are small integers, so that every answer is exact.
"""
import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from micro_tiles import run

ELEMENTS = {"f32": ("f4", "f32"), "f64": ("f8", "f64"), "f16": ("f2", "f32"), "i8": ("i1", "i32"), "i32": ("i4", "i32"), "i64": ("i8", "i64")}
SUMS = {"f32": "f4", "f64": "f8", "i32": "i4", "i64": "i8"}


def draw(rng):
    """A program, its arrays, and what comes out."""
    element = str(rng.choice(list(ELEMENTS)))
    dtype, total = ELEMENTS[element]
    rows, inner = int(rng.choice([0, 1, 7, 67, 150])), int(rng.choice([0, 1, 5, 33, 70]))
    columns, groups = int(rng.choice([1, 9, 33, 70])), int(rng.choice([1, 3, 16, 1100]))
    each, partial, gathered, scattered, turned, isOpen, filled = (*(int(rng.choice([1, 2])),), *(bool(rng.integers(2)) for _ in range(6)))
    index, number = rng.choice(["i32", "i64"], 2)
    if groups > 16:  # a serial list; small matrices
        inner, columns = min(inner, 5), min(columns, 9)
    listed = rows * each if gathered else rows
    crowd = rng.integers(groups, size=2)
    ids = np.where(rng.random(listed) < .5, rng.choice(crowd, listed), rng.integers(groups, size=listed))
    if partial and listed:
        ids[rng.random(listed) < .3] = rng.choice([-1, groups, groups + 5, -2**31])
    x = rng.integers(-3, 4, (rows, inner)).astype(dtype)
    w = rng.integers(-3, 4, (groups, inner, columns)).astype(dtype)
    init = rng.integers(-3, 4, (listed, columns)).astype(SUMS[total])
    order = np.concatenate([np.flatnonzero(ids == g) for g in range(groups)]).astype(int)
    positions = np.cumsum([0] + [int((ids == g).sum()) for g in range(groups)])
    coordinates = np.concatenate([order, np.full(listed - len(order), -1)])
    want = np.zeros_like(init) if filled else init.copy()
    for place, c in enumerate(order):
        row = c // each if gathered else place
        want[c if scattered else place] += (x[row].astype("f8") @ w[ids[c]].astype("f8")).astype(want.dtype)

    def kind(shape, element):
        return f"tensor<{''.join(('?' if isOpen else str(n)) + 'x' for n in shape)}{element}>"
    lists = (f"tensor<{'?' if isOpen else groups + 1}x{index}>", f"tensor<{'?' if isOpen else listed}x{index}>")
    types = {"x": kind(x.shape, element), "w": kind((groups, columns, inner) if turned else w.shape, element), "ids": kind(ids.shape, number),
             "c": kind(init.shape, total)}
    fill = "" if not filled else f"""  %zero = arith.constant {'0.0' if total[0] == 'f' else '0'} : {total}
  %f = linalg.fill ins(%zero : {total}) outs(%c : {types['c']}) -> {types['c']}
"""
    text = f"""func.func @main(%x: {types['x']}, %w: {types['w']}, %ids: {types['ids']}, %c: {types['c']}) -> ({lists[0]}, {lists[1]}, {types['c']}) {{
{fill}  %c0 = arith.constant 0 : index
  %n = tensor.dim %w, %c0 : {types['w']}
  %p, %l = sparse.group %ids{' into %n' if isOpen else ''}{' partial' if partial else ''} : {types['ids']} -> {lists[0]}, {lists[1]}
  %r = sparse.grouped_matmul %x{f' gather {each}' if gathered else ''}, %w{' transpose' if turned else ''}, {'%f' if filled else '%c'}{' scatter' if scattered else ''}
    by(%p, %l) : {types['x']}, {types['w']}, {types['c']}, {lists[0]}, {lists[1]}
  return %p, %l, %r : {lists[0]}, {lists[1]}, {types['c']}
}}
"""
    return text, [x, w.transpose(0, 2, 1).copy() if turned else w, ids.astype(number.replace("i", "int")), init], [positions, coordinates, want]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--target", default="interpret")
    parser.add_argument("--mutant", action="store_true")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            text, arrays, wanted = draw(np.random.default_rng([options.seed, number]))
            if options.mutant:
                wanted[1] = wanted[1][::-1]
            wrong = run(options, Path(folder), text, arrays, wanted)
            if wrong:
                failed += 1
                print(f"seed {options.seed}, round {number}:", wrong, text, sep="\n")
    print(f"{options.rounds} programs, {failed} wrong")
    return failed > 0 or options.rounds == 0


if __name__ == "__main__":
    sys.exit(main())
