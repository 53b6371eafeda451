"""Eight kernels as users write them, each also without each of its barriers, waits and fences, one at a time.

GEMM, attention, softmax, layernorm, reduction, scan, histogram, gather and scatter:
the sketches of test/dialects/tile/programs on small inputs, judged by numpy; their mutants by mutants.py. A mutant is
found, with its place, or equivalent: nothing found on any of its calls, and the same bits; what would be wrong is
silent. Use: corpus.py BUILD CHIP [KERNEL...]. The last line is 'N mutants: F found, E equivalent, S silent; W wrong'.
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from mutants import MutatedKernels  # noqa: E402

PROGRAMS = os.path.join(HERE, "..", "dialects", "tile", "programs")
BUILD, CHIP, WANTED = sys.argv[1], sys.argv[2], sys.argv[3:]
random = np.random.default_rng(11)
wrong = []


def uniform(*shape, dtype="f4"):
    return random.uniform(-1, 1, shape).astype(dtype)


def empty(*shape, dtype="f4"):
    return np.full(shape, np.nan, dtype)


def check(kernels, name, arguments, grid, wants, tolerance):
    kernels.run(name, arguments, grid)
    for i, want in wants.items():
        with np.errstate(invalid="ignore"):
            off = np.abs(arguments[i].astype("f8") - want) > tolerance * (1 + np.abs(want))
        if off.any() or not np.isfinite(arguments[i].astype("f8")).all():
            wrong.append(f"{name}: argument {i}")
            print(wrong[-1], "is wrong")


def gemm(kernels):
    a, b, bias = uniform(128, 64, dtype="f2"), uniform(64, 128, dtype="f2"), uniform(128)
    want = np.maximum(a.astype("f8") @ b.astype("f8") + bias, 0)
    check(kernels, "gemm_bias_relu", [a, b, bias, empty(128, 128, dtype="f2")], (1, 1), {3: want}, 4e-3)


def attention(kernels):
    q, k, v = (uniform(1, 1, 200, 128, dtype="f2") for _ in range(3))
    scale = np.float32(128**-0.5 * np.log2(np.e))
    scores = q.astype("f8") @ k.astype("f8").swapaxes(2, 3) * scale
    scores = np.where(np.tril(np.ones((200, 200), bool)), scores, -1e30)
    largest = scores.max(axis=-1, keepdims=True)
    p = np.exp2(scores - largest)
    total = p.sum(axis=-1, keepdims=True)
    wants = {4: p @ v.astype("f8") / total, 5: (largest + np.log2(total))[..., 0]}
    arguments = [q, k, v, scale, empty(1, 1, 200, 128, dtype="f2"), empty(1, 1, 200)]
    check(kernels, "attention", arguments, (2, 1, 1), wants, 3e-3)


def softmax(kernels):
    x = uniform(5, 777) * 5
    e = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    check(kernels, "softmax", [x, empty(5, 777)], (5,), {1: e / e.sum(axis=1, keepdims=True)}, 2e-6)


def layernorm(kernels):
    x, gamma, beta = uniform(2, 777, dtype="f2"), uniform(777), uniform(777)
    d = x.astype("f8") - x.astype("f8").mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)
    arguments = [x, gamma, beta, np.float32(1e-5), empty(2, 777, dtype="f2"), empty(2, 2)]
    check(kernels, "layernorm", arguments, (2,), {4: d * rstd * gamma + beta}, 3e-3)


def reduction(kernels):
    x = uniform(5, 7, 83)
    sums = [x.astype("f8").sum(axis=axes) for axes in (0, 1, 2, (0, 1), (0, 2), (0, 1, 2))]
    check(kernels, "sums", [x] + [empty(*s.shape) for s in sums], (1,), dict(enumerate(sums, 1)), 1e-5)


def scan(kernels):
    x = uniform(2, 1500)
    check(kernels, "row_scan", [x, empty(2, 1500)], (2,), {1: np.cumsum(x.astype("f8"), axis=1)}, 1e-4)


def histogram(kernels):
    x = random.integers(0, 256, 3000).astype("i1")
    want = np.bincount(x.view("u1"), minlength=256)
    check(kernels, "histogram", [x, np.zeros(256, "i4")], (1,), {1: want}, 0)


def gather(kernels):
    table, token = uniform(50, 96, dtype="f2"), random.integers(0, 50, 37).astype("i4")
    check(kernels, "lookup", [table, token, empty(37, 96, dtype="f2")], (37, 1), {2: table[token]}, 0)


def scatter(kernels):
    grad, token = uniform(37, 96, dtype="f2"), random.integers(0, 50, 37).astype("i4")
    want = np.zeros((50, 96))
    np.add.at(want, token, grad.astype("f8"))
    check(kernels, "lookup_backward", [grad, token, np.zeros((50, 96), "f4")], (37, 1), {2: want}, 1e-5)


CORPUS = {gemm: "gemm_bias_relu", attention: "attention", softmax: "softmax", layernorm: "layernorm",
          reduction: "../../../run/kernels/Inputs/reductions", scan: "prefix_sum",
          histogram: "histogram", gather: "embedding", scatter: "embedding"}
for kernel, program in CORPUS.items():
    if not WANTED or kernel.__name__ in WANTED:
        kernel(MutatedKernels(os.path.join(PROGRAMS, program + ".mlir"), BUILD, CHIP))
wrong += [f"{name} without an op is wrong, silently" for name in MutatedKernels.report()]
known = sum(MutatedKernels.results.values(), [])
print(f"{len(known)} mutants: " + ", ".join(f"{known.count(k)} {k}" for k in ("found", "equivalent", "silent")) +
      f"; {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
