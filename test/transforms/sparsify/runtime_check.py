"""Components that break a format's rule, one rule at a time. Use: runtime_check.py TILE_OPT TILE_RUN TARGET [FORMAT…]

Each is a program that puts a matrix together from arguments, or packs one by a list, with the checks of sparse-runtime-check. Right components
must pass, broken ones fail with the message of their rule at the line of the op; without the pass a compiled
program is not asked to notice.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

POSITIONS, COLUMNS = [0, 2, 2, 4], [0, 4, 1, 3]
SEGMENTS = [  # what is changed, by component and place; the message
    ((0, 0, 1), "the first position is not 0"),
    ((0, 1, 3), "a position is less than the one before it"),
    ((0, 3, 3), "the last position is not the number of entries"),
    ((1, 1, 5), "a coordinate is beyond the matrix"),
    ((1, 3, 1), "a coordinate is negative, or not above the one before it"),
    ((1, 0, -1), "a coordinate is negative, or not above the one before it"),
]


def ones(*shape):
    return np.ones(shape, "f4")


ENTRIES = [[0, 0, 1, 2], [1, 4, 0, 3]]
# Format: tensor, encoding, types of the components, right components, broken ones.
FORMATS = {
    "csr": ("3x5", "csr", "tensor<?xi32>, tensor<?xi32>, tensor<?xf32>", [POSITIONS, COLUMNS, ones(4)],
            SEGMENTS + [((2, None, ones(3)), "values of #sparse.csr have another size along axis 0"),
                        ((0, None, [0, 4]), "positions of #sparse.csr have another size along axis 0")]),
    "csc": ("5x3", "csc<positions = i64>", "tensor<?xi64>, tensor<?xi32>, tensor<?xf32>", [POSITIONS, COLUMNS, ones(4)], SEGMENTS),
    "bsr": ("6x15", "bsr<block = [2, 3]>", "tensor<?xi32>, tensor<?xi32>, tensor<?x?x?xf32>", [POSITIONS, COLUMNS, ones(4, 2, 3)],
            SEGMENTS + [((2, None, ones(4, 2, 2)), "values of #sparse.bsr have another size along axis 2")]),
    "coo": ("3x5", "coo", "tensor<2x?xi32>, tensor<?xf32>", [ENTRIES, ones(4)],
            [((0, (1, 1), 5), "a coordinate is negative or beyond the tensor"),
             ((0, (0, 3), -1), "a coordinate is negative or beyond the tensor"),
             ((0, (1, 1), 1), "an entry stands not after the one before it"),
             ((0, (0, 2), 0), "an entry stands not after the one before it")]),
    "unordered": ("3x5", "coo<unordered>", "tensor<2x?xi32>, tensor<?xf32>", [[[2, 0, 0], [3, 1, 1]], ones(3)],
                  [((0, (0, 0), 3), "a coordinate is negative or beyond the tensor")]),
    "nm": ("3x6", "nm<n = 2, m = 4, vector = [2, 1]>", "tensor<?x?x2xi8>, tensor<?x?x2x2xf32>",
           [[[[0, 3], [1, 2]], [[0, 1], [2, 3]]], ones(2, 2, 2, 2)],
           [((0, (0, 0, 1), 4), "a coordinate is beyond its window"),
            ((0, (1, 0, 0), -1), "a coordinate is beyond its window"),
            ((0, (1, 1, 1), 2), "a coordinate is not above the one before it in its window"),
            ((1, None, ones(2, 1, 2, 2)), "values of #sparse.nm have another size along axis 1")]),
    "mask": ("3x5", "mask<tile = [2, 1]>", "tensor<?x?xi1>, tensor<?x?xf32>", [np.ones((2, 5), bool), ones(3, 5)],
             [((0, None, np.ones((3, 5), bool)), "mask of #sparse.mask have another size along axis 0")]),
}
# Compiled, the check of the places that the check itself writes may speak first (tile-check-places).
BEYOND = ("a coordinate is negative or beyond the matrix", "tensor.insert: index of dimension 0 must")
LISTED = [((0, 1, 3), BEYOND), ((0, 0, -1), BEYOND)]
# Lists of micro-tiles by the op: None, its text, types and so on as above. What is read may stand twice.
FORMATS |= {
    "sread": (None, "sparse.sread %a1[%a0] along 1 by 2 : tensor<?x?xf32>, tensor<?xi64> -> tensor<?x?xf32>",
              "tensor<?xi64>, tensor<?x?xf32>", [[2, 0, 2], ones(3, 5)], LISTED),
    "swrite": (None, "sparse.swrite %a1, %a2[%a0] along 0 by 2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>",
               "tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>", [[2, 0], ones(4, 3), ones(5, 3)],
               LISTED + [((0, 1, 2), "a coordinate stands twice in a list that is written by"),
                         ((1, None, ones(3, 3)), "packed holds not as many slices as are listed"),
                         ((1, None, ones(4, 2)), "packed slices are not as long as init's")]),
}
# Sizes stay open for half of them: the checks then reckon with values.
OPEN = {"csr", "coo", "nm"}


def program(tensor, encoding, types, is_open):
    rows, columns = (tensor or "0x0").split("x")
    kinds = types.split(", ")
    kind = f"tensor<{'?x?' if is_open else tensor}xf32, #sparse.{encoding}>" if tensor else "tensor<?x?xf32>"
    sizes = "sizes [%r, %c] " if is_open else ""
    made = f"sparse.assemble({', '.join(f'%a{i}' for i in range(len(kinds)))}) {sizes}: {types} -> {kind}" if tensor else encoding
    return f"""func.func @main({', '.join(f'%a{i}: {t}' for i, t in enumerate(kinds))}) -> index {{
  %r = arith.constant {rows} : index
  %c = arith.constant {columns} : index
  %w = {made}
  %z = arith.constant 0 : index
  %n = tensor.dim %w, %z : {kind}
  return %n : index
}}
"""


def run(tile_run, target, source, arrays, folder):
    flags = []
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
        flags.append(f"--in={folder / f'{i}.npy'}")
    return subprocess.run([tile_run, source, f"--target={target}", *flags], capture_output=True, text=True)


def changed(arrays, change):
    component, place, value = change
    arrays = [array.copy() for array in arrays]
    if place is None:
        arrays[component] = np.array(value, arrays[component].dtype)
    else:
        arrays[component][place] = value
    return arrays


def main():
    tile_opt, tile_run, target, *names = sys.argv[1:]
    wrong = count = 0
    for name in names or FORMATS:
        tensor, encoding, types, right, broken = FORMATS[name]
        dtypes = [{"i1": "?", "i8": "i1", "i32": "i4", "i64": "i8", "f32": "f4"}[t.rsplit("x", 1)[1][:-1]] for t in types.split(", ")]
        arrays = [np.array(array, dtype) for array, dtype in zip(right, dtypes)]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "plain.mlir"
            source.write_text(program(tensor, encoding, types, name in OPEN))
            checked = subprocess.run([tile_opt, source, "--sparse-runtime-check", "--mlir-print-debuginfo"], capture_output=True, text=True, check=True)
            (Path(folder) / "checked.mlir").write_text(checked.stdout)
            for change, message in [(None, None)] + broken:
                done = run(tile_run, target, Path(folder) / "checked.mlir", changed(arrays, change) if change else arrays, Path(folder))
                place = "plain.mlir:4:8: " if target != "interpret" else ""
                wanted = message if isinstance(message, tuple) else (message,)
                said = any(f"{place}assertion failed: {text}" in done.stderr for text in wanted)
                fine = done.returncode == 1 and said and "plain.mlir:4:8" in done.stderr if message else done.returncode == 0
                count += 1
                if not fine:
                    wrong += 1
                    print(f"{name}: {change}: want {message}, status {done.returncode}: {done.stderr}")
    print(f"{target}: {count} runs, {wrong} wrong")
    return bool(wrong)


sys.exit(main())
