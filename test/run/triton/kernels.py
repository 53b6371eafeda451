"""Runs kernels of Triton on targets and compares them with numpy: kernels.py TILE_RUN TARGET…

Sizes are odd, ragged and single.
"""
import numpy as np
from harness import count, judge, launch, normal, random, report, targets


def add(n):
    x, y = normal(n), normal(n)
    judge("add", [x, y, np.zeros(n, np.float32), np.int32(n)], (-(-n // 1024), 1, 1), {2: (x + y, 0)})


def softmax(rows, columns):
    x = normal(rows, columns)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    sizes = [np.int32(size) for size in (columns, columns, rows, columns)]
    judge("softmax", [np.zeros(x.size, np.float32), x.ravel(), *sizes], (3, 1, 1),
          {0: (e / e.sum(1, keepdims=True), 1e-6)})


def layernorm(rows, columns):
    x, w, b = normal(rows, columns).astype(np.float16), normal(columns), normal(columns)
    wide = x.astype(np.float64)
    mean, rstd = wide.mean(1), 1 / np.sqrt(wide.var(1) + 1e-5)
    arguments = [x.ravel(), np.zeros(x.size, np.float16), w, b, np.zeros(rows, np.float32), np.zeros(rows, np.float32),
                 np.int32(columns), np.int32(columns), np.float32(1e-5)]
    judge("layernorm", arguments, (rows, 1, 1),
          {1: ((wide - mean[:, None]) * rstd[:, None] * w + b, 2e-3), 4: (mean, 1e-6), 5: (rstd, 1e-6)})


def matmul(m, n, k):
    a, b = normal(m, k).astype(np.float16), normal(k, n).astype(np.float16)
    c = a.astype(np.float64) @ b.astype(np.float64)
    sizes = [np.int32(size) for size in (m, n, k, k, 1, n, 1, n, 1)]
    judge("matmul", [a.ravel(), b.ravel(), np.zeros(m * n, np.float16), *sizes], (-(-m // 64) * -(-n // 64), 1, 1),
          {2: (np.where(c >= 0, c, 0.01 * c), 2e-3)})


def attention(heads, n, depth=64):
    """The grid is one too long: the last instances return early."""
    q, k, v = (normal(heads, n, depth).astype(np.float16) for _ in range(3))
    scale = np.float32(np.log2(np.e) / np.sqrt(depth))
    wide = [x.astype(np.float64) for x in (q, k, v)]
    scores = np.where(np.tri(n) > 0, wide[0] @ wide[1].swapaxes(1, 2) * scale, -np.inf)
    weights = np.exp2(scores - scores.max(2, keepdims=True))
    arguments = [q.ravel(), k.ravel(), v.ravel(), np.zeros(q.size, np.float16), scale,
                 *(np.int32(size) for size in (n * depth, depth, n, heads))]
    judge("attention", arguments, (-(-n // 64) + 1, heads, 1),
          {3: (weights / weights.sum(2, keepdims=True) @ wide[2], 2e-3)})


def mapped(n):
    """A function of elements with conditions in each other."""
    x, k = normal(n), random.integers(-100, 100, n).astype(np.int32)
    low = np.where(k > 0, x * 3 - np.float32(0.25), -(x * 3))
    judge("mapped", [x, k, np.zeros(n, np.float32), np.zeros(n, np.int32), np.int32(n)], (-(-n // 64), 1, 1),
          {2: (np.where(x < 0.25, low, np.exp2(x)), 1e-6), 3: (np.where(x < 0.25, k + n, k ^ 7), 0)})


def outside():
    """An array shorter than n: views are not sound there, and the gathers of the kernel as it was stop the program."""
    x = normal(5000)
    arguments = [x, x[:4099], np.zeros(5000, np.float32), np.int32(5000)]
    for target in targets:
        stopped = launch("add", arguments, (5, 1, 1), target, expect="out of bounds") == {}
        count(stopped, f"add on {target}: reads outside and does not say so")


def wraps(row, stride):
    """An offset that wraps in i32 names the place that it wraps to: a view would read elsewhere."""
    x, first = normal(70000), row * stride % 2**32
    judge("wraps", [x, np.zeros(64, np.float32), np.int32(row), np.int32(stride)], (1, 1, 1), {1: (x[first:first + 64], 0)})


wraps(7, 1000)
wraps(65536, 65537)
add(1)
add(4099)
softmax(5, 781)
layernorm(3, 600)
matmul(67, 129, 45)
attention(2, 97)
mapped(173)
outside()
report()
