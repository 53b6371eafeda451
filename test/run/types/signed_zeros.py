"""Maxima and minima of zeros of both signs, nan and infinities, to the bit: every target against the interpreter, and
the interpreter against the definition (numerics.md §3: -0 is below +0, nan wins).

python signed_zeros.py TILE_RUN FOLDER --target=cpu [--target=…]
"""
import itertools
import subprocess
import sys

import numpy as np

tile_run, folder, targets = sys.argv[1], sys.argv[2], sys.argv[3:]
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
LARGEST = {"f16": "0xFC00", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}
LEAST = {"f16": "0x7C00", "f32": "0x7F800000", "f64": "0x7FF0000000000000"}
SHAPES = [(5, 16), (3, 67)]

PROGRAM = """
tile.kernel @scan(%a: memref<{R}x{C}x{t}>, %b: memref<{R}x{C}x{t}>) {{
  %c0 = arith.constant 0 : index
  %V = tile.view %a : memref<{R}x{C}x{t}> to !tile.view<{R}x{C}x{t}>
  %x = tile.load %V[%c0, %c0] : !tile.view<{R}x{C}x{t}> -> tensor<{R}x{C}x{t}>
  %y = tile.scan {{arith.{op}}} %x axis 1 : tensor<{R}x{C}x{t}>
  %W = tile.view %b : memref<{R}x{C}x{t}> to !tile.view<{R}x{C}x{t}>
  tile.store %y, %W[%c0, %c0] : tensor<{R}x{C}x{t}>, !tile.view<{R}x{C}x{t}>
  tile.return
}}
func.func @main(%x: tensor<{R}x{C}x{t}>, %y: tensor<{R}x{C}x{t}>, %a: memref<{R}x{C}x{t}>, %b: memref<{R}x{C}x{t}>)
    -> (tensor<{R}xT>, tensor<{C}xT>, tensor<{R}x{C}xT>, tensor<{R}x{C}xT>, tensor<{R}x{C}xT>) {{
  %start = arith.constant {start} : T
  %zero = arith.constant 0.0 : T
  %negative = arith.constant -0.0 : T
  %rows = tensor.empty() : tensor<{R}xT>
  %i = linalg.fill ins(%start : T) outs(%rows : tensor<{R}xT>) -> tensor<{R}xT>
  %r = linalg.reduce {{ arith.{op} }} ins(%x : tensor<{R}x{C}xT>) outs(%i : tensor<{R}xT>) dimensions = [1]
  %columns = tensor.empty() : tensor<{C}xT>
  %j = linalg.fill ins(%start : T) outs(%columns : tensor<{C}xT>) -> tensor<{C}xT>
  %s = linalg.reduce {{ arith.{op} }} ins(%x : tensor<{R}x{C}xT>) outs(%j : tensor<{C}xT>) dimensions = [0]
  %e = tensor.empty() : tensor<{R}x{C}xT>
  %m = linalg.map {{ arith.{op} }} ins(%x, %y : tensor<{R}x{C}xT>, tensor<{R}x{C}xT>) outs(%e : tensor<{R}x{C}xT>)
  %p = linalg.map ins(%x : tensor<{R}x{C}xT>) outs(%e : tensor<{R}x{C}xT>) (%v: T, %o: T) {{
    %w = arith.{op} %v, %zero : T
    linalg.yield %w : T
  }}
  %n = linalg.map ins(%x : tensor<{R}x{C}xT>) outs(%e : tensor<{R}x{C}xT>) (%v: T, %o: T) {{
    %w = arith.{op} %negative, %v : T
    linalg.yield %w : T
  }}
  %one = arith.constant 1 : index
  tile.launch @scan grid(%one) outs(%a, %b : memref<{R}x{C}x{t}>, memref<{R}x{C}x{t}>)
  return %r, %s, %m, %p, %n : tensor<{R}xT>, tensor<{C}xT>, tensor<{R}x{C}xT>, tensor<{R}x{C}xT>, tensor<{R}x{C}xT>
}}
"""


def extremum(isMaximum):
    def of(a, b):
        pick = (a > b) | ((a == b) & np.signbit(b)) if isMaximum else (a < b) | ((a == b) & np.signbit(a))
        return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(pick, a, b)).astype(a.dtype)

    return np.frompyfunc(lambda a, b: of(np.asarray(a), np.asarray(b))[()], 2, 1)


def same(seen, expected):
    both = np.isnan(seen) & np.isnan(expected)
    return np.all(both | ((seen == expected) & (np.signbit(seen) == np.signbit(expected))))


def run(arguments):
    done = subprocess.run([tile_run, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


wrong = count = 0
rng = np.random.default_rng(7)
for t, op, shape in itertools.product(TYPES, ["maximumf", "minimumf"], SHAPES):
    is_maximum, dtype = op == "maximumf", TYPES[t]
    text = PROGRAM.replace("xT>", "x{t}>").replace(": T", ": {t}")
    path = f"{folder}/{op}_{t}_{shape[1]}.mlir"
    start = (LARGEST if is_maximum else LEAST)[t]
    open(path, "w").write(text.format(R=shape[0], C=shape[1], t=t, op=op, start=start))
    zeros = np.where(rng.integers(0, 2, (4, *shape)), dtype(0), dtype(-0.0))
    others = rng.choice(np.array([np.nan, np.inf, -np.inf, 1, -1], dtype), (4, *shape))
    mixed = np.where(rng.integers(0, 12, (4, *shape)) == 0, others, zeros)
    for data in (zeros, mixed):
        ins = []
        for k in range(4):
            np.save(f"{folder}/in{k}.npy", data[k])
            ins.append(f"--in={folder}/in{k}.npy")
        outs = [f"--out={folder}/out{k}.npy" for k in range(7)]
        status, said = run([path, *ins, *outs, "--target=interpret"])
        if status:
            sys.exit(said)
        pick = extremum(is_maximum)
        expected = [
            pick.reduce(data[0], axis=1),
            pick.reduce(data[0], axis=0),
            pick(data[0], data[1]),
            pick(data[0], np.full(shape, 0, dtype)),
            pick(data[0], np.full(shape, -0.0, dtype)),
            data[2],
            pick.accumulate(data[2], axis=1, dtype=object),
        ]
        for k, value in enumerate(expected):
            if not same(np.load(f"{folder}/out{k}.npy"), value.astype(dtype)):
                print(f"{op} of {t}, {shape}: output {k} of the interpreter is not what the definition says")
                wrong += 1
        for target in targets:
            status, said = run([path, *ins, target, "--check-against=interpret"])
            count += 1
            if status:
                print(f"{op} of {t}, {shape}, {target}:\n{said}")
                wrong += 1
print(f"{count} runs, {wrong} problems")
sys.exit(wrong != 0)
