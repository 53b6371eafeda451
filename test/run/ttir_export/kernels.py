"""Writes tile kernels in another form, reads that back and compares with numpy.

kernels.py TILE_RUN TILE_TRANSLATE FORM SUFFIX TARGET…, as kernels.py tile-run tile-translate --tile-to-ttir .ttir cpu. FORM may be
several flags, with a comma between them.
"""
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
translate, form, suffix = (sys.argv.pop(2) for _ in range(3))
sys.path.insert(0, os.path.join(here, "..", "triton"))
import harness  # noqa: E402
from harness import judge, normal, random, report  # noqa: E402


def size(*numbers):
    return [np.int64(number) for number in numbers]


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype).ravel()


def scale(rows=21, columns=50):
    x, w = normal(rows, columns), normal(columns)
    expected = np.exp(x.astype(np.float64) - x.max(1, keepdims=True)) * w
    judge("scale", [x.ravel(), *size(rows, columns), w, *size(columns), zeros(rows, columns), *size(rows, columns)],
          (-(-rows // 8), 1, 1), {5: (expected, 2e-6)})


def matmul(m=37, n=21, k=75):
    a, b = normal(m, k), normal(k, n)
    judge("matmul", [a.ravel(), *size(m, k), b.ravel(), *size(k, n), zeros(m, n), *size(m, n)],
          (-(-m // 16), -(-n // 16), 1), {6: (a.astype(np.float64) @ b, 2e-5)})


def places(rows=9, columns=61):
    x = normal(rows, columns)
    best = x.max(1) * np.where(np.arange(rows) >= 5, 2, 1)
    judge("places", [x.ravel(), *size(rows, columns), zeros(rows, dtype=np.int32), *size(rows), zeros(rows), *size(rows)],
          (rows, 1, 1), {3: (x.argmax(1), 0), 5: (best, 0)})


def moves(n=70, m=40):
    x, at = normal(m), random.integers(-3, m + 5, n).astype(np.int32)
    blocks, stride = -(-n // 32), 11
    padded = np.concatenate([at, np.zeros(-n % 32, np.int32)])
    found = np.where((padded >= 0) & (padded < m), x[padded.clip(0, m - 1)], 0).astype(np.float32)
    sums = np.zeros((4 * blocks, stride))
    sums[:, :8] = found.reshape(blocks, 8, 4).transpose(0, 2, 1).astype(np.float64).cumsum(2).reshape(-1, 8)
    arguments = [x, *size(m), at, *size(n), zeros(n), *size(n), zeros(4 * blocks, stride), *size(4 * blocks, 8, stride)]
    judge("moves", arguments, (blocks, 1, 1), {4: (found[:n], 0), 6: (sums, 1e-5)})


def overlaps(n):
    judge("overlaps", [zeros(n), *size(n), zeros(1, dtype=np.int32), *size(1)], (1, 1, 1),
          {2: (max(-(-(n - 6) // 2), min(n, 1)), 0)})


def functions(n=150):
    x = normal(n)
    wide = x.astype(np.float64)
    expected = [math.erf(value) for value in np.expm1(np.tanh(wide)) + np.log1p(np.tanh(wide))]
    judge("functions", [x, *size(n), zeros(n), *size(n)], (-(-n // 64), 1, 1), {2: (expected, 2e-5)})


with tempfile.TemporaryDirectory() as folder:
    harness.INPUTS, harness.SUFFIX = folder, suffix
    for name in ("scale", "matmul", "places", "moves", "overlaps", "functions"):
        subprocess.run([translate, f"{here}/Inputs/kernels.mlir", *form.split(","), "-o", f"{folder}/{name}{suffix}"], check=True)
    scale()
    matmul()
    places()
    moves()
    overlaps(3)
    overlaps(17)
    functions()
report()
