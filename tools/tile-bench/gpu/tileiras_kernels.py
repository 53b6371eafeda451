"""CUDA Tile IR's contender in tile-bench's gpu-static: kernels in cuTile Python, compiled by tileiras. No GPU is needed."""
import importlib.metadata
import os
import shutil
import subprocess
import sysconfig
import time
from pathlib import Path

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

VERSION = f"cuda-tile {importlib.metadata.version('cuda-tile')}, tileiras {importlib.metadata.version('nvidia-cuda-tileiras')}"
# tileiras fails with "failed to compile Tile IR program" wherever these name another toolkit.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("CUDA_HOME", "CUDA_PATH")}


@ct.kernel
def gemm(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((tm, tn), 0, dtype=ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, step), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(step, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(x, y, total)
    ct.store(c, index=(i, j), tile=ct.astype(total, ct.float16))


@ct.kernel
def attention(q, k, v, o, lse, scale: float, tm: ct.Constant[int], tn: ct.Constant[int], d: ct.Constant[int]):
    i, h, b = ct.bid(0), ct.bid(1), ct.bid(2)
    x = ct.reshape(ct.load(q, index=(b, h, i, 0), shape=(1, 1, tm, d), padding_mode=ct.PaddingMode.ZERO), (tm, d))
    total = ct.full((tm, d), 0, dtype=ct.float32)
    most = ct.full((tm, 1), -1.0e30, dtype=ct.float32)
    terms = ct.full((tm, 1), 0, dtype=ct.float32)
    rows = (i * tm + ct.arange(tm, dtype=ct.int32))[:, None]
    columns = ct.arange(tn, dtype=ct.int32)[None, :]
    for j in range(min(ct.cdiv((i + 1) * tm, tn), ct.num_tiles(k, axis=2, shape=(1, 1, tn, d)))):
        kt = ct.load(k, index=(b, h, 0, j), shape=(1, 1, d, tn), order=(0, 1, 3, 2), padding_mode=ct.PaddingMode.ZERO)
        scores = ct.mma(x, ct.reshape(kt, (d, tn)), ct.full((tm, tn), 0, dtype=ct.float32)) * scale
        scores = ct.where(j * tn + columns <= rows, scores, -1.0e30)
        larger = ct.maximum(most, ct.max(scores, axis=-1, keepdims=True))
        p = ct.exp2(scores - larger)
        shrink = ct.exp2(most - larger)
        terms = terms * shrink + ct.sum(p, axis=-1, keepdims=True)
        y = ct.reshape(ct.load(v, index=(b, h, j, 0), shape=(1, 1, tn, d), padding_mode=ct.PaddingMode.ZERO), (tn, d))
        total = ct.mma(ct.astype(p, ct.float16), y, total * shrink)
        most = larger
    ct.store(o, index=(b, h, i, 0), tile=ct.reshape(ct.astype(total / terms, ct.float16), (1, 1, tm, d)))
    ct.store(lse, index=(b, h, i), tile=ct.reshape(most + ct.log2(terms), (1, 1, tm)))


def variants(chip, _):
    return [] if chip.startswith("gfx") else [dict(num_worker_warps=warps) for warps in (4, 8)]


def array(dtype, rank):
    return ArrayConstraint(dtype, rank, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False,
                           stride_constant=(None,) * (rank - 1) + (1,), stride_divisible_by=(8,) * (rank - 1) + (1,), base_addr_divisible_by=16)


def build(kernel, chip, tile, variant, output):
    """Writes the cubin and returns the seconds of both steps: Python to bytecode, and tileiras."""
    arrays = [array(ct.float16, 2)] * 3 if kernel == "gemm" else [array(ct.float16, 4)] * 4 + [array(ct.float32, 3), ScalarConstraint(ct.float32)]
    signature = KernelSignature([*arrays, *tile], CallingConvention.cutile_python_v1())
    bytecode = output.with_suffix(".tileirbc")
    tileiras = shutil.which("tileiras") or Path(sysconfig.get_path("platlib")) / "nvidia/cu13/bin/tileiras"
    start = time.perf_counter()
    function = {"gemm": gemm, "attention": attention}[kernel].replace_hints(**variant)
    export_kernel(function, [signature], str(bytecode), gpu_code=chip.rstrip("a"), output_format="tileir_bytecode")
    subprocess.run([tileiras, f"--gpu-name={chip.rstrip('a')}", "-O3", "-o", output, bytecode], env=ENVIRONMENT, check=True, capture_output=True)
    return time.perf_counter() - start
