"""Triton's contender in tile-bench's gpu-static: a product and attention as its tutorials write them, masks at the edges. No GPU is needed."""
import os
import tempfile
import time

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

VERSION = f"triton {triton.__version__}"


@triton.jit
def gemm(a, b, c, m, n, k, stride_a, stride_b, stride_c, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    columns = tl.program_id(1) * TN + tl.arange(0, TN)
    depths = tl.arange(0, TK)
    pa = a + (rows % m)[:, None] * stride_a + depths[None, :]
    pb = b + depths[:, None] * stride_b + (columns % n)[None, :]
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, TK)):
        x = tl.load(pa, mask=depths[None, :] < k - step * TK, other=0.0)
        y = tl.load(pb, mask=depths[:, None] < k - step * TK, other=0.0)
        total = tl.dot(x, y, total)
        pa += TK
        pb += TK * stride_b
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * stride_c + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def attention(q, k, v, o, lse, heads, queries, keys, scale, TM: tl.constexpr, TN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(2) * heads + tl.program_id(1)
    q += head.to(tl.int64) * queries * D
    o += head.to(tl.int64) * queries * D
    k += head.to(tl.int64) * keys * D
    v += head.to(tl.int64) * keys * D
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    columns, depths = tl.arange(0, TN), tl.arange(0, D)
    x = tl.load(q + rows[:, None] * D + depths[None, :], mask=rows[:, None] < queries, other=0.0)
    total = tl.zeros((TM, D), dtype=tl.float32)
    most = tl.full((TM,), -1.0e30, dtype=tl.float32)
    terms = tl.zeros((TM,), dtype=tl.float32)
    for first in range(0, tl.minimum((tl.program_id(0) + 1) * TM, keys), TN):
        here = first + columns
        kt = tl.load(k + here[None, :] * D + depths[:, None], mask=here[None, :] < keys, other=0.0)
        scores = tl.where(here[None, :] <= rows[:, None], tl.dot(x, kt) * scale, -1.0e30)
        larger = tl.maximum(most, tl.max(scores, 1))
        p = tl.math.exp2(scores - larger[:, None])
        shrink = tl.math.exp2(most - larger)
        terms = terms * shrink + tl.sum(p, 1)
        y = tl.load(v + here[:, None] * D + depths[None, :], mask=here[:, None] < keys, other=0.0)
        total = tl.dot(p.to(tl.float16), y, total * shrink[:, None])
        most = larger
    tl.store(o + rows[:, None] * D + depths[None, :], (total / terms[:, None]).to(tl.float16), mask=rows[:, None] < queries)
    tl.store(lse + head * queries + rows, most + tl.math.log2(terms), mask=rows < queries)


def variants(chip, kernel):
    if kernel.endswith(".ttir"):  # as many threads as we take
        return [dict(num_warps=4, num_stages=stages, ptx_version=80) for stages in (1, 3)]
    return [dict(num_warps=warps, num_stages=stages) for warps in (4, 8) for stages in ((2,) if chip.startswith("gfx") else (2, 3))]


def source_of(kernel, tile):
    if kernel == "gemm":
        pointers, aligned = dict.fromkeys("abc", "*fp16"), ["a", "b", "c", "stride_a", "stride_b", "stride_c"]
        numbers = dict.fromkeys(("m", "n", "k", "stride_a", "stride_b", "stride_c"), "i32")
        constants = dict(zip(("TM", "TN", "TK"), tile))
    else:
        pointers = dict.fromkeys("qkvo", "*fp16") | {"lse": "*fp32"}
        aligned, numbers = list(pointers), {"heads": "i32", "queries": "i32", "keys": "i32", "scale": "fp32"}
        constants = dict(zip(("TM", "TN", "D"), tile))
    signature = pointers | numbers | dict.fromkeys(constants, "constexpr")
    names = list(signature)
    return ASTSource(fn={"gemm": gemm, "attention": attention}[kernel], signature=signature, constexprs=constants,
                     attrs={(names.index(name),): [["tt.divisibility", 16]] for name in aligned})


def build(kernel, chip, tile, variant, output):
    """Writes the code object and returns the seconds, with an empty cache."""
    target = GPUTarget("hip", chip, 64) if chip.startswith("gfx") else GPUTarget("cuda", int(chip[3:].rstrip("a")), 32)
    with tempfile.TemporaryDirectory() as fresh:
        os.environ["TRITON_CACHE_DIR"] = fresh
        start = time.perf_counter()
        source = kernel if kernel.endswith(".ttir") else source_of(kernel, tile)
        made = triton.compile(source, target=target, options=variant)
        seconds = time.perf_counter() - start
    output.write_bytes(made.asm["hsaco" if chip.startswith("gfx") else "cubin"])
    return seconds
