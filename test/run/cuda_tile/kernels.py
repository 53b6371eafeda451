"""Runs kernels of cuTile, from their bytecode, on targets and compares them with numpy: kernels.py TILE_RUN TARGET…"""
import os
import sys

import ml_dtypes
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "triton"))
from harness import normal, random, report  # noqa: E402
from calls import check, whole, zeros  # noqa: E402


def add(n=1001):
    x, y = normal(n), normal(n)
    check("add", [x, y, zeros(n)], (-(-n // 128), 1, 1), {2: (x + y, 0)})


def matmul(m, n, k):
    a, b = normal(m, k).astype(np.float16), normal(k, n).astype(np.float16)
    check("matmul", [a, b, zeros(m, n)], (-(-m // 32), -(-n // 16), 1),
          {2: (a.astype(np.float64) @ b.astype(np.float64), 1e-4)}, ("", "_134"))


def softmax(rows=7, columns=51):
    x = normal(rows, columns) - 3
    powers = np.exp(x.astype(np.float64))
    check("softmax", [x, zeros(rows, columns)], (rows, 1, 1), {1: (powers / powers.sum(1, keepdims=True), 1e-6)})


def layernorm(rows=5, columns=45):
    x, w = normal(rows, columns) + 2, normal(columns)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * w
    check("layernorm", [x, w, zeros(rows, columns), np.int32(columns)], (rows, 1, 1), {2: (expected, 2e-5)})


def attention(n=75, d=32):
    q, k, v = (normal(n, d).astype(np.float16) for _ in range(3))
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.125
    powers = np.exp(scores - scores.max(1, keepdims=True))
    expected = powers / powers.sum(1, keepdims=True) @ v.astype(np.float64)
    check("attention", [q, k, v, zeros(n, d), np.float32(0.125)], (-(-n // 32), 1, 1), {3: (expected, 3e-3)})


def gathers(n=150, m=40):
    x, places = normal(m), whole(0, m + 5, n)
    padded = np.concatenate([places, np.zeros(-n % 64, np.int32)])  # places outside the array are 0
    found = np.where(padded < m, x[np.minimum(padded, m - 1)], 0).astype(np.float32)
    sums = np.array([found[i::3].astype(np.float64).sum() for i in range(3)])
    check("gathers", [x, places, zeros(n), zeros(3)], (-(-n // 64), 1, 1), {2: (found[:n], 0), 3: (sums, 1e-4)},
          ("", "_134"))


def control(limit, n=150):
    x, expected = normal(n), np.zeros(n, np.float32)
    for block in range(5):
        values, turn = x[32 * block:32 * (block + 1)].copy(), 0
        while turn < limit and turn != 5:
            if block == 1 and turn == 1:
                turn += 2
                continue
            values, turn = values * np.float32(2), turn + 1
        for i in range(block):
            values = values + np.float32(1 if i == 2 else -0.25)
        if block != 2:
            expected[32 * block:32 * (block + 1)] = values
    check("control", [x, zeros(n), np.int32(limit)], (5, 1, 1), {1: (expected, 0)}, ("", "_134"))


def elementwise(n=100):
    x, y = normal(n), np.abs(normal(n)) + np.float32(0.25)
    a, b = x.astype(np.float64), y.astype(np.float64)
    first = 2**a + np.log(b) + np.log2(b) + np.sin(a) * np.cos(b) + np.tan(a * np.float32(0.1)) + np.tanh(a)
    second = np.sinh(a) - np.cosh(b) + np.sqrt(b) * np.floor(a) + np.ceil(a) + b**a + np.abs(a)
    third = np.where(a > b, np.minimum(a, b), np.maximum(a, 0.25 * b)) + np.arctan2(a, b)
    check("elementwise", [x, y, zeros(n)], (-(-n // 64), 1, 1), {2: (first + second * third, 2e-5)})


def integers(n=128):
    a, b = whole(-1000, 1000, n), whole(1, 50, n)
    a[::3] *= -1
    b[::2] *= -1
    wide = a.astype(np.int64) * 3 - b
    total = a // b * 7 + a % b + (a & b) - (a | 5) + (a ^ b) + (a << 3) + (a >> 2) - (-a // b)
    total = total + np.where(wide > 10, np.minimum(a, b), np.maximum(a, b)) + wide
    check("integers", [a, b, zeros(n, dtype=np.int32)], (n // 64, 1, 1), {2: (total, 0)})


def reductions(blocks=3):
    x = normal(8 * blocks, 32)
    tiles = x.reshape(blocks, 8, 32).astype(np.float64)
    sums = tiles.sum(1) + tiles.max(1) - tiles.min(1)
    scans = tiles.cumsum(2) + tiles[:, ::-1].cumsum(1)[:, ::-1]
    check("reductions", [x, zeros(blocks, 32), zeros(8 * blocks, dtype=np.int32), zeros(8 * blocks, 32)], (blocks, 1, 1),
          {1: (sums, 1e-5), 2: (x.argmax(1) * 1000 + x.argmin(1), 0), 3: (scans, 1e-5)}, ("", "_134"))


def shapes(n=16):
    x, y = normal(n, n), normal(n, n)
    line = np.concatenate([x, y], 1)[n // 2:, n:].T.ravel()
    check("shapes", [x, y, zeros(n * n)], (1, 1, 1), {2: (np.concatenate([line, line * np.float32(3)]), 0)})


def turned(m=21, n=45):
    x = normal(m, n)
    check("turned", [x, zeros(n, m)], (-(-n // 16), -(-m // 8), 1), {1: (x.T, 0)})


def formats(n=128):
    x = normal(n).clip(-1.27, 1.27)
    brain = (x.astype(ml_dtypes.bfloat16).astype(np.float32) * 2).astype(ml_dtypes.bfloat16)
    check("formats", [x, zeros(n, dtype=np.float16), zeros(n), zeros(n, dtype=np.int8)], (n // 64, 1, 1),
          {1: (x.astype(np.float16), 0), 2: (brain.astype(np.float32), 0),
           3: (np.trunc(x * np.float32(100)), 0)})


def products(batch=3, m=13, n=11, k=30):
    a, b = (random.integers(-100, 100, shape).astype(np.int8) for shape in ((batch, m, k), (batch, k, n)))
    check("products", [a, b, zeros(batch, m, n, dtype=np.int32)], (batch, 1, 1),
          {2: (a.astype(np.int64) @ b.astype(np.int64) + 1, 0)})


add()
matmul(70, 45, 77)
matmul(1, 17, 3)
softmax()
layernorm()
attention()
gathers()
control(9)
control(3)
elementwise()
integers()
reductions()
shapes()
turned()
formats()
products()
report()
