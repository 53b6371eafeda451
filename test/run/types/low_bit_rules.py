"""What a product by weights of few bits may not change. Each program gives another result, or none, where the rule that it is named for
is broken; expected results are exact.

Usage: low_bit_rules.py TILE_OPT TILE_RUN    prints a line for each program and target.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

TARGETS = ("interpret", "cpu", "emulate:sm_80", "emulate:gfx942")


def product(m, n, k, group, x, code, body, yielded, extra="", machine=""):
    """c[m, n] = sum of x[m, k] · w[n, k], w from codes %a and scales %b by `body`."""
    whole, cut = f"tensor<{n}x{k}x{x}>", f"tensor<{n}x{k // group}x{group}x"
    maps = "affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>"
    widen = ["%aw = arith.extf %a : X to f32", "%bw = arith.extf %b : X to f32"] if x != "f32" else []
    names = ("%aw", "%bw") if widen else ("%a", "%b")
    lines = "\n".join(f"    {line}" for line in body)
    return f"""{machine}
func.func @main(%x: tensor<{m}x{k}x{x}>, %p: tensor<{n}x{k}x{code}>, %s: tensor<{n}x{k // group}x{x}>) -> tensor<{m}x{n}xf32> {{
  {extra}
  %q = tensor.expand_shape %p [[0], [1, 2]] output_shape [{n}, {k // group}, {group}] : tensor<{n}x{k}x{code}> into {cut}{code}>
  %we = tensor.empty() : {cut}{x}>
  %wd = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%q, %s : {cut}{code}>, tensor<{n}x{k // group}x{x}>) outs(%we : {cut}{x}>) {{
  ^bb0(%a: {code}, %b: {x}, %o: {x}):
{lines}
    linalg.yield {yielded} : {x}
  }} -> {cut}{x}>
  %w = tensor.collapse_shape %wd [[0], [1, 2]] : {cut}{x}> into {whole}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%x, %w : tensor<{m}x{k}x{x}>, {whole}) outs(%f : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: {x}, %b: {x}, %o: f32):
    {"".join(line.replace("X", x) + chr(10) + "    " for line in widen)}%y = arith.mulf {names[0]}, {names[1]} : f32
    %t = arith.addf %o, %y : f32
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""


def one_hot(m, k, kind):
    """Rows that pick single weights: results are the weights, without a sum."""
    x, places = np.zeros((m, k), kind), (np.arange(m) * 37) % k
    x[np.arange(m), places] = 1
    return x, places


def run(tools, name, text, arrays, expected, targets=TARGETS, passes=None):
    with open("p.mlir", "w") as file:
        file.write(text)
    program = "p.mlir"
    if passes:
        subprocess.run([tools[0], "p.mlir", f"--pass-pipeline=builtin.module({passes})", "-o", "q.mlir"], check=True)
        program = "q.mlir"
    flags = []
    for i, array in enumerate(arrays):
        np.save(f"{i}.npy", array)
        flags.append(f"--in={i}.npy")
    for target in targets:
        done = subprocess.run([tools[1], program, *flags, "--out=y.npy", f"--target={target}"], capture_output=True, text=True)
        if expected is None:
            outcome = "right" if done.returncode == 1 and "error" in done.stderr else "wrong: it ran"
        elif done.returncode:
            outcome = f"wrong: {done.stderr[:300]}"
        else:
            outcome = "right" if np.array_equal(np.load("y.npy"), expected) else f"wrong: {np.load('y.npy').ravel()[:4]}, expected {expected.ravel()[:4]}"
        print(f"{name}, {target}: {outcome}", flush=True)


def main():
    tools = sys.argv[1:3]
    rng = np.random.default_rng(23)
    f16 = ["%f = arith.sitofp %a : i8 to f16", "%y = arith.mulf %f, %b : f16"]
    f32 = ["%f = arith.sitofp %a : i8 to f32", "%y = arith.mulf %f, %b : f32"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        # 7 · 60 · 512 has no f16; with the scale inside the sum it is 210.
        m, n, k = 5, 16, 512
        run(tools, "a scale stays in its sum", product(m, n, k, 128, "f16", "i8", f16, "%y"),
            [np.full((m, k), 60, "f2"), np.full((n, k), 7, "i1"), np.full((n, k // 128), 2. ** -10, "f2")], np.full((m, n), 210, "f4"))
        # f16(code · scale) rounds where f32 would not.
        codes, scale = rng.integers(-128, 128, (n, 256)).astype("i1"), (rng.integers(1025, 2047, (n, 2)) / 2048).astype("f2")
        x, places = one_hot(9, 256, "f2")
        weights = (codes.astype("f2") * np.repeat(scale, 128, 1)).astype("f2")
        run(tools, "arithmetic of f16 is f16's", product(9, n, 256, 128, "f16", "i8", f16, "%y"), [x, codes, scale], weights.T[places].astype("f4"))
        # bf16 has eight digits: 128 + code would lose the last bit of codes above 127.
        codes = np.add.outer(np.arange(n) * 16, np.arange(256)).astype("u1")
        body = ["%f = arith.uitofp %a : i8 to bf16", "%y = arith.mulf %f, %b : bf16"]
        x, places = one_hot(16, 256, "f4")
        upper = lambda a: (np.asarray(a, "f4").view("u4") >> 16).astype("u2")  # noqa: E731
        run(tools, "all codes are exact in bf16", product(16, n, 256, 128, "bf16", "i8", body, "%y"),
            [upper(x), codes.view("i1"), upper(np.ones((n, 2)))], codes.T[places].astype("f4"))
        # 127 · 132,608 · 128 does not fit 32 bits.
        k = 132608
        run(tools, "long sums of integers do not wrap", product(1, n, k, k, "f32", "i8", f32, "%y"),
            [np.ones((1, k), "f4"), np.full((n, k), -128, "i1"), np.full((n, 1), 2. ** -10, "f4")], np.full((1, n), -k / 8, "f4"), ("interpret", "cpu"),
            "func.func(tile-generalize-named-ops,tile-quantize-activations)")
        # Two products of 255 · 127 do not fit 16 bits: a dot instruction that saturates is wrong.
        k = 256
        unsigned = ["%f = arith.uitofp %a : i8 to f32", "%y = arith.mulf %f, %b : f32"]
        for machine in ("", 'module attributes {tile.machine = #tile.machine<"x86-64-v3">} {'):
            text = product(3, n, k, 128, "f32", "i8", unsigned, "%y", machine=machine) + ("}\n" if machine else "")
            run(tools, f"no dot saturates{' (x86-64-v3)' * bool(machine)}", text, [np.ones((3, k), "f4"), np.full((n, k), -1, "i1"), np.full((n, 2), 2. ** -10, "f4")],
                np.full((3, n), 255 * k / 1024, "f4"), ("interpret", "cpu"), "func.func(tile-generalize-named-ops,tile-quantize-activations)")
        # A table of 12 numbers has no number 13.
        table = "%table = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]> : tensor<12xf32>"
        body = ["%m = arith.constant 15 : i8", "%c = arith.andi %a, %m : i8", "%i = arith.index_castui %c : i8 to index",
                "%d = tensor.extract %table[%i] : tensor<12xf32>", "%y = arith.mulf %d, %b : f32"]
        codes = np.full((n, 64), 11, "i1")
        ones = [np.ones((3, 64), "f4"), codes, np.ones((n, 1), "f4")]
        run(tools, "the last number of a table", product(3, n, 64, 64, "f32", "i8", body, "%y", table), ones, np.full((3, n), 704, "f4"))
        beyond = codes.copy()
        beyond[5, 7] = 13
        run(tools, "a code beyond its table is an error", product(3, n, 64, 64, "f32", "i8", body, "%y", table), [ones[0], beyond, ones[2]], None, ("interpret", "cpu"))


main()
