"""Products of warpgroups in every layout that a descriptor says: kernels that copy their factors by TMA, or hold the left
one in registers ("g"), and multiply them by wgmma, one for each case of types, sizes, order and swizzle.

wgmma.py print CASE                the program of a case
wgmma.py list                      the names of all cases
wgmma.py ptx BUILD [CASE…]         each case is accepted by ptxas, without advisories
wgmma.py run TARGET BUILD [CASE…]  each case gives on TARGET (emulate:sm_90a, cuda) what numpy does

Sizes of the tensors are no multiples of the tiles: TMA fills with zeros, stores are cut off.
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from product_cases import Runner, encoded, main  # noqa: E402

BYTES = {"f16": 2, "bf16": 2, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1}
DEPTH = {2: 16, 1: 32}
SUMS = {"i8": "i32"}


def factors(count, axis, step=1):
    """Steps of `count` positions along an axis, the power of two first: an odd factor is outermost."""
    odd = count
    while odd % 2 == 0:
        odd //= 2
    parts = [(count // odd, step), (odd, step * (count // odd))]
    return [f"{size}:d{axis}" + (f"*{by}" if by > 1 else "") for size, by in parts if size > 1]


def layout(rows, depth, bytes_, row_axis, order, swizzle):
    """Of a factor whose neighbours are along k (order "k") or along its rows ("r"), in boxes of the swizzle's bytes."""
    piece = 16 // bytes_
    inner, outer = (1 - row_axis, row_axis) if order == "k" else (row_axis, 1 - row_axis)
    sizes = {row_axis: rows, 1 - row_axis: depth}
    width = (swizzle or 16) // bytes_
    swizzled = {0: 0, 32: 1, 64: 2, 128: 3}[swizzle]
    steps = [f"{width}:d{inner}"]
    for bit in range(3):  # of the row in its group of eight
        at = bit - (3 - swizzled)
        step = f"d{outer}" + (f"*{1 << bit}" if bit else "")
        steps.append(f"2:{step}" + (f"+d{inner}" + (f"*{piece << at}" if piece << at > 1 else "") if at >= 0 else ""))
    rest = factors(sizes[outer] // 8, outer, 8)
    more = factors(sizes[inner] // width, inner, width)
    odd = [s for s in rest + more if int(s.split(":")[0]) % 2]
    return "offset [" + ", ".join(steps + [s for s in rest + more if s not in odd] + odd) + "]"


class Case:
    def __init__(self, element, m, n, depth, a, b):
        self.element, self.m, self.n, self.depth, self.a, self.b = element, m, n, depth, a, b
        self.name = f"{element}_{m}x{n}x{depth}_{a[0]}{a[1]}_{b[0]}{b[1]}"
        self.bytes = BYTES[element]
        self.sum = SUMS.get(element, "f32")

    def program(self):
        e, m, n, k = self.element, self.m, self.n, self.depth
        groups = m // 64
        kind = {"f8E4M3FN": "f8.", "f8E5M2": "f8.", "i8": "i8."}.get(e, "")
        warps = f"4:d0*16, {groups}:d0*64" if groups > 1 else "4:d0*16"
        columns = ", ".join(factors(n // 8, 1, 8))
        acc = f"reg [2:d1, 2:d0*8{', ' + columns if columns else ''}], lane [4:d1*2, 8:d0], warp [{warps}]"
        # A factor whose neighbours are along the other axis is transposed in memory.
        views = {}
        for name, (rows, row_axis, order) in {"A": (m, 0, self.a[0]), "B": (n, 1, self.b[0])}.items():
            shape = (rows, k) if row_axis == 0 else (k, rows)
            views[name] = (f"!tile.view<{shape[0]}x{shape[1]}x{e}" +
                           (", order = [1, 0]>" if (order == "r") == (row_axis == 0) else ">"))
        memory = f"memref<?x?x{e}>"
        buffers = {"A": f"!tile.buffer<{m}x{k}x{e}, #sa, shared>", "B": f"!tile.buffer<{k}x{n}x{e}, #sb, shared>"}
        isHeld = self.a[0] == "g"
        expect = (n if isHeld else m + n) * k * self.bytes
        word = 4 // self.bytes
        steps = ", ".join([f"{word}:d1", "2:d0*8", f"2:d1*{4 * word}", *factors(k // (8 * word), 1, 8 * word)])
        fragment = f"reg [{steps}], lane [4:d1*{word}, 8:d0], warp [{warps}]"
        left = f"tensor<{m}x{k}x{e}, #fa>" if isHeld else buffers["A"]
        signals = "signals %full[%k]"
        take = (f"%x = tile.load %A[%i, %k] : {views['A']} -> {left}" if isHeld else
                f"tile.copy_async %A[%i, %k] to %x engine \"tma\" {signals} : {views['A']} to {left}, !tile.barrier<1>")
        layouts = f"#fa = #tile.layout<{fragment}>" if isHeld else f"#sa = #tile.layout<{layout(m, k, self.bytes, 0, *self.a)}>"
        place = "" if isHeld else f"  %x = tile.alloc : {left}\n"
        zero = "0" if self.sum == "i32" else "0.0"
        divisor = 16 // self.bytes
        return f"""#acc = #tile.layout<{acc}>
{layouts}
#sb = #tile.layout<{layout(n, k, self.bytes, 1, *self.b)}>
tile.kernel @product(%a_: {memory}, %b_: {memory}, %c: memref<?x?x{self.sum}>)
    attributes {{machine = #tile.machine<"sm_90a">, warps = {4 * groups} : i32}} {{
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [{divisor}, 1] : {memory}
  %b = tile.assume %b_ align 16 strides [{divisor}, 1] : {memory}
  %A = tile.view %a : {memory} to {views["A"]}
  %B = tile.view %b : {memory} to {views["B"]}
  %C = tile.view %c : memref<?x?x{self.sum}> to !tile.view<{m}x{n}x{self.sum}>
  %nk = tile.num_tiles %A dim 1 : {views["A"]}
{place}  %y = tile.alloc : {buffers["B"]}
  %full = tile.alloc : !tile.barrier<1>
  %zero = arith.constant dense<{zero}> : tensor<{m}x{n}x{self.sum}, #acc>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<{m}x{n}x{self.sum}, #acc>) {{
    tile.barrier_arrive %full[%k] expect {expect} : !tile.barrier<1>
    {take}
    tile.copy_async %B[%k, %j] to %y engine "tma" signals %full[%k] : {views["B"]} to {buffers["B"]}, !tile.barrier<1>
    tile.barrier_wait %full[%k] : !tile.barrier<1>
    %u = tile.mma_async %x, %y, %t atom "wgmma.{kind}m64n{n}k{DEPTH[self.bytes]}"
        : {left}, {buffers["B"]} -> tensor<{m}x{n}x{self.sum}, #acc>
    %v = tile.mma_wait %u pending 0 : tensor<{m}x{n}x{self.sum}, #acc>
    tile.sync
    scf.yield %v : tensor<{m}x{n}x{self.sum}, #acc>
  }}
  tile.store %sum, %C[%i, %j] : tensor<{m}x{n}x{self.sum}, #acc>, !tile.view<{m}x{n}x{self.sum}>
  tile.return
}}
func.func @main(%a: tensor<?x?x{e}>, %b: tensor<?x?x{e}>, %c: tensor<?x?x{self.sum}>) -> tensor<?x?x{self.sum}> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %c, %c0 : tensor<?x?x{self.sum}>
  %n = tensor.dim %c, %c1 : tensor<?x?x{self.sum}>
  %rows = arith.constant {m} : index
  %columns = arith.constant {n} : index
  %gm = arith.ceildivui %m, %rows : index
  %gn = arith.ceildivui %n, %columns : index
  %e = tensor.empty(%m, %n) : tensor<?x?x{self.sum}>
  %r = tile.launch @product grid(%gm, %gn) ins(%a, %b : tensor<?x?x{e}>, tensor<?x?x{e}>) outs(%e : tensor<?x?x{self.sum}>) -> tensor<?x?x{self.sum}>
  return %r : tensor<?x?x{self.sum}>
}}
"""

    def data(self):
        """Small integers, exact in every type: a, b as they lie in memory, a third argument of the result's size, the result."""
        random = np.random.default_rng(7)
        pad = 16 // self.bytes
        m, n, k = 2 * self.m - 3 * pad, self.n + 5 * pad, 2 * self.depth - pad
        a, b = random.integers(-3, 4, (m, k)), random.integers(-3, 4, (k, n))
        result = (a @ b).astype(np.int32 if self.sum == "i32" else np.float32)
        a, b = (a.T if self.a[0] == "r" else a), (b if self.b[0] == "r" else b.T)
        return [encoded(a, self.element), encoded(b, self.element), np.zeros_like(result)], result


def all_cases():
    orders = [(order, swizzle) for order in "kr" for swizzle in (128, 64, 32, 0)]
    for i, a in enumerate(orders):
        yield Case("f16", 128, 128, 64, a, orders[(3 * i + 4) % 8])
    yield Case("f16", 64, 256, 64, ("k", 128), ("r", 128))
    yield Case("f16", 64, 96, 64, ("k", 128), ("k", 128))
    yield Case("f16", 64, 8, 64, ("k", 64), ("k", 128))
    yield Case("bf16", 128, 64, 32, ("r", 128), ("k", 64))
    yield Case("f8E4M3FN", 64, 64, 128, ("k", 128), ("k", 128))
    yield Case("f8E5M2", 64, 32, 64, ("k", 64), ("k", 0))
    yield Case("i8", 128, 64, 64, ("k", 32), ("k", 64))
    yield Case("f16", 128, 128, 64, ("g", 0), ("r", 128))
    yield Case("bf16", 64, 96, 32, ("g", 0), ("k", 64))
    yield Case("f8E4M3FN", 64, 64, 64, ("g", 0), ("k", 64))
    yield Case("i8", 64, 32, 128, ("g", 0), ("k", 128))


sys.exit(main(sys.argv[1:], all_cases(), Runner()))
