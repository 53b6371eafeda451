"""Products that tile-specialize-warps divides among groups of warps: kernels of every type, order of the factors, tile and
epilogue, one for each case.

specialize_warps.py print CASE                the program of a case
specialize_warps.py list                      the names of all cases
specialize_warps.py ptx BUILD [CASE…]         each case is accepted by ptxas, without spills and advisories
specialize_warps.py run TARGET BUILD [CASE…]  each case gives on TARGET (interpret, emulate:sm_90a, cuda) what numpy does

Sizes of the tensors are no multiples of the tiles: TMA fills with zeros, stores are cut off. Rows are multiples of 16
bytes, as TMA wants them, except where a case says otherwise.
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from product_cases import Runner, encoded, main  # noqa: E402

PASS = "builtin.module(tile.kernel(tile-specialize-warps))"
BYTES = {"f16": 2, "bf16": 2, "f8E4M3FN": 1, "i8": 1, "f32": 4, "i32": 4}


class Case:
    """`a`, `b`: "k", neighbours are along the sum; "r", along the rows or columns. `start`: from where sums begin."""

    def __init__(self, element, tile, a="k", b="r", out=None, start="zero", epilogue="none", rows=None, is_odd=False,
                 sum=None, warps=None):
        self.element, self.tile, self.a, self.b = element, tile, a, b
        self.sum = sum or ("i32" if element == "i8" else "f32")
        self.out = out or self.sum
        self.start, self.epilogue, self.rows, self.is_odd = start, epilogue, rows, is_odd
        self.warps = f", warps = {warps} : i32" if warps else ""
        m, n, k = tile
        self.name = "_".join([element + ("sums" if sum else ""), f"{m}x{n}x{k}", a + b, self.out, start, epilogue]
                             + ([f"rows{rows}"] if rows is not None else []) + (["odd"] if is_odd else [])
                             + ([f"warps{warps}"] if warps else []))

    def sizes(self):
        m, n, k = self.tile
        pad = 1 if self.is_odd else 16 // BYTES[self.element]
        cut = pad if self.a == "r" else 3
        return (2 * m - cut if self.rows is None else self.rows), n + 5 * pad, 2 * k + 3 * pad

    def program(self):
        m, n, k = self.tile
        e, out, acc = self.element, self.out, self.sum
        memory, result = f"memref<?x?x{e}>", f"memref<?x?x{out}>"
        viewA = f"!tile.view<{m}x{k}x{e}" + (", order = [1, 0]>" if self.a == "r" else ">")
        viewB = f"!tile.view<{k}x{n}x{e}" + (", order = [1, 0]>" if self.b == "k" else ">")
        viewC = f"!tile.view<{m}x{n}x{out}>"
        sums, stored = f"tensor<{m}x{n}x{acc}>", f"tensor<{m}x{n}x{out}>"
        divisor = 1 if self.is_odd else 16 // BYTES[e]
        outDivisor = 1 if self.is_odd else 16 // BYTES[out]
        zero = "0" if acc == "i32" else "0.0"
        widen, narrow = ("arith.extf", "arith.truncf") if acc != "i32" else ("arith.extsi", "arith.trunci")
        lines = [f"%zero = arith.constant dense<{zero}> : {sums}"]
        start = "%zero"
        if self.start == "result":
            lines.append(f"%before = tile.load %C[%i, %j] : {viewC} -> {stored}")
            start = "%before"
            if out != acc:
                lines.append(f"%wide = {widen} %before : {stored} to {sums}")
                start = "%wide"
        tail, last = [], "%sum"
        if self.epilogue == "bias_relu":
            tail += [f"%bias = tile.load %D[%j] : !tile.view<{n}x{out}> -> tensor<{n}x{out}>",
                     f"%rows = tile.broadcast %bias axes [0] : tensor<{n}x{out}> -> {stored}"]
            wide = "%rows"
            if out != acc:
                tail.append(f"%biases = {widen} %rows : {stored} to {sums}")
                wide = "%biases"
            add, most = ("arith.addf", "arith.maximumf") if acc != "i32" else ("arith.addi", "arith.maxsi")
            tail += [f"%added = {add} %sum, {wide} : {sums}", f"%most = {most} %added, %zero : {sums}"]
            last = "%most"
        if out != acc:
            tail.append(f"%narrow = {narrow} {last} : {sums} to {stored}")
            last = "%narrow"
        body, end = "\n  ".join(lines), "\n  ".join(tail)
        tensor = f"tensor<?x?x{out}>"
        return f"""tile.kernel @product(%a_: {memory}, %b_: {memory}, %d: memref<?x{out}>, %c_: {result})
    attributes {{machine = #tile.machine<"sm_90a">{self.warps}}} {{
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [{divisor}, 1] : {memory}
  %b = tile.assume %b_ align 16 strides [{divisor}, 1] : {memory}
  %c = tile.assume %c_ align 16 strides [{outDivisor}, 1] : {result}
  %C = tile.view %c : {result} to {viewC}
  %D = tile.view %d : memref<?x{out}> to !tile.view<{n}x{out}>
  %A = tile.view %a : {memory} to {viewA}
  %nk = tile.num_tiles %A dim 1 : {viewA}
  {body}
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = {start}) -> ({sums}) {{
    %B = tile.view %b : {memory} to {viewB}
    %x = tile.load %A[%i, %k] : {viewA} -> tensor<{m}x{k}x{e}>
    %y = tile.load %B[%k, %j] : {viewB} -> tensor<{k}x{n}x{e}>
    %u = tile.mma %x, %y, %t : tensor<{m}x{k}x{e}>, tensor<{k}x{n}x{e}> -> {sums}
    scf.yield %u : {sums}
  }}
  {end}
  tile.store {last}, %C[%i, %j] : {stored}, {viewC}
  tile.return
}}
func.func @main(%a: tensor<?x?x{e}>, %b: tensor<?x?x{e}>, %d: tensor<?x{out}>, %c: {tensor}) -> {tensor} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %c, %c0 : {tensor}
  %n = tensor.dim %c, %c1 : {tensor}
  %rows = arith.constant {m} : index
  %columns = arith.constant {n} : index
  %gm = arith.ceildivui %m, %rows : index
  %gn = arith.ceildivui %n, %columns : index
  %r = tile.launch @product grid(%gm, %gn) ins(%a, %b, %d : tensor<?x?x{e}>, tensor<?x?x{e}>, tensor<?x{out}>) outs(%c : {tensor}) -> {tensor}
  return %r : {tensor}
}}
"""

    def data(self):
        """Small integers, exact in every type: the arguments as they lie in memory, and the result."""
        random = np.random.default_rng(7)
        m, n, k = self.sizes()
        a, b = random.integers(-2, 3, (m, k)), random.integers(-2, 3, (k, n))
        d, c = random.integers(-9, 10, n), random.integers(-9, 10, (m, n))
        result = a @ b + (c if self.start == "result" else 0)
        if self.epilogue == "bias_relu":
            result = np.maximum(result + d, 0)
        a, b = (a.T if self.a == "r" else a), (b if self.b == "r" else b.T)
        arrays = [encoded(a, self.element), encoded(b, self.element), encoded(d, self.out), encoded(c, self.out)]
        return arrays, encoded(result, self.out)


def all_cases():
    for tile in ((64, 64, 64), (64, 256, 64), (128, 128, 64), (256, 128, 64), (128, 256, 64), (128, 64, 32)):
        yield Case("f16", tile)
    for a in "kr":
        for b in "kr":
            yield Case("bf16", (128, 64, 64), a, b, out="bf16", epilogue="bias_relu")
    yield Case("f16", (128, 256, 64), out="f16", epilogue="bias_relu")
    yield Case("f16", (128, 128, 64), out="f16", start="result")
    yield Case("f16", (64, 128, 64), start="result", epilogue="bias_relu")
    yield Case("f16", (128, 128, 64), start="result", sum="f16", epilogue="bias_relu")
    yield Case("f16", (64, 128, 64), out="f16", epilogue="bias_relu", warps=8)
    yield Case("f8E4M3FN", (128, 128, 64), "k", "k", out="f16")
    yield Case("i8", (128, 64, 128), "k", "k")
    yield Case("f16", (128, 128, 64), out="f16", rows=1)
    yield Case("f16", (128, 128, 64), out="f16", rows=0)
    yield Case("f16", (64, 64, 64), out="f16", is_odd=True)


class Specialized(Runner):
    def fault(self, case, ptx):
        is_split = "wgmma.mma_async" in ptx
        if is_split == case.is_odd:
            return "wgmma, but its rows do not suit TMA" if is_split else "no wgmma"
        return ""

    def fault_of_statistics(self, case, path):
        passes = json.loads(path.read_text())["passes"]
        count = sum(row.get("specialized", 0) for row in passes.values()) if isinstance(passes, dict) else passes
        return f"{count} kernels specialized" if count != int(not case.is_odd) else ""


sys.exit(main(sys.argv[1:], all_cases(), Specialized(PASS)))
