"""Convolutions and products over several dimensions as matrix products of merged dimensions (tile-merge-dimensions), drawn
at random: compiled and interpreted, against numpy.

Usage: merged_products.py TILE_OPT TILE_RUN [--seed=N] [--count=N]    prints one line per program and how many were wrong.
"""
import argparse
import subprocess
import sys
import tempfile

import numpy as np

MERGE = ("builtin.module(func.func(linalg-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,cse,"
         "tile-merge-dimensions{convolutions=merged},canonicalize,cse))")
with open("/proc/cpuinfo") as file:  # products of bytes become matrix products only where the CPU has a dot product of bytes
    HAS_BYTE_DOTS = "vnni" in file.read()
SUMS = {"f32": "f32", "f64": "f64", "bf16": "f32", "i8": "i32"}
EINSUMS = ["bsh,hde->bsde", "bsh,deh->bsde", "khm,kn->hmn", "abxy,xyn->abn", "abxy,nxy->abn", "xab,xnm->abnm"]


def draw(rng, shape, kind):
    if kind[0] == "i":
        return rng.integers(-100, 100, shape).astype("i1" if kind == "i8" else "i4")
    values = rng.uniform(-1, 1, shape)
    return (values.astype("f4").view("u4") >> 16).astype("u2") if kind == "bf16" else values.astype(kind.replace("f32", "f4").replace("f64", "f8"))


def exact(x):
    return (x.astype("u4") << 16).view("f4").astype("f8") if x.dtype == np.uint16 else x.astype("i8" if x.dtype.kind == "i" else "f8")


def convolution(rng, x, w, stride, dilation, rows_first):
    """Sums over the window in 64 bits; w is r, s, c, f, or f, r, s, c."""
    w = np.moveaxis(exact(w), 0, -1) if rows_first else exact(w)
    x, (r, s) = exact(x), w.shape[:2]
    p, q = ((x.shape[1 + i] - (w.shape[i] - 1) * dilation[i] - 1) // stride[i] + 1 for i in range(2))
    out = np.zeros((x.shape[0], p, q, w.shape[3]), x.dtype)
    for i in range(r):
        for j in range(s):
            a, b = i * dilation[0], j * dilation[1]
            out += x[:, a:a + stride[0] * (p - 1) + 1:stride[0], b:b + stride[1] * (q - 1) + 1:stride[1]] @ w[i, j]
    return out


def tensor(shape, kind, is_open=False):
    sizes = ["?" if is_open and i == 0 else str(size) for i, size in enumerate(shape)]
    return f"tensor<{'x'.join(sizes)}x{kind}>"


def follow(text, value, kind, shape, out, size, bias):
    """Adds a bias along the last axis, and a maximum with zero, if there is a bias."""
    if not bias:
        return f"{text}  return {value} : {out}\n}}\n"
    dims = ", ".join(f"d{i}" for i in range(len(shape)))
    add, maximum = ("arith.addi", "arith.maxsi") if kind == "i32" else ("arith.addf", "arith.maximumf")
    parallel = ", ".join(['"parallel"'] * len(shape))
    return f"""{text}  %e2 = tensor.empty({size}) : {out}
  %y = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> (d{len(shape) - 1})>,
      affine_map<({dims}) -> ({dims})>], iterator_types = [{parallel}]}}
      ins({value}, %b : {out}, tensor<{shape[-1]}x{kind}>) outs(%e2 : {out}) {{
  ^bb0(%u: {kind}, %v: {kind}, %o: {kind}):
    %0 = {add} %u, %v : {kind}
    %1 = {maximum} %0, %zero : {kind}
    linalg.yield %1 : {kind}
  }} -> {out}
  return %y : {out}
}}
"""


def convolution_case(rng):
    kind = rng.choice(["f32", "f32", "f64", "bf16", "i8"])
    # Of pixels that lie apart; dot instructions take groups of 16.
    n, c = rng.integers(1, 4), rng.choice([2, 3, 5, 8, 16, 17, 33] if kind in ("f32", "f64") else [16, 48])
    f, r, s = rng.choice([2, 7, 16, 31, 40, 65]), rng.integers(1, 5), rng.integers(1, 5)
    stride, dilation = rng.integers(1, 4, 2), rng.integers(1, 3, 2)
    h = (rng.integers(1, 10) - 1) * stride[0] + (r - 1) * dilation[0] + rng.integers(1, 3)
    w = (rng.integers(1, 20) - 1) * stride[1] + (s - 1) * dilation[1] + rng.integers(1, 3)
    rows_first, is_open, bias, filled = rng.random(4) < (0.4, 0.3, 0.6, 0.7)
    x, k = draw(rng, (n, h, w, c), kind), draw(rng, (f, r, s, c) if rows_first else (r, s, c, f), kind)
    sums = SUMS[kind]
    answer = convolution(rng, x, k, stride, dilation, rows_first)
    b, start = draw(rng, (f,), sums), draw(rng, answer.shape, sums)
    op, size = f"conv_2d_nhwc_{'fhwc' if rows_first else 'hwcf'}", "%d" if is_open else ""
    image, weights, out = tensor(x.shape, kind, is_open), tensor(k.shape, kind), tensor(answer.shape, sums, is_open)
    text = f"""func.func @main(%x: {image}, %w: {weights}, %b: tensor<{f}x{sums}>, %c: {out}) -> {out} {{
  %zero = arith.constant {'0' if sums == 'i32' else '0.0'} : {sums}
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : {image}
  %e = tensor.empty({size}) : {out}
  %z = linalg.fill ins(%zero : {sums}) outs(%e : {out}) -> {out}
  %p = linalg.{op} {{strides = dense<[{stride[0]}, {stride[1]}]> : tensor<2xi64>, dilations = dense<[{dilation[0]}, {dilation[1]}]> : tensor<2xi64>}}
      ins(%x, %w : {image}, {weights}) outs({'%z' if filled else '%c'} : {out}) -> {out}
"""
    answer = answer if filled else answer + exact(start)
    name = f"{op} {kind} {'x'.join(map(str, (*x.shape, *k.shape)))} stride {stride} dilation {dilation}"
    return name, follow(text, "%p", sums, answer.shape, out, size, bias), [x, k, b, start], answer, bias


def einsum_case(rng, spec):
    kind = rng.choice(["f32", "f64"])
    (left, right), result = spec.split("->")[0].split(","), spec.split("->")[1]
    sizes = {letter: int(rng.integers(2, 12)) for letter in sorted(set(left + right))}
    x, y = (draw(rng, [sizes[letter] for letter in term], kind) for term in (left, right))
    answer = np.einsum(spec, exact(x), exact(y))
    b, start = draw(rng, answer.shape[-1:], kind), draw(rng, answer.shape, kind)
    bias = rng.random() < 0.5
    letters = sorted(sizes)
    maps = [f"affine_map<({', '.join(letters)}) -> ({', '.join(term)})>" for term in (left, right, result)]
    roles = ['"parallel"' if letter in result else '"reduction"' for letter in letters]
    ins, out = [tensor(x.shape, kind), tensor(y.shape, kind)], tensor(answer.shape, kind)
    text = f"""func.func @main(%x: {ins[0]}, %w: {ins[1]}, %b: tensor<{answer.shape[-1]}x{kind}>, %c: {out}) -> {out} {{
  %zero = arith.constant 0.0 : {kind}
  %p = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(roles)}]}}
      ins(%x, %w : {', '.join(ins)}) outs(%c : {out}) {{
  ^bb0(%u: {kind}, %v: {kind}, %s: {kind}):
    %m = arith.mulf %u, %v : {kind}
    %t = arith.addf %s, %m : {kind}
    linalg.yield %t : {kind}
  }} -> {out}
"""
    return f"{spec} {kind} {sizes}", follow(text, "%p", kind, answer.shape, out, "", bias), [x, y, b, start], answer + exact(start), bias


def judge(tools, case, folder):
    """What is wrong, or nothing."""
    name, text, arrays, answer, bias = case
    path, merged = f"{folder}/a.mlir", f"{folder}/b.mlir"
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([tools[0], path, f"--pass-pipeline={MERGE}", "-o", merged], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    with open(merged) as file:
        is_merged = '"parallel", "parallel", "reduction"]' in file.read()
    if not is_merged and (HAS_BYTE_DOTS or arrays[0].dtype != np.int8):
        return "not merged"
    if bias:
        answer = np.maximum(answer + exact(arrays[2]), 0)
    ins = []
    for i, array in enumerate(arrays):
        np.save(f"{folder}/in{i}.npy", array)
        ins.append(f"--in={folder}/in{i}.npy")
    for flag in ("--check-against=interpret", "--target=interpret"):
        done = subprocess.run([tools[1], merged, flag, *ins, f"--out={folder}/out.npy"], capture_output=True, text=True)
        if done.returncode:
            return done.stdout + done.stderr
        seen = np.load(f"{folder}/out.npy").astype("f8")
        if seen.shape != answer.shape or not np.all(np.abs(seen - answer) <= 1e-4 * (1 + np.abs(answer)) * (answer.dtype.kind == "f")):
            return f"{flag}: differs from numpy by {np.abs(seen - answer).max()}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", nargs=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=12)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.count):
            rng = np.random.default_rng(options.seed + i)
            case = einsum_case(rng, EINSUMS[i // 3 % len(EINSUMS)]) if i % 3 == 2 else convolution_case(rng)
            fault = judge(options.tools, case, folder)
            wrong += bool(fault)
            print(f"{options.seed + i}: {case[0]}: {'WRONG ' + fault if fault else 'right'}")
    print(f"{options.count} programs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
