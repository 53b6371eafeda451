"""Runs the kernels of Inputs/*.mlir, compiled by convert-tile-to-vector and LLVM, against numpy.

Every array lies between guards that must not change, results begin as NaN (or a pattern), and sizes are 1, odd, prime and
ragged. A comparison that meets NaN fails. Prints one line per kernel that is wrong; exit status 1 if there is any.
"""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, TEST)
from kernel_harness import EmulatedKernels, InterpretedKernels, Kernels  # noqa: E402

GUARD = 64  # elements on both sides
random = np.random.default_rng(7)
failures = []


def guarded(value, pitch=0):
    """A copy of the array between guards; the rows of a matrix `pitch` elements further apart than they are long."""
    value = np.asarray(value)
    fill = np.nan if value.dtype.kind == "f" else 99
    widths = [(0, 0)] * (value.ndim - 1) + [(0, pitch)]
    padded = np.pad(value, widths, constant_values=fill) if pitch else value
    memory = np.full(padded.size + 2 * GUARD, fill, value.dtype)
    inner = memory[GUARD:GUARD + padded.size].reshape(padded.shape)
    inner[...] = padded
    return inner[..., :value.shape[-1]] if pitch else inner


def guards_of(array):
    memory = array
    while memory.base is not None:
        memory = memory.base
    inside = np.zeros(memory.shape, bool)
    first = (array.ctypes.data - memory.ctypes.data) // array.itemsize
    offsets = first + sum(np.arange(n).reshape([-1 if d == e else 1 for e in range(array.ndim)]) * (s // array.itemsize)
                          for d, (n, s) in enumerate(zip(array.shape, array.strides)))
    inside[np.asarray(offsets).reshape(-1)] = True
    return memory[~inside]


def empty(shape, dtype="f4"):
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else 77, dtype)


def uniform(*shape, dtype="f4"):
    return random.uniform(-1, 1, shape).astype(dtype)


def integers(low, high, *shape, dtype="i4"):
    return random.integers(low, high, shape).astype(dtype)


def close(got, want, tolerance):
    with np.errstate(invalid="ignore"):
        difference = np.abs(got.astype("f8") - np.asarray(want, "f8"))
    return bool((difference <= tolerance * (1 + np.abs(np.asarray(want, "f8")))).all())  # NaN fails


def check(name, arguments, grid, wants, tolerance=0.0):
    """Calls kernel `name`; `wants` maps argument numbers to what they must hold."""
    held = [guarded(a) if isinstance(a, np.ndarray) else a for a in arguments]
    before = [guards_of(a).copy() if isinstance(a, np.ndarray) else None for a in held]
    kernels.run(name, held, grid)
    shapes = " ".join("x".join(map(str, np.shape(a))) or "scalar" for a in arguments)
    for number, want in wants.items():
        if not close(held[number], want, tolerance):
            failures.append(f"{name} ({shapes}): argument {number} is wrong")
            print(failures[-1], held[number], want, sep="\n")
    for number, (array, guards) in enumerate(zip(held, before)):
        if guards is not None and not np.array_equal(guards_of(array), guards, equal_nan=array.dtype.kind == "f"):
            failures.append(f"{name} ({shapes}): wrote outside argument {number}")
            print(failures[-1])


def ceil(a, b):
    return -(-a // b)


# --- elementwise --------------------------------------------------------------------------------------------------


def elementwise():
    for n in (1, 2, 15, 16, 17, 1023, 1024, 1025, 3001):
        a, b = uniform(n), uniform(n)
        check("vector_add", [a, b, empty(n)], (ceil(n, 1024),), {2: a + b})
    for m, n in ((1, 1), (3, 37), (5, 74), (7, 40), (4, 131)):
        a = uniform(m, n, dtype="f8")
        check("scale", [a, np.float64(1.7), empty((m, n), "f8")], (ceil(m, 3), ceil(n, 37)), {2: a * 1.7})
    for n in (1, 47, 48, 49, 150):
        y = uniform(n)
        check("in_place", [y], (ceil(n, 48),), {0: y + y + np.float32(1)})
    for n in (1, 50, 64):
        y = uniform(2, n)
        check("swap_rows", [y], (1,), {0: y[::-1]})
    for n in (1, 39, 40, 97):
        a, b = uniform(n, dtype="f2"), integers(-3, 4, n, dtype="i1")
        check("mixed", [a, b, empty(n)], (ceil(n, 40),), {2: np.where(b > 0, a.astype("f4"), b.astype("f4"))})
    for m, n in ((1, 1), (5, 21), (13, 43)):
        want = np.arange(m)[:, None] * 100 + np.arange(n)
        check("numbers", [empty((m, n), "i4")], (ceil(m, 5), ceil(n, 21)), {0: want})


# --- shapes -------------------------------------------------------------------------------------------------------


def shapes():
    for m, n in ((1, 1), (16, 24), (17, 29), (32, 72), (61, 43)):
        a = uniform(n, m)
        grid = (ceil(m, 16), ceil(n, 24))
        check("transpose", [a, empty((m, n))], grid, {1: a.T})
        check("transposing_view", [a, empty((m, n))], grid, {1: a.T})
    for n in (32, 31, 1):
        y = uniform(n, n)
        check("transpose_in_place", [y], (1,), {0: y.T})
    for shape in ((4, 6, 20), (3, 5, 19), (1, 1, 1)):
        a = uniform(*shape)
        check("permute", [a, empty((shape[1], shape[2], shape[0]))], (1,), {1: a.transpose(1, 2, 0)})
    a = uniform(240)
    check("reshapes", [a, empty((5, 48)), empty((24, 10))], (1,), {1: a.reshape(5, 48), 2: a.reshape(24, 10)})
    a = uniform(200)
    whole = np.concatenate([a, np.zeros(40, "f4")])
    check("reshapes", [a, empty((5, 48)), empty((24, 10))], (1,), {1: whole.reshape(5, 48), 2: whole.reshape(24, 10)})
    for k in (0, 3, 16):
        a, b = uniform(5, 24), uniform(2, 17)
        want = np.concatenate([b, a[2:4, k:k + 8]], axis=1)
        want[0, 1:4] = 0
        check("parts", [a, b, np.int64(k), empty((2, 25))], (1,), {3: want})
    for n in (1, 20, 33):
        a = uniform(2 * n)
        want = a[0::2] + np.concatenate([[np.float32(0)], a[1:-1:2]])
        check("pairs", [a, empty(n)], (ceil(n, 20),), {1: want})


# --- reductions ---------------------------------------------------------------------------------------------------


def softmax(x):
    e = np.exp(x.astype("f8") - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layernorm(m, n):
    x, gamma, beta = uniform(m, n, dtype="f2"), uniform(n), uniform(n)
    d = x.astype("f8") - x.astype("f8").mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)
    stats = np.concatenate([x.astype("f8").mean(axis=1, keepdims=True), rstd], axis=1)
    arguments = [x, gamma, beta, np.float32(1e-5), empty((m, n), "f2"), empty((m, 2))]
    check("layernorm", arguments, (m,), {4: d * rstd * gamma + beta, 5: stats}, 2e-3)


def reductions():
    for m, n in ((4, 4096), (1, 1), (5, 7), (9, 1000), (3, 4095), (2, 16)):
        x = uniform(m, n) * 5
        check("softmax", [x, empty((m, n))], (ceil(m, 4),), {1: softmax(x)}, 2e-6)
    for m, n in ((1, 2048), (3, 2047), (2, 5), (4, 768)):
        layernorm(m, n)
    for shape in ((5, 7, 83), (4, 6, 50), (1, 1, 1)):
        x = uniform(*shape)
        whole = np.zeros((5, 7, 83))
        whole[tuple(slice(n) for n in shape)] = x
        sums = [whole.sum(axis=axes) for axes in (0, 1, 2, (0, 1), (0, 2), (0, 1, 2))]
        arguments = [x] + [empty(s.shape) for s in sums]
        check("sums", arguments, (1,), {i + 1: s for i, s in enumerate(sums)}, 1e-5)
    for m, n in ((1, 100), (3, 99), (2, 1)):
        x = integers(-1000, 1000, m, n)
        whole = np.pad(x, ((0, 0), (0, 100 - n)))
        want = np.stack([whole.max(1), whole.min(1), np.bitwise_or.reduce(whole, 1)], axis=1)
        check("integers", [x, empty((m, 3), "i4")], (m,), {1: want})
    for m, n in ((6, 50), (7, 49), (13, 1)):
        x = uniform(m, n)
        check("argmax", [x, empty(m), empty(m, "i4")], (ceil(m, 6),), {1: x.max(1), 2: x.argmax(1)})
    for m, n in ((1, 64), (3, 63), (2, 200)):
        x = uniform(m, n)
        check("row_scan", [x, empty((m, n))], (m,), {1: np.cumsum(x.astype("f8"), axis=1)}, 1e-5)
    for m, n in ((9, 5), (7, 3)):
        x = integers(-9, 9, m, n, dtype="i8")
        want = np.cumsum(x[::-1], axis=0)[::-1] - x
        check("suffix", [x, empty((m, n), "i8")], (1,), {1: want})
    for m, n in ((1, 90), (3, 89), (2, 1)):
        x = uniform(m, n)
        q = x.astype("f8")**2
        want = np.stack([f for v in (x.astype("f8"), q) for f in (v.mean(1), ((v - v.mean(1, keepdims=True))**2).sum(1))], 1)
        check("statistics", [x, empty((m, 4)), empty((m, n))], (m,), {1: want, 2: q}, 2e-5)
    x, f = uniform(3), np.array(0.75, "f4")
    check("single", [x, f, empty(())], (1,), {2: x[1] * f})
    for n in (1, 70, 333):
        x = uniform(n)
        check("count_above", [x, np.float32(0.25), np.array([5], "i4")], (ceil(n, 70),), {2: [5 + (x > 0.25).sum()]})


# --- gathers ------------------------------------------------------------------------------------------------------


def gathers():
    for m, n, rows in ((8, 40, 5), (13, 61, 7), (1, 1, 1)):
        t, row = uniform(rows, n, dtype="f2"), integers(-2, rows + 2, m)
        inside = (row >= 0) & (row < rows)
        want = np.where(inside[:, None], t[np.clip(row, 0, rows - 1)], 0)
        check("embedding", [t, row, empty((m, n))], (ceil(m, 8), ceil(n, 40)), {2: want})
    for m, n, columns in ((6, 20, 9), (8, 17, 31), (1, 1, 1)):
        a, at = uniform(m, columns), integers(-3, columns + 3, n)
        check("columns", [a, at, empty((m, n))], (ceil(m, 6),), {2: a[:, np.clip(at, 0, columns - 1)]})
    for n in (50, 49, 1, 121):
        x, at = uniform(30), integers(-5, 35, n)
        want = np.where((at % 2 == 0) & (at >= 0) & (at < 30), x[np.clip(at, 0, 29)], 0.5)
        check("elements", [x, at, empty(n)], (ceil(n, 50),), {2: want})
    check("table", [empty((2, 3), "i4")], (1,), {0: [[3, 0, 4], [1, 0, 9]]})


# --- products -----------------------------------------------------------------------------------------------------


def product(a, b):
    return a.astype("f8") @ b.astype("f8")


def products():
    for m, n, k in ((7, 20, 9), (1, 1, 1), (8, 21, 10), (15, 61, 28), (13, 7, 3)):
        a, b = uniform(m, k), uniform(k, n)
        check("gemm_small", [a, b, empty((m, n))], (ceil(m, 7), ceil(n, 20)), {2: product(a, b)}, 1e-5)
    a, b, c = uniform(24, 40, dtype="f8"), uniform(40, 32, dtype="f8"), uniform(24, 32, dtype="f8")
    check("gemm_static", [a, b, c], (1,), {2: c + a @ b}, 1e-13)
    for shape in ((3, 10, 12, 33), (2, 9, 11, 32), (1, 1, 1, 1)):
        s, m, k, n = shape
        a, b = integers(-128, 128, s, m, k, dtype="i1"), integers(-128, 128, s, k, n, dtype="i1")
        check("batched_i8", [a, b, empty((s, m, n), "i4")], (1,), {2: a.astype("i4") @ b.astype("i4")})
    for k in (0, 1, 4):
        x, w = uniform(24, 48), uniform(48, 48) * np.float32(0.3)
        v, maxima = x.astype("f8"), np.zeros(24)
        for _ in range(k):
            v, maxima = v @ w, maxima + v.max(axis=1)
        check("power", [x, w, np.int64(k), empty((24, 48)), empty(24)], (1,), {3: v, 4: maxima}, 1e-5)
    for k in (0, 1, 2, 9):
        x = integers(0, 5, 40, 48, dtype="f4")
        a, b = x, np.ones_like(x)
        for _ in range(k):
            a, b = b, a + b
        check("fibonacci", [x, np.int64(k), empty((40, 48))], (1,), {2: a})
    for k in (0, 1, 4, 5):
        x = uniform(48, 48)
        check("turn", [x, np.int64(k), empty((48, 48))], (1,), {2: x.T if k % 2 else x})
    for m, n, k in ((6, 16, 48), (5, 15, 47), (1, 1, 1)):
        a, b = uniform(m, k), uniform(k, n)
        check("ring", [a, b, empty((m, n))], (1,), {2: product(a, b)}, 1e-5)


# --- networks -----------------------------------------------------------------------------------------------------


def attention(b, h, s):
    q, k, v = (uniform(b, h, s, 128, dtype="f2") for _ in range(3))
    scale = np.float32(128**-0.5 * np.log2(np.e))
    scores = q.astype("f8") @ k.astype("f8").swapaxes(2, 3) * scale
    scores = np.where(np.tril(np.ones((s, s), bool)), scores, -1e30)
    largest = scores.max(axis=-1, keepdims=True)
    p = np.exp2(scores - largest)
    total = p.sum(axis=-1, keepdims=True)
    arguments = [q, k, v, scale, empty((b, h, s, 128), "f2"), empty((b, h, s))]
    wants = {4: p @ v.astype("f8") / total, 5: (largest + np.log2(total))[..., 0]}
    check("attention", arguments, (ceil(s, 128), h, b), wants, 3e-3)


def convolution(n, hw, c, k):
    h, w = hw
    x, f = uniform(n, h, w, c, dtype="f2"), uniform(3, 3, c, k, dtype="f2") * np.float16(0.1)
    p, q = ceil(h, 2), ceil(w, 2)
    padded = np.pad(x.astype("f8"), ((0, 0), (1, 1), (1, 1), (0, 0)))
    want = sum(padded[:, r:r + 2 * p:2, s:s + 2 * q:2][:, :p, :q] @ f[r, s].astype("f8")
               for r in range(3) for s in range(3))
    grid = (ceil(p, 8) * ceil(q, 16), ceil(k, 128), n)
    check("conv3x3s2", [x, f, empty((n, p, q, k), "f2")], grid, {2: want}, 3e-3)


def networks():
    odd = () if options.emulate else ((1, 1, 1), (129, 255, 33), (37, 100, 130))  # against what the kernel assumes
    for m, n, k in ((128, 128, 64), (40, 136, 72)) + odd:
        a, b, bias = uniform(m, k, dtype="f2"), uniform(k, n, dtype="f2"), uniform(n)
        want = np.maximum(product(a, b) + bias, 0)
        check("gemm_f16", [a, b, bias, empty((m, n), "f2")], (ceil(m, 128), ceil(n, 128)), {3: want}, 2e-3)
    attention(1, 1, 1)
    attention(2, 1, 200)
    convolution(1, (16, 32), 32, 128)
    convolution(2, (13, 35), 40, 130)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--march", default="native")
parser.add_argument("--interpret", action="store_true", help="run them on the interpreter instead")
parser.add_argument("--emulate", default="", help="convert them for this GPU and run them on its emulator instead")
parser.add_argument("--mutants", action="store_true", help="with --emulate: each kernel without each of its barriers, too")
parser.add_argument("--passes", default="", help="a pipeline to run first, with --interpret")
parser.add_argument("groups", nargs="*", default=["elementwise", "shapes", "reductions", "gathers", "products", "networks"])
options = parser.parse_args()
if options.mutants:
    sys.path.insert(0, os.path.join(TEST, "emulator"))
    from mutants import MutatedKernels
for group in options.groups:
    source = os.path.join(HERE, "Inputs", group + ".mlir")
    kernels = (MutatedKernels(source, options.build, options.emulate) if options.mutants else
               EmulatedKernels(source, options.build, options.emulate) if options.emulate else
               InterpretedKernels(source, options.build, options.passes) if options.interpret
               else Kernels(source, options.build, options.march))
    globals()[group]()
if options.mutants:
    failures += [f"{name} without an op is wrong, silently" for name in MutatedKernels.report()]
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
