"""TileLang's contender in tile-bench's gpu-static: lowered to CUDA, which nvcc compiles. No GPU is needed. Sizes are constants, since
pipelining with three stages refuses those that are not."""
import importlib.metadata
import subprocess
import time
from pathlib import Path

import tilelang
import tilelang.language as T
from tvm.target import Target

VERSION = f"tilelang {importlib.metadata.version('tilelang')}"
LOG2E_BY_ROOT_D = 1.4426950408889634 / 128**0.5


def gemm(tile, threads, stages, m=4096, n=4096, k=4096):
    tm, tn, tk = tile

    @T.prim_func
    def main(a: T.Tensor((m, k), "float16"), b: T.Tensor((k, n), "float16"), c: T.Tensor((m, n), "float16")):
        with T.Kernel(T.ceildiv(n, tn), T.ceildiv(m, tm), threads=threads) as (bx, by):
            x = T.alloc_shared((tm, tk), "float16")
            y = T.alloc_shared((tk, tn), "float16")
            total = T.alloc_fragment((tm, tn), "float32")
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, tk), num_stages=stages):
                T.copy(a[by * tm, step * tk], x)
                T.copy(b[step * tk, bx * tn], y)
                T.gemm(x, y, total)
            T.copy(total, c[by * tm, bx * tn])
    return main


def attention(tile, threads, stages, batch=8, heads=16, length=4096):
    tm, tn, d = tile
    shape, scale = (batch, heads, length, d), LOG2E_BY_ROOT_D

    @T.prim_func
    def main(q: T.Tensor(shape, "float16"), k: T.Tensor(shape, "float16"), v: T.Tensor(shape, "float16"), o: T.Tensor(shape, "float16"),
             lse: T.Tensor((batch, heads, length), "float32")):
        with T.Kernel(T.ceildiv(length, tm), heads, batch, threads=threads) as (bx, by, bz):
            queries = T.alloc_shared([tm, d], "float16")
            keys = T.alloc_shared([tn, d], "float16")
            values = T.alloc_shared([tn, d], "float16")
            out = T.alloc_shared([tm, d], "float16")
            scores = T.alloc_fragment([tm, tn], "float32")
            p = T.alloc_fragment([tm, tn], "float16")
            total = T.alloc_fragment([tm, d], "float32")
            most = T.alloc_fragment([tm], "float32")
            before = T.alloc_fragment([tm], "float32")
            shrink = T.alloc_fragment([tm], "float32")
            part = T.alloc_fragment([tm], "float32")
            terms = T.alloc_fragment([tm], "float32")
            T.copy(q[bz, by, bx * tm:(bx + 1) * tm, :], queries)
            T.fill(total, 0)
            T.fill(terms, 0)
            T.fill(most, -1.0e30)
            for j in T.Pipelined(T.min(T.ceildiv(length, tn), T.ceildiv((bx + 1) * tm, tn)), num_stages=stages):
                T.copy(k[bz, by, j * tn:(j + 1) * tn, :], keys)
                for row, column in T.Parallel(tm, tn):
                    scores[row, column] = T.if_then_else(bx * tm + row >= j * tn + column, 0, -1.0e30)
                T.gemm(queries, keys, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(most, before)
                T.reduce_max(scores, most, dim=1, clear=False)
                for row in T.Parallel(tm):
                    shrink[row] = T.exp2(before[row] * scale - most[row] * scale)
                for row, column in T.Parallel(tm, tn):
                    scores[row, column] = T.exp2(scores[row, column] * scale - most[row] * scale)
                T.reduce_sum(scores, part, dim=1)
                for row in T.Parallel(tm):
                    terms[row] = terms[row] * shrink[row] + part[row]
                T.copy(scores, p)
                for row, column in T.Parallel(tm, d):
                    total[row, column] *= shrink[row]
                T.copy(v[bz, by, j * tn:(j + 1) * tn, :], values)
                T.gemm(p, values, total, policy=T.GemmWarpPolicy.FullRow)
            for row, column in T.Parallel(tm, d):
                total[row, column] /= terms[row]
            T.copy(total, out)
            T.copy(out, o[bz, by, bx * tm:(bx + 1) * tm, :])
            for row in T.Parallel(tm):
                terms[row] = T.log2(terms[row]) + most[row] * scale
            T.copy(terms, lse[bz, by, bx * tm:(bx + 1) * tm])
    return main


def variants(chip, _):
    # HIP source would want hipcc to go on.
    return [] if chip.startswith("gfx") else [dict(threads=threads, stages=stages) for threads in (128, 256) for stages in (2, 3)]


def build(kernel, chip, tile, variant, output):
    """Writes the cubin and returns the seconds of both steps: lowering, and nvcc."""
    source, here = output.with_suffix(".cu"), Path(tilelang.__file__).parent
    start = time.perf_counter()
    target = Target({"kind": "cuda", "arch": chip})
    with target:
        source.write_text(tilelang.lower({"gemm": gemm, "attention": attention}[kernel](tile, **variant), target=target).kernel_source)
    subprocess.run(["nvcc", "-std=c++17", "-O3", f"-arch={chip}", "-cubin", f"-I{here}/src", f"-I{here}/3rdparty/cutlass/include",
                    "-o", output, source], check=True, capture_output=True)
    return time.perf_counter() - start
