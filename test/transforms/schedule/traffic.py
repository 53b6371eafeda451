"""Predicted traffic against counted traffic: global memory's bytes of every kernel, shared memory's of matrix products.

Usage: traffic.py TILE_OPT TILE_RUN CHIP…     constructs schedules for each program, runs it on the emulator of each
CHIP and compares `traffic` with global_bytes_read + global_bytes_written and, of products by matrix instructions, with
shared_bytes. Prints one line per program and chip and, last, how many were wrong.

Shared memory is predicted for two warps or more along both m and n: an operand that one warp alone needs may be loaded
past it, as the layouts decide; they may also exchange the finished tile there, once: twice the bytes written. A
pipelined loop over a convolution's window copies some of the input that no round
uses, and every lane asks for the index that it gathers by, so there the prediction is a lower bound.
"""
import json
import re
import subprocess
import sys
import tempfile

ZERO = """  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {out}
  %c = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
"""


def function(arguments, out, body, fill=True):
    parameters = ", ".join(f"%{name}: {type}" for name, type in arguments)
    start = ZERO.format(out=out) if fill else f"  %c = tensor.empty() : {out}\n"
    return f"func.func @main({parameters}) -> {out} {{\n{start}  {body}\n  return %r : {out}\n}}\n"


def tensor(*shape):
    return "tensor<" + "x".join(map(str, shape)) + ">"


def product(m, n, k, element="f16"):
    a, b, out = tensor(m, k, element), tensor(k, n, element), tensor(m, n, "f32")
    body = f"%r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {out}) -> {out}"
    return function([("a", a), ("b", b)], out, body)


GENERIC = """%r = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
    affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%a, %b : {a}, {b}) outs(%c : {out}) attrs = {{tile.schedule = #tile.schedule<block = {block}, warps = {warps}, stages = {stages}>}} {{
  ^bb0(%x: f16, %y: f16, %s: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  }} -> {out}"""


def scheduled(m, n, k, block, warps, stages):
    a, b, out = tensor(m, k, "f16"), tensor(k, n, "f16"), tensor(m, n, "f32")
    return function([("a", a), ("b", b)], out, GENERIC.format(a=a, b=b, out=out, block=block, warps=warps, stages=stages))


def batched(batch, m, n, k):
    a, b, out = tensor(batch, m, k, "f16"), tensor(batch, k, n, "f16"), tensor(batch, m, n, "f32")
    body = f"%r = linalg.batch_matmul ins(%a, %b : {a}, {b}) outs(%c : {out}) -> {out}"
    return function([("a", a), ("b", b)], out, body)


def convolution(side, channels, filters, window):
    a, b = tensor(1, side + window - 1, side + window - 1, channels, "f16"), tensor(window, window, channels, filters, "f16")
    out = tensor(1, side, side, filters, "f32")
    body = (f"%r = linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}} "
            f"ins(%a, %b : {a}, {b}) outs(%c : {out}) -> {out}")
    return function([("a", a), ("b", b)], out, body)


def add(*shape):
    t = tensor(*shape, "f32")
    return function([("a", t), ("b", t)], t, f"%r = linalg.add ins(%a, %b : {t}, {t}) outs(%c : {t}) -> {t}", fill=False)


def transpose(m, n):
    a, out = tensor(m, n, "f32"), tensor(n, m, "f32")
    return function([("a", a)], out, f"%r = linalg.transpose ins(%a : {a}) outs(%c : {out}) permutation = [1, 0]", fill=False)


def rows(m, n):
    a, out = tensor(m, n, "f32"), tensor(m, "f32")
    return function([("a", a)], out, f"%r = linalg.reduce {{arith.addf}} ins(%a : {a}) outs(%c : {out}) dimensions = [1]")


def running_sum(m, n):
    a, out = tensor(m, n, "f32"), tensor(n, "f32")
    body = f"""%y = tensor.empty() : {a}
  %r, %s = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
    iterator_types = ["reduction", "parallel"]}} ins(%a : {a}) outs(%y, %c : {a}, {out}) {{
  ^bb0(%x: f32, %o: f32, %t: f32):
    %0 = arith.addf %t, %x : f32
    linalg.yield %0, %0 : f32, f32
  }} -> ({a}, {out})"""
    return function([("a", a)], out, body).replace(f"-> {out} {{", f"-> {a} {{", 1).replace(f"return %r : {out}", f"return %r : {a}")


def gather(n, rows, columns):
    table, index, out = tensor(n, columns, "f32"), tensor(rows, "i32"), tensor(rows, columns, "f32")
    body = f"""%r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}} ins(%i : {index}) outs(%c : {out}) {{
  ^bb0(%x: i32, %o: f32):
    %n = arith.constant {n} : i32
    %u = arith.remui %x, %n : i32
    %at = arith.index_castui %u : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%at, %j] : {table}
    linalg.yield %v : f32
  }} -> {out}"""
    return function([("t", table), ("i", index)], out, body, fill=False)


# Name, program, whether the prediction is exact.
PROGRAMS = [
    ("product 256", product(256, 256, 256), True),
    ("product 128x192x96", product(128, 192, 96), True),
    ("product as scheduled", scheduled(128, 128, 128, [64, 64, 32], [2, 2, 1], 3), True),
    ("product as scheduled, 8 warps", scheduled(256, 128, 64, [128, 128, 32], [2, 4, 1], 2), True),
    ("product odd", product(61, 77, 50), True),
    ("product f32", product(64, 96, 80, "f32"), True),
    ("a row", product(1, 256, 512), True),  # of no padding: a reduction reads B once
    ("four rows", product(4, 256, 512), True),
    ("batched", batched(3, 64, 64, 64), True),
    ("convolution", convolution(16, 32, 32, 3), False),
    ("add", add(96, 1024), True),
    ("add odd", add(7, 13, 61), True),
    ("transpose", transpose(256, 192), True),
    ("transpose odd", transpose(61, 45), True),
    ("sum of rows", rows(64, 1000), True),
    ("running sum", running_sum(40, 500), True),
    ("gather", gather(300, 64, 256), False),
]
# Products whose grid alone leaves cores idle: their parts, and the sum of these.
SPLIT = [
    ("split 64x64x4096", product(64, 64, 4096), True),
    ("split 16x256x4096", product(16, 256, 4096), True),
]
CONSTRUCT = "builtin.module(func.func(linalg-generalize-named-ops,canonicalize,%stile-construct-tiles{chip=%s}))"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def predicted(text, kernels):
    """Of the schedules that move most (a fill moves least), one for each kernel: block and warps of the first, bytes of global and
    of shared memory."""
    found = []
    for block, warps, traffic in re.findall(
            r'#tile\.schedule<kind = "\w+", block = (\[[^]]*\]), warps = (\[[^]]*\])[^>]*?traffic = (\[[^]]*\])', text):
        numbers = json.loads(traffic)
        found.append((numbers[0], numbers[1] if len(numbers) > 1 else 0, json.loads(block), json.loads(warps)))
    found = sorted(found, reverse=True)[:kernels]
    return found[0][2], found[0][3], sum(each[0] for each in found), sum(each[1] for each in found)


def counted(stats):
    kernels = [k for k in stats["kernels"].values() if k["global_bytes_read"]]  # what fills an output reads nothing
    products = [k for k in kernels if k["mma_instructions"]] or kernels  # what adds parts up may exchange sums between warps
    moved = sum(k["global_bytes_read"] + k["global_bytes_written"] for k in kernels)
    return (len(kernels), moved, sum(k["shared_bytes"] for k in products), 2 * sum(k["global_bytes_written"] for k in products),
            sum(k["mma_instructions"] for k in kernels))


def main(tile_opt, tile_run, *chips):
    wrong = judged = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, is_exact in PROGRAMS + SPLIT:
            kernels = 2 if name.startswith("split") else 1
            for chip in chips:
                split = f"tile-construct-tiles{{chip={chip}}},tile-split-reductions{{chip={chip}}}," if kernels == 2 else ""
                path, planned, stats = f"{folder}/a.mlir", f"{folder}/b.mlir", f"{folder}/s.json"
                with open(path, "w") as file:
                    file.write(text)
                ir = run([tile_opt, path, f"--pass-pipeline={CONSTRUCT % (split, chip)}"])
                with open(planned, "w") as file:
                    file.write(ir)
                run([tile_run, planned, f"--target=emulate:{chip}", f"--stats={stats}", "--check-against=interpret"])
                with open(stats) as file:
                    launched, seen, shared, exchange, instructions = counted(json.load(file))
                block, warps, wanted, wanted_shared = predicted(ir, kernels)
                knows_shared = is_exact and instructions and min(warps[:2]) > 1
                right = launched == kernels and (wanted == seen if is_exact else wanted <= seen)
                right = right and (not knows_shared or shared - wanted_shared in (0, exchange))
                wrong += not right
                judged += bool(knows_shared)
                print(f"{name} on {chip}: {block} by {warps}, global {wanted} predicted, {seen} counted; shared "
                      f"{wanted_shared}, {shared}{'' if knows_shared else ' (not judged)'}{'' if right else ' WRONG'}")
    print(f"{len(PROGRAMS + SPLIT) * len(chips)} runs, {judged} with shared memory, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
