"""Products by a constant matrix beside the same products by an argument, which the interpreter judges: the same bits. The
constant was laid out in panels, or was not, as the case says.

Usage: constant_panels.py TILE_RUN TILE_OPT    prints one line per wrong program and, last, how many were wrong.
"""
import json
import subprocess
import sys
import tempfile

import numpy as np

# m, n, k, element, B is n × k, m is not known, the constant is a resource, a bias follows, panels wanted. Sizes odd, so
# that the last panel, register tile, block and step of k all end raggedly; few rows read B where it lies.
CASES = [
    (37, 131, 377, "f32", False, False, False, False, 1),
    (37, 131, 377, "f32", False, True, False, True, 1),
    (37, 131, 377, "f32", True, False, False, False, 1),
    (61, 200, 513, "f32", True, True, True, False, 1),
    (8, 1000, 77, "f32", False, False, True, True, 1),
    (130, 97, 259, "f64", False, False, False, False, 1),
    (19, 333, 129, "f64", True, True, False, False, 1),
    (33, 129, 130, "f16", False, True, False, False, None),  # none where the CPU multiplies and adds in f16
    (1, 300, 200, "f32", False, True, False, False, 1),
    (0, 65, 90, "f32", False, True, False, False, 1),
    (2, 60, 50, "f32", False, False, False, False, 0),
    (9, 16, 5, "f32", False, False, False, False, 0),
    (61, 77, 50, "f32", False, False, False, False, 1),  # by the schedule below
]
# Blocks of k of three pieces, of which the last ones lie past k's end.
SCHEDULES = {(61, 77, 50): " attrs = {tile.schedule = #tile.schedule<block = [12, 48, 24], register = [6, 16]>}"}
TYPES = {"f16": "f2", "f32": "f4", "f64": "f8"}


def program(m, n, k, element, is_transposed, is_open, is_resource, has_bias, b):
    """With b as a constant, or (None) as an argument."""
    rows = "?" if is_open else m
    x, c = f"tensor<{rows}x{k}x{element}>", f"tensor<{rows}x{n}x{element}>"
    y, order = (f"tensor<{n}x{k}x{element}>", "n, k") if is_transposed else (f"tensor<{k}x{n}x{element}>", "k, n")
    text = f"func.func @main(%x: {x}, %bias: tensor<{n}x{element}>{'' if b is not None else f', %y: {y}'}) -> {c} {{\n"
    resources = ""
    if b is not None and is_resource:
        text += f"  %y = arith.constant dense_resource<weights> : {y}\n"
        resources = f'{{-# dialect_resources: {{builtin: {{weights: "0x{np.uint32(b.itemsize).tobytes().hex()}{b.tobytes().hex()}"}}}} #-}}\n'
    elif b is not None:
        text += f'  %y = arith.constant dense<"0x{b.tobytes().hex()}"> : {y}\n'
    size = "%d" if is_open else ""
    text += f"""  %i = arith.constant 0 : index
  %d = tensor.dim %x, %i : {x}
  %zero = arith.constant 0.0 : {element}
  %e = tensor.empty({size}) : {c}
  %f = linalg.fill ins(%zero : {element}) outs(%e : {c}) -> {c}
  %p = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ({order})>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %y : {x}, {y}) outs(%f : {c}){SCHEDULES.get((m, n, k), "")} {{
  ^bb0(%0: {element}, %1: {element}, %2: {element}):
    %3 = arith.mulf %0, %1 : {element}
    %4 = arith.addf %2, %3 : {element}
    linalg.yield %4 : {element}
  }} -> {c}
"""
    if has_bias:
        text += f"""  %q = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
      affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %bias : {c}, tensor<{n}x{element}>) outs(%e : {c}) {{
  ^bb0(%0: {element}, %1: {element}, %2: {element}):
    %3 = arith.addf %0, %1 : {element}
    linalg.yield %3 : {element}
  }} -> {c}
"""
    return f"{text}  return {'%q' if has_bias else '%p'} : {c}\n}}\n{resources}"


def run(tile_run, folder, name, text, arrays, *flags):
    """The result's bytes, and how many constants became panels."""
    with open(f"{folder}/{name}.mlir", "w") as file:
        file.write(text)
    inputs = []
    for i, array in enumerate(arrays):
        np.save(f"{folder}/{name}{i}.npy", array)
        inputs.append(f"--in={folder}/{name}{i}.npy")
    done = subprocess.run([tile_run, f"{folder}/{name}.mlir", *inputs, f"--out={folder}/{name}.npy", f"--stats={folder}/{name}.json", *flags],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}")
    with open(f"{folder}/{name}.json") as file:
        return np.load(f"{folder}/{name}.npy").tobytes(), json.load(file)["passes"]["convert-linalg-to-tile"]["panels"]


def convolution(w):
    """With the weights w as a constant, or (None) as an argument: 3 × 3 × 16 × 40 over 2 × 9 × 11 × 16."""
    kind = "tensor<3x3x16x40xf32>"
    argument = f", %w: {kind}" if w is None else ""
    constant = f'  %w = arith.constant dense<"0x{w.tobytes().hex()}"> : {kind}\n' if w is not None else ""
    return f"""func.func @main(%x: tensor<2x9x11x16xf32>{argument}) -> tensor<2x7x9x40xf32> {{
{constant}  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x9x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x7x9x40xf32>) -> tensor<2x7x9x40xf32>
  %r = linalg.conv_2d_nhwc_hwcf {{strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}
      ins(%x, %w : tensor<2x9x11x16xf32>, {kind}) outs(%f : tensor<2x7x9x40xf32>) -> tensor<2x7x9x40xf32>
  return %r : tensor<2x7x9x40xf32>
}}
"""


def merged(tile_opt, text):
    """As a product of merged dimensions."""
    passes = "linalg-generalize-named-ops,tile-merge-dimensions{convolutions=merged},canonicalize,cse"
    return subprocess.run([tile_opt, f"--pass-pipeline=builtin.module(func.func({passes}))"], input=text, capture_output=True, text=True, check=True).stdout


def main(tile_run, tile_opt):
    rng, wrong = np.random.default_rng(5), 0
    with tempfile.TemporaryDirectory() as folder:
        x, w = (rng.uniform(-1, 1, shape).astype("f4") for shape in ((2, 9, 11, 16), (3, 3, 16, 40)))
        seen, count = run(tile_run, folder, "constant", merged(tile_opt, convolution(w)), (x,))
        want, none = run(tile_run, folder, "argument", merged(tile_opt, convolution(None)), (x, w), "--check-against=interpret")
        if seen != want or count != 1 or none:
            wrong += 1
            print(f"WRONG: a convolution: {'the same' if seen == want else 'other'} bits, {count} panels of a constant")
        for *case, panels in CASES:
            m, n, k, element, is_transposed = case[:5]
            x, y, bias = (rng.uniform(-1, 1, shape).astype(TYPES[element]) for shape in ((m, k), (n, k) if is_transposed else (k, n), (n,)))
            seen, count = run(tile_run, folder, "constant", program(*case, y), (x, bias))
            want, none = run(tile_run, folder, "argument", program(*case, None), (x, bias, y), "--check-against=interpret")
            if seen != want or panels not in (count, None) or none:
                wrong += 1
                print(f"WRONG: {case}: {'the same' if seen == want else 'other'} bits, {count} panels of a constant, {none} of an argument")
    print(f"{len(CASES) + 1} programs, {wrong} wrong")
    return wrong > 0


sys.exit(main(*sys.argv[1:]))
