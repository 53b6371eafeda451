"""Runs kernels with each kind of op of TTIR on targets and compares them with numpy: operations.py TILE_RUN TARGET…"""
from math import erf

import ml_dtypes
import numpy as np
from harness import judge, normal, random, report


def integers(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int32)


def toward_zero(x):
    """f32 to f16."""
    half = x.astype(np.float16)
    return np.where(np.abs(half.astype(np.float32)) > np.abs(x), np.nextafter(half, np.float16(0)), half)


def elementwise(n):
    x, y, i = normal(n), np.abs(normal(n)) + np.float32(0.1), integers(-1000, 1000, n)
    a, b = x.astype(np.float64), y.astype(np.float64)
    out = [np.clip(x, -0.5, 0.5), np.sqrt(b) + a / b, 1 / np.sqrt(b) + b**a + a / b,
           a * b + a + 1 / (1 + np.exp(-a)) + 2**a + np.log2(b) + np.array([erf(v) for v in a])]
    upper = ((i.view(np.uint32).astype(np.uint64) * 0xCD9E8D57) >> 32).astype(np.uint32).view(np.int32)
    whole = [upper, x.view(np.int32), np.trunc(i / 7) + np.fmod(i, 5)]
    halves = [toward_zero(x), x.astype(ml_dtypes.float8_e5m2).astype(np.float16)]
    arguments = [x, y, i, np.zeros(4 * n, np.float32), np.zeros(3 * n, np.int32), np.zeros(2 * n, np.float16), np.int32(n)]
    judge("elementwise", arguments, (1, 1, 1),
          {3: (np.concatenate(out), 3e-6), 4: (np.concatenate(whole), 0), 5: (np.concatenate(halves), 0)})


def reductions(rows=8, columns=64):
    x, i = normal(rows, columns), integers(-1000, 1000, rows, columns)
    wide = x.astype(np.float64)
    chained = np.zeros_like(wide)
    for row in range(rows):
        slope, offset = 1.0, 0.0
        for column in range(columns):
            slope, offset = wide[row, column] * slope, wide[row, column] * offset + wide[row, column] + 1
            chained[row, column] = offset
    total = np.zeros(rows)
    total[0] = wide.sum()
    out = [wide.sum(1), wide.max(1), total, wide.max(1), wide.cumsum(1), wide[::-1].cumsum(0)[::-1], chained]
    whole = [wide.argmax(1), wide.argmin(1), np.bitwise_xor.reduce(i, 1), i.min(1)]
    arguments = [x.ravel(), i.ravel(), np.zeros(4 * rows + 3 * x.size, np.float32), np.zeros(4 * rows, np.int32)]
    judge("reductions", arguments, (1, 1, 1),
          {2: (np.concatenate([part.ravel() for part in out]), 2e-5), 3: (np.concatenate(whole), 0)})


def shapes(n=32):
    x, i = normal(2 * n), integers(0, 1000, n)
    a, b = x[:n], x[n:]
    out = [np.stack([a, b], 1).ravel(), a - b, a.reshape(n // 4, 4).T.ravel(), a[i & (n - 1)], np.sort(a)]
    judge("shapes", [x, i, np.zeros(6 * n, np.float32), np.zeros(16, np.int32)], (1, 1, 1),
          {2: (np.concatenate(out), 0), 3: (np.bincount(i & 15, minlength=16), 0)})


def atomics(n=150):
    x = integers(0, 1000, n)
    seen, sums = np.zeros(17), np.zeros(8)
    seen[:16], seen[16] = np.bincount(x & 15, minlength=16), x.max()
    np.add.at(sums, x & 7, x)
    arguments = [x, np.zeros(17, np.int32), np.zeros(8, np.float32), np.zeros(2, np.int32), np.int32(n)]
    judge("atomics", arguments, (3, 1, 1), {1: (seen, 0), 2: (sums, 1e-6), 3: ([5, 9], 0)})


def descriptors(m=21, n=37):
    x, rows = normal(m, n), np.array([3, 20, 0, 7, 7, 19, 1, 2], np.int32)
    wide = x.astype(np.float64)
    gathered = np.zeros((m, n))
    gathered[:8] = wide[rows]
    out = [2 * wide + np.vstack([np.zeros((1, n)), wide[:-1]]), gathered]
    arguments = [x.ravel(), rows, np.zeros(2 * m * n, np.float32), np.int32(m), np.int32(n)]
    judge("descriptors", arguments, (3, 3, 1), {2: (np.concatenate([part.ravel() for part in out]), 1e-6)})


def control(n=5, block=64):
    x = normal(n, block)
    s = np.zeros(block)
    for i, row in enumerate(x.astype(np.float64)):
        s += row if i % 2 == 0 else -row * (1 + i) * 2
    s += np.arange(n) @ x.astype(np.float64)
    judge("control", [x.ravel(), np.zeros(3 * block, np.float32), np.int32(n), np.int32(1)], (3, 1, 1),
          {1: (np.concatenate([-s, -s, s]), 1e-5)})


elementwise(101)
reductions()
shapes()
atomics()
descriptors()
control()
report()
