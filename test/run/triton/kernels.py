"""Runs the TTIR of Inputs/ on targets and compares it with numpy: kernels.py TILE_RUN TARGET…

Sizes are odd, ragged and single. Prints one line for each output that is wrong, then how many were right.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
tile_run, targets = sys.argv[1], sys.argv[2:]
random = np.random.default_rng(7)
right = wrong = 0


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def launch(kernel, arguments, grid, target, expect=None):
    """What the arrays among the arguments hold afterwards, by number. Nothing, if the run ends with an error."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [tile_run, f"{INPUTS}/{kernel}.ttir", f"--entry=launch_{kernel}", f"--target={target}",
                   f"--out={scratch}/out.npz"]
        for number, argument in enumerate([*arguments, *(np.int64(size) for size in grid)]):
            np.save(f"{scratch}/{number}.npy", argument)
            command.append(f"--in={scratch}/{number}.npy")
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            if not expect or expect not in run.stderr:
                print(run.stderr)
            return {}
        with np.load(f"{scratch}/out.npz") as file:
            return {int(name.removeprefix("argument")): file[name] for name in file.files}


def judge(kernel, arguments, grid, expected):
    """expected: by number of the argument, the array and its tolerance."""
    global right, wrong
    for target in targets:
        seen = launch(kernel, arguments, grid, target)
        for number, (value, tolerance) in expected.items():
            value = np.asarray(value, np.float64).ravel()
            good = number in seen and np.all(np.abs(seen[number] - value) <= tolerance * (1 + np.abs(value)))
            right, wrong = right + bool(good), wrong + (not good)
            if not good:
                print(f"{kernel} on {target}: argument {number} is wrong")


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


def outside():
    """An array shorter than n: views are not sound there, and the gathers of the kernel as it was stop the program."""
    global right, wrong
    x = normal(5000)
    arguments = [x, x[:4099], np.zeros(5000, np.float32), np.int32(5000)]
    for target in targets:
        stopped = launch("add", arguments, (5, 1, 1), target, expect="out of bounds") == {}
        right, wrong = right + stopped, wrong + (not stopped)


add(1)
add(4099)
softmax(5, 781)
layernorm(3, 600)
matmul(67, 129, 45)
attention(2, 97)
outside()
print(f"{right} right, {wrong} wrong")
