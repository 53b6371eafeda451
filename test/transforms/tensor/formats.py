"""Products by constant weights of few bits with `convert` and `codes` of #tile.schedule, against numpy in 64 bits: each place of
conversion, each order of codes, odd rows; on every judge. What a kernel does not have must be refused by name.

Usage: formats.py TILE_RUN TARGET…    prints a line for each program.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

GENERIC = "affine_map<(n, k, t) -> (n, k)>, affine_map<(n, k, t) -> (t)>, affine_map<(n, k, t) -> (n, k, t)>"
ALL = '"parallel", "parallel", "parallel"'


def resource(array):
    return '"0x04000000' + array.tobytes().hex() + '"'


def program(m, n, k, group, bits, schedule, codes, scales, mixed):
    per, x = 8 // bits, "f16" if mixed else "f32"
    packed, whole, cut = f"tensor<{n}x{k // per}xi8>", f"tensor<{n}x{k}xi8>", f"{n}x{k // group}x{group}"
    words = sum((codes.reshape(n, -1, per)[:, :, t] << t * bits for t in range(per))).astype("u1")
    shifts = ", ".join(str(t * bits) for t in range(per))
    attribute = f"{{tile.schedule = #tile.schedule<{schedule}>}}" if schedule else ""
    return f"""func.func @main(%x: tensor<{m}x{k}x{x}>) -> tensor<{m}x{n}xf32> {{
  %p = arith.constant dense_resource<codes> : {packed}
  %s = arith.constant dense_resource<scales> : tensor<{n}x{k // group}xf32>
  %shifts = arith.constant dense<[{shifts}]> : tensor<{per}xi8>
  %mask = arith.constant {2 ** bits - 1} : i8
  %middle = arith.constant {2 ** (bits - 1)}.0 : f32
  %ue = tensor.empty() : tensor<{n}x{k // per}x{per}xi8>
  %u = linalg.generic {{indexing_maps = [{GENERIC}], iterator_types = [{ALL}]}} ins(%p, %shifts : {packed}, tensor<{per}xi8>) outs(%ue : tensor<{n}x{k // per}x{per}xi8>) {{
  ^bb0(%a: i8, %b: i8, %c: i8):
    %v = arith.shrui %a, %b : i8
    %w = arith.andi %v, %mask : i8
    linalg.yield %w : i8
  }} -> tensor<{n}x{k // per}x{per}xi8>
  %uc = tensor.collapse_shape %u [[0], [1, 2]] : tensor<{n}x{k // per}x{per}xi8> into {whole}
  %q = tensor.expand_shape %uc [[0], [1, 2]] output_shape [{cut.replace("x", ", ")}] : {whole} into tensor<{cut}xi8>
  %we = tensor.empty() : tensor<{cut}x{x}>
  %wd = linalg.generic {{indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = [{ALL}]}}
      ins(%q, %s : tensor<{cut}xi8>, tensor<{n}x{k // group}xf32>) outs(%we : tensor<{cut}x{x}>) {{
  ^bb0(%a: i8, %b: f32, %c: {x}):
    %f = arith.uitofp %a : i8 to f32
    %d = arith.subf %f, %middle : f32
    %y = arith.mulf %d, %b : f32
    {"%r = arith.truncf %y : f32 to f16" if mixed else ""}
    linalg.yield {"%r" if mixed else "%y"} : {x}
  }} -> tensor<{cut}x{x}>
  %wc = tensor.collapse_shape %wd [[0], [1, 2]] : tensor<{cut}x{x}> into tensor<{n}x{k}x{x}>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {attribute}
      ins(%x, %wc : tensor<{m}x{k}x{x}>, tensor<{n}x{k}x{x}>) outs(%z : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
{{-#
  dialect_resources: {{ builtin: {{ codes: {resource(words)}, scales: {resource(scales)} }} }}
#-}}
"""


def layout(text):
    return f"codes = #tile.layout<offset [{text}]>"


# (name, targets that refuse it, schedule)
SCHEDULES = [
    ("chosen", "", ""), ("register", "", 'convert = "register"'), ("shared", "", 'convert = "shared"'), ("memory", "", 'convert = "memory"'),
    ("apart", "", layout("{per}:d0*16, 16:d0")), ("stored", "", layout("{period}:d0")), ("apart by 32", "", layout("{per}:d0*32, 32:d0")),
    ("shared, apart", "", 'convert = "shared", ' + layout("{per}:d0*32, 32:d0")), ("lop3", "emulate", layout("{lop}:d0*2, 2:d0")),
    ("no order", "cpu emulate interpret", layout("3:d0")), ("too long", "cpu emulate interpret", layout("4096:d0")),
    ("memory, ordered", "cpu emulate interpret", 'convert = "memory", ' + layout("{per}:d0*32, 32:d0")),
]


def main():
    tool, targets = sys.argv[1], sys.argv[2:]
    rng = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for target in targets:
            for i, (m, bits) in enumerate([(1, 4), (7, 4), (16, 2), (2, 1), (33, 4)]):
                n, k, group, per = 48, 256, 128, 8 // bits
                codes = rng.integers(0, 2 ** bits, (n, k))
                scales = rng.uniform(.01, .1, (n, k // group)).astype("f4")
                x = rng.standard_normal((m, k)).astype("f2" if "emulate" in target else "f4")
                np.save("x.npy", x)
                weights = ((codes - 2. ** (bits - 1)) * np.repeat(scales.astype("f8"), group, 1)).astype("f4")
                expected = x.astype("f8") @ (weights.astype("f2") if "emulate" in target else weights).astype("f8").T
                for name, refused, schedule in SCHEDULES if i < 2 else SCHEDULES[:5]:
                    schedule = schedule.format(per=per, period=64, lop=2 * per) if "{" in schedule else schedule
                    with open("p.mlir", "w") as file:
                        file.write(program(m, n, k, group, bits, schedule, codes, scales, "emulate" in target))
                    run = subprocess.run([tool, "p.mlir", "--in=x.npy", "--out=y.npy", f"--target={target}", "--stats=s.json"], capture_output=True, text=True)
                    if run.returncode:
                        fault = re.search(r"p.mlir:\d+:\d+: error: .*schedule: (`\w+`[^:\n]*)", run.stderr)
                        is_refused = fault and run.returncode == 1
                        text = f"refused: {fault[1]}" if is_refused else f"wrong: {run.stderr[:500]}"
                    else:
                        text = "right" if not np.abs(np.load("y.npy") - expected).max() > 2e-3 * np.abs(expected).max() else "wrong"
                    print(f"{target} m={m} bits={bits} {name}: {text}")


main()
