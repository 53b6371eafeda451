"""Runs the CUDA kernels of Inputs/ on emulated GPUs: CUDA C++ for sm_…, HIP for gfx….

Usage: kernels.py TILE_RUN CHIP...
Each kernel must give numpy's results. Then each of its barriers is removed once: the emulator must find the defect, at a
line of the file. Prints what is wrong, then two counts.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
BARRIERS = "__syncthreads();", "block.sync();", "grid.sync();"
tile_run, chips = sys.argv[1], sys.argv[2:]
random = np.random.default_rng(11)
counts = {"right": 0, "found": 0, "bad": 0}


def count(kind, good, text):
    counts[kind if good else "bad"] += 1
    if not good:
        print(text)


def run(source, name, entry, arguments, sizes, chip):
    """The process, and the arrays among the arguments as the kernel left them."""
    with tempfile.TemporaryDirectory() as scratch:
        file = f"{scratch}/{name}.{'cu' if chip.startswith('sm_') else 'hip'}"
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(source)
        command = [tile_run, file, f"--entry=launch_{entry}", f"--target=emulate:{chip}", f"--out={scratch}/out.npz"]
        for number, argument in enumerate([*arguments, *(np.int64(size) for size in sizes)]):
            np.save(f"{scratch}/{number}.npy", np.ravel(argument) if np.ndim(argument) else argument)
            command.append(f"--in={scratch}/{number}.npy")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return done, {}
        with np.load(f"{scratch}/out.npz") as out:
            return done, {int(key.removeprefix("argument")): out[key] for key in out.files}


def without_barriers(source):
    """(line, the source with an empty line in the place of the barrier) of each barrier."""
    lines = source.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if line.strip() in BARRIERS:
            yield at + 1, "".join([*lines[:at], "\n", *lines[at + 1:]])


def judge(name, arguments, sizes, expected, entry=None, tolerance=1e-5, only=""):
    """expected: the number of the argument that is the result, and its value."""
    with open(f"{INPUTS}/{name}.cu", encoding="utf-8") as stream:
        source = stream.read()
    number, value = expected
    for chip in chips:
        if not chip.startswith(only):
            continue
        done, seen = run(source, name, entry or name, arguments, sizes, chip)
        good = number in seen and np.allclose(seen[number].reshape(value.shape).astype(np.float64), value,
                                              rtol=tolerance, atol=tolerance)
        count("right", good, f"{name} on {chip}: wrong: {done.stderr}")
        for line, mutant in without_barriers(source):
            done, _ = run(mutant, name, entry or name, arguments, sizes, chip)
            finding = re.search(rf"{name}\.(cu|hip):\d+:\d+: error: (race|uninitialized read)", done.stderr)
            count("found", done.returncode == 1 and finding,
                  f"{name} on {chip} without the barrier of line {line}: not found: {done.stderr}")


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


x = normal(300)
judge("reduce", [x, normal(3), np.int32(300)], [3, 1, 1, 128, 1, 1, 0],
      (1, np.pad(x.astype(np.float64), (0, 84)).reshape(3, 128).sum(1)))
x = normal(3, 300, 2).astype(np.float16)
doubled = ((np.float16(2) * x.astype(np.float64) + 1).astype(np.float16).astype(np.float64) - 1).astype(np.float16).astype(np.float64).sum(2)
judge("groups", [x, np.zeros(3, np.float32), np.zeros((3, 128), np.float32), np.int32(300)], [3, 1, 1, 128, 1, 1, 0], (1, doubled.sum(1)))
x = random.integers(-50, 50, (3, 100)).astype(np.int32)
judge("scan", [x, np.zeros_like(x), np.int32(100)], [3, 1, 1, 128, 1, 1, 2 * 128 * 4], (1, x.cumsum(1)))
x = normal(37, 21).astype(np.float16)
judge("transpose", [x, np.zeros((21, 37), np.float16), np.int32(37), np.int32(21)], [2, 3, 1, 16, 16, 1, 0],
      (1, x.T.astype(np.float64)), entry="transpose<_Float16>")
a, b = normal(19, 35), normal(35, 33)
judge("matmul", [a, b, normal(19, 33), np.int32(19), np.int32(33), np.int32(35)], [3, 2, 1, 16, 16, 1, 0],
      (2, a.astype(np.float64) @ b), tolerance=1e-4)
x = normal(3, 201) * 4
e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
judge("softmax", [x, np.zeros_like(x), np.int32(201)], [3, 1, 1, 128, 1, 1, 0], (1, e / e.sum(1, keepdims=True)))
x = normal(2, 4 * 77) + 3
d = x.astype(np.float64)
judge("layernorm", [x, np.zeros_like(x), np.int32(77), np.float64(1e-3)], [2, 1, 1, 64, 1, 1, 0],
      (1, (d - d.mean(1, keepdims=True)) / np.sqrt(d.var(1, keepdims=True) + 1e-3)), tolerance=1e-3)
x = (random.standard_normal(999) * 30).astype(np.int8).view(np.uint8).view(np.int8)
judge("histogram", [x, np.zeros(256, np.int32), np.int32(999)], [2, 1, 1, 96, 1, 1, 0],
      (1, np.bincount(x.view(np.uint8), minlength=256)))
x = normal(201)
d = x.astype(np.float64)
for _ in range(3):
    d[1:-1] = (d[:-2] + d[1:-1] + d[2:]) / 3
judge("stencil", [x, np.int32(201)], [1, 1, 1, 224, 1, 1, 0], (0, d))
a, b = normal(16, 16).astype(np.float16), normal(16, 8).astype(np.float16)
judge("mma", [a, b, np.zeros((16, 8), np.float32)], [1, 1, 1, 32, 1, 1, 0],
      (2, a.astype(np.float64) @ b), tolerance=1e-4, only="sm_")
x = np.abs(normal(501))
judge("grid", [x, np.full(3, 7, np.float32), np.zeros(501, np.float32), np.int32(501)], [3, 1, 1, 64, 1, 1, 0], (2, x.astype(np.float64) / x.sum(dtype=np.float64)))
x, bits = np.abs(normal(128, 4)) + np.float32(0.1), random.integers(0, 2**32, (128, 2), dtype=np.uint32)
d, a, b = x.astype(np.float64), bits[:, 0], bits[:, 1]
expected = np.stack([d[:, 0] * d[:, 1] + d[:, 2], d[:, 3]**-0.5, 1 / d[:, 3], np.maximum(d[:, 0], d[:, 1])], 1)
assembly = [x, bits.view(np.int32), np.zeros_like(x), np.zeros(640, np.int32), np.zeros(2, np.int32)]
judge("assembly", assembly, [2, 1, 1, 64, 1, 1, 0], (2, expected), only="sm_")
c = a * b + np.uint32(7)
mixed = sum((a if row >> 2 & 1 else ~a) & (b if row >> 1 & 1 else ~b) & (c if row & 1 else ~c) for row in range(8) if 0x6c >> row & 1)
shifted = np.where(np.arange(128) < 32, mixed << (np.arange(128, dtype=np.uint32) & 31), 0).astype(np.uint32)
turned = ((a * b) ^ a) - a * b  # texts of several instructions
words = np.concatenate([(shifted - a) ^ 0x55, ((turned + b - np.uint32(5)) << 1) + turned + b,
                        np.where(a > b, a, b - np.uint32(3))])
lane = np.arange(128, dtype=np.uint32)  # stores and loads under conditions
words = np.concatenate([words, np.where(lane < 100, words[256:], 0), np.where(lane < 7, lane + 1000, 0)]).astype(np.uint32)
judge("assembly", assembly, [2, 1, 1, 64, 1, 1, 0], (3, words.view(np.int32)), only="sm_", tolerance=0)
judge("assembly", assembly, [2, 1, 1, 64, 1, 1, 0], (4, np.array([(a & 1).sum(), (a & 1).sum() - 0.5])), only="sm_", tolerance=0.02)
print(f"{counts['right']} right, {counts['found']} barriers found, {counts['bad']} bad")
