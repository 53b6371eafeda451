"""Runs kernels for the rest of cuTile's functions, from their bytecode, on targets: functions.py TILE_RUN TARGET…

Inputs/functions.py has the kernels. Results are compared with numpy.
"""
import os
import sys

import ml_dtypes
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "triton"))
from harness import normal, random, report  # noqa: E402
from calls import check, whole, zeros  # noqa: E402


def arithmetic(n=100):
    a, b = normal(n), normal(n)
    a[::7], b[::14] = b[::7], np.nan
    mixed = a * b - (a - 1)
    first = np.where(a < b, a / b, mixed)
    second = np.where(a >= 0, first, np.isnan(a))
    third = np.where(b <= a, second, np.where(a != b, mixed, 5))
    expected = np.where(a == b, 7, third)
    keep = ~np.isnan(expected)
    a, b, expected = a[keep], b[keep], expected[keep]
    check("arithmetic", [a, b, zeros(len(a))], (-(-len(a) // 64), 1, 1), {2: (expected, 1e-6)})


def bits(n=32):
    a, b = whole(-1000, 1000, n), whole(1, 50, n)
    b[::2] *= -1
    named = ((a & b) | ~a) ^ (b << 2)
    check("bits", [a, b, zeros(3 * n, dtype=np.int32)], (1, 1, 1),
          {2: (np.concatenate([a // b * 100 + a % b, a // b * 100 + a % b, named + (a >> 3)]), 0)})


def atomics(n=16):
    """Two instances; exchanges of what only one of them has, and one beyond the array, which does nothing."""
    x = whole(-500, 500, 2 * n)
    x[n:] += 3
    counts = np.array([0x7FFF, 1, 77, -9, -9, 9, 9, 5, 6, 40, 41, 40], np.int32)
    parts = x.reshape(2, n)
    wanted, old = counts.copy(), []
    for block, part in enumerate(parts):
        wanted[0] &= part.min() | 0x0F0F
        wanted[1] |= part.max()
        wanted[2] ^= part.sum()
        for i in range(2):
            wanted[3 + i] = max(wanted[3 + i], part[i::2].max())
            wanted[5 + i] = min(wanted[5 + i], part[i::2].min())
        third = counts[11] if block == 0 else 0
        old.append(counts[7 + block] + counts[9 + block] * 100 + third * 10000)
        wanted[7 + block], wanted[9 + block] = part.max(), part.min()
        wanted[11] = part.min() if block == 0 else wanted[11]
    check("atomics", [x, counts, zeros(2, 1, dtype=np.int32)], (2, 1, 1), {1: (wanted, 0), 2: (old, 0)})


def folds(n=4, m=16):
    a = normal(n, m)
    a[2, 3] = a[2, 9] = 5
    wide = a.astype(np.float64)
    places = a.argmax(1)
    far = np.take_along_axis(a, abs(a).argmax(1)[:, None], 1)[:, 0]
    sums, total = np.zeros((n, m)), np.zeros(n)
    for i in range(m):
        total = sums[:, i] = total * wide[:, i] + wide[:, i] * 0.5
    scanned = [wide.cumprod(1), sums, wide[:, ::-1].cumsum(1)[:, ::-1]]
    check("folds", [a, zeros(2 * n, m), zeros(2 * n), zeros(n, dtype=np.int32), zeros(3 * n, m)], (1, 1, 1),
          {1: (np.concatenate([wide.cumprod(1), wide * wide.prod(0)]), 1e-5), 2: (np.concatenate([far, a.max(1)]), 0),
           3: (places, 0), 4: (np.concatenate(scanned), 1e-5)})


def compile_time(blocks=3, n=16):
    x = normal(n * blocks)
    expected = x.astype(np.float64) * 1.75 * 3 + n // 4 + 10 + 12 + blocks
    check("compile_time", [x, zeros(n * blocks), np.int32(12)], (blocks, 1, 1), {1: (expected, 1e-6)})


def bytes_of(n=16):
    x = normal(n)
    data = x.view(np.uint8).copy()
    turned = data.copy()
    turned[2 * n:] = data[:2 * n]
    expected = np.concatenate([turned.view(np.float32), (x.view(np.int32) + 1).view(np.float32)])
    check("bytes_of", [x, zeros(4 * n, dtype=np.int8), zeros(2 * n)], (1, 1, 1), {1: (data.view(np.int8), 0), 2: (expected, 0)})


def advanced(rows=37, columns=15, n=8, m=16):
    """Rows and columns by a tile of places; some lie outside, as do ends of the slices."""
    x, out = normal(rows, columns), normal(60, 20)
    places = np.array([3, 36, 0, 14, 21, 40, 7, 12], np.int32)
    wanted = out.copy()
    padded = np.pad(x, ((0, 40), (0, 40)))
    for place in places:
        if place + 1 < 60:
            wanted[place + 1, 2:2 + m] = padded[place, 3:3 + m] * 2
    for place in places:
        if place < 20:
            wanted[40:40 + m, place] = padded[1:1 + m, place]
    check("advanced", [x, places, out], (1, 1, 1), {2: (wanted, 0)})


def named_product(n=16):
    """The sums are f16 numbers, too."""
    a, b = normal(n - 3, n - 5).astype(np.float16), normal(n - 5, n - 1).astype(np.float16)
    check("named_product", [a, b, zeros(n - 3, n - 1)], (1, 1, 1), {2: (a.astype(np.float64) @ b.astype(np.float64), 1e-2)})


def scaled_product(m=16, n=32, k=64):
    a, b = (normal(*shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((m, k), (k, n)))
    sa, sb = (random.integers(120, 132, shape).astype(np.uint8) for shape in ((m, k // 32), (k // 32, n)))
    left, right = np.repeat(2.0**(sa.astype(int) - 127), 32, 1), np.repeat(2.0**(sb.astype(int) - 127), 32, 0)
    expected = (a.astype(np.float64) * left) @ (b.astype(np.float64) * right) + 1
    check("scaled_product", [each.view(np.int8) for each in (a, sa, b, sb)] + [zeros(m, n)], (1, 1, 1), {4: (expected, 2e-4)})


def printed(n=8):
    x = normal(n) * 9
    check("printed", [x, zeros(n)], (1, 1, 1), {1: (x, 0)})


arithmetic()
bits()
atomics()
folds()
compile_time()
bytes_of()
advanced()
named_product()
scaled_product()
printed()
report()
