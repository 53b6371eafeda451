"""Runs the sketch kernels of test/dialects/tile/programs on the interpreter, against numpy. Prints what is wrong.

The scheduled ones too: rings of asynchronous copies, barriers, partitions of warps.
"""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from kernel_harness import InterpretedKernels  # noqa: E402

random = np.random.default_rng(11)
failures = []


def ceil(a, b):
    return -(-a // b)


def f16(*shape):
    return random.uniform(-1, 1, shape).astype("f2")


def f32(*shape):
    return random.uniform(-1, 1, shape).astype("f4")


def empty(shape, dtype="f4"):
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else 77, dtype)


def check(file, name, arguments, grid, wants, tolerance=0.0):
    source = os.path.join(os.path.dirname(HERE), "dialects", "tile", "programs", file + ".mlir")
    InterpretedKernels(source, options.build).run(name, arguments, grid)
    for number, want in wants.items():
        with np.errstate(invalid="ignore"):
            difference = np.abs(arguments[number].astype("f8") - want)
        if not (difference <= tolerance * (1 + np.abs(want))).all():
            failures.append(name)
            print(f"{file}: {name}: argument {number} is wrong", arguments[number], want, sep="\n")


def philox(seed, counters):
    """Salmon et al.: ten rounds of Philox4x32, written for whole arrays."""
    mask = np.uint64(0xFFFFFFFF)
    x = [counters & mask, counters >> np.uint64(32), np.zeros_like(counters), np.zeros_like(counters)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(b >> np.uint64(32)) ^ x[1] ^ np.uint64(key[0]), b & mask,
             (a >> np.uint64(32)) ^ x[3] ^ np.uint64(key[1]), a & mask]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x, axis=-1)


def products():
    for m, n, k in ((128, 128, 64), (8, 136, 40)):
        a, b, bias = f16(m, k), f16(k, n), f32(n)
        product = a.astype("f8") @ b.astype("f8")
        check("gemm_sm80", "gemm_bias_relu", [a, b, bias, empty((m, n), "f2")], (ceil(m, 128), ceil(n, 128)),
              {3: np.maximum(product + bias, 0)}, 2e-3)
        check("gemm_gfx942", "gemm_nt", [a, np.ascontiguousarray(b.T), empty((m, n))], (ceil(m, 128), ceil(n, 128)),
              {2: product}, 1e-5)
    for m, n, k in ((128, 256, 64), (40, 264, 320)):
        a, b = f16(m, k), f16(k, n)
        check("gemm_sm90a", "gemm", [a, b, empty((m, n), "f2")], (ceil(m, 128), ceil(n, 256)),
              {2: a.astype("f8") @ b.astype("f8")}, 2e-3)


def counting():
    x = random.integers(-128, 128, 10001).astype("i1")
    bins = random.integers(0, 100, 256).astype("i4")
    check("histogram", "histogram", [x, bins.copy()], (2,),
          {1: bins + np.bincount(x.view("u1"), minlength=256)})
    x = f32(3, 2500)
    x[0, 7] = np.nan
    x[1, :] = 0.25
    order = np.argsort(np.where(np.isnan(x), -np.inf, -x), axis=1, kind="stable")[:, :8]
    values = np.take_along_axis(x, order, 1)
    results = [x, empty((3, 8)), empty((3, 8), "i4")]
    check("topk", "topk", results, (3,), {2: order})
    if not np.array_equal(results[1], values, equal_nan=True):
        failures.append("topk")
        print("topk: values are wrong", results[1], values, sep="\n")


def scans():
    x = f32(2, 2100)
    check("prefix_sum", "row_scan", [x, empty((2, 2100))], (2,), {1: np.cumsum(x.astype("f8"), axis=1)}, 1e-5)
    x, zero = f32(3000), np.zeros((), "i4")
    arguments = [x, empty(3000), empty(3), np.zeros(3, "i4"), zero]
    check("prefix_sum", "chained_scan", arguments, (3,), {1: np.cumsum(x.astype("f8"))}, 1e-5)


def others():
    x, seed, threshold = f32(2000), 0x123456789ABCDEF, 1 << 30
    bits = philox(seed, np.arange(512, dtype=np.uint64)).reshape(-1)[:2000]
    want = np.where(bits >= threshold, x * np.float32(4 / 3), 0)
    check("dropout", "dropout", [x, np.int64(seed), np.int32(threshold), np.float32(4 / 3), empty(2000)], (2,),
          {4: want}, 1e-7)
    m, n, k, kept = 130, 64, 256, 24
    a, value = f16(m, k), f16(kept, n)
    row = np.sort(random.permutation(k)[:kept * 2].reshape(kept, 2), axis=0).astype("i4")
    want = np.concatenate([a[:, row[:, j]].astype("f8") @ value[:, 32 * j:32 * j + 32].astype("f8") for j in (0, 1)], 1)
    check("nm_spmm", "spmm_nm_vector32", [a, value, row, empty((m, n), "f2")], (2, 2), {3: want}, 2e-3)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", required=True)
options = parser.parse_args()
for group in (products, counting, scans, others):
    group()
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
